"""Kind `write_cypher`: a model writes the Cypher that asks a graph. It is checked, dry-run, and run like SQL.

Cypher that fails is sent back to the model with the exact reason, at most twice. So is Cypher that returns other
columns than its writer expects: then one of the two is a mistake.
"""

from collections.abc import Mapping

from answerable.agents.dependencies import AgentDependencies
from answerable.agents.model_descriptors import WriteConfig
from answerable.agents.query_text import check_query
from answerable.agents.replies import WrittenCypher
from answerable.agents.write_steps import produced_by, schema_context
from answerable.core.errors import UserError
from answerable.core.ids import NodeId
from answerable.engine.steps.base import Step
from answerable.engine.steps.cypher import CypherConfig
from answerable.engine.steps.produced import Produced


async def write_cypher(
    config: WriteConfig, _: Mapping[NodeId, Produced], step: Step, dependencies: AgentDependencies
) -> Produced:
    """The rows of a query that a model writes for one graph. It uses no earlier rows."""
    source = await dependencies.sources.get(config.source, step.context.principal)

    async def prompt_context() -> dict[str, str]:
        return await schema_context(source, config, step, dependencies)

    async def run(reply: WrittenCypher) -> Produced | None:
        if not reply.cypher.strip():
            return None
        await check_query(reply.cypher, source)
        produced = await dependencies.cypher.query(
            CypherConfig(source=config.source, cypher=reply.cypher),
            step.context.principal,
            lambda code: step.output("code", code),
            step.reporter(),
        )
        _require_columns(reply, produced)
        return produced

    draft = WrittenCypher(cypher=config.draft or "")
    return await produced_by("write_cypher", draft, config, {}, step, dependencies, run, prompt_context)


def _require_columns(reply: WrittenCypher, produced: Produced) -> None:
    returned = [column.name for column in produced.frame.columns]
    if reply.expected_columns and reply.expected_columns != returned:
        raise UserError(
            f"The query returns the columns {', '.join(returned)}, and `expected_columns` are "
            f"{', '.join(reply.expected_columns)}.",
            code="cypher_columns",
            hint="Name each with AS, and expect what it returns.",
        )
