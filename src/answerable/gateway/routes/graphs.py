"""Graphs that users draw: checked, stored in versions, and run."""

from typing import Annotated

from fastapi import APIRouter, Path, Query
from pydantic import Field

from answerable.core.values import Json
from answerable.gateway.access import NewRun, PrincipalOf, RequestId, RunPath, ServiceOf, within
from answerable.gateway.middleware.idempotency import OnceRoute
from answerable.gateway.problems import documented
from answerable.gateway.wire import API, Wire
from answerable.graphs.comparing import GraphDifference
from answerable.graphs.figures import NodeFigures
from answerable.graphs.ready_made import ReadyGraph
from answerable.service.graphs import GraphDocument, GraphReport, GraphRun, GraphSummary, GraphVersionView
from answerable.service.run_summary import RunSummary, run_summary

router = APIRouter(prefix=API, tags=["graphs"], route_class=OnceRoute, dependencies=[within("ask")])

LARGEST = 1_000_000


class GraphText(Wire):
    text: str = Field(max_length=LARGEST, description="The graph as YAML or JSON.")


class GraphTextRun(Wire):
    text: str = Field(max_length=LARGEST, description="The graph as YAML or JSON.")
    input: dict[str, Json] = Field(default={}, description="The input of the graph.")


class GraphSaved(Wire):
    text: str = Field(max_length=LARGEST, description="The graph as YAML or JSON. Its `name` is the name in the path.")
    note: str = Field("", max_length=500)
    tags: list[str] | None = Field(None, max_length=50, description="Null leaves the tags as they are.")
    expected: int | None = Field(None, ge=0, description="The version that you know; 0 for a new graph.")


class GraphList(Wire):
    graphs: list[GraphSummary]


class ReadyGraphs(Wire):
    templates: list[ReadyGraph]


class GraphFrom(Wire):
    template: str = Field(max_length=64, description="The name of a ready-made graph.")
    source: str | None = Field(None, max_length=1_000, description="What it reads instead of its example data.")


class GraphVersions(Wire):
    versions: list[GraphVersionView]


class GraphRuns(Wire):
    runs: list[RunSummary]


class GraphFigures(Wire):
    nodes: dict[str, NodeFigures]


class GraphRollback(Wire):
    version: int = Field(ge=1)


class GraphInput(Wire):
    input: dict[str, Json] = Field(default={}, description="The input of the graph.")
    version: int | None = Field(None, ge=1, description="Null for the version that counts.")


class GraphFork(Wire):
    node: str | None = Field(None, max_length=64, description="Where to begin; null for what failed or never ran.")
    outputs: dict[str, Json] = Field(default={}, description="Outputs of nodes to go on with instead of theirs.")
    input: dict[str, Json] = Field(default={}, description="Fields of the input that differ.")


class EventData(Wire):
    data: Json = Field(None, description="What the nodes that wait for the event get as its data.")


class EventReached(Wire):
    runs: list[str]


EventPath = Annotated[str, Path(min_length=1, max_length=200)]
GraphPath = Annotated[str, Path(pattern=r"^[a-z0-9][a-z0-9_-]{0,63}$")]
VersionQuery = Annotated[int | None, Query(ge=1)]


class GraphRunAccepted(Wire):
    run_id: str


@router.get("/graphs/schema")
async def graph_schema(service: ServiceOf, principal: PrincipalOf) -> dict[str, Json]:
    """The JSON Schema of the format, for editors."""
    schema: dict[str, Json] = service.graphs.schema(principal)
    return schema


@router.get("/graphs/templates")
async def graph_templates(service: ServiceOf, principal: PrincipalOf) -> ReadyGraphs:
    """List the ready-made graphs, with their texts."""
    return ReadyGraphs(templates=[*service.graphs.ready_made(principal)])


@router.post("/graphs/validate", responses=documented(400, 413, 422))
async def validate_graph(body: GraphText, service: ServiceOf, principal: PrincipalOf) -> GraphReport:
    """Check a graph without running it. The problem of a wrong graph names its line and column."""
    return await service.graphs.validate(body.text, principal)


@router.post("/graphs/run", responses=documented(400, 413, 422, 503), status_code=202)
async def run_graph_text(
    body: GraphTextRun, service: ServiceOf, principal: PrincipalOf, request_id: RequestId, new: NewRun
) -> GraphRunAccepted:
    """Start a run of a graph. Follow it with `GET /runs/{run_id}/events`."""
    run = await service.graphs.begin(body.text, body.input, principal, request_id=request_id, run=new)
    return GraphRunAccepted(run_id=run)


@router.post("/events/{name}", responses=documented(400, 413, 422), status_code=202)
async def signal_event(name: EventPath, body: EventData, service: ServiceOf, principal: PrincipalOf) -> EventReached:
    """Tell the runs that wait for an event that it has happened. They go on."""
    return EventReached(runs=[*await service.graphs.signal(name, body.data, principal)])


