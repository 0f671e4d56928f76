"""Kind `write_combine`: a model writes the SQL that joins the rows of earlier steps; the checks judge it, it runs.

It is the writer of queries, told of rows in place of tables. What fails is handed back with the exact reason.
"""

from answerable.agents.context import frame_text
from answerable.agents.execution_plan import WriteConfig
from answerable.agents.replies import WrittenSql
from answerable.agents.runtime import Agents
from answerable.agents.write_steps import produced_by
from answerable.core.clock import Clock, today
from answerable.core.values import Json
from answerable.engine.steps.base import Step
from answerable.engine.steps.combine import CombineConfig, CombineStep
from answerable.engine.steps.produced import Produced


class WriteCombineStep:
    def __init__(self, agents: Agents, combine: CombineStep, clock: Clock, *, share_rows: bool) -> None:
        self._agents = agents
        self._combine = combine
        self._clock = clock
        self._share_rows = share_rows

    async def run(self, step: Step) -> Json:
        config = step.config_as(WriteConfig)
        earlier = {name: Produced.model_validate(output) for name, output in step.inputs.items() if output}
        frames = [frame_text(name, each.frame, share_rows=self._share_rows) for name, each in earlier.items()]
        given = {
            "question": config.question,
            "task": config.task,
            "dialect": "duckdb",
            "today": (config.today or today(self._clock)).isoformat(),
            "tables": "\n".join(f"table {frame}" for frame in frames),
            "values": "",
        }

        async def run(reply: WrittenSql) -> Produced | None:
            """It can reach nothing but those rows."""
            if not reply.sql.strip():
                return None
            config = CombineConfig(sql=reply.sql)
            return await self._combine.produce(config, earlier, step.context.scope, step.output)

        return await produced_by(self._agents, "write_sql", given, WrittenSql, step, run)
