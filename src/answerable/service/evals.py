"""Evals: golden cases stored, suites measured, and how they did."""

import asyncio
import re
from collections.abc import Callable, Mapping, Sequence

from answerable.answers.answer import Answer
from answerable.core.context import Principal
from answerable.core.errors import LimitError, NotFoundError, RefusedError, UserError
from answerable.core.ids import EvalId, RunId
from answerable.core.values import Json
from answerable.engine.steps.understand import Mode
from answerable.evals.cases import BUNDLED, load_cases
from answerable.service.answers import AnswerService
from answerable.service.eval_runner import EvalRunner
from answerable.service.eval_views import (
    EvalCaseDetail,
    EvalCaseSummary,
    EvalRun,
    EvalSuite,
    EvalSuiteDetail,
    case_detail,
    case_summary,
    eval_run,
    last_results,
    suite_view,
)
from answerable.service.golden_cases import GoldenCase, free_case_id, golden_case
from answerable.service.keyed_requests import KeyedAttempt
from answerable.service.measuring import Measuring, OpenService
from answerable.service.questions import QuestionService
from answerable.service.run_carrier import ended
from answerable.service.runs import RunService
from answerable.service.wrong_answers import Judgement, WrongAnswer, WrongPart, wrong_answer, wrong_body
from answerable.sources.registry import SourceRegistry
from answerable.store.base import RunRecord, Store
from answerable.store.protocols.evals import TO_MEND, CaseRecord

MOST_GOLD_ROWS = 10_000
SUITE_NAME = r"^[a-z0-9][a-z0-9_-]{0,59}$"
"""A suite is part of an address, so its name has only letters that need no escape there."""
TREND = 50
_ASKED = ("question", "source")


