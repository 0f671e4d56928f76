"""A drawn graph becomes a graph of the engine. Everything that can be known before a run is checked on the way.

A body (the graph itself, or the graph inside a `map`, `loop` or `subgraph`) becomes a node `input` that gives its
input, and a node of the engine for each node. The outermost graph also gets a last node that makes the run's answer.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from string import ascii_lowercase
from typing import Any

from answerable.agents.ask_step import AskStep
from answerable.agents.model_descriptors import AGENT, TOOL
from answerable.agents.tool_arguments import ARGUMENTS, GIVES_ROWS
from answerable.core.errors import GraphError, UserError
from answerable.core.ids import NodeId
from answerable.core.json_schema import SchemaProblem, check_schema
from answerable.core.values import Json
from answerable.core.yaml_text import FieldPath, Marks, did_you_mean
from answerable.engine.graph import Condition, Filling, Graph, Node
from answerable.engine.steps.api import ApiStep
from answerable.engine.steps.approval import ApprovalStep
from answerable.engine.steps.cypher import CypherStep
from answerable.engine.steps.descriptor import StepDescriptor
from answerable.engine.steps.emit import EmitStep
from answerable.engine.steps.graph_answer import GraphAnswerStep
from answerable.engine.steps.join import JoinOutputsStep
from answerable.engine.steps.literal import INPUT, LiteralStep
from answerable.engine.steps.loop import LoopStep
from answerable.engine.steps.map import MapStep
from answerable.engine.steps.python import PythonStep
from answerable.engine.steps.raised import RaiseStep
from answerable.engine.steps.router import RouterStep
from answerable.engine.steps.sql import SqlStep
from answerable.engine.steps.subgraph import SubgraphStep
from answerable.engine.steps.transform import TransformStep
from answerable.engine.steps.wait import WaitStep
from answerable.engine.templates import Reference, references, with_references
from answerable.graphs import types
from answerable.graphs.conditions import condition, listed, parsed
from answerable.graphs.definition import (
    AgentNode,
    ApiNode,
    ApprovalNode,
    AskNode,
    Body,
    CommonNode,
    CypherNode,
    Defaults,
    EmitNode,
    GraphDefinition,
    JoinNode,
    LoopNode,
    MapNode,
    PythonNode,
    RaiseNode,
    RouterNode,
    SqlNode,
    SubgraphNode,
    ToolNode,
    TransformNode,
    WaitNode,
)
from answerable.graphs.expressions import names_in, program_of
from answerable.graphs.inputs import with_defaults
from answerable.graphs.stored import StoredGraphs
from answerable.graphs.types import Schema

ANSWER = NodeId("answer")
RESERVED = (INPUT, ANSWER)
_OUTPUT = "output"
"""What the output of a round is called in the `until` of a loop."""


@dataclass(frozen=True, slots=True)
class CompiledGraph:
    graph: Graph
    sources: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Form:
    """What the engine gets of a node: its kind, its config, and which fields of the config are templates."""

    kind: StepDescriptor
    config: Json
    bind: Mapping[str, Filling] = field(default_factory=dict)
    gives: Schema = field(default_factory=dict)
    breaker: str | None = None
    effect: bool = False
    """Whether it changes something outside."""
    idempotent: bool = False


def compiled(
    definition: GraphDefinition,
    marks: Marks,
    *,
    longest: float | None = None,
    name_source: Callable[[str], str] = str,
    default_source: str = "demo",
    apis: Mapping[str, Mapping[str, Json]] | None = None,
    stored: StoredGraphs | None = None,
) -> CompiledGraph:
    """The graph for the engine, still without an input. Raises a `GraphError` with the place of the first mistake.
    `longest`: seconds for one attempt of a node, if nothing else is said; `name_source` gives the name under which a
    source is recorded; `apis`: the settings of each API by its name; `stored`: the stored graphs
    that it runs, as they are named in it."""
    world = _World(longest, name_source, default_source, apis or {}, stored or {})
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


@dataclass(frozen=True, slots=True)
class _Around:
    """What stands around a node: the nodes before it, what every node before it gives, and its place in the text."""

    parents: Sequence[str]
    schemas: Mapping[str, Schema]
    place: FieldPath


@dataclass(frozen=True, slots=True)
class _CompiledBody:
    graph: Graph
    gives: Schema


@dataclass(frozen=True, slots=True)
class _World:
    """What the graph and the stored graphs inside of it share."""

    longest: float | None
    name_source: Callable[[str], str]
    default_source: str
    apis: Mapping[str, Mapping[str, Json]]
    stored: StoredGraphs
    sources: list[str] = field(default_factory=list)
    """Every source that a node asks."""


class _Compiler:
    """Compiles one text: the graph, or a stored graph that it runs."""

    def __init__(self, marks: Marks, defaults: Defaults, world: _World) -> None:
        self._marks = marks
        self._defaults = defaults
        self._world = world

    def whole(self, definition: GraphDefinition) -> _CompiledBody:
        _check_schema(definition.input, ("input",), self._marks)
        kind_of_input = types.type_of(definition.input)
        if kind_of_input not in (None, "object"):
            raise self._marks.error(("input",), f"the input is an object, not a {kind_of_input}")
        return self.body(definition.body, (), definition.input)

    def body(self, body: Body, path: FieldPath, given: Schema) -> _CompiledBody:
        for id in body.nodes:
            self._check_id(id, (*path, "nodes", id))
        if body.output is not None and body.output not in body.nodes:
            raise self._unknown(body.output, body.nodes, (*path, "output"))
        nodes, schemas = self._nodes(body, path, given)
        graph = self._graph(body, nodes, path)
        outputs = _outputs(body, graph)
        if len(outputs) == 1:  # else a body that does not use its input would also give that
            graph = graph.model_copy(update={"output": outputs[0]})
        gives = schemas[outputs[0]] if len(outputs) == 1 else types.object_of(**{id: schemas[id] for id in outputs})
        return _CompiledBody(graph, gives)

    def _nodes(self, body: Body, path: FieldPath, given: Schema) -> tuple[list[Node], dict[str, Schema]]:
        parents = {id: self._parents(id, node, body, (*path, "nodes", id), given) for id, node in body.nodes.items()}
        schemas: dict[str, Schema] = {INPUT: given}
        nodes = {}
        # In an order in which the schemas of all nodes before a node are known.
        for id in _ordered(parents):
            place = (*path, "nodes", id)
            node = body.nodes[id]
            form = self._form(node, _Around(parents[id], schemas, place))
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
            raise self._marks.error(place, error.message.removeprefix(f"Node `{node}`: "), error.hint) from error

    def _parents(self, id: str, node: CommonNode, body: Body, place: FieldPath, given: Schema) -> tuple[str, ...]:
        """The nodes that a node comes after: those that it names, and those that it refers to."""
        named: dict[str, None] = {}
        for number, parent in enumerate(node.after):
            if parent != INPUT and parent not in body.nodes:
                raise self._unknown(parent, body.nodes, (*place, "after", number))
            named[parent] = None
        for where, found in self._references(node, place):
            if found.name != INPUT and found.name not in body.nodes:
                raise self._unknown(found.name, body.nodes, where)
            named[found.name] = None
        return tuple(named)

    def _references(self, node: CommonNode, place: FieldPath) -> Iterator[tuple[FieldPath, Reference]]:
        """Every reference of a node to the scope around it, with the place where it stands."""
        for name in type(node).model_fields:
            value, where = getattr(node, name), (*place, name)
            if name in ("kind", "title", "after", "on", "graph", "output", "fallback", "retry", "code", "instructions"):
                continue
            if isinstance(value, Body):  # it has a scope of its own
                continue
            try:
                if name == "expression" and value is not None:
                    yield from ((where, Reference(each, ())) for each in sorted(names_in(value)))
                elif name == "when" or (name == "routes" and isinstance(node, RouterNode)):
                    for written in (value,) if name == "when" else value.values():
                        yield from ((where, parsed(each)[0]) for each in listed(written))
                elif name != "until" or not isinstance(node, LoopNode):
                    yield from ((where, each) for each in references(value))
            except UserError as error:
                raise self._marks.error(where, error.message.rstrip("."), error.hint) from error

    def _node(
        self,
        id: str,
        node: CommonNode,
        form: _Form,
        parents: Sequence[str],
        schemas: Mapping[str, Schema],
        place: FieldPath,
    ) -> Node:
        for where, found in self._references(node, place):
            self._schema(found, schemas, where)
        if node.retry is not None and node.retry.attempts > 1 and _writes_inside(form.config):
            # Each attempt of a wrapper has nodes of its own, whose writes nobody would recognise as repetitions.
            problem = "it cannot be tried again, because a node inside of it writes"
            raise self._marks.error((*place, "retry"), problem, "Give `retry` to the nodes inside.")
        fields: dict[str, Any] = {
            "id": NodeId(id),
            "kind": form.kind.name,
            "config": form.config,
            "after": tuple(map(NodeId, parents)),
            "when": self._conditions(node.when, schemas, (*place, "when")),
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
            fields["timeout"] = node.timeout or self._defaults.timeout or self._world.longest
        else:
            fields |= {name: said for name in ("retry", "timeout") if (said := getattr(node, name)) is not None}
        fields["breaker"] = node.breaker or form.breaker
        default = Node(id=NodeId(id), kind=form.kind.name)
        # Only what differs from the default: a field that is set makes the engine apply its guards.
        return Node(
            **{name: value for name, value in fields.items() if value != getattr(default, name)}
            | {"id": NodeId(id), "kind": form.kind.name}
        )

    def _conditions(
        self, written: str | Sequence[str], schemas: Mapping[str, Schema], place: FieldPath
    ) -> tuple[Condition, ...]:
        return tuple(self._condition(each, schemas, place) for each in listed(written))

    def _condition(self, written: str, schemas: Mapping[str, Schema], place: FieldPath) -> Condition:
        try:
            wanted, operator, value = parsed(written)
            schema = self._schema(wanted, schemas, place)
            known = schema.get("enum")
            if isinstance(known, list) and operator in ("=", "!=") and value not in known:
                hint = did_you_mean(str(value), map(str, known))
                raise self._marks.error(place, f"`{wanted}` is never {value!r}: it is one of {known}", hint)
            of_table = schemas[wanted.name] in (types.TABLE, types.ANSWER)
            return condition(wanted, operator, value, of_table=of_table)
        except GraphError:
            raise
        except UserError as error:
            raise self._marks.error(place, error.message.rstrip("."), error.hint) from error

    def _schema(self, wanted: Reference, schemas: Mapping[str, Schema], place: FieldPath) -> Schema:
        try:
            return types.schema_at(schemas.get(wanted.name, types.ANYTHING), wanted.path)
        except types.NoSuchField as error:
            raise self._marks.error(place, f"`{wanted}`: `{wanted.name}` cannot be used so: {error}") from error

    # What each kind becomes.

    def _form(self, node: CommonNode, around: "_Around") -> _Form:
        form = _FORMS[type(node)]
        return form(self, node, around)

    def _sql(self, node: SqlNode, around: "_Around") -> _Form:
        source = self._source(node.source)
        self._check_literals(node.sql, "SQL", around.schemas, (*around.place, "sql"))
        config = {"source": source, "sql": node.sql}
        return _Form(SqlStep.descriptor, config, _templates(sql=node.sql), types.TABLE, source)

    def _cypher(self, node: CypherNode, around: "_Around") -> _Form:
        source = self._source(node.source)
        self._check_literals(node.cypher, "Cypher", around.schemas, (*around.place, "cypher"))
        config = {"source": source, "cypher": node.cypher}
        return _Form(CypherStep.descriptor, config, _templates(cypher=node.cypher), types.TABLE, source)

    def _tool(self, node: ToolNode, around: "_Around") -> _Form:
        source, place = self._source(node.source), (*around.place, "arguments")
        known = ARGUMENTS[node.tool].model_fields
        for name in node.arguments:
            if name not in known:
                hint = did_you_mean(name, known) or f"It takes: {', '.join(known) or 'none'}."
                raise self._marks.error((*place, name), f"`{node.tool}` has no such argument", hint)
        missing = next(
            (name for name, each in known.items() if each.is_required() and name not in node.arguments), None
        )
        if missing is not None:
            raise self._marks.error(around.place, f"`{node.tool}` needs the argument `{missing}`")
        config = {"tool": node.tool, "source": source, "arguments": dict(node.arguments)}
        gives = types.TABLE if node.tool in GIVES_ROWS else types.object_of(result=types.ANYTHING)
        return _Form(TOOL, config, _values(arguments=node.arguments), gives, source)

    def _ask(self, node: AskNode, around: "_Around") -> _Form:
        sources = [self._source(each) for each in (node.sources or (node.source or self._world.default_source,))]
        config = {"question": node.question, "sources": sources, "mode": node.mode, "force": node.force}
        return _Form(AskStep.descriptor, config, _templates(question=node.question), types.ANSWER)

    def _program(self, node: PythonNode, around: "_Around") -> _Form:
        clashing = next((name for name in node.values if name in around.parents), None)
        if clashing is not None:
            place = (*around.place, "values", clashing)
            raise self._marks.error(place, "a node before this one has the same name")
        frames = [parent for parent in around.parents if around.schemas[parent] == types.TABLE]
        config = {"code": node.code, "values": dict(node.values), "frames": frames}
        config |= {name: said for name in ("backend", "api") if (said := getattr(node, name)) is not None}
        # What a program does before it is killed is not known, so its calls are not recognised when it runs again.
        writes = node.api is not None and "POST" in self._api(node.api, around).get("methods", ())
        return _Form(
            PythonStep.descriptor,
            config,
            _values(values=node.values),
            types.TABLE,
            effect=writes if node.effect is None else node.effect == "write",
        )

    def _call(self, node: ApiNode, around: "_Around") -> _Form:
        settings = self._api(node.api, around)
        allowed = settings.get("methods", ("GET",))
        if node.method not in allowed:
            place = (*around.place, "method" if "method" in node.model_fields_set else "api")
            raise self._marks.error(place, f"`{node.api}` may be called with {', '.join(allowed)} only")
        config = node.model_dump(mode="json", include={"api", "method", "path", "params", "body", "all_pages"})
        bind = _templates(path=node.path) | _values(params=node.params, body=node.body)
        writes = node.method == "POST" if node.effect is None else node.effect == "write"
        return _Form(
            ApiStep.descriptor,
            config,
            bind,
            types.object_of(data=types.ANYTHING),
            f"api {node.api}",
            effect=writes,
            idempotent=writes and settings.get("idempotency_header") is not None,
        )

    def _api(self, name: str, around: "_Around") -> Mapping[str, Json]:
        apis = self._world.apis
        if name not in apis:
            hint = did_you_mean(name, apis) or "APIs are named under `apis` in the settings."
            raise self._marks.error((*around.place, "api"), f"there is no API `{name}`", hint)
        return apis[name]

    def _transform(self, node: TransformNode, around: "_Around") -> _Form:
        kind = TransformStep.descriptor
        if node.expression is not None:
            code, values = program_of(node.expression)
            return _Form(kind, {"expression": code, "values": values}, _values(values=values))
        if node.template is not None:
            return _Form(kind, {"value": node.template}, _templates(value=node.template), types.TEXT)
        return _Form(kind, {"value": node.value}, _values(value=node.value), _written(node.value, around.schemas))

    def _router(self, node: RouterNode, around: "_Around") -> _Form:
        routes = {name: self._route(name, written, around) for name, written in node.routes.items()}
        if node.default is not None:
            routes[node.default] = []
        gives = {"type": "string", "enum": list(routes)}
        return _Form(RouterStep.descriptor, {"routes": routes}, gives=gives)

    def _route(self, name: str, written: str | Sequence[str], around: "_Around") -> Json:
        conditions = self._conditions(written, around.schemas, (*around.place, "routes", name))
        return [each.model_dump(mode="json") for each in conditions]

    def _map(self, node: MapNode, around: "_Around") -> _Form:
        over = _written(node.over, around.schemas)
        if types.type_of(over) not in (None, "array"):
            problem = f"a map goes over a list, and this is a {types.type_of(over)}"
            raise self._marks.error((*around.place, "over"), problem)
        items = over.get("items", types.ANYTHING)
        given = _given(node.input, around.schemas, item=items, index={"type": "integer"})
        body = self.body(node.body, (*around.place, "body"), given)
        config = {
            "over": node.over,
            "graph": body.graph.document,
            "input": dict(node.input),
            "concurrency": node.concurrency,
            "most": node.most,
        }
        return _Form(MapStep.descriptor, config, _values(over=node.over, input=node.input), types.list_of(body.gives))

    def _join(self, node: JoinNode, around: "_Around") -> _Form:
        return _Form(
            JoinOutputsStep.descriptor, {"mode": node.mode}, gives=_joined(node, around.parents, around.schemas)
        )

    def _loop(self, node: LoopNode, around: "_Around") -> _Form:
        given = _given(node.input, around.schemas, previous=types.ANYTHING, round={"type": "integer"})
        body = self.body(node.body, (*around.place, "body"), given)
        config = {
            "graph": body.graph.document,
            "input": dict(node.input),
            "start": node.start,
            "until": self._until(node, body.gives, (*around.place, "until")),
            "most": node.most,
            "exhausted": node.exhausted,
        }
        return _Form(LoopStep.descriptor, config, _values(input=node.input, start=node.start), body.gives)

    def _until(self, node: LoopNode, gives: Schema, place: FieldPath) -> Json:
        conditions = self._conditions(node.until, {_OUTPUT: gives}, place)
        wrong = next((each for each in conditions if each.input != _OUTPUT), None)
        if wrong is not None:
            raise self._marks.error(place, f"`{wrong}` must be about `{_OUTPUT}`, the output of a round")
        return [each.model_dump(mode="json") for each in conditions]

    def _approval(self, node: ApprovalNode, around: "_Around") -> _Form:
        config = node.model_dump(mode="json", include={"prompt", "show", "rejected", "deadline", "default"})
        bind = _values(show=node.show) | _templates(prompt=node.prompt)
        decision: Schema = {"type": "string", "enum": ["approve", "reject", "edit", "respond"]}
        gives = types.object_of(decision=decision, by={}, note={}, data={})
        return _Form(ApprovalStep.descriptor, config, bind, gives)

    def _wait(self, node: WaitNode, around: "_Around") -> _Form:
        fields = {"event", "within", "missed"} if node.event is not None else {"seconds", "until"}
        config = node.model_dump(mode="json", include=fields, exclude_none=True)
        if node.event is None:
            return _Form(WaitStep.descriptor, config, gives=types.object_of(until=types.TEXT))
        gives = types.object_of(event=types.TEXT, data=types.ANYTHING, by={})
        return _Form(WaitStep.descriptor, config, _templates(event=node.event), gives)

    def _emit(self, node: EmitNode, around: "_Around") -> _Form:
        config = {"event": node.event, "data": node.data}
        bind = _templates(event=node.event) | _values(data=node.data)
        return _Form(
            EmitStep.descriptor, config, bind, types.object_of(event=types.TEXT, runs=types.list_of(types.TEXT))
        )

    def _raise(self, node: RaiseNode, around: "_Around") -> _Form:
        return _Form(RaiseStep.descriptor, {"message": node.message}, _templates(message=node.message))

    def _subgraph(self, node: SubgraphNode, around: "_Around") -> _Form:
        if node.body is not None:
            body = self.body(node.body, (*around.place, "body"), _given(node.input, around.schemas))
            config: dict[str, Json] = {"graph": body.graph.document, "input": dict(node.input)}
        else:
            assert node.graph is not None
            body, config = self._stored(node.graph, node.input, (*around.place, "input"))
        gives = types.object_of(status=types.TEXT, output=body.gives, outputs={}, errors={})
        return _Form(SubgraphStep.descriptor, config, _values(input=node.input), gives)

    def _stored(self, name: str, given: Mapping[str, Json], place: FieldPath) -> tuple[_CompiledBody, dict[str, Json]]:
        """A stored graph as it is now. Its text, its defaults and its input count, not those around it."""
        found = self._world.stored[name]
        body = _Compiler(found.marks, found.definition.defaults, self._world).whole(found.definition)
        schema = found.definition.input
        filled = with_defaults(schema, given)
        missing = next((each for each in schema.get("required", ()) if each not in filled), None)
        if missing is not None:
            raise self._marks.error(place, f"the graph `{name}` needs `{missing}` in its input")
        config = {"graph": body.graph.document, "input": filled, "schema": schema, "stored": found.name}
        return body, config

    def _agent(self, node: AgentNode, around: "_Around") -> _Form:
        source = self._source(node.source) if node.source is not None else None
        if node.prompt is None:
            config = {"agent": node.agent, "inputs": dict(node.inputs), "source": source}
            return _Form(AGENT, config, _values(inputs=node.inputs), types.object_of(reply=types.ANYTHING))
        if node.output is not None:
            _check_schema(node.output, (*around.place, "output"), self._marks)
        written, inputs = _written_agent(around.place[-1], node)
        config = {"agent": written["name"], "written": written, "inputs": inputs, "source": source}
        gives = types.object_of(reply=node.output or types.TEXT)
        return _Form(AGENT, config, _values(inputs=inputs), gives)

    def _source(self, name: str) -> str:
        known = self._world.name_source(name)
        self._world.sources.append(known)
        return known

    def _check_literals(self, query: str, language: str, schemas: Mapping[str, Schema], place: FieldPath) -> None:
        try:
            found = list(references(query))
        except UserError as error:
            raise self._marks.error(place, error.message.rstrip("."), error.hint) from error
        for each in found:
            if types.type_of(self._schema(each, schemas, place)) == "object":
                raise self._marks.error(place, f"`{each}` is an object, and {language} can hold only plain values")

    # Mistakes

    def _check_id(self, id: str, place: FieldPath) -> None:
        if not id.isidentifier() or not id.isascii() or len(id) > 64:
            raise self._marks.error(place, "a node's name is 1 to 64 letters, digits and `_`, and begins with no digit")
        if id in RESERVED:
            raise self._marks.error(place, f"`{id}` is taken: {', '.join(RESERVED)} are names of the graph itself")

    def _unknown(self, name: str, nodes: Iterable[str], place: FieldPath) -> GraphError:
        error = self._marks.error(place, f"there is no node `{name}`", did_you_mean(name, [*nodes, INPUT]))
        assert isinstance(error, GraphError)
        return error


_FORMS: Mapping[type[CommonNode], Callable[[_Compiler, Any, _Around], _Form]] = {
    SqlNode: _Compiler._sql,
    CypherNode: _Compiler._cypher,
    ToolNode: _Compiler._tool,
    AskNode: _Compiler._ask,
    PythonNode: _Compiler._program,
    ApiNode: _Compiler._call,
    TransformNode: _Compiler._transform,
    RouterNode: _Compiler._router,
    MapNode: _Compiler._map,
    JoinNode: _Compiler._join,
    LoopNode: _Compiler._loop,
    ApprovalNode: _Compiler._approval,
    WaitNode: _Compiler._wait,
    EmitNode: _Compiler._emit,
    RaiseNode: _Compiler._raise,
    SubgraphNode: _Compiler._subgraph,
    AgentNode: _Compiler._agent,
}


def _writes_inside(config: Json) -> bool:
    """Whether a graph inside of a node changes something outside."""
    graph = config.get("graph") if isinstance(config, dict) else None
    nodes = graph["nodes"] if isinstance(graph, dict) else ()
    return any(node.get("effect") or _writes_inside(node.get("config")) for node in nodes)


def _check_schema(schema: Mapping[str, Any], place: FieldPath, marks: Marks) -> None:
    try:
        check_schema(schema)
    except SchemaProblem as problem:
        raise marks.error((*place, *problem.path), f"this is no JSON Schema: {problem.message}") from problem


def _written_agent(id: str | int, node: AgentNode) -> tuple[dict[str, Json], dict[str, str]]:
    """An agent that is written into the graph, and its inputs: each reference in its prompt becomes an input, so that
    outputs reach the model quoted, as data."""
    inputs: dict[str, str] = {}

    def placeholder(reference: str) -> str:
        name = "value_" + "".join(ascii_lowercase[int(digit)] for digit in str(len(inputs)))
        inputs[name] = f"{{{{{reference}}}}}"
        return f"{{{{{name}}}}}"

    message = with_references(node.prompt or "", placeholder)
    sampling = ("temperature", "top_p", "frequency_penalty", "presence_penalty", "model", "output")
    written: dict[str, Json] = {
        "name": f"agent_{id}".lower()[:64],
        "role": node.role,
        "description": f"The agent of the node {id}.",
        "output_tokens": node.max_tokens,
        "tools": list(node.tools),
        "variables": dict.fromkeys(inputs, ""),
        "instructions": node.instructions,
        "message": message,
    }
    written |= {name: said for name in sampling if (said := getattr(node, name)) is not None}
    return written, inputs


def _given(written: Mapping[str, Json], schemas: Mapping[str, Schema], **own: Schema) -> Schema:
    """The schema of a body's input."""
    return types.object_of(**{name: _written(each, schemas) for name, each in written.items()}, **own)


