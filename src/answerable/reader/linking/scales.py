"""Scales: which end of a column a superlative asks for, decided with the column at hand."""

from answerable.reader.linking.schema import ColumnView

_RANKS = frozenset({"rank", "ranking", "position", "place", "standing"})
_DURATIONS = frozenset(
    {"time", "duration", "seconds", "minutes", "hours", "milliseconds", "lap", "pace", "meter", "metre"}
)
_SPEEDS = frozenset({"speed", "velocity", "per", "mph", "kmh"})
_BEGINNINGS = frozenset({"birth", "birthday", "born", "year", "date", "founded", "opening"})
_NAMES = tuple((word,) for word in ("room", "classroom", "zip", "zipcode", "postcode", "phone", "telephone", "fax"))
_UP = frozenset({"MAX", "MOST", "COMMON", "OLD"})


def names_something(view: ColumnView) -> bool:
    """Whether the numbers of the column are names (a classroom, a phone number): they have no size and no sum."""
    return view.looks_like_id or view.words[-1:] in _NAMES


def is_descending(word: str, tag: str, view: ColumnView) -> bool:
    """Whether the superlative asks for the highest values. The best rank is the lowest, the fastest takes the least
    time, and the oldest was born first."""
    words = set(view.words)
    # The highest rank is the first, too.
    if not _RANKS.isdisjoint(words):
        return tag not in _UP
    if word in ("fastest", "quickest", "slowest") and not _DURATIONS.isdisjoint(words) and _SPEEDS.isdisjoint(words):
        return word == "slowest"
    # Who has been here longest started first.
    if word in ("longest", "shortest") and view.temporal:
        return word == "shortest"
    if tag in ("OLD", "YOUNG") and (view.temporal or not _BEGINNINGS.isdisjoint(words)):
        return tag == "YOUNG"
    # "Newest" is among the cues of both ends, because the newest has the fewest years and the latest date.
    if word in ("newest", "latest", "last"):
        return True
    return tag in _UP
