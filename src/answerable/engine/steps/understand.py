"""Kind `understand`: turns a question into the graph that answers it.

The graph is this step's recorded output, so a run that is continued is never understood twice. Who understands is a
`Mind`: the reader, or a language model.
"""

from typing import Protocol

from answerable.core.context import RunContext
from answerable.core.values import Frozen, Json
from answerable.engine.steps.base import Step
from answerable.store.base import Capsules


class Question(Frozen):
    text: str
    source: str
    choice: int | None = None
    """Which of the readings offered last in this thread was meant, counted from 1."""
    force: bool = False
    """Answer with the best reading even when unsure."""


class Understanding(Frozen):
    graph: Json
    sentence: str | None = None


class Mind(Protocol):
    async def understand(self, question: Question, context: RunContext, previous: Json | None) -> Understanding:
        """`previous` is the last capsule of the thread, which follow-ups refer to."""
        ...


class UnderstandStep:
    def __init__(self, mind: Mind, capsules: Capsules) -> None:
        self._mind = mind
        self._capsules = capsules

    async def run(self, step: Step) -> Json:
        question = Question.model_validate(step.node.config)
        context = step.context
        last = await self._capsules.latest(context.scope, context.thread) if context.thread else None
        understanding = await self._mind.understand(question, context, last.body if last else None)
        return understanding.model_dump(mode="json")
