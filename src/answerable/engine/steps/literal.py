"""Kind `given`: its output is its config. So a graph can contain rows that an earlier step has already produced.

The wire name `given` is stored in graphs and must not change.
"""

from answerable.core.ids import NodeId
from answerable.core.values import Json
from answerable.engine.graph import Node
from answerable.engine.steps.base import Step
from answerable.engine.steps.descriptor import StepDescriptor

INPUT = NodeId("input")
"""The node of this kind that gives the input of a drawn graph."""


class LiteralStep:
    descriptor = StepDescriptor(name="given", config=None, produces="rows")

    def is_computed(self, _node: Node) -> bool:
        return True

    async def run(self, step: Step) -> Json:
        return step.node.config
