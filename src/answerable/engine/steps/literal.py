"""Kind `given`: its output is its config. So a graph can contain rows that an earlier step has already produced.

The wire name `given` is stored in graphs and must not change.
"""

from answerable.core.values import Json
from answerable.engine.steps.base import Step
from answerable.engine.steps.descriptor import StepDescriptor


class LiteralStep:
    descriptor = StepDescriptor(name="given", config=None, produces="rows")

    async def run(self, step: Step) -> Json:
        return step.node.config