class EvalService:
    def __init__(
        self,
        store: Store,
        registry: SourceRegistry,
        questions: QuestionService,
        runs: RunService,
        answers: AnswerService,
        open_service: OpenService,
    ) -> None:
        self._store = store
        self._registry = registry
        self._questions = questions
        self._runs = runs
        self._answers = answers
        self._measuring = Measuring(store.evals, open_service)

    async def close(self) -> None:
        await self._measuring.close()

    def runner(self, principal: Principal, mode: Mode = "auto", *, counting: bool = False) -> EvalRunner:
        """Puts cases to this service. `counting`: whether what models were asked is looked up for each case."""
        return EvalRunner(
            self._questions, self._runs, self._answers, self._registry, principal, mode, counting=counting
        )

    # Suites and cases

    async def cases(self, principal: Principal) -> Mapping[str, Sequence[GoldenCase]]:
        """All cases by suite: those that come with the package first."""
        found: dict[str, list[GoldenCase]] = {}
        for name in BUNDLED:
            try:
                found[name] = [GoldenCase(case) for case in await asyncio.to_thread(load_cases, name)]
            except NotFoundError:
                continue  # not part of this installation
        for record in await self._store.evals.cases(principal):
            found.setdefault(record.suite, []).append(golden_case(record))
        return found

    async def suites(self, principal: Principal) -> Sequence[EvalSuite]:
        found = await self.cases(principal)
        return [await self._suite_view(name, cases, principal) for name, cases in found.items()]

    async def suite(self, name: str, principal: Principal) -> EvalSuiteDetail:
        """A suite, and how each of its cases did when it was last measured."""
        cases = await self._cases_of(name, principal)
        last, before = last_results(await self._store.evals.recent(principal, name, limit=TREND))
        listed = [case_summary(each, last, before) for each in cases]
        return EvalSuiteDetail(suite=await self._suite_view(name, cases, principal), cases=listed)

    async def case(self, suite: str, case_id: str, principal: Principal) -> EvalCaseDetail:
        """One case: what was expected, and what it gave."""
        cases = await self._cases_of(suite, principal)
        found = next((each for each in cases if each.case.id == case_id), None)
        if found is None:
            raise NotFoundError(f"The suite {suite!r} has no case {case_id!r}.", code="case_unknown")
        last, _ = last_results(await self._store.evals.recent(principal, suite, limit=TREND))
        return case_detail(found, last.get(case_id, {}))

    async def add_case(
        self,
        suite: str,
        run: RunId,
        principal: Principal,
        *,
        case_id: str | None = None,
        ordered: bool = False,
        attempt: KeyedAttempt | None = None,
    ) -> EvalCaseSummary:
        """Creates a golden case from a run whose answer is right, and the suite if there is none of this name.
        `ordered`: whether the order of the rows counts. `attempt`: of a request that may have been carried out before;
        its case is then not created again."""
        _check_name(suite)
        _check_own(suite)
        record = await self._runs.get(run, principal)
        gold = await self._gold(record, await self._runs.answer(run, principal), ordered, principal)
        known = {each.case.id: each for each in (await self.cases(principal)).get(suite, ())}
        if attempt is not None and attempt.note is not None:
            existing = known.get(attempt.note)
            if existing is not None and existing.run == run:
                return case_summary(existing, {}, {})
        stored = await self._stored_case(principal, suite, case_id, gold, record, set(known), attempt)
        # The question has its right answer now, so earlier wrong answers to it are mended.
        await self._forget_wrong(principal, lambda known: all(known.body[name] == gold[name] for name in _ASKED))
        return case_summary(golden_case(stored), {}, {})

    async def _stored_case(
        self,
        principal: Principal,
        suite: str,
        case_id: str | None,
        gold: dict[str, Json],
        record: RunRecord,
        taken: set[str],
        attempt: KeyedAttempt | None,
    ) -> CaseRecord:
        """A name that somebody else has taken, whose cases the person does not see, is passed over in silence."""
        while True:
            name = case_id or free_case_id(gold["question"], taken)
            if attempt is not None and name not in taken:
                await attempt.remember(name)
            try:
                return await self._store.evals.put_case(principal, suite, name, gold, run=record.run)
            except UserError as error:
                if case_id is not None or error.stable_code != "case_exists":
                    raise
                taken.add(name)

    async def remove_case(self, suite: str, case_id: str, principal: Principal) -> None:
        _check_own(suite)
        await self._store.evals.delete_case(principal, suite, case_id)

    # Wrong answers

    async def call_wrong(self, run: RunId, what: WrongPart, principal: Principal, *, note: str = "") -> WrongAnswer:
        """Keeps the answer of a run as a case to mend. `what`: which part is wrong; `note`: what would be right. An
        answer that was called wrong before is kept with the newest reason only."""
        record = await self._runs.get(run, principal)
        if record.question is None or not ended(record):
            raise UserError("Only the answer to a question can be called wrong.", code="case_unfit")
        answer = await self._runs.answer(run, principal)
        await self._forget_wrong(principal, lambda known: known.run == run)
        body = wrong_body(record, answer, what, note)
        return wrong_answer(await self._store.evals.put_case(principal, TO_MEND, str(run), body, run=run))

    async def wrong_answers(self, principal: Principal) -> Sequence[WrongAnswer]:
        """The answers that were called wrong, newest first."""
        return [wrong_answer(record) for record in reversed(await self._store.evals.to_mend(principal))]

    async def judgement(self, run: RunId, principal: Principal) -> Judgement:
        """Whether the answer of a run became a golden case, or was called wrong."""
        await self._runs.get(run, principal)
        golden = next((case for case in await self._store.evals.cases(principal) if case.run == run), None)
        wrong = next((case for case in await self._store.evals.to_mend(principal) if case.run == run), None)
        return Judgement(
            golden=golden.case if golden else None,
            suite=golden.suite if golden else None,
            wrong=wrong_answer(wrong) if wrong else None,
        )

    async def take_back(self, run: RunId, principal: Principal) -> None:
        """The answer of this run is no longer called wrong."""
        await self._store.evals.delete_case(principal, TO_MEND, str(run))

    # Measuring

    async def measure(self, suite: str, principal: Principal, *, eval_id: EvalId | None = None) -> EvalRun:
        """Starts measuring a suite in the background. If it is already being measured, gives that measurement.
        `eval_id`: the id to give it; the measurement of a request that is repeated keeps its id."""
        record = await self._measuring.start(principal, suite, await self._cases_of(suite, principal), eval_id=eval_id)
        return eval_run(record, self._measuring.done(record.eval))

    async def measurement(self, suite: str, eval_id: EvalId, principal: Principal) -> EvalRun:
        record = await self._store.evals.get(principal, eval_id)
        if record.suite != suite:
            raise NotFoundError(f"The suite {suite!r} has no eval {eval_id}.", code="eval_not_found")
        return eval_run(record, self._measuring.done(record.eval))

    async def measurements(self, suite: str, principal: Principal) -> Sequence[EvalRun]:
        """The measurements of a suite, newest first."""
        records = await self._store.evals.recent(principal, suite, limit=TREND)
        return [eval_run(record, self._measuring.done(record.eval)) for record in records]

    async def wait(self, suite: str, eval_id: EvalId, principal: Principal) -> EvalRun:
        """Waits for the end of a measurement that this process carries out."""
        await self._measuring.wait(eval_id)
        return await self.measurement(suite, eval_id, principal)

    # Parts

    async def _forget_wrong(self, principal: Principal, is_it: Callable[[CaseRecord], bool]) -> None:
        for known in await self._store.evals.to_mend(principal):
            if is_it(known):
                await self._store.evals.delete_case(principal, TO_MEND, known.case)

    async def _cases_of(self, suite: str, principal: Principal) -> Sequence[GoldenCase]:
        found = (await self.cases(principal)).get(suite)
        if found is None:
            raise NotFoundError(f"There is no suite {suite!r}.", code="suite_unknown")
        return found

    async def _suite_view(self, name: str, cases: Sequence[GoldenCase], principal: Principal) -> EvalSuite:
        return suite_view(name, cases, await self.measurements(name, principal), bundled=name in BUNDLED)

    async def _gold(self, record: RunRecord, answer: Answer, ordered: bool, principal: Principal) -> dict[str, Json]:
        if record.question is None or answer.provenance.artifact is None or len(record.sources) != 1:
            raise UserError(
                "Only an answer with rows, to a question about one source, can become a golden case.", code="case_unfit"
            )
        if answer.row_count > MOST_GOLD_ROWS:
            raise LimitError(f"A golden case holds {MOST_GOLD_ROWS:,} rows at most.", code="case_too_large")
        full = await self._answers.with_rows(answer, MOST_GOLD_ROWS, principal)
        catalog = await (await self._registry.get(record.sources[0], principal)).describe()
        return {
            "question": record.question,
            "source": record.sources[0],
            "gold_rows": [list(row) for row in full.rows],
            "columns": [column.name for column in answer.columns],
            "ordered": ordered,
            "today": None if catalog.as_of else record.created_at.date().isoformat(),
            "lead": await self._lead(record, principal),
        }

    async def _lead(self, record: RunRecord, principal: Principal) -> list[str]:
        """Returns the earlier questions of the conversation: a follow-up cannot be understood without them."""
        if record.thread is None:
            return []
        messages = await self._store.threads.messages(principal, record.thread)
        asked = [message for message in messages if message.role == "user"]
        place = next((number for number, message in enumerate(asked) if message.run == record.run), 0)
        return [message.content for message in asked[:place]]


def _check_name(suite: str) -> None:
    if not re.match(SUITE_NAME, suite):
        raise UserError(
            f"{suite!r} cannot be the name of a suite.",
            code="suite_name_invalid",
            hint="Take up to 60 small letters, digits, _ and -; begin with a letter or digit.",
        )


def _check_own(suite: str) -> None:
    if suite in BUNDLED:
        raise RefusedError(f"The suite {suite!r} comes with the package and stays as it is.", code="suite_bundled")
    if suite == TO_MEND:
        raise RefusedError(f"The suite {suite!r} holds answers that were called wrong.", code="suite_bundled")
