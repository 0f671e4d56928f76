"""What may be said about a result in numbers: its cells, its row count, simple aggregates, and what was handed in."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from itertools import combinations
from typing import Literal, NamedTuple

from answerable.answers.checking.numerals import Numeral, StatedDate
from answerable.answers.format import readable
from answerable.answers.roles import Field, fields, is_fraction_name, words
from answerable.core.values import Frozen, Json, OutputColumn
from answerable.query.plan import QueryPlan

Rows = Sequence[Sequence[Json]]

_PAIRED_ROWS = 200
"""In larger results differences of any two rows are not considered: nearly every number would be one."""


class ExtraFact(Frozen):
    """Something true that is not in the rows: a limit, a value filtered on, an aggregate over rows not shown."""

    value: int | float | str
    basis: str


class Claim(NamedTuple):
    """A value that a numeral may stand for, and why."""

    value: Decimal
    kind: Literal["cell", "row_count", "aggregate", "fact"]
    basis: str
    row: int | None = None
    column: int | None = None


@dataclass(frozen=True)
class ResultFacts:
    columns: Sequence[OutputColumn]
    rows: Rows
    row_count: int
    extra: Sequence[ExtraFact] = ()
    plan: QueryPlan | None = None
    conditions: frozenset[tuple[str, Decimal, StatedDate | None]] = frozenset()
    """The numbers by which the question narrows what it asks for, each after the word that it follows."""

    @cached_property
    def fields(self) -> tuple[Field, ...]:
        return fields(self.columns, self.plan)

    @cached_property
    def complete(self) -> bool:
        """Only over all rows may one aggregate."""
        return len(self.rows) == self.row_count

    @cached_property
    def measures(self) -> tuple[Field, ...]:
        return tuple(f for f in self.fields if f.role == "measure")

    @cached_property
    def labels(self) -> dict[str, set[tuple[int, int]]]:
        """Each text that names rows, and the cells where it stands."""
        found: dict[str, set[tuple[int, int]]] = {}
        for field in self.fields:
            if field.type == "text":
                for number, row in enumerate(self.rows):
                    text = row[field.index]
                    if isinstance(text, str) and len(text.strip()) > 1 and number_of(text) is None:
                        found.setdefault(text.strip(), set()).add((number, field.index))
        return found

    @cached_property
    def names(self) -> frozenset[str]:
        """Names of columns, as they are and as they are shown."""
        return frozenset(n for c in self.columns for n in (c.name, readable(c.name)))

    @cached_property
    def _numbers(self) -> dict[int, list[Decimal | None]]:
        return {}

    def numbers(self, column: int) -> list[Decimal | None]:
        """The cells of a column as numbers, in order."""
        if column not in self._numbers:
            self._numbers[column] = [number_of(row[column]) for row in self.rows]
        return self._numbers[column]

    def number(self, row: int, column: int) -> Decimal | None:
        return self.numbers(column)[row]

    def values(self, field: Field) -> list[Decimal]:
        return [value for value in self.numbers(field.index) if value is not None]

    def is_fraction(self, field: Field) -> bool:
        """The cells are parts of 1 that are spoken of as percentages."""
        return is_fraction_name(field.name) and all(abs(value) <= 1 for value in self.values(field))

    def is_percentage(self, field: Field) -> bool:
        return is_fraction_name(field.name) and not self.is_fraction(field)

    def cells(self, rows: Sequence[int], measures: Sequence[Field]) -> Iterator[Claim]:
        for field in measures:
            numbers = self.numbers(field.index)
            for row in rows:
                if (value := numbers[row]) is not None:
                    yield Claim(value, "cell", f"{field.name} of row {row + 1}", row, field.index)

    def totals(self, rows: Sequence[int]) -> Iterator[Claim]:
        for field, values in self._columns_of(rows):
            total = sum(values, Decimal(0))
            yield Claim(total, "aggregate", f"sum of {field.name}", column=field.index)

    def means(self, rows: Sequence[int]) -> Iterator[Claim]:
        for field, values in self._columns_of(rows):
            mean = sum(values, Decimal(0)) / len(values)
            yield Claim(mean, "aggregate", f"mean of {field.name}", column=field.index)

    def medians(self, rows: Sequence[int]) -> Iterator[Claim]:
        for field, values in self._columns_of(rows):
            ordered, half = sorted(values), len(values) // 2
            middle = ordered[half] if len(values) % 2 else (ordered[half - 1] + ordered[half]) / 2
            yield Claim(middle, "aggregate", f"median of {field.name}", column=field.index)

    def pairs(self, rows: Sequence[int]) -> Iterator[tuple[Decimal, Decimal, Field | None, str]]:
        """Values that can be compared: one column in two rows, or two columns in one row."""
        for field in self.measures:
            for a, b in combinations(rows, 2):
                first, second = self.number(a, field.index), self.number(b, field.index)
                if first is not None and second is not None:
                    yield first, second, field, f"{field.name} of rows {a + 1} and {b + 1}"
        for row in rows:
            for one, other in combinations(self.measures, 2):
                first, second = self.number(row, one.index), self.number(row, other.index)
                if first is not None and second is not None:
                    yield first, second, None, f"{one.name} and {other.name} of row {row + 1}"

    def comparable_rows(self, named: Sequence[int]) -> Sequence[int]:
        """The rows that a comparison may be between: those that are named; else first, last, highest and lowest."""
        if len(named) > 1:
            return named[:_PAIRED_ROWS]
        ends = set(named)
        if self.complete:
            ends |= {0, 1, len(self.rows) - 1}
            for field in self.measures:
                order = sorted((v, r) for r in range(len(self.rows)) if (v := self.number(r, field.index)) is not None)
                ends |= {r for _, r in (*order[:1], *order[-2:])}
        return sorted(row for row in ends if 0 <= row < len(self.rows))

    def dates(self) -> Iterator[tuple[StatedDate, int, int]]:
        """Every date of the rows, and where it is."""
        for field in self.fields:
            if field.role == "time":
                for number, row in enumerate(self.rows):
                    if period := period_of(row[field.index]):
                        yield period, number, field.index

    def _columns_of(self, rows: Sequence[int]) -> Iterator[tuple[Field, list[Decimal]]]:
        for field in self.measures:
            values = [value for row in rows if (value := self.number(row, field.index)) is not None]
            if values:
                yield field, values


def plan_facts(plan: QueryPlan) -> tuple[ExtraFact, ...]:
    """The constants that a plan filters by, and its limit: prose may repeat them."""
    return tuple(_constants(plan.model_dump(mode="json")))


def number_of(value: Json) -> Decimal | None:
    """A cell as a number; text counts when it is nothing else than a number."""
    if isinstance(value, str):
        return Decimal(value) if value[-1:].isdigit() and re.fullmatch(r"[-+]?\d+(\.\d+)?", value) else None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return Decimal(repr(value))


def period_of(value: Json) -> StatedDate | None:
    """The day of ISO 8601 text, or the year that a whole number is."""
    if isinstance(value, int) and not isinstance(value, bool):
        return StatedDate(year=value)
    match = re.match(r"(\d{4})-(\d{2})-(\d{2})(?!\d)", value) if isinstance(value, str) else None
    if match is None:
        return None
    year, month, day = (int(part) for part in match.groups())
    return StatedDate(year, (month + 2) // 3, month, day)


def covers(said: StatedDate, known: StatedDate) -> bool:
    """Whether the known date lies in the said period, as far as both go."""
    parts = ((said.year, known.year), (said.quarter, known.quarter), (said.month, known.month), (said.day, known.day))
    return all(a is None or a == b for a, b in parts)


def rounds_to(value: Decimal, numeral: Numeral, rough: bool) -> bool:
    """Whether a value, rounded as the numeral is printed, gives the numeral."""
    unit = numeral.rough_unit if rough else numeral.unit
    distance = abs(value - numeral.value)
    if numeral.value == 0:
        return value == 0 if unit >= 1 else distance <= unit / 2
    # “1 million” must not stand for 1.4 million, although 1.4 million rounds to it.
    if (numeral.scaled or rough) and distance > abs(numeral.value) / 20:
        return False
    return distance <= unit / 2 + abs(value) * Decimal("1e-12")


def mentioned(name: str, sentence: str) -> Iterator[tuple[int, int]]:
    """Where a name stands in a sentence as whole words, in its own spelling or with a capital at the beginning."""
    for spelling in {name, name[:1].upper() + name[1:]} - {""}:
        start = -1
        while (start := sentence.find(spelling, start + 1)) >= 0:
            end = start + len(spelling)
            if _whole(sentence, start, end):
                yield start, end


def said(field: Field, sentence: str) -> bool:
    """Whether a sentence speaks of a column: all words of its name occur in it, in singular or plural."""
    spoken = {stem(word) for word in words(sentence)}
    return all(stem(word) in spoken for word in words(field.name))


def stem(word: str) -> str:
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    return word[:-1] if word.endswith("s") and not word.endswith("ss") and len(word) > 3 else word


def _whole(sentence: str, start: int, end: int) -> bool:
    before, after = sentence[start - 1 : start], sentence[end : end + 2]
    if before.isalnum() or (
        before in (".", ",") and sentence[start].isdigit() and sentence[start - 2 : start - 1].isdigit()
    ):
        return False
    if after[:1].isalnum():
        return False
    return not (after[:1] in (".", ",") and after[1:2].isdigit() and sentence[end - 1].isdigit())


def _constants(node: Json) -> Iterator[ExtraFact]:
    if isinstance(node, list):
        for item in node:
            yield from _constants(item)
    elif isinstance(node, dict):
        if node.get("kind") == "constant" and isinstance(node["value"], int | float | str):
            yield ExtraFact(value=node["value"], basis="a value in the question")
        if isinstance(node.get("limit"), int):
            yield ExtraFact(value=node["limit"], basis="how many were asked for")
        for item in node.values():
            yield from _constants(item)
