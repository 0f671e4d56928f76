"""Kind `understand`: turns a question into the graph that answers it.

The graph is this step's recorded output, so a run that is continued is never understood twice. Who understands is a
`Mind`: the reader, or a language model.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Literal, Protocol

from answerable.core.context import RunContext
from answerable.core.values import Frozen, Json
from answerable.engine.steps.base import Step
from answerable.store.base import Capsules, Message, Threads

Mode = Literal["auto", "plan", "react"]
"""`auto`: the reader when it is sure, else a model's plan; `plan`: a model's plan; `react`: a model that explores."""
Tell = Callable[[str, Json], None]
"""Hears a channel and what is said on it while somebody thinks."""


class Question(Frozen):
    text: str
    source: str
    sources: tuple[str, ...] = ()
    """All of them, where the question is about more than one; `source` is the first."""
    choice: int | None = None
    """Which of the readings offered last in this thread was meant, counted from 1."""
    force: bool = False
    """Answer with the best reading even when unsure."""
    today: date | None = None
    """Count "last month" from this day instead of the day of asking."""
    mode: Mode = "auto"
    plan_only: bool = False
    """Show the plan as the answer, and run nothing."""
    hint: str | None = None
    """What is known of the question already, for whoever plans it: nobody looks at it once more before that."""


class Understanding(Frozen):
    graph: Json
    sentence: str | None = None


@dataclass(frozen=True, slots=True)
class Conversation:
    """What was said before in the thread, as far back as the history window goes."""

    messages: Sequence[Message] = ()
    last: Json | None = None
    """The body of the last capsule, which follow-ups refer to."""


class Mind(Protocol):
    async def understand(
        self, question: Question, context: RunContext, before: Conversation, tell: Tell
    ) -> Understanding: ...


class UnderstandStep:
    def __init__(self, mind: Mind, threads: Threads, capsules: Capsules, window: int) -> None:
        self._mind = mind
        self._threads = threads
        self._capsules = capsules
        self._window = window

    async def run(self, step: Step) -> Json:
        question = step.config_as(Question)
        before = await self._before(step.context)
        understanding = await self._mind.understand(question, step.context, before, step.output)
        return understanding.model_dump(mode="json")

    async def _before(self, context: RunContext) -> Conversation:
        if context.thread is None:
            return Conversation()
        messages = await self._threads.messages(context.principal, context.thread, last=self._window)
        last = await self._capsules.latest(context.principal, context.thread)
        return Conversation(messages, last.body if last else None)
