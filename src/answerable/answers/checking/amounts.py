"""What a plain number may stand for: a cell, a count, a sum, a mean, a difference, a time between two dates."""

import re
from collections.abc import Iterator, Sequence
from datetime import date
from decimal import Decimal
from itertools import combinations

from answerable.answers.checking.facts import Ground, ResultFacts, period_of, stated_numbers, stem
from answerable.answers.checking.lexicon import BETWEEN, COUNTED, LESS, MEAN, MEDIAN, MORE, TOTAL
from answerable.answers.checking.numerals import Numeral
from answerable.answers.checking.periods import is_year
from answerable.answers.checking.predicates import group_at_end
from answerable.answers.checking.quantities import counted_columns, factor
from answerable.answers.checking.sentence import Sentence
from answerable.answers.checking.shares import compared_rows, summed_pairs
from answerable.answers.roles import Field, words

_ADDS_UP = re.compile(
    r"\b(?:(?:come|came|comes|amount|amounts|amounted|sum|sums) (?:up )?to|between them|accounts? for|accounted for"
    r"|makes? up|made up)\b"
)
_TOGETHER = re.compile(r"\b(?:together|combined|altogether|in all|in total|both)\b", re.IGNORECASE)
_SUMMED_COLUMNS = 4
_OF_ALL = re.compile(r"\bof (?:the |all |all the )?$", re.IGNORECASE)
_PART_OF = re.compile(r" of (?:the |all |all the )?\d")
"""What follows a number that is a part of another: “82 of the 12,208 flights”."""
_DIFFERS = re.compile(
    r"\s*(?:(?!(?:is|are|was|were)\b)\w+\s+)?(?:more|less|fewer|higher|lower|longer|shorter|larger|smaller|cheaper|heavier"
    r"|ahead(?! of (?:schedule|time))|behind(?! schedule))\b"
    r"(?! or\b)[^.;]*\b(?:than|of)\b",
)
"""What follows a number that is a difference: “500 more than”."""


_OF_ENDS = re.compile(
    r"\b(?:gap|difference|spread|distance) between the \w*(?:est|most|best|worst)\b[^,;]* and the "
    r"\w*(?:est|most|least|best|worst)\b[^,;\d]* (?:is|was|of|to)\s+(?:\w+\s+)?$",
    re.IGNORECASE,
)
"""What stands before the difference of the two ends of a column."""
_BEFORE = re.compile(
    r"\s*(?:\w+\s+)?(?:the |a )?"
    r"(?:(?:year|quarter|month|week|day) (?:before|earlier)|previous (?:year|quarter|month))\b"
)
"""What follows a number of the row before: “up from 2,089.2 the year before”."""
_FOR_EACH = re.compile(r"(?:\s+\w+){0,2}\s+(?:each|apiece|per \w+)\b", re.IGNORECASE)
"""What follows a number that is a mean: “about 434 each”."""


def number_grounds(numeral: Numeral, sentence: Sentence) -> Iterator[Ground]:
    facts = sentence.facts
    named = sentence.rows_for(numeral)
    counted = counted_columns(numeral, sentence)
    if _OF_ENDS.search(sentence.text[: numeral.start]) and facts.complete:
        yield from _said(_spreads(facts), numeral, sentence)
        return
    if _DIFFERS.match(sentence.text[numeral.end :]):
        yield from _differences(numeral, sentence, named)
        return
    if not counted and (size := row_or_column_count(sentence.word_after(numeral), facts)):
        yield size
        yield from stated_numbers(facts)
        return
    rows: Sequence[int] = named or range(len(facts.rows))
    if re.search(r"%? of (?:all|the) $", sentence.text[: numeral.start]) and counted:
        rows = range(len(facts.rows))  # the whole may be a row of its own
    if facts.series is not None and _BEFORE.match(sentence.text[numeral.end :]):
        order = facts.series[1]
        rows = sorted({*rows, *(order[at - 1] for row in named if (at := order.index(row)) > 0)})
    # A part of 1 may be said as it stands: “R squared is 0.83”.
    part = abs(numeral.value) <= 1 and numeral.unit < 1
    measures = counted or [f for f in _dated_columns(sentence) if part or not facts.is_fraction(f)]
    if sentence.cue(LESS, MORE):
        measures = list(dict.fromkeys([*measures, *facts.change_fields]))
    yield from _said(facts.cells(rows, measures), numeral, sentence)
    yield from facts.cells(rows, [f for f in facts.fields if _is_called(f, numeral, sentence)])
    if _may_count_rows(numeral, sentence, named):
        yield row_count(facts)
    yield from _quantity_count(numeral, sentence)
    yield from _years(numeral, facts)
    yield from stated_numbers(facts)
    yield from _named_counts(numeral, sentence)
    yield from _gaps(numeral, sentence, named)
    yield from _said(_aggregates(numeral, sentence, named), numeral, sentence)
    if sentence.cue(LESS, MORE, BETWEEN):
        yield from _differences(numeral, sentence, named)


