"""Puts the cases of an eval to the service, as a user would ask them."""

from collections.abc import AsyncIterator
from pathlib import Path
from tempfile import TemporaryDirectory

from answerable.agents.question_request import QuestionRequest
from answerable.answers import frame
from answerable.answers.answer import Answer
from answerable.core.context import Principal
from answerable.core.errors import AnswerableError
from answerable.core.ids import RunId, ThreadId, new_thread_id
from answerable.engine.steps.present import usage_in
from answerable.engine.steps.sql import SqlConfig
from answerable.engine.steps.understand import Mode
from answerable.evals.cases import Case
from answerable.evals.compare import Rows
from answerable.evals.run import NO_COST, Attempt
from answerable.evals.score import Spent
from answerable.query.plan import QueryPlan
from answerable.query.sql.operator import operator_query
from answerable.service.answers import AnswerService
from answerable.service.questions import QuestionService
from answerable.service.runs import RunService
from answerable.sources.base import Limits
from answerable.sources.registry import SourceRegistry

ALL_ROWS = 1_000_000


KEPT_OPEN = 4
"""Sources whose cases come one after the other are closed when this many others have been used since."""


class EvalRunner:
    def __init__(
        self,
        questions: QuestionService,
        runs: RunService,
        answers: AnswerService,
        registry: SourceRegistry,
        principal: Principal,
        mode: Mode = "auto",
        *,
        counting: bool = False,
    ) -> None:
        """`counting`: whether what models were asked is looked up for each case."""
        self._questions = questions
        self._runs = runs
        self._answers = answers
        self._registry = registry
        self._principal = principal
        self._mode = mode
        self._counting = counting
        self._recent: list[str] = []

    async def attempt(self, case: Case, *, force: bool, thread: str | None) -> Attempt:
        await self._visit(case.source)
        conversation = ThreadId(thread) if thread else new_thread_id()
        request = QuestionRequest(
            case.question,
            (case.source,),
            conversation,
            force=force,
            today=case.today,
            mode=self._mode,
            experience=False,
            stand_in=False,
        )
        answer = await self._questions.ask(request, self._principal)
        spent = await self._spent(answer.run_id) if self._counting else NO_COST
        code = next((step.code for step in reversed(answer.steps)), None)
        if (error := answer.provenance.error) is not None:
            return Attempt("failed", code=error.code, reason=error.message, thread=conversation, spent=spent)
        if answer.kind == "clarify" or answer.provenance.artifact is None:
            offered = self._offered(case, answer)
            return Attempt("asked", code=code, thread=conversation, spent=spent, offered=offered)
        full = await self._answers.with_rows(answer, ALL_ROWS, self._principal)
        sure = answer.provenance.confidence
        return Attempt("answered", rows=full.rows, code=code, thread=conversation, confidence=sure, spent=spent)

    async def _spent(self, run: RunId) -> Spent:
        """What a run has spent, by its own record, which a failed run has too."""
        used = usage_in(await self._runs.journal(run, self._principal))
        return Spent(
            calls=used.model_calls,
            input_tokens=used.input_tokens,
            output_tokens=used.output_tokens,
            cost_usd=used.cost_usd,
        )

    async def _visit(self, source: str) -> None:
        self._recent = [source, *(other for other in self._recent if other != source)]
        for unused in self._recent[KEPT_OPEN:]:
            self._recent.remove(unused)
            await self._registry.release(unused, self._principal)

    async def execute(self, case: Case, sql: str) -> Rows:
        """The rows of a gold statement, which runs as the operator wrote it."""
        source = await self._registry.get(case.source, self._principal)
        with TemporaryDirectory(prefix="answerable-gold-") as folder:
            path = Path(folder) / "gold.arrow"
            await source.execute(operator_query(sql, source.languages[0]), path, Limits(rows=ALL_ROWS))
            return frame.rows(path, 0, ALL_ROWS)

    async def _offered(self, case: Case, answer: Answer) -> AsyncIterator[Rows]:
        for choice in answer.choices:
            if choice.plan is None:
                continue  # a reading in words: what it gives is known only when it is asked
            config = SqlConfig(source=case.source, plan=QueryPlan.model_validate(choice.plan))
            try:
                path = await self._answers.query(config, self._principal)
            except AnswerableError:
                continue  # a reading that cannot run is not the right one
            yield frame.rows(path, 0, ALL_ROWS)
