"""The journal of a run: the one list of its events.

Events are numbered when they are recorded. All events of one tick of the loop are stored in one commit. Only then do
listeners get them, and only then does the walk go on. Without a store, listeners get them at once. If the store fails,
no more events are recorded or shown, and `on_failure` is called. A store also refuses the events of a run that another
process has taken over (`LeaseLostError`). Streamed text is recorded in segments (see `segments.py`).
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from typing import Concatenate, Literal, ParamSpec, TypeAlias

from answerable.core.clock import Clock
from answerable.core.context import RunContext
from answerable.core.errors import AnswerableError, LimitError, OperatorError
from answerable.core.events import (
    ApprovalDecided,
    ApprovalRequested,
    Event,
    RunFinished,
    RunStarted,
    StepFailed,
    StepFinished,
    StepOutput,
    StepRetried,
    StepSkipped,
    StepStarted,
)
from answerable.core.ids import NodeId, RunId
from answerable.core.records import dataclass
from answerable.core.values import Json
from answerable.engine.budget import RunBudget, active_seconds
from answerable.engine.segments import TEXT_CHANNEL, OpenSegments, is_text
from answerable.engine.value_size import LARGEST_RUN
from answerable.store.base import Events, Lease, RunEnd

Listener: TypeAlias = Callable[[Event], None]
"""Gets every event of a run, in order, after the event is stored. A listener must not block. Its errors are logged."""
EndOf: TypeAlias = Callable[[Event], Awaitable[RunEnd]]
"""What is stored about a run together with its last event: its status, and the answer in its thread."""
Ended: TypeAlias = StepFinished | StepFailed | StepSkipped
P = ParamSpec("P")

SEGMENT_SECONDS = 1.0
"""Streamed text waits this long to be stored. A killed process loses at most so much text, and followers in other
processes see text so much later."""
DEFERRED_SECONDS = 0.05
"""Events that can wait are stored with the next that cannot, or after this long."""
_log = logging.getLogger("answerable.engine")


@dataclass(slots=True)
class Past:
    """What the journal holds about a node when a run is continued."""

    ended: Ended | None = None
    attempt: int = 1
    """The number of the next attempt."""
    unreported: bool = False
    """Whether this attempt was started without an end in the journal: it may have had effects."""
    approval: Literal["asked", "given", "refused"] | None = None
    decision: ApprovalDecided | None = None
    lasting: bool = False
    """Whether the approval counts however often the step is started again."""
    until: float | None = None
    """When it goes on without a decision."""
    key: str | None = None
    """The idempotency key of its effect, if it was issued by an earlier run that this one was forked from."""


class Journal:
    def __init__(
        self,
        context: RunContext,
        clock: Clock,
        events: Events | None = None,
        listeners: list[Listener] | None = None,
        past: Sequence[Event] = (),
        lease: Lease | None = None,
    ) -> None:
        self.context = context
        self.lease = lease or Lease(context.run, 0)
        """Every write about the run carries the lease, so that the store can refuse a process that has lost it."""
        self.past: Mapping[NodeId, Past] = past_by_node(past)
        self.signals = [event for event in past if isinstance(event, StepOutput)]
        self.outputs = list(self.signals)
        """All output of steps except streamed text, also from before the run was continued."""
        self.wakes: dict[NodeId, float] = {}
        """When nodes that wait go on without a decision."""
        self._budget: RunBudget | None = None
        self._calls_under_way = 0
        self.pausing = asyncio.Event()
        """Set when no further step may start, because somebody wants the run to pause."""
        self._output_bytes = 0
        """Of the steps that this process has run."""
        self._active_before = active_seconds(past)
        self._began = clock.monotonic()
        self.listeners = [] if listeners is None else listeners
        """The list may change while the run goes on."""
        self.on_failure: Callable[[Exception], None] = lambda _: None
        self.on_piece: Callable[[StepOutput], None] = lambda _: None
        self.end_of: EndOf | None = None
        self._end: RunEnd | None = None
        self._run = context.run
        self._events = events
        self._take = self.show if events is None else self._enqueue
        self._defer: Callable[[Event], None] = self.show if events is None else self._enqueue_deferred
        # Events get wall-clock times that never go back: the monotonic clock, shifted once to the time of day.
        self._now = clock.monotonic
        # Nor before what another process recorded: its clock may have been ahead, or this one was set back.
        self._epoch = max(clock.now().timestamp(), past[-1].at if past else 0.0) - clock.monotonic()
        self._seq = self._stored = past[-1].seq if past else 0
        self._buffer: list[tuple[Event, Listener | None]] = []
        self._commit_task: asyncio.Task[None] | None = None
        self.urgent = False
        """Whether an event waits that somebody waits for."""
        self._deferred_timer: asyncio.TimerHandle | None = None
        self._segments = OpenSegments()
        self._segment_timer: asyncio.TimerHandle | None = None
        self._closed = False
        self._failure: Exception | None = None

    def bound_by(self, budget: RunBudget | None) -> None:
        """Limits what all nodes of the run may use together."""
        self._budget = budget
        if budget is not None:
            self.context = replace(self.context, spending=self)

    def check_time(self) -> None:
        """Raises a `LimitError` if the run has used up its time."""
        if self._budget is not None:
            self._budget.check_time(self._active())

    def begin_call(self) -> None:
        if self._budget is not None:
            self._budget.check_call(self.outputs, self._active(), self._calls_under_way)
        self._calls_under_way += 1

    def end_call(self) -> None:
        self._calls_under_way -= 1

    def _active(self) -> float:
        return self._active_before + self._now() - self._began

    def count_output(self, size: int) -> None:
        """Adds the bytes of a step's output to those of the run. Raises a `LimitError` if they are too many."""
        self._output_bytes += size
        if self._output_bytes > LARGEST_RUN:
            raise LimitError(
                f"The outputs of this run are larger than {LARGEST_RUN >> 20} MB together.",
                code="run_too_large",
                hint="Pass on only the fields that later nodes need, or keep rows in tables.",
            )

    @property
    def durable(self) -> bool:
        return self._events is not None

    def record(self, kind: Callable[Concatenate[RunId, int, float, P], Event], *a: P.args, **named: P.kwargs) -> None:
        if not self._closed:
            if self._segments.texts:
                self._store_segments()  # first, so that stored events keep the order in which they happened
            self._seq += 1
            self._take(kind(self._run, self._seq, self._epoch + self._now(), *a, **named), None)

    def record_then(
        self,
        then: Listener,
        kind: Callable[Concatenate[RunId, int, float, P], Event],
        *a: P.args,
        **named: P.kwargs,
    ) -> None:
        """Records an event, and calls `then` when the event is stored and the listeners have got it."""

        if not self._closed:
            if self._segments.texts:
                self._store_segments()
            self._seq += 1
            self._take(kind(self._run, self._seq, self._epoch + self._now(), *a, **named), then)

    def defer(self, kind: Callable[Concatenate[RunId, int, float, P], Event], *a: P.args, **named: P.kwargs) -> None:
        """Records an event that may be stored a little later, together with others."""
        if not self._closed:
            self._defer(self._numbered(kind, *a, **named))

    def defer_and(
        self,
        then: Listener,
        kind: Callable[Concatenate[RunId, int, float, P], Event],
        *a: P.args,
        **named: P.kwargs,
    ) -> None:
        """Records an event like `defer`, and calls `then` at once: for what comes out the same if the event is lost."""
        if not self._closed:
            event = self._numbered(kind, *a, **named)
            self._defer(event)
            then(event)

    def _numbered(
        self, kind: Callable[Concatenate[RunId, int, float, P], Event], *a: P.args, **named: P.kwargs
    ) -> Event:
        if self._segments.texts:
            self._store_segments()
        self._seq += 1
        return kind(self._run, self._seq, self._epoch + self._now(), *a, **named)

    def output(self, node: NodeId, channel: str, data: Json) -> None:
        """Records output of a step before its end. A piece of streamed text is shown at once and stored later."""
        if is_text(channel, data) and self.durable and not self._closed:
            self._stream(StepOutput(self._run, 0, self._epoch + self._now(), node, channel, data))
            return
        self.record(StepOutput, node, channel, data)
        self.outputs.append(StepOutput(self._run, self._seq, 0.0, node, channel, data))

    def _stream(self, piece: StepOutput) -> None:
        # Added before it is shown, so that every piece a follower sees is also part of a segment.
        large = self._segments.add(piece)
        self.on_piece(piece)
        if large:
            self._store_segments()
        elif self._segment_timer is None:
            loop = asyncio.get_running_loop()
            self._segment_timer = loop.call_later(SEGMENT_SECONDS, self._store_segments)

    def _store_segments(self) -> None:
        if self._segment_timer is not None:
            self._segment_timer.cancel()
            self._segment_timer = None
        at = self._epoch + self._now()
        for node, data in self._segments.take():
            self._seq += 1
            self._take(StepOutput(self._run, self._seq, at, node, TEXT_CHANNEL, data), None)

    def _enqueue(self, event: Event, then: Listener | None) -> None:
        self._buffer.append((event, then))
        self.urgent = True
        if self._commit_task is None:
            self._commit_soon()

    def _enqueue_deferred(self, event: Event) -> None:
        self._buffer.append((event, None))
        if self._commit_task is None and self._deferred_timer is None:
            self._commit_later()

    def _commit_later(self) -> None:
        def due() -> None:
            self._deferred_timer = None
            if self._buffer and self._commit_task is None:
                self._commit_soon()

        self._deferred_timer = asyncio.get_running_loop().call_later(DEFERRED_SECONDS, due)

    def _commit_soon(self) -> asyncio.Task[None]:
        self._cancel_deferred()
        # A new task runs after all callbacks that are already scheduled, so the commit also gets their events.
        self._commit_task = asyncio.get_running_loop().create_task(self._commit())
        return self._commit_task

    async def flush(self) -> None:
        """Returns when all events recorded so far are stored. Raises the failure if they cannot be stored."""
        if self._segments.texts:
            self._store_segments()
        last = self._seq
        while self.durable and self._stored < last and self._failure is None:
            task = self._commit_task
            # A loop that shuts down cancels all its tasks, also a commit that has not begun. Its events must be stored.
            if task is None or task.cancelled():
                task = self._commit_soon()
            await asyncio.wait((task,))  # unlike `await task`, does not cancel the commit if this caller is cancelled
        if self._failure is not None:
            raise self._failure

    async def still_ours(self) -> None:
        """Raises if another process may carry the run out. Awaited right before something outside is changed.
        Storing the start of an effect may have taken long, and this process may have stood still since."""
        if self._events is not None:
            await self._events.still_ours(self.lease)

    async def close(self) -> None:
        """Stores all recorded events, and ignores later ones."""
        if self._segments.texts:
            self._store_segments()
        self._closed = True
        await self.flush()

    async def conclude(
        self, kind: Callable[Concatenate[RunId, int, float, P], Event], *a: P.args, **named: P.kwargs
    ) -> None:
        """Stores the last event of the run, and in the same commit what `end_of` makes of it."""
        if self._segments.texts:
            self._store_segments()
        # Closed before the first wait, so that nothing can be recorded behind the last event.
        self._closed = True
        if kind is not RunFinished:  # what is said of a run that failed is made of its stored events
            await self.flush()
        self._seq += 1
        last = kind(self._run, self._seq, self._epoch + self._now(), *a, **named)
        self._end = await self.end_of(last) if self.end_of is not None and self.durable else None
        self._take(last, None)
        await self.flush()

    async def _commit(self) -> None:
        assert self._events is not None
        batch, self._buffer, self.urgent = self._buffer, [], False
        try:
            await self._events.append([event for event, _ in batch], self.lease, self._end)
            self._stored = batch[-1][0].seq
            # Before the listeners: events that they record start the next commit, instead of waiting for this one.
            self._commit_task = None
            for event, then in batch:
                self.show(event, then)
        except (Exception, asyncio.CancelledError) as error:  # any error of a store: the run must not wait for ever
            self._fail(error)
        if self._buffer and self._commit_task is None and self.urgent:
            self._commit_soon()
        elif self._buffer and self._commit_task is None and self._deferred_timer is None:
            self._commit_later()

    def _cancel_deferred(self) -> None:
        if self._deferred_timer is not None:
            self._deferred_timer.cancel()
            self._deferred_timer = None

    def show(self, event: Event, then: Listener | None = None) -> None:
        """Gives a stored event to the listeners."""
        for listener in self.listeners:
            try:
                listener(event)
            except Exception:  # listeners are plugins, and their errors must not stop the run
                _log.exception("a listener failed", extra={"fields": {"run": self._run, "event": event.type}})
        if then is not None:
            then(event)

    def _fail(self, error: BaseException) -> None:
        self._failure = error if isinstance(error, AnswerableError) else _unwritable(self._run, error)
        # Nothing after a gap may be stored: a journal without one of its events could not be continued.
        self._closed = True
        self._buffer.clear()
        self._segments.take()
        self._cancel_deferred()
        if self._segment_timer is not None:
            self._segment_timer.cancel()
        self.on_failure(self._failure)


