"""Kind `loop`: runs a graph again and again until a condition holds, but no more than `most` times.

Each round is a node of the run, so a continued run repeats no round that has ended. The output is that of the last one.
"""

from collections.abc import Mapping
from typing import Literal

from pydantic import Field

from answerable.core.errors import LimitError
from answerable.core.ids import NodeId
from answerable.core.values import Frozen, Json
from answerable.engine.conditions import holds
from answerable.engine.graph import Condition, Graph, Node
from answerable.engine.steps.base import Step
from answerable.engine.steps.descriptor import StepDescriptor
from answerable.engine.steps.subgraph import SubgraphStep

MOST_ROUNDS = 1_000


class LoopConfig(Frozen):
    graph: Json
    """The graph of one round. Its node `input` gives the object `input` with the fields `previous` (the output of the
    round before, or `start`) and `round` (from 1 on)."""
    input: Mapping[str, Json] = {}
    start: Json = None
    until: tuple[Condition, ...] = ()
    """Tests of the output of a round. Without any, the loop runs `most` times."""
    most: int = Field(default=10, ge=1, le=MOST_ROUNDS)
    exhausted: Literal["fail", "keep"] = "fail"
    """What to do if the condition does not hold after `most` rounds: fail, or keep the last output."""


class LoopStep:
    descriptor = StepDescriptor(name="loop", config=LoopConfig, produces="value", label="loop", is_wrapper=True)

    async def run(self, step: Step) -> Json:
        config = step.config_as(LoopConfig)
        output = config.start
        for round in range(1, config.most + 1):
            output = await _round(step, config, round, output)
            if config.until and all(holds(each, output) for each in config.until):
                return output
        if config.until and config.exhausted == "fail":
            raise LimitError(
                f"Step `{step.id}`: `until` did not hold after {config.most} rounds.",
                code="loop_exhausted",
                hint="Raise `most`, or say `exhausted: keep` to go on with the last output.",
            )
        return output


async def _round(step: Step, config: LoopConfig, round: int, previous: Json) -> Json:
    body_input = {**config.input, "previous": previous, "round": round}
    id = NodeId(str(round))
    node = Node(id=id, kind=SubgraphStep.descriptor.name, config={"graph": config.graph, "input": body_input})
    outcome = await step.run_graph(Graph(nodes=(node,)))
    if outcome.error is not None:
        raise outcome.error
    step.partial = step.partial or outcome.status != "done"
    return outcome.outputs[id]["output"]
