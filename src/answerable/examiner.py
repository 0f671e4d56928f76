"""Puts the cases of an eval to the service, as a user would ask them."""

from collections.abc import AsyncIterator
from pathlib import Path
from tempfile import TemporaryDirectory

from answerable.answers import frame
from answerable.answers.answer import Answer
from answerable.core.context import LOCAL
from answerable.core.errors import AnswerableError
from answerable.core.ids import ThreadId, new_thread_id
from answerable.engine.steps.sql import SqlConfig
from answerable.evals.cases import Case
from answerable.evals.compare import Rows
from answerable.evals.run import Attempt
from answerable.query.plan import QueryPlan
from answerable.service import Service
from answerable.sources.base import Limits

ALL_ROWS = 1_000_000


KEPT_OPEN = 4
"""Sources whose cases come one after the other are closed when this many others have been used since."""


class Examiner:
    def __init__(self, service: Service) -> None:
        self._service = service
        self._recent: list[str] = []

    async def attempt(self, case: Case, *, force: bool, thread: str | None) -> Attempt:
        await self._visit(case.source)
        conversation = ThreadId(thread) if thread else new_thread_id()
        answer = await self._service.ask(
            case.question, source=case.source, thread=conversation, force=force, today=case.today
        )
        code = next((step.code for step in reversed(answer.steps)), None)
        if answer.kind == "clarify":
            return Attempt("asked", code=code, thread=conversation, offered=self._offered(case, answer))
        if answer.provenance.error is not None:
            return Attempt("failed", code=answer.provenance.error.code, thread=conversation)
        full = await self._service.with_rows(answer, ALL_ROWS)
        return Attempt("answered", rows=full.rows, code=code, thread=conversation)

    async def _visit(self, source: str) -> None:
        self._recent = [source, *(other for other in self._recent if other != source)]
        for unused in self._recent[KEPT_OPEN:]:
            self._recent.remove(unused)
            await self._service.sources.release(unused)

    async def execute(self, case: Case, sql: str) -> Rows:
        """A gold statement is the examiner's own: it runs as it stands, with the source's isolation and limits."""
        source = await self._service.sources.get(case.source)
        with TemporaryDirectory(prefix="answerable-gold-") as folder:
            path = Path(folder) / "gold.arrow"
            await source.execute(sql, path, Limits(rows=ALL_ROWS))
            return frame.rows(path, 0, ALL_ROWS)

    async def _offered(self, case: Case, answer: Answer) -> AsyncIterator[Rows]:
        for choice in answer.choices:
            config = SqlConfig(source=case.source, plan=QueryPlan.model_validate(choice.plan))
            try:
                output = await self._service.query(config)
            except AnswerableError:
                continue  # a reading that cannot run is not the right one
            path = await self._service.store.artifacts.path(LOCAL, output.frame.artifact)
            yield frame.rows(path, 0, ALL_ROWS)
