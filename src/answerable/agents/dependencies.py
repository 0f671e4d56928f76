"""The dependencies of the steps in which a language model takes part."""

from answerable.agents.federation import SourceLookup
from answerable.agents.reachable_apis import ReachableApis
from answerable.agents.readers import Readers
from answerable.agents.run_policy import RunPolicy
from answerable.agents.runtime import Agents
from answerable.core.clock import Clock
from answerable.core.context import RunContext
from answerable.core.records import dataclass
from answerable.engine.steps.combine import CombineStep
from answerable.engine.steps.cypher import CypherStep
from answerable.engine.steps.python import PythonStep
from answerable.engine.steps.sql import SqlStep
from answerable.engine.steps.understand import Conversation, conversation_of
from answerable.models.current import CurrentModels
from answerable.store.base import Store

_WINDOW = 20
"""Messages that are looked through for the last answer."""


@dataclass(frozen=True, slots=True)
class AgentDependencies:
    agents: Agents
    readers: Readers
    """Read questions without a model. The tables and values they link also choose what a prompt shows of the data."""
    sources: SourceLookup
    sql: SqlStep
    cypher: CypherStep
    combine: CombineStep
    python: PythonStep
    apis: ReachableApis
    store: Store
    clock: Clock
    models: CurrentModels
    preplan: bool
    """Whether a model looks at a question before it is planned."""
    policy: RunPolicy
    """Retries, breakers and time limits of the steps of a question."""

    @property
    def share_rows(self) -> bool:
        return self.models.share_rows

    @property
    def share_personal(self) -> bool:
        return self.models.share_personal

    async def conversation(self, context: RunContext) -> Conversation:
        """The conversation as a model sees it: the last answer of the thread, and the one before a question back."""
        return await conversation_of(context, self.store.threads, self.store.capsules, window=_WINDOW)
