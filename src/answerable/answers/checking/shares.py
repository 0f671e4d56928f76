"""What a percentage or a ratio may stand for: a share, a change, one number as a part or a multiple of another."""

import re
from collections.abc import Iterator, Sequence
from decimal import Decimal
from itertools import combinations

from answerable.answers.checking.facts import Ground, rounds_to, stated_numbers
from answerable.answers.checking.lexicon import BETWEEN, FELL, LESS, MORE, ROSE, TOTAL
from answerable.answers.checking.numerals import Numeral
from answerable.answers.checking.quantities import met
from answerable.answers.checking.sentence import Sentence
from answerable.answers.roles import Field
from answerable.core.words import fold, stem

_MULTIPLIED = re.compile(r"(?:doubl|tripl|quadrupl)\w+|halv\w+", re.IGNORECASE)
_WERE = re.compile(
    r"\s+of (?:the |all |all the |its |their )?\w+ (?:was|were|are|is|got|have been|had been) (?P<met>\w+)",
    re.IGNORECASE,
)
_OF_WHICH = re.compile(r"\bof which (?:only |just |about |some )?$", re.IGNORECASE)
_OF_ITS = re.compile(r" of (?:its|their|his|her) (?P<noun>\w+)", re.IGNORECASE)
_POINTS = re.compile(r"\s*(?:percentage )?points?\b", re.IGNORECASE)


def percent_grounds(numeral: Numeral, sentence: Sentence) -> Iterator[Ground]:
    facts = sentence.facts
    named = sentence.rows_for(numeral)
    rows: Sequence[int] = named or range(len(facts.rows))
    percentages = [f for f in facts.measures if facts.is_percentage(f)]
    fractions = [f for f in facts.measures if facts.is_fraction(f)]
    yield from facts.cells(rows, percentages)
    for each in facts.cells(rows, fractions):
        yield each._replace(value=each.value * 100)
    if sentence.cue(TOTAL) and (len(named) > 1 or (not named and facts.complete)):
        for each in facts.totals(named or list(range(len(facts.rows)))):
            times = 100 if each.column in {f.index for f in fractions} else 1
            if each.column in {f.index for f in (*percentages, *fractions)}:
                yield each._replace(value=each.value * times)
    if _POINTS.search(numeral.text) or _POINTS.match(sentence.text[numeral.end :]):
        yield from _points(sentence, named)
        return
    if sentence.cue(LESS, MORE, BETWEEN) and sentence.word_after(numeral) != "of":
        for first, second, field, basis in facts.pairs(compared_rows(sentence, named)):
            if _is_spoken_of(field, sentence) and (field is not None or len(named) < 2):
                yield from _changes(first, second, basis, sentence)
        for first, second, basis in summed_pairs(sentence):
            yield from _changes(first, second, basis, sentence)
    if facts.complete and not _is_change(numeral, sentence):
        yield from _parts(numeral, sentence, named)
    yield from stated_numbers(facts)


def _parts(numeral: Numeral, sentence: Sentence, named: list[int]) -> Iterator[Ground]:
    """What a percentage that is no change may be a part of."""
    yield from _of_stated(numeral, sentence)
    if re.match(r" as \w+(?: \w+)? as\b", sentence.text[numeral.end :]):
        yield from (each._replace(value=each.value * 100) for each in ratio_grounds(numeral, sentence))
        return
    if not is_part_met(numeral, sentence) and not is_of_which(numeral, sentence):
        yield from shares(sentence, named)
    yield from _parts_of_rows(sentence, named)


def is_of_which(numeral: Numeral, sentence: Sentence) -> bool:
    """“89,632, of which 2% was settled” and “6.8% of its sales” are parts of one cell, and no shares in a sum."""
    own = _OF_ITS.match(sentence.text[numeral.end :])
    whole = own is not None and any(
        stem(fold(own["noun"])) in sentence.facts.name_keys(f) for f in sentence.facts.measures
    )
    return whole or bool(_OF_WHICH.search(sentence.text[: numeral.start]))


def is_part_met(numeral: Numeral, sentence: Sentence) -> bool:
    """“19% of the flights were cancelled” is the part that was, and no share in all flights."""
    found = _WERE.match(sentence.text[numeral.end :])
    return found is not None and any(met(field, found["met"], sentence) for field in sentence.facts.measures)


def _of_stated(numeral: Numeral, sentence: Sentence) -> Iterator[Ground]:
    """“833.04, 35.8% of the total” and “52 of them, 73% of all 71”: a number of the sentence as a part of another,
    or of the sum of its column. Each of them is checked by itself."""
    facts = sentence.facts
    if not re.match(r" of\b", sentence.text[numeral.end :]):
        return
    values = [n for n in sentence.numerals if n.kind == "number" and not sentence.is_year(n)]
    for whole in (n for n in values if n.start > numeral.end and n.value > 0):
        for part in (n for n in values if n.end < numeral.start and 0 < n.value <= whole.value):
            yield Ground(part.value / whole.value * 100, "aggregate", f"{part.text} of {whole.text}")
    before = next((n for n in reversed(values) if n.end < numeral.start), None)
    rows = sentence.rows_for(before) if before is not None else []
    for each in facts.cells(rows, facts.measures):
        field = next(f for f in facts.measures if f.index == each.column)
        total = sum(facts.values(field), Decimal(0))
        if before is not None and rounds_to(each.value, before, False) and total > 0 and min(facts.values(field)) >= 0:
            share = each.value / total * 100
            yield each._replace(value=share, kind="aggregate", basis=f"share in the sum of {field.name}")


