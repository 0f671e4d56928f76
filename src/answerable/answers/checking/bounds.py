"""Numbers that something lies above or below: “more than 500”, “before 2018”."""

import re
from decimal import Decimal

from answerable.answers.checking.amounts import time_grounds
from answerable.answers.checking.facts import Ground
from answerable.answers.checking.lexicon import TOTAL
from answerable.answers.checking.numerals import Numeral
from answerable.answers.checking.periods import dated_ground
from answerable.answers.checking.predicates import meets, predicates
from answerable.answers.checking.quantified import row_counts
from answerable.answers.checking.quantities import columns_for, counted_columns, factor, said_unit
from answerable.answers.checking.sentence import Sentence
from answerable.answers.checking.shares import percent_grounds, ratio_grounds

_PRECISE = 3
_SPREAD = re.compile(r"\b(?:differs?|differed|apart(?! from)|spread|vary|varies|varied)\b", re.IGNORECASE)
_QUANTIFIER = re.compile(r"\W*(?:in no|no|none|nobody|neither|both|all|every|each)\b", re.IGNORECASE)


def bound_ground(numeral: Numeral, sentence: Sentence) -> Ground | None:
    """A number that something lies above or below. In sentences about all, none or some of the rows, `quantified`
    decides whether it does."""
    bound, facts = sentence.bound(numeral) or "", sentence.facts
    named = sentence.rows_for(numeral)
    if sentence.is_year(numeral) and facts.has_dates:
        return _dated_bound(numeral, sentence, bound)
    if sentence.is_year(numeral) and (dated := dated_ground(numeral, sentence)):
        return dated
    if numeral.kind != "number":
        return _bounded_part(numeral, sentence, bound)
    if not named and speaks_of_rows(numeral, sentence):
        return Ground(numeral.value, "fact", "a bound")
    if _SPREAD.search(sentence.text[: numeral.start]):
        return _bounded_spread(numeral, sentence, bound)
    if spans := [each for each in time_grounds(numeral, sentence) if meets(each.value, bound, numeral.value)]:
        return spans[0]
    # “In more than one country”: nothing says which of several columns is meant.
    columns = columns_for(numeral, sentence)
    if len(columns) > 1 and not sentence.spoken and said_unit(numeral, sentence) is None:
        columns = []
    rows = named or range(len(facts.rows))
    for field in columns:
        for times in factor(field, numeral, sentence):
            cells = [v * times for row in rows if (v := facts.number(row, field.index)) is not None]
            if cells and all(meets(value, bound, numeral.value) for value in cells):
                return Ground(numeral.value, "aggregate", f"a bound of {field.name}", column=field.index)
            summed = facts.complete and not named and sentence.cue(TOTAL)
            if cells and summed and meets(sum(cells, Decimal(0)), bound, numeral.value):
                return Ground(numeral.value, "aggregate", f"a bound of the sum of {field.name}", column=field.index)
    # “Only Rock has more than 500”: whether it does is decided with the rows that do.
    decided = "only" in sentence.words or _QUANTIFIER.match(sentence.text)
    return Ground(numeral.value, "fact", "a bound") if decided else None


def _bounded_part(numeral: Numeral, sentence: Sentence, bound: str) -> Ground | None:
    """“More than a third”, “more than twice as many”, “more than halved”."""
    grounds = percent_grounds if numeral.kind == "percent" else ratio_grounds
    values = (each for each in grounds(numeral, sentence) if each.kind != "fact")
    if numeral.kind == "ratio" and numeral.value < 1:
        return next((each for each in values if meets(numeral.value, bound, each.value)), None)
    if numeral.kind == "ratio":
        values = (each for each in values if each.value > 1)
    return next((each for each in values if meets(each.value, bound, numeral.value)), None)


def _digits(number: Decimal) -> int:
    return len(number.normalize().as_tuple().digits)


def _bounded_spread(numeral: Numeral, sentence: Sentence, bound: str) -> Ground | None:
    """“Scores differ by less than three points”: how far the highest is from the lowest."""
    rows = sentence.rows_for(numeral) or range(len(sentence.facts.rows))
    for field in columns_for(numeral, sentence) if sentence.facts.complete else ():
        cells = [v for row in rows if (v := sentence.facts.number(row, field.index)) is not None]
        for times in factor(field, numeral, sentence) if cells else ():
            if meets((max(cells) - min(cells)) * times, bound, numeral.value):
                return Ground(numeral.value, "aggregate", f"the spread of {field.name}", column=field.index)
    return None


def _dated_bound(numeral: Numeral, sentence: Sentence, bound: str) -> Ground | None:
    """“Opened before 2018”: so did every row that is named. Without names, the years of the rows have to reach it."""
    named = {row for mention in sentence.labels_named for row in mention.rows}
    years = [Decimal(known.year or 0) for known, row, _ in sentence.facts.dates() if not named or row in named]
    if speaks_of_rows(numeral, sentence) or (years and all(meets(year, bound, numeral.value) for year in years)):
        return Ground(numeral.value, "fact", "a bound of the dates")
    return None


def spanned_ground(numeral: Numeral, sentence: Sentence) -> Ground | None:
    """“Averaged 5.4 minutes over 1,265 flights” and “over 2,089 flights, each …” state a value, not a bound."""
    if sentence.word_before(numeral) != "over":
        return None
    facts, rows = sentence.facts, sentence.rows_for(numeral)
    counts = [f for f in facts.measures if f.type == "integer"] if not rows else []
    cells = facts.cells(rows or range(len(facts.rows)), counted_columns(numeral, sentence) or counts)
    return next((each for each in cells if each.value == numeral.value), None)


def range_ground(numeral: Numeral, sentence: Sentence) -> Ground | None:
    """“Stayed between 21.8 and 22.6 million”: every value lies between the ends, and one of the ends is reached."""
    ends = sentence.range_of(numeral)
    facts = sentence.facts
    if ends is None or not facts.complete:
        return None
    low, high = ends
    # The scale of “between 21.8 and 22.6 million” stands at its end.
    last = next(n for n in sentence.numerals if n.value == high and n.start >= numeral.start)
    slack = last.unit / 2
    rows = sentence.since() or sentence.rows_for(numeral) or range(len(facts.rows))
    for field in columns_for(last, sentence):
        for times in factor(field, last, sentence):
            cells = [v * times for row in rows if (v := facts.number(row, field.index)) is not None]
            inside = len(cells) > 1 and low - slack <= min(cells) and max(cells) <= high + slack
            reached = [abs(min(cells) - low) <= slack, abs(max(cells) - high) <= slack] if inside else []
            # An end with three digits is one that is reached: “between 3.62 and 3.80”.
            if any(reached) and all(hit or _digits(end) < _PRECISE for hit, end in zip(reached, ends, strict=True)):
                return Ground(numeral.value, "aggregate", f"the range of {field.name}", column=field.index)
    return None


def speaks_of_rows(numeral: Numeral, sentence: Sentence) -> bool:
    """Whether the sentence begins with all, none, or a count of rows that the bound narrows."""
    starts = sentence.text.lstrip('"“(*- ').lower()
    if starts.startswith(("all ", "every ", "each ", "none ", "no ", "in no ", "nobody ", "only ", "everyone ")):
        return bool(predicates(sentence, 0))
    return any(row_counts(n, sentence) is not None for n in sentence.numerals if n != numeral)
