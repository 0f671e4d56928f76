"""What Answerable does for its users, by noun. The command line, the HTTP edge and the library call these verbs and
nothing else: they only translate."""

from answerable.core.clock import Clock
from answerable.service.answers import AnswerService
from answerable.service.questions import QuestionService
from answerable.service.runs import RunService
from answerable.service.threads import ThreadService
from answerable.sources.registry import SourceRegistry
from answerable.store.base import Store


class Service:
    """Put together by `answerable.app`."""

    def __init__(
        self,
        *,
        store: Store,
        registry: SourceRegistry,
        runs: RunService,
        questions: QuestionService,
        answers: AnswerService,
        clock: Clock,
        default_source: str,
    ) -> None:
        self.store = store
        self.registry = registry
        self.runs = runs
        self.questions = questions
        self.answers = answers
        self.threads = ThreadService(store, clock)
        self.default_source = default_source

    async def close(self) -> None:
        """Stops running work without marking it as ended: the next process continues it."""
        await self.runs.close()
        await self.registry.close()
        await self.store.close()
