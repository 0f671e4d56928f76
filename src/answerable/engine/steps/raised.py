"""Kind `raise`: fails with a message that the graph words."""

from pydantic import Field

from answerable.core.errors import UserError
from answerable.core.values import Frozen, Json
from answerable.engine.steps.base import Step
from answerable.engine.steps.descriptor import StepDescriptor

LONGEST = 1_000
"""Characters of a message."""


class RaiseConfig(Frozen):
    message: str = Field(min_length=1)


class RaiseStep:
    descriptor = StepDescriptor(name="raise", config=RaiseConfig, produces="value", label="raise")

    async def run(self, step: Step) -> Json:
        raise UserError(step.config_as(RaiseConfig).message[:LONGEST], code="graph_raised")
