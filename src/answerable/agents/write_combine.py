"""Kind `write_combine`: a model writes the SQL that joins the rows of earlier steps. The SQL is checked and run.

The agent is the one that writes queries for sources; its prompt describes rows in place of tables. SQL that fails is
sent back to the model with the exact reason.
"""

from answerable.agents.dependencies import AgentDependencies
from answerable.agents.model_descriptors import WriteConfig
from answerable.agents.replies import WrittenSql
from answerable.agents.write_steps import frame_texts, produced_by, task_context
from answerable.core.clock import today
from answerable.core.values import Json
from answerable.engine.steps.base import Step
from answerable.engine.steps.combine import CombineConfig
from answerable.engine.steps.produced import Produced, produced_before
from answerable.query.sql.dialects import FRAMES_DIALECT


class WriteCombineStep:
    def __init__(self, dependencies: AgentDependencies) -> None:
        self._dependencies = dependencies

    async def run(self, step: Step) -> Json:
        config = step.config_as(WriteConfig)
        dependencies, earlier = self._dependencies, produced_before(step.inputs)
        frames = frame_texts(earlier, dependencies)
        prompt_context = {
            **task_context(config, config.today or today(dependencies.clock)),
            "dialect": FRAMES_DIALECT,  # the engine that combines rows, whatever the sources speak
            "tables": "\n".join(f"table {frame}" for frame in frames),
            "values": "",
        }

        async def run(reply: WrittenSql) -> Produced | None:
            # Running the SQL is its check. That is safe, because it can read only the rows of earlier steps.
            if not reply.sql.strip():
                return None
            config = CombineConfig(sql=reply.sql)
            return await dependencies.combine.produce(config, earlier, step.context.principal, step.output)

        return await produced_by(dependencies.agents, "write_sql", prompt_context, WrittenSql, step, run)