@router.get("/runs/{run_id}/nodes", responses=documented(404, 422))
async def graph_run(run_id: RunPath, service: ServiceOf, principal: PrincipalOf) -> GraphRun:
    """Show what became of each node of a graph's run by now."""
    return await service.graphs.get_run(run_id, principal)


@router.post("/runs/{run_id}/fork", responses=documented(400, 404, 413, 422, 503), status_code=202)
async def fork_run(
    run_id: RunPath, body: GraphFork, service: ServiceOf, principal: PrincipalOf, request_id: RequestId, new: NewRun
) -> GraphRunAccepted:
    """Start a new run from a node of a graph's run. What ended before that node is taken over and not done again."""
    started = await service.graphs.fork(
        run_id, principal, node=body.node, outputs=body.outputs, input=body.input, request_id=request_id, new=new
    )
    return GraphRunAccepted(run_id=started)


@router.get("/graphs")
async def graphs(
    service: ServiceOf, principal: PrincipalOf, tag: Annotated[str | None, Query(max_length=64)] = None
) -> GraphList:
    """List the stored graphs by name."""
    return GraphList(graphs=[*await service.graphs.list(principal, tag=tag)])


@router.get("/graphs/{name}", responses=documented(404, 422))
async def graph(
    name: GraphPath, service: ServiceOf, principal: PrincipalOf, version: VersionQuery = None
) -> GraphDocument:
    """Show a version of a graph with its text."""
    return await service.graphs.show(name, principal, version=version)


@router.put("/graphs/{name}", responses=documented(400, 413, 422))
async def save_graph(name: GraphPath, body: GraphSaved, service: ServiceOf, principal: PrincipalOf) -> GraphDocument:
    """Store a graph, as a new version if its text is new. A graph with a mistake is not stored."""
    return await service.graphs.save(
        body.text, principal, note=body.note, tags=body.tags, expected=body.expected, name=name
    )


@router.post("/graphs/{name}/from", responses=documented(400, 404, 413, 422), status_code=201)
async def new_graph(name: GraphPath, body: GraphFrom, service: ServiceOf, principal: PrincipalOf) -> GraphDocument:
    """Store a ready-made graph under a name of its own. A graph of that name is not overwritten."""
    return await service.graphs.new(name, principal, template=body.template, source=body.source)


@router.delete("/graphs/{name}", responses=documented(404, 422), status_code=204)
async def delete_graph(name: GraphPath, service: ServiceOf, principal: PrincipalOf) -> None:
    """Remove a graph with all its versions. Its runs stay."""
    await service.graphs.delete(name, principal)


@router.get("/graphs/{name}/versions", responses=documented(404, 422))
async def graph_versions(name: GraphPath, service: ServiceOf, principal: PrincipalOf) -> GraphVersions:
    """List who saved which version, newest first."""
    return GraphVersions(versions=[*await service.graphs.versions(name, principal)])


@router.get("/graphs/{name}/diff", responses=documented(404, 422))
async def graph_diff(
    name: GraphPath,
    service: ServiceOf,
    principal: PrincipalOf,
    before: VersionQuery = None,
    after: VersionQuery = None,
) -> GraphDifference:
    """Compare two versions, by node and as text."""
    return await service.graphs.diff(name, principal, before=before, after=after)


@router.post("/graphs/{name}/rollback", responses=documented(400, 404, 413, 422))
async def rollback_graph(
    name: GraphPath, body: GraphRollback, service: ServiceOf, principal: PrincipalOf
) -> GraphDocument:
    """Make the text of an earlier version count again, as a new version."""
    return await service.graphs.rollback(name, body.version, principal)


@router.post("/graphs/{name}/runs", responses=documented(400, 404, 413, 422, 503), status_code=202)
async def run_graph(
    name: GraphPath,
    body: GraphInput,
    service: ServiceOf,
    principal: PrincipalOf,
    request_id: RequestId,
    new: NewRun,
) -> GraphRunAccepted:
    """Start a run of a stored graph."""
    run = await service.graphs.begin_stored(
        name, body.input, principal, version=body.version, request_id=request_id, run=new
    )
    return GraphRunAccepted(run_id=run)


@router.get("/graphs/{name}/runs", responses=documented(404, 422))
async def graph_runs(
    name: GraphPath, service: ServiceOf, principal: PrincipalOf, limit: Annotated[int, Query(ge=1, le=500)] = 50
) -> GraphRuns:
    """List the runs of a graph, newest first."""
    return GraphRuns(runs=[run_summary(each) for each in await service.graphs.runs(name, principal, limit=limit)])


@router.get("/graphs/{name}/figures", responses=documented(404, 422))
async def graph_figures(name: GraphPath, service: ServiceOf, principal: PrincipalOf) -> GraphFigures:
    """Show what each node did in the last runs of a graph: runs, failures, times, cost."""
    return GraphFigures(nodes={**await service.graphs.figures(name, principal)})
