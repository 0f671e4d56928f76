"""Kind `write_combine`: a model writes the SQL that joins the rows of earlier steps. The SQL is checked and run.

The agent is the one that writes queries for sources; its prompt describes rows in place of tables. SQL that fails is
sent back to the model with the exact reason.
"""

from collections.abc import Mapping

from answerable.agents.dependencies import AgentDependencies
from answerable.agents.model_descriptors import WriteConfig
from answerable.agents.replies import WrittenSql
from answerable.agents.write_steps import frame_texts, produced_by
from answerable.core.clock import today
from answerable.core.ids import NodeId
from answerable.engine.steps.base import Step
from answerable.engine.steps.combine import CombineConfig
from answerable.engine.steps.produced import Produced
from answerable.query.sql.dialects import FRAMES_DIALECT


async def write_combine(
    config: WriteConfig, earlier: Mapping[NodeId, Produced], step: Step, dependencies: AgentDependencies
) -> Produced:
    """The rows of a query that a model writes over the rows of earlier steps."""

    async def prompt_context() -> dict[str, str]:
        day = config.today or today(dependencies.clock)
        return {
            "today": day.isoformat(),
            "dialect": FRAMES_DIALECT,  # the engine that combines rows, whatever the sources speak
            "tables": "\n".join(f"table {frame}" for frame in frame_texts(earlier, dependencies)),
            "values": "",
            "frames": "",
        }

    async def run(reply: WrittenSql) -> Produced | None:
        # Running the SQL is its check. That is safe, because it can read only the rows of earlier steps.
        if not reply.sql.strip():
            return None
        combined = CombineConfig(sql=reply.sql)
        return await dependencies.combine.produce(combined, earlier, step.context.principal, step.output)

    draft = WrittenSql(sql=config.draft or "")
    return await produced_by("write_sql", draft, config, earlier, step, dependencies, run, prompt_context)
