"""Runs a step that an answer tells of once more."""

from dataclasses import dataclass

from answerable.answers.answer import StepRecord
from answerable.answers.replay import Rerun
from answerable.core.context import Principal
from answerable.core.ids import ArtifactId
from answerable.engine.steps.combine import CombineStep
from answerable.engine.steps.python import Program, PythonStep
from answerable.engine.steps.sql import SqlConfig, SqlStep
from answerable.store.base import Artifacts


@dataclass(frozen=True, slots=True)
class Again:
    sql: SqlStep
    combine: CombineStep
    python: PythonStep
    artifacts: Artifacts

    async def run(self, step: StepRecord, principal: Principal) -> Rerun:
        assert step.artifact is not None
        fresh, fingerprint = await self._rows(step, principal)
        return Rerun(
            recorded=await self.artifacts.path(principal, step.artifact),
            fresh=await self.artifacts.path(principal, fresh),
            artifact=fresh,
            fingerprint=fingerprint,
        )

    async def _rows(self, step: StepRecord, principal: Principal) -> tuple[ArtifactId, str | None]:
        """The rows of now: a query asks its source again, a program gets the rows that it was given then."""
        if step.kind == "python":
            program = Program(step.code or "", step.inputs, step.sandbox)
            _ran, kept = await self.python.execute(program, principal)
            return kept.frame.artifact, step.fingerprint
        if step.kind == "combine":
            frame = await self.combine.repeat(step.code or "", step.inputs, principal)
            return frame.artifact, step.fingerprint
        assert step.source is not None
        fresh = await self.sql.query(SqlConfig(source=step.source, sql=step.code), principal)
        return fresh.frame.artifact, fresh.fingerprint