def _quantity_count(numeral: Numeral, sentence: Sentence) -> Iterator[Ground]:
    """“Government was the largest of the three”: as many as there are quantities."""
    quantities = len(sentence.facts.measures)
    if quantities > 1 and sentence.word_before(numeral) == "the" and sentence.word_after(numeral) not in COUNTED:
        yield Ground(Decimal(quantities), "aggregate", "the number of quantities")


def _spreads(facts: ResultFacts) -> Iterator[Ground]:
    for field in facts.measures:
        if values := facts.values(field):
            yield Ground(max(values) - min(values), "aggregate", f"the spread of {field.name}", column=field.index)


def _differences(numeral: Numeral, sentence: Sentence, named: list[int]) -> Iterator[Ground]:
    facts = sentence.facts
    if facts.change_fields:
        yield from _said(facts.cells(named, facts.change_fields), numeral, sentence)
    for first, second, field, basis in facts.pairs(compared_rows(sentence, named)):
        difference = Ground(abs(first - second), "aggregate", f"difference of {basis}")
        yield from _said([difference._replace(column=field.index)] if field else [difference], numeral, sentence)
    for first, second, basis in summed_pairs(sentence):
        yield Ground(abs(first - second), "aggregate", f"difference of {basis}")
    yield from _gaps(numeral, sentence, named)


def _dated_columns(sentence: Sentence) -> Sequence[Field]:
    """All measures; if the sentence names a year that is in the names of columns, only those and the undated ones."""
    measures = sentence.facts.measures
    years = {w for w in sentence.words if len(w) == 4 and w.isdigit()}
    named = [f for f in measures if years & set(words(f.name))]
    if re.search(r"\b(?:from|year before|previous year|year earlier)\b", sentence.text):
        return measures
    undated = [f for f in measures if not any(len(w) == 4 and w.isdigit() for w in words(f.name))]
    return [*named, *undated] if named else measures


def _said(grounds: Iterator[Ground] | list[Ground], numeral: Numeral, sentence: Sentence) -> Iterator[Ground]:
    """The amount in the unit and the scale of the number."""
    by_index = {f.index: f for f in sentence.facts.fields}
    for each in grounds:
        field = by_index.get(each.column) if each.column is not None else None
        if field is None:
            yield each
            continue
        for times in factor(field, numeral, sentence):
            yield each._replace(value=each.value * times) if times != 1 else each


def row_or_column_count(noun: str, facts: ResultFacts) -> Ground | None:
    """What a number of rows or columns has to be."""
    if noun in COUNTED:
        return row_count(facts)
    if noun in ("column", "columns"):
        return Ground(Decimal(len(facts.columns)), "aggregate", "the number of columns")
    return None


def row_count(facts: ResultFacts) -> Ground:
    return Ground(Decimal(facts.row_count), "row_count", "the number of rows")


def _aggregates(numeral: Numeral, sentence: Sentence, named: list[int]) -> Iterator[Ground]:
    facts = sentence.facts
    everything = list(range(len(facts.rows))) if facts.complete else []
    # “Of 8,977 orders” and “there are 1,608 tickets” say a sum without a word for it.
    counted = {f.index for f in counted_columns(numeral, sentence)}
    groups = [rows for _, rows in sentence.lists]
    groups += [g for n in sentence.numerals if (g := group_at_end(sentence, n)) is not None]
    adds_up = sentence.cue(TOTAL) or bool(_ADDS_UP.search(sentence.text)) or _speaks_of_all(sentence)
    # A name that stands for several rows, such as a year, or “the top three”, stands for their sum.
    one_name = any(set(named) == m.rows for m in sentence.mentions)
    if len(named) == 1 and _TOGETHER.search(sentence.text):
        yield from _row_sums(facts, named[0])
    for rows in (named if len(named) > 1 else [], *map(sorted, groups), everything):
        one_name = one_name or (rows is not everything and frozenset(rows) in groups)
        for total in facts.totals(rows):
            of_all = total.column in counted and (rows is everything or not named)
            of_all = of_all or (rows is not everything and one_name)
            of_all = of_all or bool(_PART_OF.match(sentence.text[numeral.end :]))
            if adds_up or of_all or _OF_ALL.search(sentence.text[: numeral.start]):
                yield total
        if sentence.cue(MEAN) or _FOR_EACH.match(sentence.text[numeral.end :]):
            yield from (mean for mean in facts.means(rows) if not counted or mean.column in counted)
        if sentence.cue(MEDIAN):
            yield from facts.medians(rows)


