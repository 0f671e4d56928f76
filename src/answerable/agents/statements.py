"""Kind `statement`: splits SQL over several sources, and builds the graph that asks each source and combines rows."""

from answerable.agents.execution_plan import ExecutionPlan, PlanStep, plan_graph
from answerable.agents.federation import ROWS, SourceLookup, fetching_steps
from answerable.agents.run_policy import RunPolicy
from answerable.core.values import Frozen, Json
from answerable.engine.steps.base import Step
from answerable.engine.steps.descriptor import StepDescriptor
from answerable.engine.steps.understand import RoutedGraph


class StatementConfig(Frozen):
    sql: str
    sources: tuple[str, ...]


class StatementStep:
    descriptor = StepDescriptor(name="statement", config=StatementConfig, produces="graph")

    def __init__(self, sources: SourceLookup, policy: RunPolicy) -> None:
        self._sources = sources
        self._policy = policy

    async def run(self, step: Step) -> Json:
        from answerable.query.sql.split_sql import AloneSql, split_sql

        config = step.config_as(StatementConfig)
        federated = await self._sources.federated(config.sources, step.context.principal)
        parts = split_sql(config.sql, await federated.merged(step.reporter()))
        if isinstance(parts, AloneSql):
            steps: tuple[PlanStep, ...] = (PlanStep(id=ROWS, tool="sql", source=parts.source, code=parts.sql),)
        else:
            steps = fetching_steps(parts)
        graph = plan_graph(ExecutionPlan(steps=steps), config.sources[0], one_query=True)
        return RoutedGraph(self._policy.applied(graph)).as_json()
