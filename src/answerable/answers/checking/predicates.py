"""The conditions that a sentence states of rows, each as the set of rows that meet it: “more than 50,000 people”,
“opened in 2005”, “lost value”."""

import re
from collections.abc import Iterator
from decimal import Decimal

from answerable.answers.checking.facts import ResultFacts, covers
from answerable.answers.checking.lexicon import DATED, DELAYS, DOWN, FELL, PUNCTUALITY, ROSE, SIGNS, SUPERLATIVES, UP
from answerable.answers.checking.naming import RowMention
from answerable.answers.checking.numerals import Numeral, StatedDate
from answerable.answers.checking.quantities import columns_for, factor
from answerable.answers.checking.sentence import Sentence
from answerable.answers.roles import Field
from answerable.core.words import fold, stem

RowSet = frozenset[int]
HAVING_NONE = re.compile(
    r"\b(?:had|have|has|saw|sees|with|recorded|shows?|showed|there (?:was|were|is|are))\s+"
    r"(?:none\b|nothing\b|(?:no|zero)\s+(?P<such>such\s+)?(?P<noun>\w+))"
    r"|\b(?:(?:has|have|had)\s+(?:not|never)\s+(?:yet\s+)?been|(?:was|were|is|are)\s+never)\s+(?P<done>\w+ed)\b",
    re.IGNORECASE,
)
"""“Had none”, “had no such day”, “there were no cancellations”, “have not been rated”."""


def predicates(sentence: Sentence, start: int, without: RowSet = frozenset(), end: int | None = None) -> list[RowSet]:
    """The sets of rows that the part of a sentence from `start` to `end` may describe; an empty list if it states no
    condition. Mentions of the rows in `without` are no conditions."""
    part = range(start, len(sentence.text) if end is None else end)
    kinds = [
        list(_bounded(sentence, part)),
        [rows for rows in _in_periods(sentence, part) if not rows or not rows <= without],
        list(_of_labels(sentence, part, without)),
        list(_moved(sentence, part)),
        list(_extreme(sentence, part)),
        list(_having(sentence, part)),
        list(_signed(sentence, part)),
        list(_punctual(sentence, part)),
        list(_having_none(sentence, part)),
    ]
    found = [sets for sets in kinds if sets]
    if len(found) < 2:
        return found[0] if found else []
    together = [a & b for a in found[0] for b in found[1]]
    return [*together, *(each for sets in found for each in sets)]


def meets(value: Decimal, bound: str, limit: Decimal) -> bool:
    tests = {"above": value > limit, "below": value < limit, "at_least": value >= limit, "at_most": value <= limit}
    return tests[bound]


def _bounded(sentence: Sentence, part: range) -> Iterator[RowSet]:
    facts = sentence.facts
    for numeral in sentence.numerals:
        if numeral.start in part and (ends := sentence.range_of(numeral)) is not None:
            yield from _between(sentence, numeral, *ends)
        bound = sentence.bound(numeral)
        if bound is None or numeral.start not in part or numeral.kind not in ("number", "percent"):
            continue
        if sentence.is_year(numeral) and facts.has_dates:
            yield _dated_bound(facts, bound, int(numeral.value))
            continue
        for field in _bounded_columns(numeral, sentence):
            hundred = 100 if numeral.kind == "percent" and facts.is_fraction(field) else 1
            for times in factor(field, numeral, sentence):
                cells = enumerate(facts.numbers(field.index))
                yield frozenset(
                    r for r, v in cells if v is not None and meets(v * times * hundred, bound, numeral.value)
                )


def _bounded_columns(numeral: Numeral, sentence: Sentence) -> list[Field]:
    """The columns that a bound may be of. A bound in percent is one of percentages, if there are any."""
    facts, columns = sentence.facts, columns_for(numeral, sentence)
    if numeral.kind != "percent":
        return columns
    percentages = [f for f in facts.measures if facts.is_fraction(f) or facts.is_percentage(f)]
    return [f for f in percentages if f in columns] or percentages or columns


def _between(sentence: Sentence, numeral: Numeral, low: Decimal, high: Decimal) -> Iterator[RowSet]:
    for field in columns_for(numeral, sentence):
        for times in factor(field, numeral, sentence):
            cells = enumerate(sentence.facts.numbers(field.index))
            yield frozenset(row for row, value in cells if value is not None and low <= value * times <= high)


def _dated_bound(facts: ResultFacts, bound: str, year: int) -> RowSet:
    return frozenset(row for known, row, _ in facts.dates() if meets(Decimal(known.year or 0), bound, Decimal(year)))


def _in_periods(sentence: Sentence, part: range) -> Iterator[RowSet]:
    facts = sentence.facts
    for numeral in sentence.numerals:
        if numeral.start not in part or sentence.bound(numeral) is not None or not facts.has_dates:
            continue
        said = numeral.period or (StatedDate(year=int(numeral.value)) if sentence.is_year(numeral) else None)
        if said is not None and str(said.year) not in facts.question:
            yield frozenset(row for known, row, _ in facts.dates() if covers(said, known))


def _of_labels(sentence: Sentence, part: range, without: RowSet) -> Iterator[RowSet]:
    by_column: dict[int, RowSet] = {}
    for mention in sentence.labels_named:
        if mention.start in part and not mention.rows <= without:
            by_column[mention.column] = by_column.get(mention.column, frozenset()) | mention.rows
    yield from by_column.values()


