"""Runs a step of a recorded answer again, for replay."""

from collections.abc import Mapping
from dataclasses import dataclass

from answerable.answers.answer import StepRecord
from answerable.answers.replay import Rerun
from answerable.core.context import Principal
from answerable.engine.steps.base import StepKind
from answerable.engine.steps.descriptor import RepeatableStepKind
from answerable.store.base import Artifacts


@dataclass(frozen=True, slots=True)
class StepRerunner:
    kinds: Mapping[str, StepKind]
    artifacts: Artifacts

    async def run(self, step: StepRecord, principal: Principal) -> Rerun | None:
        """Runs the step and returns its new rows beside the recorded ones, or None if its kind cannot be repeated."""
        kind = self.kinds.get(step.kind)
        if not isinstance(kind, RepeatableStepKind):
            return None
        assert step.artifact is not None
        fresh = await kind.repeat(step, principal)
        return Rerun(
            recorded=await self.artifacts.path(principal, step.artifact),
            fresh=await self.artifacts.path(principal, fresh.artifact),
            artifact=fresh.artifact,
            fingerprint=fresh.fingerprint,
        )
