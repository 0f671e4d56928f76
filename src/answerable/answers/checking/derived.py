"""What a number may be computed from beside cells, sums and differences: a rate of two columns, the sum of a group, a
change in relation to its beginning, the rest of a whole, the years between two times.

These are tried after all else, and only from the rows and columns that the sentence speaks of.
"""

import re
from collections.abc import Iterator, Sequence
from decimal import Decimal
from itertools import permutations

from answerable.answers.checking.facts import Ground, stem
from answerable.answers.checking.lexicon import FELL, LESS, MEAN, MORE, ROSE, TOTAL
from answerable.answers.checking.numerals import Numeral, numerals
from answerable.answers.checking.quantities import factor
from answerable.answers.checking.sentence import Sentence
from answerable.answers.checking.shares import grown, is_of_which, is_part_met, shares
from answerable.answers.roles import Field, words

_RATE = re.compile(
    r"\b(?:per|each|every|apiece)\b|\s(?:an?|for each|for every) (?:night|day|week|month|year|hour|head)\b"
)
_REST = re.compile(r"\b(?:remaining|the rest|other|others|else)\b", re.IGNORECASE)
_MULTIPLIED_BY = re.compile(r"\b(?:multiplied by|by a factor of)\s+(?:\w+\s+)?$", re.IGNORECASE)
_WHOLE = frozenset({*TOTAL, "share", "margin", "rate"})
_FACTORS = frozenset({"ratio", "factor", "multiple", "odds", "multiplier"})
_YEAR = re.compile(r"(?<!\d)(?:1[5-9]|20|21)\d\d(?!\d)")
_CLEAR_DIGITS = 3
"""Digits that a number needs to be taken for a difference that no word announces."""


def derived_grounds(numeral: Numeral, sentence: Sentence) -> Iterator[Ground]:
    if not sentence.facts.complete:
        return  # over a part of the rows nothing is computed
    start, end = sentence.clause(numeral)
    named = sentence.rows_for(numeral) if any(start <= m.start < end for m in sentence.mentions) else []
    rows: Sequence[int] = named or range(len(sentence.facts.rows))
    if numeral.kind == "number":
        yield from _group_sums(numeral, sentence)
        if (
            numeral.unit < 1 or numeral.value >= 10 or numeral.value == 1
        ):  # a small whole number is a rate of something by accident
            yield from _rates(sentence, rows)
        yield from _plain_differences(numeral, sentence)
        yield from _years_between(numeral, sentence)
        if _MULTIPLIED_BY.search(sentence.text[: numeral.start]):
            yield from grown(rows, sentence)
    elif numeral.kind == "percent":
        yield from _relative_changes(sentence, rows)
        yield from _by_factors(sentence, rows)
        yield from _of_totals(sentence, rows)
        yield from _rest(sentence)
        yield from _columns_compared(sentence, rows)
        yield from _of_asked(sentence, rows)
        a_change = sentence.word_before(numeral) == "by" or sentence.word_after(numeral) in MORE | LESS
        if not a_change and not is_of_which(numeral, sentence) and not is_part_met(numeral, sentence):
            yield from shares(sentence, sentence.rows_for(numeral))


def _group_sums(numeral: Numeral, sentence: Sentence) -> Iterator[Ground]:
    """“Sales in 2017 came to 54,844”: a name that stands for several rows stands for their sum or their mean."""
    facts = sentence.facts
    for mention in sentence.mentions:
        rows = sorted(sentence.rows_of(mention))
        if len(rows) > 1:
            for each in (*facts.totals(rows), *(facts.means(rows) if sentence.cue(MEAN) else ())):
                yield from _in_units(each, numeral, sentence)


def _rates(sentence: Sentence, rows: Sequence[int]) -> Iterator[Ground]:
    """“About 30 students per faculty member”: one column for each unit of another."""
    facts = sentence.facts
    if not _RATE.search(sentence.text) and not sentence.cue(MEAN):
        return
    for one, other in permutations(facts.measures, 2):
        for row in rows:
            over, under = facts.number(row, one.index), facts.number(row, other.index)
            if over is not None and under:
                yield Ground(over / under, "aggregate", f"{one.name} per {other.name} of row {row + 1}", row)
        if under := sum(facts.values(other), Decimal(0)):
            yield Ground(sum(facts.values(one), Decimal(0)) / under, "aggregate", f"{one.name} per {other.name}")


def _plain_differences(numeral: Numeral, sentence: Sentence) -> Iterator[Ground]:
    """“Outweigh them by 158 g”, “had regained 940,000”: to another named row, or to the column's highest or lowest."""
    facts, named = sentence.facts, sentence.named_rows
    spoken = [f for f in facts.measures if f.index in sentence.spoken]
    columns = spoken or (list(facts.measures) if len(facts.measures) == 1 else [])
    clear = len(re.sub(r"\D", "", numeral.text).strip("0")) >= _CLEAR_DIGITS
    if not named or not (clear or sentence.word_before(numeral) == "by" or sentence.cue(_REGAINED)):
        return
    for field in columns:
        values = facts.values(field)
        ends = {max(values), min(values)} if values else set()
        cells = {value for row in named if (value := facts.number(row, field.index)) is not None}
        for one in cells:
            for other in (cells | ends) - {one}:
                each = Ground(abs(one - other), "aggregate", f"difference of {field.name}", column=field.index)
                yield from _in_units(each, numeral, sentence)


