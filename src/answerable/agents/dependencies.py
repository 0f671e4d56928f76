"""The dependencies of the steps in which a language model takes part."""

from dataclasses import dataclass

from answerable.agents.federation import SourceLookup
from answerable.agents.readers import Readers
from answerable.agents.run_policy import RunPolicy
from answerable.agents.runtime import Agents
from answerable.core.clock import Clock
from answerable.core.context import RunContext
from answerable.engine.steps.combine import CombineStep
from answerable.engine.steps.python import PythonStep
from answerable.engine.steps.sql import SqlStep
from answerable.engine.steps.understand import Conversation
from answerable.store.base import Store


@dataclass(frozen=True, slots=True)
class AgentDependencies:
    agents: Agents
    readers: Readers
    """Read questions without a model. The tables and values they link also choose what a prompt shows of the data."""
    sources: SourceLookup
    sql: SqlStep
    combine: CombineStep
    python: PythonStep
    store: Store
    clock: Clock
    share_rows: bool
    share_personal: bool
    """Whether values of the data may be sent to a model."""
    preplan: bool
    """Whether a model looks at a question before it is planned."""
    policy: RunPolicy
    """Retries, breakers and time limits of the steps of a question."""

    async def conversation(self, context: RunContext) -> Conversation:
        """The conversation as a model sees it: only the last answer of the thread."""
        # Earlier messages are left out: each prompt would grow, and follow-ups refer to the last answer.
        last = (
            await self.store.capsules.latest(context.principal, context.thread) if context.thread is not None else None
        )
        return Conversation(last=last.body if last else None)
