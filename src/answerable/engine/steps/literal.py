"""Kind `given`: its output is its config. A graph can continue from what an earlier step has found.

The wire name `given` is stored in graphs and must not change.
"""

from answerable.core.values import Json
from answerable.engine.steps.base import Step
from answerable.engine.steps.descriptor import StepDescriptor


class LiteralStep:
    descriptor = StepDescriptor(name="given", config=None, produces="rows")

    async def run(self, step: Step) -> Json:
        return step.node.config
