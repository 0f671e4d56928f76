"""Kind `statement`: takes SQL over several sources apart, and gives the graph that asks each and combines the rows."""

from answerable.agents.execution_plan import ExecutionPlan, PlanStep, plan_graph
from answerable.agents.federation import ROWS, SourceLookup, fetching_steps
from answerable.core.values import Frozen, Json
from answerable.engine.steps.base import Step


class StatementConfig(Frozen):
    sql: str
    sources: tuple[str, ...]


class StatementStep:
    def __init__(self, sources: SourceLookup) -> None:
        self._sources = sources

    async def run(self, step: Step) -> Json:
        from answerable.query.sql.split_sql import AloneSql, split_sql

        config = step.config_as(StatementConfig)
        parts = split_sql(
            config.sql, await (await self._sources.federated(config.sources, step.context.principal)).merged()
        )
        if isinstance(parts, AloneSql):
            steps: tuple[PlanStep, ...] = (PlanStep(id=ROWS, tool="sql", source=parts.source, code=parts.sql),)
        else:
            steps = fetching_steps(parts)
        return {"graph": plan_graph(ExecutionPlan(steps=steps), config.sources[0]).model_dump(mode="json")}
