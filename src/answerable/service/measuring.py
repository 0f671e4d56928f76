"""Measures a suite of golden cases in the background, beside the users' own runs."""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from answerable.agents.question_request import QuestionRequest
from answerable.core.context import Principal
from answerable.core.errors import AnswerableError
from answerable.core.ids import EvalId, ThreadId, new_thread_id
from answerable.core.values import Json
from answerable.evals.cases import Case
from answerable.evals.compare import Rows
from answerable.evals.run import Attempt, evaluate
from answerable.evals.score import Scored
from answerable.service.eval_runner import EvalRunner
from answerable.service.golden_cases import GoldenCase
from answerable.store.protocols.evals import EvalRecord, Evals

if TYPE_CHECKING:
    from answerable.service import Service

KEPT_ROWS = 200
"""Of what a case gave, to be shown beside what was expected."""

OpenService = Callable[[], "AbstractAsyncContextManager[Service]"]
"""Opens a service whose store is in memory: measuring leaves no runs behind."""


@dataclass(slots=True)
class Underway:
    task: asyncio.Task[None]
    principal: Principal
    suite: str
    done: int = 0


class Measuring:
    """The measurements of this process that are under way."""

    def __init__(self, evals: Evals, open_service: OpenService) -> None:
        self._evals = evals
        self._open_service = open_service
        self._underway: dict[EvalId, Underway] = {}

    async def start(
        self, principal: Principal, suite: str, cases: Sequence[GoldenCase], *, eval_id: EvalId | None = None
    ) -> EvalRecord:
        """Starts to measure a suite. If it is already being measured, gives that measurement. `eval_id`: the id to give
        it; a measurement of that id whose process died is begun again, and one that has ended is given."""
        for known, each in self._underway.items():
            if (each.principal.tenant, each.suite) == (principal.tenant, suite):
                return await self._evals.get(principal, known)
        record = await self._evals.begin(principal, suite, {"cases": len(cases)}, eval=eval_id)
        if record.status != "running":
            return record
        task = asyncio.create_task(self._measure(principal, record.eval, cases))
        self._underway[record.eval] = Underway(task, principal, suite)
        task.add_done_callback(lambda _: self._underway.pop(record.eval, None))
        return record

    def done(self, eval_id: EvalId) -> int | None:
        """How many cases have been measured, or None if this process does not measure them."""
        return self._underway[eval_id].done if eval_id in self._underway else None

    async def wait(self, eval_id: EvalId) -> None:
        """Waits for the end of a measurement of this process."""
        if eval_id in self._underway:
            await asyncio.wait([self._underway[eval_id].task])

    async def close(self) -> None:
        tasks = [each.task for each in self._underway.values()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _measure(self, principal: Principal, eval_id: EvalId, cases: Sequence[GoldenCase]) -> None:
        try:
            body = await self._measured(principal, eval_id, cases)
        except AnswerableError as error:
            problem = {"code": error.stable_code, "message": error.message}
            await self._evals.finish(principal, eval_id, "failed", {"cases": len(cases), "error": problem})
        else:
            await self._evals.finish(principal, eval_id, "done", body)

    async def _measured(self, principal: Principal, eval_id: EvalId, cases: Sequence[GoldenCase]) -> Json:
        def progress(done: int, _total: int, _scored: Scored) -> None:
            self._underway[eval_id].done = done

        async with self._open_service() as service:
            runner = RememberingRunner(service, cases, principal)
            report = await evaluate([each.case for each in cases], runner, progress=progress)
        results = [
            {**scored.model_dump(mode="json"), "rows": runner.rows.get(scored.id, [])} for scored in report.results
        ]
        return {**report.model_dump(mode="json", exclude={"results"}), "results": results}


class RememberingRunner:
    """An eval runner that first asks the questions which lead to a case, and remembers the rows that each case gave."""

    def __init__(self, service: "Service", cases: Sequence[GoldenCase], principal: Principal) -> None:
        self._service = service
        self._principal = principal
        self._runner: EvalRunner = service.evals.runner(principal)
        self._leads = {each.case.id: each.lead for each in cases}
        self.rows: dict[str, list[Json]] = {}

    async def attempt(self, case: Case, *, force: bool, thread: str | None) -> Attempt:
        for question in self._leads.get(case.id, ()):
            thread = thread or new_thread_id()
            request = QuestionRequest(question, (case.source,), ThreadId(thread), today=case.today, experience=False)
            await self._service.questions.ask(request, self._principal)
        attempt = await self._runner.attempt(case, force=force, thread=thread)
        self.rows[case.id] = [list(row) for row in attempt.rows[:KEPT_ROWS]]
        return attempt

    async def execute(self, case: Case, sql: str) -> Rows:
        return await self._runner.execute(case, sql)
