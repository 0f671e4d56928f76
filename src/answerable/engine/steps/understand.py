"""Kind `understand`: turns a question into the graph that answers it.

The graph is this step's recorded output, so a continued run never routes its question twice. Which graph it becomes is
decided by a `Router`; the product's is the table in `agents/routing.py`.
"""

from collections.abc import Sequence
from datetime import date
from typing import Literal, Protocol

from answerable.answers.capsule import read_capsule
from answerable.core.context import RunContext
from answerable.core.errors import NotFoundError
from answerable.core.progress import Progress
from answerable.core.records import dataclass
from answerable.core.values import Frozen, Json
from answerable.engine.graph import Graph
from answerable.engine.steps.base import OutputSink, Step
from answerable.engine.steps.descriptor import StepDescriptor
from answerable.store.base import Capsules, Message, Threads

Mode = Literal["auto", "plan", "react"]
"""`auto`: the reader when it is sure, else a model's plan; `plan`: a model's plan; `react`: a model that explores."""


class Question(Frozen):
    text: str
    source: str
    sources: tuple[str, ...] = ()
    """All sources, if the question is about more than one; `source` is the first of them."""
    choice: int | None = None
    """Which of the readings offered last in this thread was meant, counted from 1."""
    force: bool = False
    """Answer with the best reading even when unsure."""
    today: date | None = None
    """Count "last month" from this day instead of the day of asking."""
    mode: Mode = "auto"
    plan_only: bool = False
    """Show the plan as the answer, and run nothing."""
    experience: bool = True
    """Whether saved questions of the source may serve as examples."""
    stand_in: bool = True
    """Whether the reader answers or asks back if a model fails. A measurement of a model wants the failure."""
    hint: str | None = None
    """Findings of an earlier step about the question, for the planner. A question with a hint gets no first look."""


@dataclass(frozen=True, slots=True)
class RoutedGraph:
    """The graph that answers a question, and one sentence that says how the question was understood."""

    graph: Graph
    sentence: str | None = None

    def as_json(self) -> Json:
        return {"graph": self.graph.document, "sentence": self.sentence}


@dataclass(frozen=True, slots=True)
class Conversation:
    """Earlier messages of the thread, as far back as the history window goes."""

    messages: Sequence[Message] = ()
    last: Json | None = None
    """The body of the last capsule, which follow-ups refer to."""
    answered: Json | None = None
    """The body of the last capsule with rows, if the last one of all is a question back or words alone."""


class Router(Protocol):
    async def route(
        self,
        question: Question,
        conversation: Conversation,
        context: RunContext,
        output: OutputSink,
        progress: Progress,
    ) -> RoutedGraph: ...


class UnderstandStep:
    descriptor = StepDescriptor(
        name="understand",
        config=Question,
        title="Understand",
        label="question",
        produces="graph",
        looks_into_source=True,
        agent="plan",
    )

    def __init__(self, router: Router, threads: Threads, capsules: Capsules, window: int) -> None:
        self._router = router
        self._threads = threads
        self._capsules = capsules
        self._window = window

    async def run(self, step: Step) -> Json:
        question = step.config_as(Question)
        conversation = await conversation_of(step.context, self._threads, self._capsules, self._window)
        routed = await self._router.route(question, conversation, step.context, step.output, step.reporter())
        return routed.as_json()


async def conversation_of(context: RunContext, threads: Threads, capsules: Capsules, window: int) -> Conversation:
    """The conversation so far. `window`: how many of the last messages are read."""
    if context.thread is None:
        return Conversation()
    messages = await threads.messages(context.principal, context.thread, last=window)
    # Read by itself, because follow-ups refer to the last answer however small the window is.
    last = await capsules.latest(context.principal, context.thread)
    if last is None or read_capsule(last.body).answer.kind not in ("clarify", "text"):
        return Conversation(messages, last.body if last else None)
    return Conversation(messages, last.body, await _answered(messages, context, capsules))


async def _answered(messages: Sequence[Message], context: RunContext, capsules: Capsules) -> Json | None:
    """The newest capsule with rows. A question back or a "thank you" must not make the conversation forget its
    subject."""
    runs = dict.fromkeys(message.run for message in reversed(messages) if message.run not in (None, context.run))
    for run in runs:
        try:
            body = (await capsules.get(context.principal, run)).body if run is not None else None
        except NotFoundError:
            continue  # a run that failed has no capsule
        if body is not None and read_capsule(body).answer.columns:
            return body
    return None