def _moved(sentence: Sentence, part: range) -> Iterator[RowSet]:
    changes = sentence.facts.changes
    for token in sentence.tokens:
        word = fold(token.text)
        sign = UP if word in ROSE else DOWN if word in FELL else 0
        if token.start in part and sign and changes:
            yield frozenset(row for row, change in enumerate(changes) if change is not None and change * sign > 0)


def _extreme(sentence: Sentence, part: range) -> Iterator[RowSet]:
    for token in sentence.tokens:
        end, _ = SUPERLATIVES.get(fold(token.text), (0, None))
        if token.start in part and end and fold(token.text) not in DATED:
            for field in _spoken_measures(sentence):
                values = sentence.facts.values(field)
                if values:
                    wanted = max(values) if end == UP else min(values)
                    cells = enumerate(sentence.facts.numbers(field.index))
                    yield frozenset(row for row, value in cells if value == wanted)


def _having(sentence: Sentence, part: range) -> Iterator[RowSet]:
    """“Two of them have eight”, “share a length of 2,333 km”."""
    for numeral in sentence.numerals:
        stated = numeral.start in part and numeral.kind == "number" and sentence.bound(numeral) is None
        if stated and numeral.start != part.start and not sentence.is_year(numeral) and not sentence.range_of(numeral):
            for field in sentence.facts.measures:
                cells = enumerate(sentence.facts.numbers(field.index))
                rows = frozenset(row for row, value in cells if value == numeral.value)
                if rows:
                    yield rows


def _signed(sentence: Sentence, part: range) -> Iterator[RowSet]:
    """“Made a profit”, “in the red”, “is positive”: the sign of a column that has both signs."""
    facts = sentence.facts
    both = [f for f in facts.measures if min(facts.values(f), default=0) < 0 < max(facts.values(f), default=0)]
    for sign, pattern in SIGNS.items():
        found = pattern.search(sentence.text, part.start, part.stop)
        if found is None:
            continue
        spoken = [f for f in both if f.index in sentence.spoken] or both
        for field in spoken:
            cells = enumerate(facts.numbers(field.index))
            yield frozenset(row for row, value in cells if value is not None and value * sign > 0)


def _punctual(sentence: Sentence, part: range) -> Iterator[RowSet]:
    """“Arrive early on average”: a delay below zero."""
    for sign, pattern in PUNCTUALITY.items():
        if pattern.search(sentence.text, part.start, part.stop):
            for field in sentence.facts.concerning(DELAYS):
                cells = enumerate(sentence.facts.numbers(field.index))
                yield frozenset(row for row, value in cells if value is not None and value * sign > 0)


def _having_none(sentence: Sentence, part: range) -> Iterator[RowSet]:
    """“Four months had none”, “had no such day”: a quantity of zero."""
    for found in HAVING_NONE.finditer(sentence.text, part.start, part.stop):
        for field in counted_as_none(sentence, found):
            yield frozenset(row for row, value in enumerate(sentence.facts.numbers(field.index)) if not value)


def counted_as_none(sentence: Sentence, found: re.Match[str]) -> list[Field]:
    """The quantity that is said to be zero: the one that the noun names, else the only one."""
    facts, noun = sentence.facts, found["noun"] or found["done"] or ""
    if noun and not found["such"]:
        return [f for f in facts.measures if stem(fold(noun)) in facts.name_keys(f)]
    spoken = [f for f in facts.measures if f.index in sentence.spoken] or list(facts.measures)
    return spoken if len(spoken) == 1 else []


def group_at_end(sentence: Sentence, numeral: Numeral) -> RowSet | None:
    """The rows of “the two rarest” or “the top three”; None if the numeral names no such group."""
    facts = sentence.facts
    size, before = int(numeral.value), sentence.word_before(numeral)
    end, _ = SUPERLATIVES.get(sentence.word_after(numeral)) or SUPERLATIVES.get(before) or (0, None)
    end = end or {"top": UP, "bottom": DOWN}.get(before, 0)
    if not end or not facts.complete or not 1 <= size < facts.row_count or numeral.kind != "number":
        return None
    for field in _spoken_measures(sentence):
        cells = [(value * end, row) for row, value in enumerate(facts.numbers(field.index)) if value is not None]
        return frozenset(row for _, row in sorted(cells, reverse=True)[:size])
    return None


def _spoken_measures(sentence: Sentence) -> list[Field]:
    measures = sentence.facts.measures
    return [f for f in measures if f.index in sentence.spoken] or list(measures)


def joined(sentence: Sentence, subject: RowMention) -> RowSet:
    """The rows of all names that are listed together with the subject: “Rock, Latin and Metal”."""
    return next((rows for names, rows in sentence.lists if subject in names), frozenset())


def subject_before(sentence: Sentence, position: int) -> RowMention | None:
    """The last mention before a position that does not name every row."""
    every = len(sentence.facts.rows)
    found = [m for m in sentence.mentions if m.end <= position and (len(m.rows) < every or every == 1)]
    return found[-1] if found else None


def subject_after(sentence: Sentence, position: int) -> RowMention | None:
    every = len(sentence.facts.rows)
    return next((m for m in sentence.mentions if m.start >= position and (len(m.rows) < every or every == 1)), None)
