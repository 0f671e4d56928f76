"""Questions of `semantic.yaml` with places: `Who has access to {applications.name}?`.

A place `{table.column}` stands for a value of that column, `{table}` for a description of rows ("contractors in
London"), `{period}` for a phrase about time, `{duration}` for a length of time ("90 days"), `{number}` for a number.
A question fits if its other words are those of the pattern, and each place has exactly one value. The statement names
the same places in text literals: `'{applications.name}'`, `id IN ('{users}')`, `'{number}'`, `'{period.start}'` and
`'{period.end}'`, which is exclusive, and `'{duration.ago}'`, the day that was so long ago.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date, datetime, timedelta
from functools import cached_property
from itertools import permutations
from typing import TypeAlias

from answerable.core.catalog import Catalog, KnownQuestion, ValueHit, ValueLookup
from answerable.core.question_places import DURATION, NUMBER, OWN_PLACES, PERIOD, PLACE, column_of, is_table
from answerable.core.records import dataclass
from answerable.reader.described_rows import DescribedRows, described_rows
from answerable.reader.time.date_phrases import DateSpan

Frame = Callable[[str], frozenset[str]]
"""The content words of a text, one word for all synonyms of a thing."""

_LONGEST_VALUE = 6
_LONGEST_QUESTION = 40
"""In words. The ways to take values out of a question grow with the square of its length, and no pattern is so long."""
_MARKS = " \t\n?!.,;:\"'“”‘’()"
_SURE = 0.9
"""Least score of a value: whole names and slips of the pen, never parts of names."""
_CANDIDATES = 24
_BEGINNING, _END_OF_TIME = date(1, 1, 1), date(9999, 12, 31)
_LONG_AGO = 36_500
_DURATION = re.compile(r"\b(?P<number>\d{1,6}|half an?|[a-z]+) (?P<unit>day|week|month|year)s?\b", re.IGNORECASE)
_LAST_HOURS = re.compile(
    r"\b(?:(?:in|within|during|over|for|from) )?(?:the )?(?:last|past|previous) "
    r"(?:(?P<number>\d{1,4}|[a-z]+) )?(?P<unit>hour|minute)s?\b",
    re.IGNORECASE,
)
_COUNT = re.compile(r"(?<![\w-])(?:\d{1,9}|[a-z]+)(?![\w-])", re.IGNORECASE)
_DAYS: Mapping[str, int] = {"day": 1, "week": 7, "month": 30, "year": 365}
_WORDS_FOR_NUMBERS: Mapping[str, int] = {
    "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10,
    "eleven": 11, "twelve": 12,
}  # fmt: skip
_NUMBERS: Mapping[str, int] = {**_WORDS_FOR_NUMBERS, "a": 1}
_HALF = ("half a", "half an")


Filling: TypeAlias = str | int | DescribedRows
"""What stands in a place of a statement: text, a number, or the keys of rows."""


@dataclass(frozen=True, slots=True)
class OwnPhrase:
    """A phrase about time or a number, by its places in the text, and what statements may say of it."""

    start: int
    end: int
    literals: Mapping[str, Filling]


@dataclass(frozen=True, slots=True)
class FilledPattern:
    known: KnownQuestion
    question: str
    """The pattern with the values in its places."""
    values: Mapping[str, Filling]
    """By the text of the literal in the statement that each one replaces."""


class QuestionPattern:
    """One wording of a question with places."""

    def __init__(self, known: KnownQuestion, text: str, frame: Frame, catalog: Catalog) -> None:
        self._known = known
        self._catalog = catalog
        self._text = text
        self._frame = frame
        self._places = PLACE.findall(text)

    @cached_property
    def content(self) -> frozenset[str]:
        """The content words beside the places."""
        return self._frame(PLACE.sub(" ", self._text))

    @property
    def descriptions(self) -> int:
        """How many places stand for descriptions of rows."""
        return sum(map(is_table, self._places))

    def filled(
        self, question: str, dates: Sequence[DateSpan], values: ValueLookup, now: datetime
    ) -> FilledPattern | None:
        """None if the question says anything else than this pattern does."""
        if len(question.split()) > _LONGEST_QUESTION or not self.content <= self._frame(question):
            return None
        rest = question
        shown: dict[str, str] = {}
        literals: dict[str, Filling] = {}
        hours = _hours(question, now)
        period = hours if hours is not None else _period(dates)
        phrases = {PERIOD: period, DURATION: _duration(question, now.date()), NUMBER: _count(question, dates)}
        for place in (place for place in phrases if place in self._places):
            phrase = phrases[place]
            if phrase is None:
                return None
            rest = rest[: phrase.start] + " " * (phrase.end - phrase.start) + rest[phrase.end :]
            shown[place] = question[phrase.start : phrase.end]
            literals |= phrase.literals
        places = [place for place in self._places if place not in OWN_PLACES]
        found = self._values(rest.split(), places, values)
        if found is None:
            return None
        shown |= {place: text for place, (text, _) in found.items()}
        literals |= {f"{{{place}}}": value for place, (_, value) in found.items()}
        return FilledPattern(self._known, PLACE.sub(lambda place: shown[place[1]], self._text), literals)

    def _values(
        self, words: Sequence[str], places: Sequence[str], values: ValueLookup
    ) -> dict[str, tuple[str, Filling]] | None:
        """For each place the words that are shown there, and what stands there in the statement."""
        for spans in self._spans(words, len(places)):
            texts = [" ".join(words[start:end]).strip(_MARKS) for start, end in spans]
            for order in permutations(range(len(places))):
                found = {places[place]: self._filling(texts[of], places[place], values)
                         for of, place in enumerate(order)}  # fmt: skip
                whole = {place: filling for place, filling in found.items() if filling is not None}
                if len(whole) == len(places):
                    return whole
        return None

    def _filling(self, text: str, place: str, values: ValueLookup) -> tuple[str, Filling] | None:
        if not is_table(place):
            value = _value(text, place, values)
            return None if value is None else (value, value)
        table = self._catalog.table(place)
        rows = None if table is None else described_rows(text, table, values)
        return None if rows is None else (rows.said, rows)

    def _spans(self, words: Sequence[str], wanted: int) -> Iterator[tuple[tuple[int, int], ...]]:
        """Ways to take this many runs of words out of the question so that the words of the pattern are left."""
        bare = [_bare(word) for word in words]
        needed = {place for place in range(len(words)) if not self._may_be_own(bare, place)}
        for spans in _runs(len(words), wanted):
            taken = {place for start, end in spans for place in range(start, end)}
            if needed <= taken:
                left = " ".join(word for place, word in enumerate(bare) if place not in taken)
                if self._frame(left) == self.content:
                    yield spans

    def _may_be_own(self, words: Sequence[str], place: int) -> bool:
        """Whether a word can be one of the pattern, alone or with a neighbour, as in "how many"."""
        around = (words[place : place + 1], words[place : place + 2], words[max(0, place - 1) : place + 1])
        return any(self._frame(" ".join(run)) <= self.content for run in around)


def _bare(word: str) -> str:
    return re.sub(r"['’]s$", "", word.strip(_MARKS))


def _runs(length: int, wanted: int, start: int = 0) -> Iterator[tuple[tuple[int, int], ...]]:
    if not wanted:
        yield ()
        return
    for begin in range(start, length):
        for end in range(min(length, begin + _LONGEST_VALUE), begin, -1):
            for rest in _runs(length, wanted - 1, end):
                yield ((begin, end), *rest)


def _value(text: str, place: str, values: ValueLookup) -> str | None:
    """The value of a column that a phrase names, or None if there is none, or more than one."""
    table, column = column_of(place)
    for phrase in dict.fromkeys((text, _bare(text))):
        hits = [hit for hit in _found(phrase, values) if (hit.table, hit.column) == (table, column)]
        best = [hit for hit in hits if hit.score == hits[0].score]
        if len(best) == 1:
            return best[0].value
    return None


def _found(phrase: str, values: ValueLookup) -> Sequence[ValueHit]:
    return values.find(phrase, _CANDIDATES, _SURE) if phrase else ()


def _hours(question: str, now: datetime) -> OwnPhrase | None:
    """The hours or minutes before now that a question names, to the second."""
    found = [match for match in _LAST_HOURS.finditer(question) if _many(match["number"] or "a") is not None]
    if len(found) != 1:
        return None
    (only,) = found
    length = timedelta(**{f"{only['unit'].lower()}s": _many(only["number"] or "a") or 0})
    start, end = (moment.strftime("%Y-%m-%d %H:%M:%S") for moment in (now - length, now + timedelta(seconds=1)))
    return OwnPhrase(only.start(), only.end(), {f"{{{PERIOD}.start}}": start, f"{{{PERIOD}.end}}": end})


def _period(dates: Sequence[DateSpan]) -> OwnPhrase | None:
    """The one period that a question names."""
    if len(dates) != 1 or dates[0].kind not in ("range", "point"):
        return None
    (only,) = dates
    end = only.end
    if only.kind == "point" and only.start is not None and end is None:
        end = only.start + timedelta(days=1)
    start, until = str(only.start or _BEGINNING)[:19], str(end or _END_OF_TIME)[:19]
    literals = {f"{{{PERIOD}.start}}": start, f"{{{PERIOD}.end}}": until}
    return OwnPhrase(only.start_char, only.end_char, literals)


def _duration(question: str, today: date) -> OwnPhrase | None:
    """The one length of time that a question names, as the day that was so long ago."""
    found = [match for match in _DURATION.finditer(question) if _many(match["number"]) is not None]
    if len(found) != 1:
        return None
    (only,) = found
    days = min(int((_many(only["number"]) or 0) * _DAYS[only["unit"].lower()]), _LONG_AGO)
    return OwnPhrase(only.start(), only.end(), {f"{{{DURATION}.ago}}": str(today - timedelta(days=days))})


def _count(question: str, dates: Sequence[DateSpan]) -> OwnPhrase | None:
    """The one number that a question names, outside of phrases about time."""
    found = [
        match
        for match in _COUNT.finditer(question)
        if not any(each.start_char <= match.start() < each.end_char for each in dates)
        and (match[0].isdigit() or match[0].lower() in _WORDS_FOR_NUMBERS)
    ]
    if len(found) != 1:
        return None
    (only,) = found
    return OwnPhrase(only.start(), only.end(), {f"{{{NUMBER}}}": _number(only[0]) or 0})


def _many(text: str) -> float | None:
    return 0.5 if text.lower() in _HALF else _number(text)


def _number(text: str) -> int | None:
    return int(text) if text.isdigit() else _NUMBERS.get(text.lower())
