"""Questions of `semantic.yaml` with places: `Who has access to {applications.name}?`.

A place `{table.column}` stands for a value of that column, `{period}` for a phrase about time, and `{duration}` for a
length of time ("90 days"). A question fits if its other words are those of the pattern, and each place has exactly one
value. The statement names the same places in text literals: `'{applications.name}'`, `'{period.start}'` and
`'{period.end}'`, which is exclusive, and `'{duration.ago}'`, the day that was so long ago.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cached_property
from itertools import permutations

from answerable.core.catalog import KnownQuestion, ValueHit, ValueLookup
from answerable.core.question_places import DURATION, PERIOD, PLACE, column_of
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
_DURATION = re.compile(r"\b(?P<number>\d{1,6}|[a-z]+) (?P<unit>day|week|month|year)s?\b", re.IGNORECASE)
_DAYS: Mapping[str, int] = {"day": 1, "week": 7, "month": 30, "year": 365}
_NUMBERS: Mapping[str, int] = {"a": 1, "one": 1, "two": 2, "three": 3, "four": 4, "six": 6, "twelve": 12}


@dataclass(frozen=True, slots=True)
class TimePhrase:
    """A phrase about time, by its places in the text, and what statements may say of it."""

    start: int
    end: int
    literals: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class FilledPattern:
    known: KnownQuestion
    question: str
    """The pattern with the values in its places."""
    values: Mapping[str, str]
    """By the text of the literal in the statement that each one replaces."""


class QuestionPattern:
    """One wording of a question with places."""

    def __init__(self, known: KnownQuestion, text: str, frame: Frame) -> None:
        self._known = known
        self._text = text
        self._frame = frame
        self._places = PLACE.findall(text)

    @cached_property
    def content(self) -> frozenset[str]:
        """The content words beside the places."""
        return self._frame(PLACE.sub(" ", self._text))

    def filled(
        self, question: str, dates: Sequence[DateSpan], values: ValueLookup, today: date
    ) -> FilledPattern | None:
        """None if the question says anything else than this pattern does."""
        if len(question.split()) > _LONGEST_QUESTION or not self.content <= self._frame(question):
            return None
        rest = question
        shown: dict[str, str] = {}
        literals: dict[str, str] = {}
        phrases = {PERIOD: _period(dates), DURATION: _duration(question, today)}
        for place in (place for place in phrases if place in self._places):
            phrase = phrases[place]
            if phrase is None:
                return None
            rest = rest[: phrase.start] + " " * (phrase.end - phrase.start) + rest[phrase.end :]
            shown[place] = question[phrase.start : phrase.end]
            literals |= phrase.literals
        columns = [place for place in self._places if place not in (PERIOD, DURATION)]
        found = self._values(rest.split(), columns, values)
        if found is None:
            return None
        shown |= found
        literals |= {f"{{{place}}}": value for place, value in found.items()}
        used = {literal: value for literal, value in literals.items() if literal in self._known.sql}
        return FilledPattern(self._known, PLACE.sub(lambda place: shown[place[1]], self._text), used)

    def _values(self, words: Sequence[str], places: Sequence[str], values: ValueLookup) -> dict[str, str] | None:
        for spans in self._spans(words, len(places)):
            texts = [" ".join(words[start:end]).strip(_MARKS) for start, end in spans]
            for order in permutations(range(len(places))):
                found = {places[place]: _value(texts[place_of_text], places[place], values)
                         for place_of_text, place in enumerate(order)}  # fmt: skip
                whole = {place: value for place, value in found.items() if value is not None}
                if len(whole) == len(places):
                    return whole
        return None

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


def _period(dates: Sequence[DateSpan]) -> TimePhrase | None:
    """The one period that a question names."""
    if len(dates) != 1 or dates[0].kind not in ("range", "point"):
        return None
    (only,) = dates
    end = only.end
    if only.kind == "point" and only.start is not None and end is None:
        end = only.start + timedelta(days=1)
    start, until = str(only.start or _BEGINNING)[:19], str(end or _END_OF_TIME)[:19]
    literals = {f"{{{PERIOD}.start}}": start, f"{{{PERIOD}.end}}": until}
    return TimePhrase(only.start_char, only.end_char, literals)


def _duration(question: str, today: date) -> TimePhrase | None:
    """The one length of time that a question names, as the day that was so long ago."""
    found = [match for match in _DURATION.finditer(question) if _number(match["number"]) is not None]
    if len(found) != 1:
        return None
    (only,) = found
    number = _number(only["number"]) or 0
    days = min(number * _DAYS[only["unit"].lower()], _LONG_AGO)
    return TimePhrase(only.start(), only.end(), {f"{{{DURATION}.ago}}": str(today - timedelta(days=days))})


def _number(text: str) -> int | None:
    return int(text) if text.isdigit() else _NUMBERS.get(text.lower())