def _templates(**fields: str) -> dict[str, Filling]:
    """Fields that are filled as text, queries in their language. Only those that hold a reference."""
    fillings: Mapping[str, Filling] = {"sql": "sql", "cypher": "cypher"}
    return {name: fillings.get(name, "text") for name, text in fields.items() if any(references(text))}


def _values(**fields: Json) -> dict[str, Filling]:
    """Fields whose references keep their types."""
    return {name: "value" for name, value in fields.items() if any(references(value))}


def _written(value: Json, schemas: Mapping[str, Schema]) -> Schema:
    """The schema of a value that may be, or hold, references."""
    found = list(references(value))
    if not found:
        return types.schema_of(value)
    if isinstance(value, dict):
        return types.object_of(**{str(key): _written(each, schemas) for key, each in value.items()})
    if isinstance(value, list):
        return {"type": "array"}
    alone = len(found) == 1 and value.strip().startswith("{{") and value.strip().endswith("}}")
    if not alone:
        return types.TEXT
    try:
        return types.schema_at(schemas.get(found[0].name, types.ANYTHING), found[0].path)
    except types.NoSuchField:  # reported where all references of a node are looked at
        return types.ANYTHING


def _joined(node: JoinNode, parents: Sequence[str], schemas: Mapping[str, Schema]) -> Schema:
    if node.mode == "object":
        return types.object_of(**{parent: schemas[parent] for parent in parents})
    return types.list_of(types.ANYTHING) if node.mode == "list" else types.ANYTHING


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
