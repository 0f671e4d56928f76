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
_HARM_WORDS = """
crime crimes murder murders violent death deaths died killed fatalities injured injuries casualties victims accident
accidents damage delay delays late poverty unemployment jobless complaint complaints defect defects error errors loss
losses pollution emission emissions aqi downtime incident incidents outage outages cancellation cancellations absences
mortality disease cases debt overdue missing failures failed
"""
_HARMS = frozenset(_HARM_WORDS.split())
HIGH_POINTS = frozenset({"peak", "peaked", "peaks", "record"})
LOW_POINTS = frozenset({"bottomed", "trough", "troughed"})
_LEAST_SUPERLATIVE = 6
_NO_SUPERLATIVES = frozenset(
    {
        "interest",
        "forest",
        "request",
        "honest",
        "harvest",
        "invest",
        "modest",
        "contest",
        "protest",
        "latest",
        "suggest",
    }
    | {"northwest", "southwest", "midwest", "arrest", "conquest", "priest", "digest", "behest", "infest", "everest"}
)
_GOOD_ENDS = frozenset({"best", "safest", "cleanest", "healthiest", "richest"})
_BAD_ENDS = frozenset({"worst", "poorest", "deadliest", "hardest", "dirtiest", "riskiest"})


def names_something(view: ColumnView) -> bool:
    """Whether the numbers of the column are names (a classroom, a phone number): they have no size and no sum."""
    return view.looks_like_id or view.words[-1:] in _NAMES


def is_superlative(word: str) -> bool:
    """Deadliest, safest: a word that ends like a superlative and is none of the few nouns that do; the peak."""
    if word in HIGH_POINTS or word in LOW_POINTS:
        return True
    return word.endswith("est") and len(word) >= _LEAST_SUPERLATIVE and word not in _NO_SUPERLATIVES


def both_ends(word: str, view: ColumnView) -> bool:
    """Whether the superlative may ask for either end: the best of a race took the least time, the best of a marathon of
    films the most."""
    durations = not _DURATIONS.isdisjoint(view.words) and _SPEEDS.isdisjoint(view.words)
    return durations and word in ("best", "worst", "top")


def is_descending(word: str, tag: str, view: ColumnView) -> bool:
    """Whether the superlative asks for the highest values. The best rank is the lowest, the fastest takes the least
    time, and the oldest was born first."""
    words = set(view.words)
    # The highest rank is the first, too.
    if not _RANKS.isdisjoint(words):
        return tag not in _UP
    # The worst state has the most crime, and the poorest the most poverty.
    if not _HARMS.isdisjoint(words) and word in (_GOOD_ENDS | _BAD_ENDS):
        return word in _BAD_ENDS
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
