"""Kind `join`: waits for all nodes before it and puts their outputs together."""

from typing import Literal

from answerable.core.values import Frozen, Json
from answerable.engine.graph import Node
from answerable.engine.steps.base import Step
from answerable.engine.steps.descriptor import StepDescriptor

JoinMode = Literal["object", "list", "first"]
"""`object`: the outputs by the ids of their nodes; `list`: in the order of `after`; `first`: the first that is there.
Nodes that failed or were not taken are left out."""


class JoinConfig(Frozen):
    mode: JoinMode = "object"


class JoinOutputsStep:
    descriptor = StepDescriptor(name="join", config=JoinConfig, produces="value", label="join")

    def is_computed(self, _node: Node) -> bool:
        return True

    async def run(self, step: Step) -> Json:
        mode = step.config_as(JoinConfig).mode
        taken = {node: output for node, output in step.inputs.items() if node not in step.missing}
        if mode == "object":
            return taken
        return list(taken.values()) if mode == "list" else next(iter(taken.values()), None)
