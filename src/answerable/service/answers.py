"""Answers: their rows, whether their data has changed since, and whether the same steps still give them."""

import asyncio
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import Field

from answerable.answers.answer import Answer, StepRecord
from answerable.answers.capsule import read_capsule
from answerable.core.context import Principal
from answerable.core.errors import AnswerableError, NotFoundError
from answerable.core.hidden_paths import HiddenPaths
from answerable.core.ids import RunId
from answerable.core.values import Frozen
from answerable.engine.steps.descriptor import DescribedStepKind
from answerable.engine.steps.sql import SqlConfig, SqlStep
from answerable.service.personal import PersonalData
from answerable.service.runs import RunService
from answerable.sources.registry import SourceRegistry
from answerable.store.base import Store

if TYPE_CHECKING:
    from answerable.answers.replay import Replay, Rerun


class ReadSource(Frozen):
    source: str
    changed: bool | None = Field(description="Since the answer; null when the source cannot be looked at now.")
    last_sync: datetime | None = Field(description="When its data was last written, as it is now.")


class Freshness(Frozen):
    run_id: str
    stale: bool = Field(description="Whether some source has changed: asked again, the answer may be another.")
    sources: list[ReadSource]


class AnswerService:
    def __init__(
        self,
        store: Store,
        runs: RunService,
        registry: SourceRegistry,
        sql: SqlStep,
        kinds: Mapping[str, DescribedStepKind],
        hidden: HiddenPaths,
        personal: PersonalData,
    ) -> None:
        """`kinds`: the step kinds that a replay may run again. `hidden`: what its errors leave out. `personal`: what
        rows leave out."""
        self._personal = personal
        self._store = store
        self._runs = runs
        self._registry = registry
        self._sql = sql
        self._kinds = kinds
        self._hidden = hidden

    async def rows_path(self, answer: Answer, principal: Principal) -> Path:
        """The Arrow file with all rows of an answer."""
        if answer.provenance.artifact is None:
            raise NotFoundError(f"The answer of {answer.run_id} has no rows.", code="rows_missing")
        rows = await self._store.artifacts.path(principal, answer.provenance.artifact)
        return await self._personal.rows_path(rows, principal)

    async def with_rows(self, answer: Answer, most: int, principal: Principal) -> Answer:
        """The answer with up to `most` rows in it."""
        if answer.provenance.artifact is None:
            return answer
        if len(answer.rows) >= min(most, answer.row_count):
            rows = list(answer.rows[:most])
        else:
            from answerable.answers import frame  # loads slowly, and small answers hold all their rows

            rows = await asyncio.to_thread(frame.rows, await self.rows_path(answer, principal), 0, most)
        provenance = answer.provenance.model_copy(update={"truncated": len(rows) < answer.row_count})
        return answer.model_copy(update={"rows": tuple(rows), "provenance": provenance})

    async def query(self, config: SqlConfig, principal: Principal) -> Path:
        """Runs one query outside of any run and returns the Arrow file with its rows. Records nothing else."""
        produced = await self._sql.query(config, principal)
        return await self._store.artifacts.path(principal, produced.frame.artifact)

    async def replay(self, run: RunId, principal: Principal) -> "Replay":
        """Runs the deterministic steps of an answer again and says whether the rows are the same."""
        from answerable.answers.replay import replay
        from answerable.engine.rerun import StepRerunner

        capsule = read_capsule((await self._store.capsules.get(principal, run)).body)
        rerunner = StepRerunner(self._kinds, self._store.artifacts)

        async def run_again(step: StepRecord) -> "Rerun | None":
            try:
                return await rerunner.run(step, principal)
            except AnswerableError as error:
                self._hidden.of(error)
                raise

        return await replay(capsule, run_again)

    async def freshness(self, run: RunId, principal: Principal) -> Freshness:
        """Whether what an answer was read from has changed since."""
        answer = await self._runs.answer(run, principal)
        marks = {step.source: step.fingerprint for step in answer.steps if step.source and step.fingerprint}
        sources = [await self._looked_at(name, mark, principal) for name, mark in marks.items()]
        return Freshness(run_id=run, stale=any(each.changed for each in sources), sources=sources)

    async def _looked_at(self, name: str, mark: str, principal: Principal) -> ReadSource:
        try:
            catalog = await (await self._registry.get(name, principal)).describe()
        except AnswerableError:  # gone or not to be reached: its own view says why
            return ReadSource(source=name, changed=None, last_sync=None)
        return ReadSource(source=name, changed=catalog.fingerprint != mark, last_sync=catalog.last_sync)