def _row_sums(facts: ResultFacts, row: int) -> Iterator[Ground]:
    """“In both accounts together”: the sum of columns of one row."""
    for size in range(2, min(len(facts.measures), _SUMMED_COLUMNS) + 1):
        for columns in combinations(facts.measures, size):
            cells = [value for f in columns if (value := facts.number(row, f.index)) is not None]
            if len(cells) == size:
                names = " and ".join(f.name for f in columns)
                yield Ground(sum(cells, Decimal(0)), "aggregate", f"sum of {names} of row {row + 1}", row)


def _speaks_of_all(sentence: Sentence) -> bool:
    """“The three channels share”: the subject is all rows, by their number."""
    first = next((n for n in sentence.numerals if sentence.word_before(n) == "the"), None)
    return not sentence.mentions and first is not None and first.value == sentence.facts.row_count


def _named_counts(numeral: Numeral, sentence: Sentence) -> Iterator[Ground]:
    """How many rows a name stands for: “Spain has two stadiums”."""
    noun = stem(sentence.word_after(numeral))
    called = any(noun == stem(word) for f in sentence.facts.fields if f.role == "category" for word in words(f.name))
    for mention in sentence.mentions if called else ():
        yield Ground(Decimal(len(mention.rows)), "row_count", "the rows of that name")


def _gaps(numeral: Numeral, sentence: Sentence, named: list[int]) -> Iterator[Ground]:
    """Days, months and years between the dates of two rows, or between two dates of one row."""
    unit = stem(sentence.word_after(numeral))
    for days, months, basis in _spans(sentence.facts, named) if unit in ("day", "week", "month", "year") else ():
        size = {"day": days, "week": days / 7, "month": months, "year": months / 12}
        yield Ground(size[unit], "aggregate", f"time between {basis}")


def time_grounds(numeral: Numeral, sentence: Sentence) -> Iterator[Ground]:
    """The time that a number of days, weeks, months or years may be."""
    yield from _gaps(numeral, sentence, sentence.rows_for(numeral))


def _spans(facts: ResultFacts, named: Sequence[int]) -> Iterator[tuple[Decimal, Decimal, str]]:
    """Days and months between two dates, and what they are the dates of."""
    times = [f for f in facts.fields if f.role == "time" and f.type in ("date", "datetime")]
    pairs = []
    if len(named) == 2:
        pairs = [([facts.rows[row][f.index] for row in named], f"{f.name} of the rows") for f in times]
    elif len(named) == 1 or facts.row_count == 1:
        cells = facts.rows[named[0] if named else 0]
        pairs = [([cells[a.index], cells[b.index]], f"{a.name} and {b.name}") for a, b in combinations(times, 2)]
    for dates, basis in pairs:
        first, last = sorted(str(each)[:10] for each in dates)
        try:
            days = (date.fromisoformat(last) - date.fromisoformat(first)).days
        except ValueError:
            continue
        months = (int(last[:4]) - int(first[:4])) * 12 + int(last[5:7]) - int(first[5:7])
        yield Decimal(days), Decimal(months), basis


def _is_called(field: Field, numeral: Numeral, sentence: Sentence) -> bool:
    """Keys and calendar numbers count only when the sentence calls them so: order 1042, week 12, #7."""
    if field.role == "measure" or field.role == "time":
        return False
    before = sentence.word_before(numeral)
    return before in ("#", "number", "no", "id") or stem(before) in {stem(word) for word in words(field.name)}


def _may_count_rows(numeral: Numeral, sentence: Sentence, named: list[int]) -> bool:
    """Not when the numeral counts what a column counts, nor what a named row has."""
    noun = stem(sentence.word_after(numeral))
    labels = [f for f in sentence.facts.fields if f.role in ("category", "key", "time")]
    if any(noun == stem(word) for f in labels for word in words(f.name)):
        return True
    return not named and not counted_columns(numeral, sentence)


def _years(numeral: Numeral, facts: ResultFacts) -> Iterator[Ground]:
    if is_year(numeral):
        for period, row, column in facts.dates():
            yield Ground(Decimal(period.year or 0), "cell", f"a date in row {row + 1}", row, column)
        for fact in facts.extra:
            if isinstance(fact.value, str) and (known := period_of(fact.value)):
                yield Ground(Decimal(known.year or 0), "fact", fact.basis)