def _points(sentence: Sentence, named: list[int]) -> Iterator[Ground]:
    """“10.85 percentage points above”: the difference of two percentages, not their ratio."""
    facts = sentence.facts
    for first, second, field, basis in facts.pairs(compared_rows(sentence, named)):
        if field is not None and (facts.is_percentage(field) or facts.is_fraction(field)):
            points = abs(first - second) * (100 if facts.is_fraction(field) else 1)
            yield Ground(points, "aggregate", f"difference of {basis}", column=field.index)


def _is_spoken_of(field: Field | None, sentence: Sentence) -> bool:
    """Whether a change of this column can be meant: where a sentence speaks of cattle, it is not that of horses."""
    spoken = [f for f in sentence.facts.measures if f.index in sentence.spoken]
    return field is None or not spoken or field in spoken


def _is_change(numeral: Numeral, sentence: Sentence) -> bool:
    """“Grew by 12%”, “12% more than”: a change, not a share."""
    if sentence.word_before(numeral) == "by" or sentence.word_after(numeral) in MORE | LESS:
        return True
    return sentence.cue(LESS, MORE, BETWEEN) and not sentence.bound(numeral) and sentence.word_after(numeral) != "of"


def _parts_of_rows(sentence: Sentence, named: list[int]) -> Iterator[Ground]:
    """One column as a part of another, if the sentence speaks of both: 1% of flights were cancelled."""
    facts = sentence.facts
    amounts = [f for f in facts.measures if not facts.is_fraction(f) and not facts.is_percentage(f)]
    spoken = amounts if "margin" in sentence.words else [f for f in amounts if f.index in sentence.spoken]
    for part in spoken:
        for whole in spoken:
            for row in named if part is not whole else ():
                over, under = facts.number(row, part.index), facts.number(row, whole.index)
                if over is not None and under and 0 <= over <= under:
                    yield Ground(over / under * 100, "aggregate", f"{part.name} in {whole.name}, row {row + 1}", row)


def summed_pairs(sentence: Sentence) -> Iterator[tuple[Decimal, Decimal, str]]:
    """Sums that can be compared: of two names that stand for several rows, and of all rows at two times."""
    facts = sentence.facts
    if sentence.cue(TOTAL) and facts.pair is not None and facts.complete:
        first, last = (sum(facts.values(field), Decimal(0)) for field in facts.pair)
        yield first, last, "the sums"
    for one, other in combinations(sentence.mentions, 2):
        if one.column == other.column and one.rows != other.rows and max(len(one.rows), len(other.rows)) > 1:
            for field in facts.measures:
                first, last = (facts.summed(field, mention.rows) for mention in (one, other))
                yield first, last, f"the sums of {field.name}"


def grown(rows: Sequence[int], sentence: Sentence) -> Iterator[Ground]:
    """The factor by which each row grew between its two times."""
    facts = sentence.facts
    for row in rows if facts.pair is not None else ():
        first, last = (facts.number(row, field.index) for field in facts.pair or ())
        if first and last is not None:
            yield Ground(last / first, "aggregate", f"growth of row {row + 1}", row)


def ratio_grounds(numeral: Numeral, sentence: Sentence) -> Iterator[Ground]:
    facts = sentence.facts
    named = sentence.rows_for(numeral)
    if named and facts.pair is not None and _MULTIPLIED.fullmatch(numeral.text):
        # “Both tripled” holds for the one that grew least.
        yield from sorted(grown(named, sentence), key=lambda each: each.value)[:1]
        return
    after = {token.key for token in sentence.tokens if token.start >= numeral.end and token.start - numeral.end < 30}
    following = [f for f in facts.measures if after & facts.name_keys(f)]
    for first, second, field, basis in facts.pairs(facts.comparable_rows(named)):
        if len(named) > 1 and (field is None or (following and field not in following)):
            continue  # two rows are compared in one column: “six times the profit of”
        for over, under in ((first, second), (second, first)):
            if under:
                yield Ground(over / under, "aggregate", f"ratio of {basis}")


def shares(sentence: Sentence, named: list[int]) -> Iterator[Ground]:
    """Parts of a column's sum: of each named row (else of the largest), and of the named rows together."""
    facts = sentence.facts
    spoken = [f for f in facts.measures if f.index in sentence.spoken] or facts.measures
    for field in spoken:
        values = facts.values(field)
        total = sum(values, Decimal(0))
        # With negative values a part can be larger than the whole, so a share says nothing.
        if total <= 0 or min(values) < 0 or facts.is_fraction(field) or facts.is_percentage(field):
            continue
        basis = f"share in the sum of {field.name}"
        for row in named:
            if (value := facts.number(row, field.index)) is not None:
                yield Ground(value / total * 100, "aggregate", f"{basis}, row {row + 1}", row, field.index)
        if not named:
            yield Ground(max(values) / total * 100, "aggregate", f"{basis}, largest", column=field.index)
        if len(named) > 1:
            together = sum((v for row in named if (v := facts.number(row, field.index)) is not None), Decimal(0))
            yield Ground(together / total * 100, "aggregate", f"{basis}, together", column=field.index)


def _changes(first: Decimal, second: Decimal, basis: str, sentence: Sentence) -> Iterator[Ground]:
    """Changes from either amount to the other, if the sentence names that direction."""
    for old, new in ((first, second), (second, first)):
        if old:
            change = (new - old) / abs(old) * 100
            agrees = (change >= 0 and sentence.cue(MORE, BETWEEN)) or (change <= 0 and sentence.cue(LESS, BETWEEN))
            if agrees:
                yield Ground(change, "aggregate", f"relative change of {basis}")


def compared_rows(sentence: Sentence, named: list[int]) -> Sequence[int]:
    """A row that has risen or fallen is compared with itself at another time, if its columns say how."""
    moved = sentence.cue(ROSE, FELL) and sentence.facts.pair is not None
    return named if moved and len(named) == 1 else sentence.facts.comparable_rows(named)
