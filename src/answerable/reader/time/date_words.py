"""The words of dates, and a question cut into them."""

import re
from collections.abc import Mapping
from typing import Literal

from answerable.core.records import dataclass
from answerable.reader.time.calendar_periods import MONTHS, WEEKDAYS, CalendarUnit

MONTH_NUMBERS: Mapping[str, int] = {
    **{name.lower(): number for number, name in enumerate(MONTHS, 1)},
    **{name[:3].lower(): number for number, name in enumerate(MONTHS, 1)},
    "sept": 9,
}
MONTH_LIKE_WORDS = frozenset({"may", "march", "mar", "jan", "dec", "april", "june", "august", "sep"})
"""Also verbs, adjectives, or names of people."""
WEEKDAY_NUMBERS: Mapping[str, int] = {name.lower(): number for number, name in enumerate(WEEKDAYS, 1)}
UNITS: Mapping[str, CalendarUnit] = {
    "day": "day",
    "week": "week",
    "month": "month",
    "quarter": "quarter",
    "year": "year",
}
UNITS_ANY_NUMBER: Mapping[str, CalendarUnit] = {**UNITS, **{f"{word}s": unit for word, unit in UNITS.items()}}
EACH_ADVERBS: Mapping[str, CalendarUnit] = {
    "daily": "day",
    "weekly": "week",
    "monthly": "month",
    "quarterly": "quarter",
    "yearly": "year",
    "annually": "year",
    "annual": "year",
}
OVER_SHORT: Mapping[str, CalendarUnit] = {"yoy": "year", "qoq": "quarter", "mom": "month", "wow": "week"}
TO_DATE_SHORT: Mapping[str, CalendarUnit] = {"ytd": "year", "qtd": "quarter", "mtd": "month", "wtd": "week"}
ORDINAL_NUMBERS: Mapping[str, int] = {
    "first": 1,
    "second": 2,
    "third": 3,
    "fourth": 4,
    "1st": 1,
    "2nd": 2,
    "3rd": 3,
    "4th": 4,
}
COUNT_WORDS: Mapping[str, int] = {
    "a": 1,
    "an": 1,
    "one": 1,
    "two": 2,
    "three": 3,
    "four": 4,
    "five": 5,
    "six": 6,
    "seven": 7,
    "eight": 8,
    "nine": 9,
    "ten": 10,
    "twelve": 12,
    "eighteen": 18,
    "twenty": 20,
    "thirty": 30,
    "sixty": 60,
    "ninety": 90,
}
PREVIOUS = frozenset({"last", "previous", "past", "prior", "preceding"})
CURRENT = frozenset({"this", "current"})
NEXT = frozenset({"next", "coming", "upcoming", "following"})
IN_WORDS = frozenset({"in", "during", "within", "throughout", "of", "for", "on", "from", "over", "at", "across"})
YEAR_PREPOSITIONS = frozenset({"in", "during", "for", "from", "within", "throughout"})
"""After one of these, four digits are a year."""
TO_WORDS = frozenset({"to", "through", "thru", "until", "till", "-", "–", "—"})
NUMBER_CONTEXT = frozenset(
    {"more", "less", "fewer", "greater", "higher", "lower", "least", "most", "than", "over", "under", "above", "below"}
    | {"exactly", "top", "number", "id", "limit", "$", "€", "£", "#", "=", ">", "<", "about", "around", "nearly"}
)
"""After one of these, four digits are a quantity and no year."""
NAMING = frozenset({"named", "called"})

Side = Literal["from", "after", "before", "until"]
_OPENING: Mapping[Side, str] = {
    "from": "on or after|not before|no earlier than|starting from|starting in|starting|beginning|ever since|since",
    "after": "later than|after",
    "before": "earlier than|prior to|before",
    "until": "on or before|no later than|up to|up until|by the end of|until the end of|until|till|through|as of",
}
OPENERS = tuple((tuple(words.split()), side) for side, choices in _OPENING.items() for words in choices.split("|"))
_COMPARING = (
    "as compared to|as compared with|compared to|compared with|compare to|compare with|relative to|as opposed to"
)
COMPARERS = tuple(tuple(words.split()) for words in f"{_COMPARING}|versus|vs .|vs|against|than".split("|"))

_TOKEN = re.compile(
    r"""
      \d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2})?)?(?![\d-])  # 2024-05-01, 2024-05-01 14:30
    | \d{1,2}[/.]\d{1,2}[/.](?:\d{4}|\d{2})(?![\d/])             # 05/01/2024, 1.5.24
    | \d{4}-\d{2}(?![\d-])                                       # 2024-05
    | \d{1,2}/\d{4}(?![\d/])                                     # 05/2024
    | \d+(?:,\d{3})+(?:\.\d+)?|\d+\.\d+                          # 2,000 and 20.5 are plain numbers
    | ['’]\d\d(?!\w)                                             # '24
    | ['’]s(?!\w)
    | \d+(?:st|nd|rd|th|s)(?!\w)                                 # 1st, 1990s
    | [^\W\d_]+\d*                                               # words, Q3, FY24
    | \d+[^\W\d_]+\d*                                            # 1H24
    | \d+
    | [^\s\w]
    """,
    re.VERBOSE | re.IGNORECASE,
)
_QUOTED = re.compile(r"\"[^\"]*\"|“[^”]*”|‘[^’]*’|(?<!\w)'[^']*'(?!\w)|`[^`]*`")


@dataclass(frozen=True, slots=True)
class DateToken:
    word: str
    """In lower case."""
    start: int
    end: int
    capital: bool


def tokens_of(text: str) -> list[DateToken]:
    """The words of a question; quoted text becomes one opaque token, hyphens within words and possessives disappear."""
    quoted = {match.start(): match.end() for match in _QUOTED.finditer(text)}
    found: list[DateToken] = []
    position = 0
    while match := _TOKEN.search(text, position):
        if match.start() in quoted:
            position = quoted[match.start()]
            found.append(DateToken("", match.start(), position, False))
            continue
        position = match.end()
        if not _is_joint(text, match):
            found.append(DateToken(match.group().lower(), match.start(), match.end(), match.group()[0].isupper()))
    return found


def _is_joint(text: str, match: re.Match[str]) -> bool:
    """The hyphen of "year-over-year" or "mid-2024" (but not of "2023-2024"), and the possessive ending."""
    if match.group().lower() in ("'s", "’s"):
        return True
    if match.group() != "-":
        return False
    around = text[max(match.start() - 1, 0) : match.start()] + text[match.end() : match.end() + 1]
    return len(around) == 2 and around.isalnum() and not around.isdigit()
