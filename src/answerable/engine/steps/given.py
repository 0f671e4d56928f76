"""Kind `given`: gives what its config says, so that a graph can go on from what an earlier step has found."""

from answerable.core.values import Json
from answerable.engine.steps.base import Step


class GivenStep:
    async def run(self, step: Step) -> Json:
        return step.node.config
