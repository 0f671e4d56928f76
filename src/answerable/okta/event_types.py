"""The event types of Okta's system log, by category. The list is made by `scripts/okta_event_types.py`."""

import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path

from answerable.core.errors import UserError
from answerable.core.records import dataclass

DATA = Path(__file__).parent / "data" / "event_types.json"
MOST_CATEGORIES = 3
"""A question about the log is about few things; more would fill a model's prompt."""
FEWEST_EVENTS, MOST_EVENTS = 5, 15
LOG = "/api/v1/logs"


@dataclass(frozen=True, slots=True)
class EventCategory:
    id: str
    """The first words of their names: `user-session`."""
    events: Mapping[str, str]
    """Descriptions by event type."""


@lru_cache(maxsize=1)
def event_categories() -> Mapping[str, EventCategory]:
    """Every category, by its id."""
    read = json.loads(DATA.read_text("utf-8"))
    return {id: EventCategory(id, each) for id, each in read.items()}


def events_of(categories: Sequence[str]) -> Sequence[EventCategory]:
    """Raises a `UserError` for too many categories, and for one that there is not."""
    known = event_categories()
    if not 1 <= len(categories) <= MOST_CATEGORIES:
        raise UserError(
            f"Name one to {MOST_CATEGORIES} categories of events.",
            code="okta_events_invalid",
            hint="`answerable okta events` lists them.",
        )
    unknown = [each for each in categories if each not in known]
    if unknown:
        raise UserError(
            f"Okta's log has no category {unknown[0]!r}.",
            code="okta_events_invalid",
            hint=f"Categories are: {', '.join(known)}.",
        )
    return [known[each] for each in dict.fromkeys(categories)]


def get_detailed_events_from_keys(categories: list[str]) -> str:
    """The event types of one to three categories, with what each means. Filter the log by the 5 to 15 that fit best."""
    try:
        found = events_of(categories)
    except UserError as error:
        return f"{error.message} {error.hint}"
    lines = [f"{id}: {text}" for each in found for id, text in each.events.items()]
    return "\n".join([f"Choose {FEWEST_EVENTS} to {MOST_EVENTS} of these.", *lines])


def told_categories() -> str:
    """The categories, for a model that may ask for their events."""
    known = ", ".join(f"{each.id} ({len(each.events)})" for each in event_categories().values())
    return (
        f"Categories of events in the log, with how many there are: {known}. Before you filter the log by eventType, "
        f"call get_detailed_events_from_keys with one to {MOST_CATEGORIES} of them, "
        f"and use {FEWEST_EVENTS} to {MOST_EVENTS} of their events."
    )
