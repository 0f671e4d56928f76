"""A drawn graph becomes a graph of the engine. Everything that can be known before a run is checked on the way.

A body (the graph itself, or the graph inside a `map`, `loop` or `subgraph`) becomes a node `input` that gives its
input, and a node of the engine for each node. The outermost graph also gets a last node that makes the run's answer.
What each kind of node becomes is in `forms/`.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from answerable.core.errors import GraphError, UserError
from answerable.core.ids import NodeId
from answerable.core.values import Json
from answerable.core.yaml_text import FieldPath, Marks, did_you_mean
from answerable.engine.graph import Condition, Graph, Node
from answerable.engine.steps.graph_answer import GraphAnswerStep
from answerable.engine.steps.literal import INPUT, LiteralStep
from answerable.engine.templates import Reference, references
from answerable.graphs import types
from answerable.graphs.conditions import condition, listed, parsed
from answerable.graphs.definition import (
    AgentNode,
    ApiNode,
    Body,
    CommonNode,
    Defaults,
    GraphDefinition,
    LoopNode,
    RouterNode,
    ToolNode,
)
from answerable.graphs.expressions import names_in
from answerable.graphs.forms.form import Around, CompiledBody, Form, World
from answerable.graphs.forms.kinds import FORMS
from answerable.graphs.named_agents import NamedAgents
from answerable.graphs.stored import StoredGraph, StoredGraphs
from answerable.graphs.types import Schema

ANSWER = NodeId("answer")
RESERVED = (INPUT, ANSWER)


@dataclass(frozen=True, slots=True)
class CompiledGraph:
    graph: Graph
    sources: tuple[str, ...]


def compiled(
    definition: GraphDefinition,
    marks: Marks,
    *,
    longest: float | None = None,
    name_source: Callable[[str], str] = str,
    default_source: str = "demo",
    apis: Mapping[str, Mapping[str, Json]] | None = None,
    stored: StoredGraphs | None = None,
    agents: NamedAgents | None = None,
) -> CompiledGraph:
    """The graph for the engine, still without an input. Raises a `GraphError` with the place of the first mistake.
    `longest`: seconds for one attempt of a node, if nothing else is said; `name_source` gives the name under which a
    source is recorded; `apis`: the settings of each API by its name; `stored`: the stored graphs
    that it runs, as they are named in it; `agents`: the same for agents."""
    world = World(longest, name_source, default_source, apis or {}, stored or {}, agents or {})
    body = _Compiler(marks, definition.defaults, world).whole(definition)
    outputs = _outputs(definition.body, body.graph)
    answer = Node(
        id=ANSWER,
        kind=GraphAnswerStep.descriptor.name,
        config={"graph": definition.name, "outputs": outputs, "input": definition.input},
        after=(INPUT, *outputs),
        final=True,
    )
    graph = body.graph.model_copy(
        update={
            "nodes": (*body.graph.nodes, answer),
            "output": outputs[0] if len(outputs) == 1 else ANSWER,
            "budget": definition.budget,
        }
    )
    return CompiledGraph(graph, tuple(dict.fromkeys(world.sources)))


def _outputs(body: Body, graph: Graph) -> list[NodeId]:
    """The nodes whose outputs are the graph's."""
    return [NodeId(body.output)] if body.output is not None else [node for node in graph.last if node != INPUT]


