"""Dates, years and times of day that a sentence states, and what they stand for."""

import re

from answerable.answers.checking.facts import Ground, ResultFacts, covers, period_of
from answerable.answers.checking.numerals import Numeral, StatedDate, numerals
from answerable.answers.checking.sentence import Sentence
from answerable.answers.roles import words

_JOINED = re.compile(r"[,;:(]|\b(?:from|to|until|since|by|between|and|after|before|than)\b", re.IGNORECASE)
_NEAR = 4
"""Words before a date that may name its column."""


def dated_ground(numeral: Numeral, sentence: Sentence) -> Ground | None:
    facts = sentence.facts
    said = facts.narrowed(numeral.period or StatedDate(year=int(numeral.value)))
    called = _called(numeral, sentence)
    for known, row, column in facts.dates():
        if covers(said, known) and called in (None, column):
            return Ground(numeral.value, "cell", f"a date in row {row + 1}", row, column)
    for fact in facts.extra:
        other = period_of(fact.value) if isinstance(fact.value, str) else None
        if other and covers(said, other):
            return Ground(numeral.value, "fact", fact.basis)
    for column, name in enumerate(c.name for c in facts.columns):
        if said.year is not None and str(said.year) in words(name):
            return Ground(numeral.value, "fact", f"the column {name}", column=column)
    return (
        _numbered_month(said, numeral, facts)
        or _asked_period(said, numeral, facts)
        or _period_before(said, numeral, facts)
    )


def _called(numeral: Numeral, sentence: Sentence) -> int | None:
    """The column of time that the words right before a date name: “the peak was in April”, where another one is the
    low."""
    before = words(_JOINED.split(sentence.text[: numeral.start])[-1])[-_NEAR:]
    times = [f for f in sentence.facts.fields if f.role == "time"]
    shared = set.intersection(*(set(words(f.name)) for f in times)) if times else set()
    named = [f.index for f in times if (set(words(f.name)) - shared) & set(before)]
    return named[0] if len(named) == 1 and len(times) > 1 else None


def _period_before(said: StatedDate, numeral: Numeral, facts: ResultFacts) -> Ground | None:
    """“Against February”: the month, quarter or year before one of the rows, where the rows have changes."""
    if not facts.change_fields or said.day is not None:
        return None
    for known, row, column in facts.dates():
        if known.year is None:
            continue
        month = known.year * 12 + (known.month or 1) - 1
        for back in (1,) if said.month else (3,) if said.quarter else (12,):
            year, place = divmod(month - back, 12)
            if covers(said, StatedDate(year, place // 3 + 1, place + 1)):
                return Ground(numeral.value, "fact", f"the period before row {row + 1}", row, column)
    return None


def _numbered_month(said: StatedDate, numeral: Numeral, facts: ResultFacts) -> Ground | None:
    """A month whose number stands in a column of months: “July 2014” for 7, if the question names the year."""
    if said.month is None or said.day is not None or (said.year is not None and str(said.year) not in facts.question):
        return None
    for field in facts.fields:
        if field.type == "integer" and "month" in words(field.name):
            for number, row in enumerate(facts.rows):
                if row[field.index] == said.month:
                    return Ground(numeral.value, "cell", f"{field.name} of row {number + 1}", number, field.index)
    return None


def _asked_period(said: StatedDate, numeral: Numeral, facts: ResultFacts) -> Ground | None:
    """A period that the question names, or one that lies in a year that it names."""
    for other in numerals(facts.question):
        known = other.period or (StatedDate(year=int(other.value)) if is_year(other) else None)
        if known is not None and said.year == known.year and covers(known, said) and covers(said, known):
            return Ground(numeral.value, "fact", "a period of the question")
    return None


def is_year(numeral: Numeral) -> bool:
    return numeral.kind == "number" and len(numeral.text) == 4 and numeral.text.isdigit()


def timed_ground(numeral: Numeral, facts: ResultFacts) -> Ground | None:
    """A time of day has to stand in a cell of a date or a time."""
    wanted = numeral.text.rjust(len(numeral.text) + (numeral.text.find(":") == 1), "0")
    for field in facts.fields:
        if field.type in ("datetime", "time"):
            for number, row in enumerate(facts.rows):
                if isinstance(row[field.index], str) and row[field.index].rpartition("T")[2].startswith(wanted):
                    return Ground(numeral.value, "cell", f"{field.name} of row {number + 1}", number, field.index)
    return None
