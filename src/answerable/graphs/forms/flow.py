"""Nodes that decide what runs: `router`, `map`, `join`, `loop` and `subgraph`."""

from collections.abc import Mapping, Sequence

from answerable.core.values import Json
from answerable.engine.steps.join import JoinOutputsStep
from answerable.engine.steps.loop import LoopStep
from answerable.engine.steps.map import MapStep
from answerable.engine.steps.router import RouterStep
from answerable.engine.steps.subgraph import SubgraphStep
from answerable.graphs import types
from answerable.graphs.definition import JoinNode, LoopNode, MapNode, RouterNode, SubgraphNode
from answerable.graphs.forms.form import Around, CompiledBody, Form, body_input_schema, values_in, written_schema
from answerable.graphs.inputs import with_defaults
from answerable.graphs.types import Schema

_OUTPUT = "output"
"""What the output of a round is called in the `until` of a loop."""


def router(node: RouterNode, around: Around) -> Form:
    routes = {name: _route(name, written, around) for name, written in node.routes.items()}
    if node.default is not None:
        routes[node.default] = []
    gives = {"type": "string", "enum": list(routes)}
    return Form(RouterStep.descriptor, {"routes": routes}, gives=gives)


def _route(name: str, written: str | Sequence[str], around: Around) -> Json:
    conditions = around.compiling.conditions(written, around.schemas, (*around.place, "routes", name))
    return [each.model_dump(mode="json") for each in conditions]


def map_over(node: MapNode, around: Around) -> Form:
    over = written_schema(node.over, around.schemas)
    if types.type_of(over) not in (None, "array"):
        problem = f"a map goes over a list, and this is a {types.type_of(over)}"
        raise around.error(("over",), problem)
    items = over.get("items", types.ANYTHING)
    input_schema = body_input_schema(node.input, around.schemas, item=items, index={"type": "integer"})
    body = around.body(node.body, input_schema)
    config = {
        "over": node.over,
        "graph": body.graph.document,
        "input": dict(node.input),
        "concurrency": node.concurrency,
        "most": node.most,
    }
    return Form(MapStep.descriptor, config, values_in(over=node.over, input=node.input), types.list_of(body.gives))


def join(node: JoinNode, around: Around) -> Form:
    return Form(JoinOutputsStep.descriptor, {"mode": node.mode}, gives=_joined(node, around.parents, around.schemas))


def _joined(node: JoinNode, parents: Sequence[str], schemas: Mapping[str, Schema]) -> Schema:
    if node.mode == "object":
        return types.object_of(**{parent: schemas[parent] for parent in parents})
    return types.list_of(types.ANYTHING) if node.mode == "list" else types.ANYTHING


def loop(node: LoopNode, around: Around) -> Form:
    input_schema = body_input_schema(node.input, around.schemas, previous=types.ANYTHING, round={"type": "integer"})
    body = around.body(node.body, input_schema)
    config = {
        "graph": body.graph.document,
        "input": dict(node.input),
        "start": node.start,
        "until": _until(node, body.gives, around),
        "most": node.most,
        "exhausted": node.exhausted,
    }
    return Form(LoopStep.descriptor, config, values_in(input=node.input, start=node.start), body.gives)


def _until(node: LoopNode, gives: Schema, around: Around) -> Json:
    conditions = around.compiling.conditions(node.until, {_OUTPUT: gives}, (*around.place, "until"))
    wrong = next((each for each in conditions if each.input != _OUTPUT), None)
    if wrong is not None:
        raise around.error(("until",), f"`{wrong}` must be about `{_OUTPUT}`, the output of a round")
    return [each.model_dump(mode="json") for each in conditions]


def subgraph(node: SubgraphNode, around: Around) -> Form:
    if node.body is not None:
        body = around.body(node.body, body_input_schema(node.input, around.schemas))
        config: dict[str, Json] = {"graph": body.graph.document, "input": dict(node.input)}
    else:
        assert node.graph is not None
        body, config = _stored(node.graph, node.input, around)
    gives = types.object_of(status=types.TEXT, output=body.gives, outputs={}, errors={})
    return Form(SubgraphStep.descriptor, config, values_in(input=node.input), gives)


def _stored(name: str, values: Mapping[str, Json], around: Around) -> tuple[CompiledBody, dict[str, Json]]:
    """A stored graph as it is now. Its text, its defaults and its input count, not those around it."""
    found = around.world.stored[name]
    body = around.compiling.stored(found)
    schema = found.definition.input
    filled = with_defaults(schema, values)
    missing = next((each for each in schema.get("required", ()) if each not in filled), None)
    if missing is not None:
        raise around.error(("input",), f"the graph `{name}` needs `{missing}` in its input")
    config = {"graph": body.graph.document, "input": filled, "schema": schema, "stored": found.name}
    return body, config
