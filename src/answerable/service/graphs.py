"""Graphs that users draw: checked, stored in versions, compared and run."""

import re
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime

from answerable.agents.written import NamedAgent
from answerable.core.context import Principal, RunContext
from answerable.core.errors import NotFoundError, UserError
from answerable.core.events import Event, RunFailed, RunFinished, StepFinished
from answerable.core.ids import RunId, new_run_id
from answerable.core.values import Frozen, Json
from answerable.engine.open_questions import OpenQuestion, open_questions
from answerable.engine.steps.literal import INPUT
from answerable.engine.steps.subgraph import with_input
from answerable.engine.taken import taken_over
from answerable.graphs.comparing import GraphDifference, difference
from answerable.graphs.compiling import ANSWER, RESERVED, CompiledGraph, compiled
from answerable.graphs.definition import NAME, GraphDefinition, json_schema
from answerable.graphs.figures import NodeFigures, node_figures
from answerable.graphs.forking import continued, forked
from answerable.graphs.inputs import checked_input, from_text
from answerable.graphs.named_agents import agents_inside
from answerable.graphs.node_runs import NodeRun, node_runs, waiting_for
from answerable.graphs.reading import read_graph
from answerable.graphs.ready_made import ReadyGraph, ready_graph, ready_graphs, renamed
from answerable.graphs.stored import stored_inside
from answerable.service.graph_permissions import GraphPermissions
from answerable.service.run_carrier import GRAPH_MODE as MODE
from answerable.service.run_carrier import Subject
from answerable.service.runs import RunService
from answerable.sources.registry import SourceRegistry
from answerable.store.base import RunFilter, RunRecord, RunStatus, Store
from answerable.store.protocols.versioned_texts import TextRecord, TextVersion

FindAgent = Callable[[str, Principal, int | None], Awaitable[NamedAgent]]
UNDER_WAY: tuple[RunStatus, ...] = ("running", "waiting", "paused")
RUNS_PER_READ = 500
LONGEST_TAG = 64
UNNAMED = "graph.yaml"
"""What a text is called in errors if it has no file."""


class GraphNodeView(Frozen):
    id: str
    kind: str
    after: tuple[str, ...]


class GraphReport(Frozen):
    """A graph that can run."""

    name: str
    description: str
    input: Json
    """JSON Schema of its input."""
    nodes: tuple[GraphNodeView, ...]
    """In the order in which they would run one after the other."""
    output: str | None


class GraphRun(Frozen):
    """A run of a graph: what became of each node."""

    run_id: str
    graph: str | None
    """The name of the graph."""
    version: int | None
    """The version of the stored graph that it began with; null for a graph that is not stored."""
    status: RunStatus
    nodes: Mapping[str, NodeRun]
    waits: tuple[OpenQuestion, ...]
    """What it waits for, also inside of nodes. Each is decided by its id."""
    output: Json
    error: Json


class GraphSummary(Frozen):
    name: str
    owner: str
    tags: tuple[str, ...]
    version: int
    created_at: datetime
    updated_at: datetime


class GraphVersionView(Frozen):
    version: int
    user: str
    at: datetime
    note: str


class GraphDocument(Frozen):
    """A version of a stored graph."""

    graph: GraphSummary
    version: GraphVersionView
    text: str
    """As it was saved, to the byte."""


@dataclass(frozen=True, slots=True)
class _Checked:
    definition: GraphDefinition
    compiled: CompiledGraph


