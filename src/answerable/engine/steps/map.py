"""Kind `map`: runs a graph once for each item of a list, several at a time. Its output is the list of their outputs.

Each item is a node of the run with an end of its own in the journal, so a continued run repeats no item that has ended.
"""

from collections.abc import Mapping
from typing import Any

from pydantic import Field

from answerable.core.errors import LimitError, UserError
from answerable.core.ids import NodeId
from answerable.core.values import Frozen, Json
from answerable.engine.bindings import bound_config
from answerable.engine.graph import Graph, Node
from answerable.engine.steps.base import Step
from answerable.engine.steps.descriptor import StepDescriptor
from answerable.engine.steps.literal import INPUT
from answerable.engine.steps.subgraph import SubgraphStep

MOST_ITEMS = 100_000


class MapConfig(Frozen):
    over: Json
    graph: Json
    """The graph for one item. Its node `input` gives the object `input` with the fields `item` and `index`."""
    input: Mapping[str, Json] = {}
    concurrency: int = Field(default=8, ge=1, le=1_000)
    most: int = Field(default=10_000, ge=1, le=MOST_ITEMS)


class MapStep:
    descriptor = StepDescriptor(name="map", config=MapConfig, produces="value", label="map", is_wrapper=True)

    async def run(self, step: Step) -> Json:
        config = step.config_as(MapConfig)
        items = _items(step, config)
        if not items:
            return []
        body = Graph.parse(config.graph)
        single = _single(body)
        alone = single and single.model_copy(update={"bind": {}, "after": ()})
        inputs = ({**config.input, "item": item, "index": index} for index, item in enumerate(items))
        nodes = [
            _item(index, single, alone, item) if single and alone else _nested(index, config.graph, item)
            for index, item in enumerate(inputs)
        ]
        # Without the checks of what people write: the nodes are numbered, and none waits for another.
        outcome = await step.run_graph(Graph.model_construct(nodes=tuple(nodes), concurrency=config.concurrency))
        if outcome.error is not None:
            raise outcome.error
        step.partial = outcome.status != "done"
        outputs = [outcome.outputs.get(node.id) for node in nodes]
        return outputs if single is not None else [each and each["output"] for each in outputs]


def _items(step: Step, config: MapConfig) -> list[Any]:
    items = config.over
    if not isinstance(items, list):
        kind = "null" if items is None else type(items).__name__
        raise UserError(f"Step `{step.id}`: `over` must be a list, not {kind}.", code="map_not_a_list")
    if len(items) > config.most:
        raise LimitError(
            f"Step `{step.id}`: the list has {len(items):,} items; `most` allows {config.most:,}.",
            code="map_too_long",
            hint=f"Raise `most` (up to {MOST_ITEMS:,}), or narrow the list.",
        )
    return items


def _single(body: Graph) -> Node | None:
    """The only node of the body beside its input, which then needs no graph of its own for each item."""
    others = [node for node in body.nodes if node.id != INPUT]
    return others[0] if len(others) == 1 and not others[0].when and others[0].on is None else None


def _item(index: int, single: Node, alone: Node, item: Json) -> Node:
    """The node of an item. `alone`: the single node of the body without references to the body's input."""
    config = bound_config(single.config, single.bind, {INPUT: item}) if single.bind else single.config
    return alone.model_copy(update={"id": NodeId(str(index)), "config": config})


def _nested(index: int, graph: Json, item: Json) -> Node:
    config = {"graph": graph, "input": item}
    return Node(id=NodeId(str(index)), kind=SubgraphStep.descriptor.name, config=config)