def _unwritable(run: RunId, error: BaseException) -> OperatorError:
    failure = OperatorError(
        f"The events of {run} could not be stored ({type(error).__name__}: {error}).",
        code="journal_unwritable",
        hint="Make the store writable again (disk space, permissions); the run then goes on where it stopped.",
    )
    failure.__cause__ = error
    return failure


def asks(events: Sequence[Event], node: NodeId) -> bool:
    """Whether a node waits for a decision."""
    past = past_by_node(events).get(node)
    return past is not None and past.approval == "asked"


def last_question(events: Sequence[Event], node: NodeId) -> tuple[ApprovalRequested | None, ApprovalDecided | None]:
    """The last question that a node asked, and the decision on it."""
    asked: ApprovalRequested | None = None
    decided: ApprovalDecided | None = None
    for event in events:
        if isinstance(event, ApprovalRequested) and event.node == node:
            asked, decided = event, None
        elif isinstance(event, ApprovalDecided) and event.node == node:
            decided = event
    return asked, decided


def _take_over(past: dict[NodeId, Past], started: RunStarted) -> None:
    for node, output in started.taken["ended"].items():
        past[node] = Past(ended=StepFinished(started.run, started.seq, started.at, node, output))
    for node, open_end in started.taken["open"].items():
        past[node] = Past(unreported=open_end["unreported"], key=open_end["key"])


def past_by_node(events: Sequence[Event]) -> dict[NodeId, Past]:
    """What the events of a run say about each of its nodes."""
    past: dict[NodeId, Past] = {}
    for event in events:
        match event:
            case RunStarted() if event.taken is not None:
                _take_over(past, event)
            case StepFinished() | StepFailed() | StepSkipped():
                past.setdefault(event.node, Past()).ended = event
            case StepStarted():
                before = past.get(event.node)
                if before is not None and before.lasting:
                    before.attempt, before.unreported = event.attempt, True
                else:  # a new entry: such an approval counts only for the attempt that it was asked for
                    past[event.node] = Past(attempt=event.attempt, unreported=True, key=before.key if before else None)
            case StepRetried():
                before = past.get(event.node)
                past[event.node] = Past(attempt=event.attempt + 1, key=before.key if before else None)
            case ApprovalRequested():
                asked = past.setdefault(event.node, Past())
                asked.approval, asked.lasting, asked.until = "asked", event.lasting, event.until
            case ApprovalDecided():
                decided = past.setdefault(event.node, Past())
                decided.approval, decided.decision = "given" if event.approved else "refused", event
    return past