class GraphService:
    def __init__(
        self,
        store: Store,
        runs: RunService,
        registry: SourceRegistry,
        *,
        default_source: str,
        longest: float,
        apis: Mapping[str, Mapping[str, Json]],
        find_agent: FindAgent,
    ) -> None:
        """`longest`: seconds for one attempt of a node, if the graph says nothing else; `apis`: the settings of each
        API by its name; `find_agent`: the agent of a name and version."""
        self._find_agent = find_agent
        self._apis = apis
        self._graphs = store.graphs
        self._runs = runs
        self._registry = registry
        self._permissions = GraphPermissions(registry)
        self._default_source = default_source
        self._longest = longest

    def schema(self, principal: Principal) -> Json:
        """The JSON Schema of the format, for editors."""
        return json_schema()

    async def validate(self, text: str, principal: Principal, *, origin: str = UNNAMED) -> GraphReport:
        """Checks a graph without running it. Raises a `GraphError` with line and column for a mistake."""
        self._permissions.require_writing(principal)
        checked = await self._checked(text, origin, principal)
        definition, graph = checked.definition, checked.compiled.graph
        nodes = [graph.by_id[id] for id in graph.order if id not in RESERVED]
        return GraphReport(
            name=definition.name,
            description=definition.description,
            input=definition.input,
            nodes=tuple(GraphNodeView(id=node.id, kind=node.kind, after=node.after) for node in nodes),
            output=definition.output,
        )

    # Stored graphs

    async def save(
        self,
        text: str,
        principal: Principal,
        *,
        note: str = "",
        tags: Sequence[str] | None = None,
        expected: int | None = None,
        origin: str = UNNAMED,
        name: str | None = None,
    ) -> GraphDocument:
        """Stores a graph under its name, as a new version if its text is new. A graph with a mistake is not stored.
        `expected`: the version that the caller knows (0: none); if another one counts by now, nothing is stored.
        `name`: the name that the caller expects the graph to have."""
        self._permissions.require_writing(principal)
        checked = await self._checked(text, origin, principal)
        wrong = next((tag for tag in tags or () if not tag or len(tag) > LONGEST_TAG), None)
        if wrong is not None:
            raise UserError(f"A tag has 1 to {LONGEST_TAG} characters.", code="graph_tag_invalid")
        if name not in (None, checked.definition.name):
            raise UserError(
                f"The graph calls itself {checked.definition.name!r}, not {name!r}.",
                code="graph_name_differs",
                hint="Change the `name` in its text, or save it under its own name.",
            )
        name = checked.definition.name
        saved = await self._graphs.save(principal, name, text, note=note, tags=tags, expected=expected)
        return _document(await self._graphs.get(principal, name), saved)

    def ready_made(self, principal: Principal) -> Sequence[ReadyGraph]:
        """Graphs that come with the package, to begin with."""
        return ready_graphs()

    async def new(
        self, name: str, principal: Principal, *, template: str, source: str | None = None, tags: Sequence[str] = ()
    ) -> GraphDocument:
        """Stores a ready-made graph under a name of its own. `source`: what it reads instead of its example data. A
        graph of that name is not overwritten; the same one is returned."""
        if not re.fullmatch(NAME, name):
            hint = "A name has 1 to 64 small letters, digits, `-` and `_`."
            raise UserError(f"{name[:80]!r} is no name of a graph.", code="graph_name_invalid", hint=hint)
        text = renamed(ready_graph(template), name, source)
        with suppress(NotFoundError):
            stored = await self.show(name, principal)
            if stored.text == text:
                return stored
        note = f"From the ready-made graph {template}"
        return await self.save(text, principal, note=note, tags=tags or None, expected=0, origin=name)

    async def list(self, principal: Principal, *, tag: str | None = None) -> Sequence[GraphSummary]:
        """Stored graphs by name, those that the person may run."""
        found = await self._graphs.list(principal, tag=tag)
        return [_summary(each) for each in found if self._permissions.allow(each.name, principal)]

    async def show(self, name: str, principal: Principal, *, version: int | None = None) -> GraphDocument:
        """A version of a graph; None for the one that counts."""
        self._permissions.require(name, principal)
        return _document(await self._graphs.get(principal, name), await self._graphs.version(principal, name, version))

    async def versions(self, name: str, principal: Principal) -> Sequence[GraphVersionView]:
        """Who saved which version, newest first."""
        self._permissions.require(name, principal)
        return [_version(each) for each in await self._graphs.versions(principal, name)]

    async def diff(
        self, name: str, principal: Principal, *, before: int | None = None, after: int | None = None
    ) -> GraphDifference:
        """What is different in the later version. Without `after` the one that counts; without `before` the one before
        it."""
        self._permissions.require(name, principal)
        late = await self._graphs.version(principal, name, after)
        early = await self._graphs.version(principal, name, max(1, late.version - 1) if before is None else before)
        names = (f"{name}@{early.version}", f"{name}@{late.version}")
        definitions = [read_graph(each.text, title)[0] for each, title in zip((early, late), names, strict=True)]
        return difference(definitions[0], definitions[1], (early.text, late.text), names)

    async def rollback(self, name: str, version: int, principal: Principal) -> GraphDocument:
        """Makes the text of an earlier version count again, as a new version."""
        self._permissions.require_writing(principal)
        self._permissions.require(name, principal)
        earlier = await self._graphs.version(principal, name, version)
        current = await self._graphs.get(principal, name)
        note = f"Back to version {version}"
        return await self.save(earlier.text, principal, note=note, expected=current.version, origin=name)

    async def delete(self, name: str, principal: Principal) -> None:
        """Removes a graph with all its versions. Its runs stay. A graph that runs is not removed."""
        self._permissions.require_writing(principal)
        self._permissions.require(name, principal)
        await self._graphs.get(principal, name)
        anybody = Principal(principal.tenant, principal.user)  # the runs of others count, too
        async for record in self._every(anybody, RunFilter(statuses=UNDER_WAY, mode=MODE, text=name)):
            if record.question == name:
                raise UserError(
                    f"The graph {name!r} runs: {record.run}.",
                    code="graph_running",
                    hint="Wait for its runs, or cancel them: `answerable runs cancel RUN`.",
                )
        await self._graphs.delete(principal, name)

    async def runs(self, name: str, principal: Principal, *, limit: int = 50) -> Sequence[RunRecord]:
        """The runs of a graph, newest first."""
        self._permissions.require(name, principal)
        found: list[RunRecord] = []
        async for record in self._every(principal, RunFilter(mode=MODE, text=name)):
            if record.question == name:  # the filter also finds parts of names
                found.append(record)
            if len(found) == limit:
                break
        return found

    async def figures(self, name: str, principal: Principal, *, limit: int = 100) -> Mapping[str, NodeFigures]:
        """What each node did in the last runs of a graph."""
        self._permissions.require(name, principal)
        records = await self.runs(name, principal, limit=limit)
        journals = [await self._runs.journal(each.run, principal) for each in records]
        return {id: each for id, each in node_figures(journals).items() if id not in RESERVED}

    async def _every(self, principal: Principal, only: RunFilter) -> AsyncIterator[RunRecord]:
        """Runs, newest first, however many there are."""
        before: RunId | None = None
        while page := await self._runs.list(principal, limit=RUNS_PER_READ, before=before, only=only):
            for record in page:
                yield record
            before = page[-1].run

    async def begin_stored(
        self,
        name: str,
        input: Mapping[str, Json],
        principal: Principal,
        *,
        version: int | None = None,
        request_id: str | None = None,
        run: RunId | None = None,
    ) -> RunId:
        """Starts a run of a stored graph."""
        self._permissions.require(name, principal)
        stored = await self._graphs.version(principal, name, version)
        origin = f"{name}@{stored.version}"
        context = RunContext(run or new_run_id(), principal, None, request_id)
        return await self._begin(stored.text, input, context, origin, stored.version)

    # Runs

    async def begin(
        self,
        text: str,
        input: Mapping[str, Json],
        principal: Principal,
        *,
        origin: str = UNNAMED,
        request_id: str | None = None,
        run: RunId | None = None,
    ) -> RunId:
        """Starts a run of a graph. `run`: the id to give it; a run of that id that exists already is not started
        again."""
        self._permissions.require_writing(principal)
        return await self._begin(text, input, RunContext(run or new_run_id(), principal, None, request_id), origin)

    async def _begin(
        self, text: str, input: Mapping[str, Json], context: RunContext, origin: str, version: int | None = None
    ) -> RunId:
        checked = await self._checked(text, origin, context.principal)
        graph = with_input(checked.compiled.graph, checked_input(checked.definition.input, input))
        definition = checked.definition
        subject = Subject(
            definition.name, checked.compiled.sources, MODE, version, definition.at_once, definition.priority
        )
        return await self._runs.carrier.start(graph, subject, context)

    async def fork(
        self,
        run: RunId,
        principal: Principal,
        *,
        node: str | None = None,
        outputs: Mapping[str, Json] | None = None,
        input: Mapping[str, Json] | None = None,
        request_id: str | None = None,
        new: RunId | None = None,
    ) -> RunId:
        """Starts a new run from a node of an earlier one: what ended before that node is taken over and not done again.
        Without `node`, from what failed or never ran. `outputs`: outputs of nodes to go on with instead of theirs;
        `input`: fields of the input that differ. `new`: the id to give the new run."""
        record, events = await self._of_graph(run, principal)
        self._permissions.require(record.question or "", principal)
        if record.status == "running":
            raise UserError(f"{run} is still under way.", code="run_under_way", hint="Wait for it, or cancel it first.")
        graph = await self._runs.first_graph(run, principal)
        ended = {each.node: each.output for each in events if isinstance(each, StepFinished) and "/" not in each.node}
        schema = graph.by_id[ANSWER].config.get("input") or {}
        given = checked_input(schema, {**(graph.by_id[INPUT].config or {}), **(input or {})})
        start = [node] if node is not None else []
        fresh = forked(graph, ended, start, outputs or {}, given)
        context = RunContext(new or new_run_id(), principal, None, request_id)
        subject = Subject(record.question, record.sources, MODE, record.graph_version, record.at_once, record.priority)
        taken = taken_over(run, events, continued(graph, ended, start, outputs or {}))
        return await self._runs.carrier.start(fresh, subject, context, taken)

    async def signal(self, event: str, data: Json, principal: Principal) -> Sequence[RunId]:
        """Tells every run that waits for an event that it has happened. Returns those runs."""
        return await self._signal(event, data, principal)

    async def emit(self, event: str, data: Json, context: RunContext) -> Sequence[RunId]:
        """Tells every other run that waits for an event that it has happened, without waiting for those runs. Returns
        them. For an event that a run sends."""
        return await self._signal(event, data, context.principal, by=context.run)

    async def _signal(
        self, event: str, data: Json, principal: Principal, *, by: RunId | None = None
    ) -> Sequence[RunId]:
        reached: list[RunId] = []
        # Before any of them goes on: a run that does so leaves the listing.
        waiting = [each async for each in self._every(principal, RunFilter(statuses=UNDER_WAY, mode=MODE))]
        for record in waiting:
            if record.run == by:
                continue
            events = await self._runs.journal(record.run, principal)
            for node in waiting_for(events, event):
                with suppress(UserError):  # somebody else was quicker
                    await self._runs.decide(
                        record.run, node, principal, verdict="respond", data=data, patient=by is None
                    )
                    reached.append(record.run)
        return reached

    def input_of(
        self, text: str, fields: Mapping[str, str], principal: Principal, *, origin: str = UNNAMED
    ) -> Mapping[str, Json]:
        """The input of a graph from fields that were given as text."""
        definition, _ = read_graph(text, origin)
        return {name: from_text(definition.input, name, value) for name, value in fields.items()}

    async def wait(self, run: RunId, principal: Principal) -> GraphRun:
        """Waits until a run has ended or waits for a person."""
        async for _ in self._runs.events(run, principal):
            pass
        return await self.get_run(run, principal)

    async def get_run(self, run: RunId, principal: Principal) -> GraphRun:
        """What became of each node of a run by now."""
        record, events = await self._of_graph(run, principal)
        return _graph_run(record, events)

    async def _of_graph(self, run: RunId, principal: Principal) -> tuple[RunRecord, Sequence[Event]]:
        record = await self._runs.get(run, principal)
        if record.mode != MODE:
            raise UserError(f"{run} is not a run of a graph.", code="run_not_of_a_graph", hint="See `answerable runs`.")
        return record, await self._runs.journal(run, principal)

    async def _checked(self, text: str, origin: str, principal: Principal) -> _Checked:
        definition, marks = read_graph(text, origin)

        async def load(name: str) -> tuple[str, str]:
            wanted, _, number = name.partition("@")
            self._permissions.require_inside(wanted, principal)
            found = await self._graphs.version(principal, wanted, int(number) if number else None)
            return f"{wanted}@{found.version}", found.text

        stored = await stored_inside(definition, marks, load)
        graph = compiled(
            definition,
            marks,
            longest=self._longest,
            name_source=lambda name: self._registry.known_as(name, principal),
            default_source=self._default_source,
            apis=self._apis,
            stored=stored,
            agents=await agents_inside(
                definition, marks, stored, lambda name, version: self._find_agent(name, principal, version)
            ),
        )
        return _Checked(definition, graph)


def _summary(record: TextRecord) -> GraphSummary:
    return GraphSummary(
        name=record.name,
        owner=record.owner.user,
        tags=record.tags,
        version=record.version,
        created_at=record.created_at,
        updated_at=record.updated_at,
    )


def _version(stored: TextVersion) -> GraphVersionView:
    return GraphVersionView(version=stored.version, user=stored.principal.user, at=stored.made_at, note=stored.note)


def _document(record: TextRecord, stored: TextVersion) -> GraphDocument:
    return GraphDocument(graph=_summary(record), version=_version(stored), text=stored.text)


def _graph_run(record: RunRecord, events: Sequence[Event]) -> GraphRun:
    last = events[-1] if events else None
    error = None
    if isinstance(last, RunFailed):
        error = {"kind": last.kind, "code": last.code, "message": last.message, "hint": last.hint, "node": last.node}
    return GraphRun(
        run_id=record.run,
        graph=record.question,
        version=record.graph_version,
        status=record.status,
        nodes={id: each for id, each in node_runs(events).items() if id not in RESERVED},
        waits=tuple(open_questions(events)) if record.status in UNDER_WAY else (),
        output=last.output if isinstance(last, RunFinished) else None,
        error=error,
    )
