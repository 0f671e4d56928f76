"""What a run waits for: the questions of its nodes that nobody has decided yet. Pure."""

from collections.abc import Sequence
from datetime import UTC, datetime

from pydantic import Field

from answerable.core.events import ApprovalRequested, Event
from answerable.core.values import Frozen, Json
from answerable.engine.journal import past_by_node


class OpenQuestion(Frozen):
    node: str = Field(description="The id under which it is decided, also of a node inside of others: `review/ok`.")
    prompt: str
    show: Json = Field(description="What it is about.")
    until: datetime | None = Field(description="When the node goes on without a decision; null for never.")


def open_questions(events: Sequence[Event]) -> list[OpenQuestion]:
    """The questions that are open, in the order in which they were asked first."""
    asked = {event.node: event for event in events if isinstance(event, ApprovalRequested)}
    if not asked:
        return []
    past = past_by_node(events)
    return [_open(event) for node, event in asked.items() if past[node].approval == "asked" and not past[node].ended]


def _open(event: ApprovalRequested) -> OpenQuestion:
    until = datetime.fromtimestamp(event.until, UTC) if event.until is not None else None
    return OpenQuestion(node=event.node, prompt=event.prompt, show=event.effect, until=until)
