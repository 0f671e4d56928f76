"""Measuring for the page: suites of golden cases, run in the background beside the users' own runs."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date

from answerable.agents.question_request import QuestionRequest
from answerable.app import open_service
from answerable.core.context import Principal
from answerable.core.errors import AnswerableError, NotFoundError
from answerable.core.ids import EvalId, ThreadId, new_thread_id
from answerable.core.values import Json
from answerable.evals.cases import BUNDLED, Case, load_cases
from answerable.evals.compare import Rows
from answerable.evals.run import Attempt, evaluate
from answerable.evals.score import Scored
from answerable.service import Service
from answerable.service.eval_runner import EvalRunner
from answerable.settings import Settings
from answerable.store.base import CaseRecord, EvalRecord, Store

KEPT_ROWS = 200
"""Of what a case gave, to be shown beside what was expected."""


@dataclass(frozen=True, slots=True)
class GoldenCase:
    """A case of a suite, with what only those made from answers have."""

    case: Case
    columns: tuple[str, ...] = ()
    lead: tuple[str, ...] = ()
    """Questions that were asked before it in the same conversation."""
    run: str | None = None


@dataclass(slots=True)
class Underway:
    task: asyncio.Task[None]
    suite: str
    done: int = 0


@dataclass
class Measuring:
    """Opens a service of its own for each measuring, with a store that passes: it leaves no runs behind."""

    settings: Settings
    store: Store
    _underway: dict[EvalId, Underway] = field(default_factory=dict)

    async def suites(self, principal: Principal) -> dict[str, list[GoldenCase]]:
        """All cases by suite: those that come with the package first."""
        found: dict[str, list[GoldenCase]] = {}
        for name in BUNDLED:
            try:
                found[name] = [GoldenCase(case) for case in await asyncio.to_thread(load_cases, name)]
            except NotFoundError:
                continue  # not part of this installation
        for record in await self.store.evals.cases(principal):
            found.setdefault(record.suite, []).append(golden_case(record))
        return found

    async def suite(self, principal: Principal, name: str) -> list[GoldenCase]:
        found = (await self.suites(principal)).get(name)
        if found is None:
            raise NotFoundError(f"There is no suite {name!r}.", code="suite_unknown")
        return found

    async def start(self, principal: Principal, name: str) -> EvalRecord:
        """Begins to measure a suite, unless that is under way."""
        running = next((eval for eval, each in self._underway.items() if each.suite == name), None)
        if running is not None:
            return await self.store.evals.get(principal, running)
        cases = await self.suite(principal, name)
        record = await self.store.evals.begin(principal, name, {"cases": len(cases)})
        task = asyncio.create_task(self._measure(principal, record.eval, cases))
        self._underway[record.eval] = Underway(task, name)
        task.add_done_callback(lambda _: self._underway.pop(record.eval, None))
        return record

    def done(self, eval: EvalId) -> int | None:
        """How many cases are through; nothing when it is not under way here."""
        return self._underway[eval].done if eval in self._underway else None

    async def close(self) -> None:
        tasks = [each.task for each in self._underway.values()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _measure(self, principal: Principal, eval: EvalId, cases: Sequence[GoldenCase]) -> None:
        try:
            body = await self._measured(principal, eval, cases)
        except AnswerableError as error:
            problem = {"code": error.stable_code, "message": error.message}
            await self.store.evals.finish(principal, eval, "failed", {"cases": len(cases), "error": problem})
        else:
            await self.store.evals.finish(principal, eval, "done", body)

    async def _measured(self, principal: Principal, eval: EvalId, cases: Sequence[GoldenCase]) -> Json:
        def progress(done: int, _total: int, _scored: Scored) -> None:
            self._underway[eval].done = done

        passing = self.settings.model_copy(update={"store": ":memory:"})
        async with open_service(passing, any_location=True) as service:
            witness = Witness(service, cases, principal)
            report = await evaluate([each.case for each in cases], witness, progress=progress)
        results = [
            {**scored.model_dump(mode="json"), "rows": witness.rows.get(scored.id, [])} for scored in report.results
        ]
        return {**report.model_dump(mode="json", exclude={"results"}), "results": results}


class Witness:
    """An eval runner that remembers the rows that each case gave."""

    def __init__(self, service: Service, cases: Sequence[GoldenCase], principal: Principal) -> None:
        self._service = service
        self._principal = principal
        self._runner = EvalRunner(service, principal)
        self._leads = {each.case.id: each.lead for each in cases}
        self.rows: dict[str, list[Json]] = {}

    async def attempt(self, case: Case, *, force: bool, thread: str | None) -> Attempt:
        for question in self._leads.get(case.id, ()):
            thread = thread or new_thread_id()
            request = QuestionRequest(question, (case.source,), ThreadId(thread), today=case.today)
            await self._service.questions.ask(request, self._principal)
        attempt = await self._runner.attempt(case, force=force, thread=thread)
        self.rows[case.id] = [list(row) for row in attempt.rows[:KEPT_ROWS]]
        return attempt

    async def execute(self, case: Case, sql: str) -> Rows:
        return await self._runner.execute(case, sql)


def golden_case(record: CaseRecord) -> GoldenCase:
    body: Mapping[str, Json] = record.body
    case = Case(
        id=record.case,
        question=body["question"],
        source=body["source"],
        gold_rows=tuple(tuple(row) for row in body["gold_rows"]),
        ordered=body["ordered"],
        today=body["today"] and date.fromisoformat(body["today"]),
    )
    return GoldenCase(case, tuple(body["columns"]), tuple(body["lead"]), record.run)
