"""Numbers that something lies above or below: “more than 500”, “before 2018”."""

import re
from decimal import Decimal

from answerable.answers.checking.facts import Ground
from answerable.answers.checking.lexicon import TOTAL
from answerable.answers.checking.numerals import Numeral
from answerable.answers.checking.periods import dated_ground
from answerable.answers.checking.predicates import meets, predicates
from answerable.answers.checking.quantified import row_counts
from answerable.answers.checking.quantities import columns_for, counted_columns, factor, said_unit
from answerable.answers.checking.sentence import Sentence
from answerable.answers.checking.shares import percent_grounds, ratio_grounds

_QUANTIFIER = re.compile(r"\W*(?:no|none|nobody|all|every|each)\b", re.IGNORECASE)


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
        grounds = percent_grounds if numeral.kind == "percent" else ratio_grounds
        values = (each for each in grounds(numeral, sentence) if each.kind != "fact")
        if numeral.kind == "ratio":
            return next((each for each in values if each.value > 1 and meets(each.value, bound, numeral.value)), None)
        return next((each for each in values if meets(each.value, bound, numeral.value)), None)
    if not named and speaks_of_rows(numeral, sentence):
        return Ground(numeral.value, "fact", "a bound")
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


def _dated_bound(numeral: Numeral, sentence: Sentence, bound: str) -> Ground | None:
    """“Opened before 2018”: so did every row that is named. Without names, the years of the rows have to reach it."""
    named = {row for mention in sentence.labels_named for row in mention.rows}
    years = [Decimal(known.year or 0) for known, row, _ in sentence.facts.dates() if not named or row in named]
    if speaks_of_rows(numeral, sentence) or (years and all(meets(year, bound, numeral.value) for year in years)):
        return Ground(numeral.value, "fact", "a bound of the dates")
    return None


def spanned_ground(numeral: Numeral, sentence: Sentence) -> Ground | None:
    """“Averaged 5.4 minutes over 1,265 flights” states a value, not a bound."""
    if sentence.word_before(numeral) != "over":
        return None
    rows = sentence.rows_for(numeral)
    cells = sentence.facts.cells(rows, counted_columns(numeral, sentence))
    return next((each for each in cells if each.value == numeral.value), None)


def speaks_of_rows(numeral: Numeral, sentence: Sentence) -> bool:
    """Whether the sentence begins with all, none, or a count of rows that the bound narrows."""
    starts = sentence.text.lstrip('"“(*- ').lower()
    if starts.startswith(("all ", "every ", "each ", "none ", "no ", "nobody ", "only ", "everyone ")):
        return bool(predicates(sentence, 0))
    counting = [n for n in sentence.numerals if n.end < numeral.start]
    return any(row_counts(n, sentence) is not None for n in counting)
