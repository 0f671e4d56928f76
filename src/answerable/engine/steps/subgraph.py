"""Kind `subgraph`: runs a graph from the node's config, or from the output of an earlier step."""

from typing import Literal

from pydantic import Field

from answerable.core.errors import AnswerableError, GraphError, UserError, kind_of
from answerable.core.events import PlanReady
from answerable.core.ids import NodeId
from answerable.core.json_schema import SchemaProblem, check_value
from answerable.core.values import Frozen, Json
from answerable.engine.graph import Graph, Node
from answerable.engine.outcome import Outcome
from answerable.engine.steps.base import Step
from answerable.engine.steps.descriptor import StepDescriptor
from answerable.engine.steps.literal import INPUT


class SubgraphConfig(Frozen):
    graph: Json = None
    """The graph itself. If None, `source` names the step whose output holds it."""
    source: NodeId | None = Field(default=None, alias="from")
    """The node whose output holds the graph."""
    field: str = "graph"
    """The field of that output which holds the graph. A field `sentence` beside it is shown with the plan."""
    input: Json = None
    """The output of the graph's node `input`, for a graph that has an input."""
    json_schema: Json = Field(default=None, alias="schema")
    """JSON Schema of that input. None: any input fits."""
    stored: str | None = None
    """The stored graph that it is, with its version."""
    on_failure: Literal["fail", "report"] = "fail"
    """What to do if a critical node inside fails: fail with its error, or finish and report it in the output."""


class SubgraphStep:
    """Returns `{"status", "output", "outputs": {node: output}, "errors": {node: {"kind", "code", "message", "hint"}}}`.
    The nodes have the ids of the graph, without the prefix that they have in the run."""

    descriptor = StepDescriptor(name="subgraph", config=SubgraphConfig, produces="value", is_wrapper=True)

    async def run(self, step: Step) -> Json:
        config = step.config_as(SubgraphConfig)
        _check_input(step, config)
        document, sentence = _document(step, config)
        graph = with_input(Graph.parse(document), config.input)
        # Before the first node starts, so that people see the plan before its steps.
        step.emit(PlanReady, plan=_plan(step, graph), sentence=sentence)
        outcome = await step.run_graph(graph)
        if outcome.error is not None and config.on_failure == "fail":
            raise outcome.error
        step.partial = outcome.status != "done"  # a part that failed inside makes the whole run partial
        return _report(outcome)


def _check_input(step: Step, config: SubgraphConfig) -> None:
    if config.json_schema is None:
        return
    try:
        check_value(config.input, config.json_schema)
    except SchemaProblem as problem:
        field = ".".join(map(str, problem.path))
        raise UserError(
            f"Step `{step.id}`: the input does not fit the graph {config.stored}: {f'`{field}`: ' if field else ''}"
            f"{problem.message}.",
            code="graph_input_invalid",
        ) from problem


def with_input(graph: Graph, value: Json) -> Graph:
    """The graph with this input. A graph without an input stays as it is."""
    if value is None or INPUT not in graph.by_id:
        return graph
    filled = tuple(node if node.id != INPUT else node.model_copy(update={"config": value}) for node in graph.nodes)
    return graph.model_copy(update={"nodes": filled})


def _document(step: Step, config: SubgraphConfig) -> tuple[Json, str | None]:
    if config.graph is not None:
        return config.graph, None
    if config.source is None or config.source not in step.inputs:
        raise GraphError(f"Node `{step.id}`: it needs `graph`, or `from` with a node it comes after.", node=step.id)
    output = step.inputs[config.source]
    if not isinstance(output, dict) or config.field not in output:
        raise GraphError(f"Node `{step.id}`: the output of `{config.source}` has no `{config.field}`.", node=step.id)
    return output[config.field], output.get("sentence")


def _plan(step: Step, graph: Graph) -> Json:
    """The plan for people who watch the run: nodes with the ids that they have in the run's events."""

    def shown(node: Node) -> Json:
        after = [f"{step.inside}/{parent}" for parent in node.after]
        return {"id": f"{step.inside}/{node.id}", "kind": node.kind, "after": after, "config": node.config}

    return {"step": step.id, "nodes": [shown(graph.by_id[node]) for node in graph.order]}


def _report(outcome: Outcome) -> Json:
    return {
        "status": outcome.status,
        "output": outcome.output,
        "outputs": outcome.outputs,
        "errors": {node: _error(error) for node, error in outcome.errors.items()},
    }


def _error(error: AnswerableError) -> Json:
    return {"kind": kind_of(error), "code": error.stable_code, "message": error.message, "hint": error.hint}