def _years_between(numeral: Numeral, sentence: Sentence) -> Iterator[Ground]:
    """“In ten years”: from 1990 to 2000, which the question, the sentence or the columns name."""
    facts = sentence.facts
    if stem(sentence.word_after(numeral)) not in ("year", "decade"):
        return
    texts = " ".join((facts.question, sentence.text, *(" ".join(words(c.name)) for c in facts.columns)))
    known = {int(year) for year in _YEAR.findall(texts)}
    known |= {period.year for period, _, _ in facts.dates() if period.year}
    span = Decimal(max(known) - min(known)) if len(known) > 1 else Decimal(0)
    size = 10 if stem(sentence.word_after(numeral)) == "decade" else 1
    if span:
        yield Ground(span / size, "fact", "the years between")
        yield Ground(span / size + 1, "fact", "the years between, with both")


def _relative_changes(sentence: Sentence, rows: Sequence[int]) -> Iterator[Ground]:
    """“Shrank by 2.4%”: the change of a row in relation to what was there before."""
    facts = sentence.facts
    amounts = [f for f in facts.measures if not facts.is_percentage(f) and not facts.is_fraction(f)]
    # With two times in the rows, the change between them is known.
    for change in facts.change_fields if facts.pair is None else ():
        for level in amounts if change in amounts else ():
            for row in rows if level not in facts.change_fields else ():
                moved, now = facts.number(row, change.index), facts.number(row, level.index)
                if moved is not None and now is not None and now != moved:
                    relative = moved / abs(now - moved) * 100
                    yield Ground(relative, "aggregate", f"{change.name} in relation to {level.name}", row)


def _by_factors(sentence: Sentence, rows: Sequence[int]) -> Iterator[Ground]:
    """“Raises the odds by 12 percent” is a factor of 1.12."""
    facts = sentence.facts
    for field in facts.measures:
        if _FACTORS & set(words(field.name)):
            for each in facts.cells(rows, [field]):
                change = (each.value - 1) * 100
                if (change < 0 and sentence.cue(LESS, FELL, _LOWERS)) or (
                    change > 0 and sentence.cue(MORE, ROSE, _RAISES)
                ):
                    yield each._replace(value=abs(change), kind="aggregate")


def _of_totals(sentence: Sentence, rows: Sequence[int]) -> Iterator[Ground]:
    """“An overall margin of 10.5%”: the sum of one column in relation to that of another; the sum of shares."""
    facts = sentence.facts
    if not _WHOLE & sentence.words:
        return
    for scope in {tuple(rows), tuple(range(len(facts.rows)))}:
        sums = {field: facts.summed(field, scope) for field in facts.measures}
        for part, whole in permutations(sums, 2):
            if sums[whole] and abs(sums[part]) <= abs(sums[whole]):
                basis = f"sum of {part.name} in relation to {whole.name}"
                yield Ground(sums[part] / sums[whole] * 100, "aggregate", basis)
        for field, total in sums.items():
            if facts.is_fraction(field) and len(scope) > 1:
                yield Ground(total * 100, "aggregate", f"sum of {field.name}", column=field.index)


def _rest(sentence: Sentence) -> Iterator[Ground]:
    """“The other 36.9%”: what the shares of the rows leave over."""
    facts = sentence.facts
    if _REST.search(sentence.text):
        for field in facts.measures:
            whole = 1 if facts.is_fraction(field) else 100 if facts.is_percentage(field) else None
            total = sum(facts.values(field), Decimal(0))
            if whole is not None and 0 < total < whole:
                yield Ground((whole - total) * 100 / whole, "aggregate", f"what {field.name} leaves over")


def _columns_compared(sentence: Sentence, rows: Sequence[int]) -> Iterator[Ground]:
    """“56% higher than predicted”: two columns of a row, one of which is spoken of."""
    facts = sentence.facts
    if not sentence.cue(MORE, LESS):
        return
    for one, other in permutations(facts.measures, 2):
        if not {one.index, other.index} & sentence.spoken:
            continue
        pairs = {(facts.number(row, one.index), facts.number(row, other.index)) for row in rows}
        if len(pairs) != 1:
            continue
        ((now, before),) = pairs
        if now is not None and before:
            change = (now - before) / abs(before) * 100
            if (change > 0 and sentence.cue(MORE)) or (change < 0 and sentence.cue(LESS)):
                yield Ground(change, "aggregate", f"{one.name} in relation to {other.name}")


def _of_asked(sentence: Sentence, rows: Sequence[int]) -> Iterator[Ground]:
    """“At an income of 1,500, people spend 58% of it”: a cell as a part of a number of the question."""
    asked = {n.value for n in numerals(sentence.facts.question) if n.kind == "number" and n.value > 0}
    for whole in asked & {n.value for n in sentence.numerals}:
        for each in sentence.facts.cells(rows, sentence.facts.measures):
            if 0 < each.value <= whole:
                yield each._replace(value=each.value / whole * 100, kind="aggregate")


_REGAINED = frozenset(["regained", "recovered", "outweigh", "outweighs", "exceeds", "trails", "leads"])
_LOWERS = frozenset(["lowers", "lower", "lowered", "reduces", "reduce", "cuts"])
_RAISES = frozenset(["raises", "raise", "raised", "lifts", "increases"])


def _in_units(each: Ground, numeral: Numeral, sentence: Sentence) -> Iterator[Ground]:
    field: Field | None = next((f for f in sentence.facts.fields if f.index == each.column), None)
    for times in factor(field, numeral, sentence) if field is not None else (Decimal(1),):
        yield each._replace(value=each.value * times)