class _Compiler:
    """Compiles one text: the graph, or a stored graph that it runs."""

    def __init__(self, marks: Marks, defaults: Defaults, world: World) -> None:
        self.marks = marks
        self._defaults = defaults
        self.world = world

    def whole(self, definition: GraphDefinition) -> CompiledBody:
        types.check_written(definition.input, ("input",), self.marks)
        kind_of_input = types.type_of(definition.input)
        if kind_of_input not in (None, "object"):
            raise self.marks.error(("input",), f"the input is an object, not a {kind_of_input}")
        return self.body(definition.body, (), definition.input)

    def stored(self, found: StoredGraph) -> CompiledBody:
        """A stored graph: its own text and defaults count, not those around it."""
        return _Compiler(found.marks, found.definition.defaults, self.world).whole(found.definition)

    def body(self, body: Body, path: FieldPath, input_schema: Schema) -> CompiledBody:
        for id in body.nodes:
            self._check_id(id, (*path, "nodes", id))
        if body.output is not None and body.output not in body.nodes:
            raise self._unknown(body.output, body.nodes, (*path, "output"))
        nodes, schemas = self._nodes(body, path, input_schema)
        graph = self._graph(body, nodes, path)
        outputs = _outputs(body, graph)
        if len(outputs) == 1:  # else a body that does not use its input would also give that
            graph = graph.model_copy(update={"output": outputs[0]})
        gives = schemas[outputs[0]] if len(outputs) == 1 else types.object_of(**{id: schemas[id] for id in outputs})
        return CompiledBody(graph, gives)

    def _nodes(self, body: Body, path: FieldPath, input_schema: Schema) -> tuple[list[Node], dict[str, Schema]]:
        parents = {
            id: self._parents(id, node, body, (*path, "nodes", id), input_schema) for id, node in body.nodes.items()
        }
        schemas: dict[str, Schema] = {INPUT: input_schema}
        nodes = {}
        # In an order in which the schemas of all nodes before a node are known.
        for id in _ordered(parents):
            place = (*path, "nodes", id)
            node = body.nodes[id]
            form = FORMS[type(node)](node, Around(parents[id], schemas, place, self))
            schemas[id] = form.gives
            nodes[id] = self._node(id, node, form, parents[id], schemas, place)
        first = Node(id=INPUT, kind=LiteralStep.descriptor.name, config={})
        return [first, *(nodes[id] for id in body.nodes if id in nodes)], schemas

    def _graph(self, body: Body, nodes: Sequence[Node], path: FieldPath) -> Graph:
        try:
            return Graph(
                nodes=tuple(nodes),
                strategy=body.strategy,
                concurrency=body.concurrency,
                output=NodeId(body.output) if body.output is not None else None,
            )
        except GraphError as error:
            node = error.details.get("node")
            place = (*path, "nodes", str(node)) if node else (*path, "nodes")
            raise self.marks.error(place, error.message.removeprefix(f"Node `{node}`: "), error.hint) from error

    def _parents(
        self, id: str, node: CommonNode, body: Body, place: FieldPath, input_schema: Schema
    ) -> tuple[str, ...]:
        """The nodes that a node comes after: those that it names, and those that it refers to."""
        named: dict[str, None] = {}
        for number, parent in enumerate(node.after):
            if parent != INPUT and parent not in body.nodes:
                raise self._unknown(parent, body.nodes, (*place, "after", number))
            named[parent] = None
        for where, found in self._references(node, place, body.nodes):
            if found.name != INPUT and found.name not in body.nodes:
                raise self._unknown(found.name, body.nodes, where)
            named[found.name] = None
        return tuple(named)

    def _references(
        self, node: CommonNode, place: FieldPath, nodes: Collection[str]
    ) -> Iterator[tuple[FieldPath, Reference]]:
        """Every reference of a node to the scope around it, with the place where it stands. `nodes`: of that scope."""
        for name in type(node).model_fields:
            value, where = getattr(node, name), (*place, name)
            if name in ("kind", "title", "after", "on", "graph", "output", "fallback", "retry", "code", "instructions"):
                continue
            if isinstance(value, Body):  # it has a scope of its own
                continue
            try:
                if name == "expression" and value is not None:
                    yield from ((where, Reference(each, ())) for each in sorted(names_in(value, nodes)))
                elif name == "when" or (name == "routes" and isinstance(node, RouterNode)):
                    for written in (value,) if name == "when" else value.values():
                        yield from ((where, parsed(each)[0]) for each in listed(written))
                elif name != "until" or not isinstance(node, LoopNode):
                    yield from ((where, each) for each in references(value))
            except UserError as error:
                raise self.marks.error(where, error.message.rstrip("."), error.hint) from error

    def _node(
        self,
        id: str,
        node: CommonNode,
        form: Form,
        parents: Sequence[str],
        schemas: Mapping[str, Schema],
        place: FieldPath,
    ) -> Node:
        for where, found in self._references(node, place, parents):
            self.schema(found, schemas, where)
        if node.retry is not None and node.retry.attempts > 1 and _writes_inside(form.config):
            # Each attempt of a wrapper has nodes of its own, whose writes nobody would recognise as repetitions.
            problem = "it cannot be tried again, because a node inside of it writes"
            raise self.marks.error((*place, "retry"), problem, "Give `retry` to the nodes inside.")
        fields: dict[str, Any] = {
            "id": NodeId(id),
            "kind": form.kind.name,
            "config": form.config,
            "after": tuple(map(NodeId, parents)),
            "when": self.conditions(node.when, schemas, (*place, "when")),
            "critical": node.critical,
            "on": node.on,
            "bind": dict(form.bind),
            "fallback": node.fallback,
            "effect": form.effect,
            "idempotent": form.idempotent,
        }
        # Wrappers take as long as what is inside them, and kinds that only compute have nothing to retry.
        if form.kind.rows_from is not None or isinstance(node, AgentNode | ApiNode | ToolNode):
            fields["retry"] = node.retry or self._defaults.retry
            fields["timeout"] = node.timeout or self._defaults.timeout or self.world.longest
        else:
            fields |= {name: said for name in ("retry", "timeout") if (said := getattr(node, name)) is not None}
        fields["breaker"] = node.breaker or form.breaker
        default = Node(id=NodeId(id), kind=form.kind.name)
        # Only what differs from the default: a field that is set makes the engine apply its guards.
        return Node(
            **{name: value for name, value in fields.items() if value != getattr(default, name)}
            | {"id": NodeId(id), "kind": form.kind.name}
        )

    def conditions(
        self, written: str | Sequence[str], schemas: Mapping[str, Schema], place: FieldPath
    ) -> tuple[Condition, ...]:
        return tuple(self._condition(each, schemas, place) for each in listed(written))

    def _condition(self, written: str, schemas: Mapping[str, Schema], place: FieldPath) -> Condition:
        try:
            wanted, operator, value = parsed(written)
            schema = self.schema(wanted, schemas, place)
            known = schema.get("enum")
            if isinstance(known, list) and operator in ("=", "!=") and value not in known:
                hint = did_you_mean(str(value), map(str, known))
                raise self.marks.error(place, f"`{wanted}` is never {value!r}: it is one of {known}", hint)
            of_table = schemas[wanted.name] in (types.TABLE, types.ANSWER)
            return condition(wanted, operator, value, of_table=of_table)
        except GraphError:
            raise
        except UserError as error:
            raise self.marks.error(place, error.message.rstrip("."), error.hint) from error

    def schema(self, wanted: Reference, schemas: Mapping[str, Schema], place: FieldPath) -> Schema:
        try:
            return types.schema_at(schemas.get(wanted.name, types.ANYTHING), wanted.path)
        except types.NoSuchField as error:
            raise self.marks.error(place, f"`{wanted}`: `{wanted.name}` cannot be used so: {error}") from error

    def _check_id(self, id: str, place: FieldPath) -> None:
        if not id.isidentifier() or not id.isascii() or len(id) > 64:
            raise self.marks.error(place, "a node's name is 1 to 64 letters, digits and `_`, and begins with no digit")
        if id in RESERVED:
            raise self.marks.error(place, f"`{id}` is taken: {', '.join(RESERVED)} are names of the graph itself")

    def _unknown(self, name: str, nodes: Iterable[str], place: FieldPath) -> GraphError:
        error = self.marks.error(place, f"there is no node `{name}`", did_you_mean(name, [*nodes, INPUT]))
        assert isinstance(error, GraphError)
        return error


def _writes_inside(config: Json) -> bool:
    """Whether a graph inside of a node changes something outside."""
    graph = config.get("graph") if isinstance(config, dict) else None
    nodes = graph["nodes"] if isinstance(graph, dict) else ()
    return any(node.get("effect") or _writes_inside(node.get("config")) for node in nodes)


def _ordered(parents: Mapping[str, Sequence[str]]) -> list[str]:
    """Parents before children. Nodes in a circle come last, in any order: the engine's graph then refuses them."""
    missing = {id: sum(parent != INPUT for parent in mine) for id, mine in parents.items()}
    children: dict[str, list[str]] = {id: [] for id in parents}
    for id, mine in parents.items():
        for parent in mine:
            if parent != INPUT:
                children[parent].append(id)
    order = [id for id, count in missing.items() if not count]
    for id in order:
        for child in children[id]:
            missing[child] -= 1
            if not missing[child]:
                order.append(child)
    return order + [id for id in parents if id not in set(order)]
