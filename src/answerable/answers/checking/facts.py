"""What may be said about a result in numbers: its cells, its row count, simple aggregates, and what was handed in."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field as dataclass_field
from dataclasses import replace
from decimal import Decimal
from functools import cached_property, lru_cache
from itertools import combinations, pairwise
from typing import Literal, NamedTuple

from answerable.answers.checking.changes import directed, is_change, paired
from answerable.answers.checking.lexicon import DIMENSIONS, SCALES
from answerable.answers.checking.naming import LabelIndex, tokens
from answerable.answers.checking.numerals import MONTHS, Numeral, StatedDate, numerals
from answerable.answers.format import readable
from answerable.answers.roles import Field, calendar_part, fields, is_fraction_name, is_key_name, words
from answerable.core.records import dataclass
from answerable.core.values import Frozen, Json, OutputColumn
from answerable.core.words import fold
from answerable.core.words import stem as stem_key
from answerable.query.plan import QueryPlan

Rows = Sequence[Sequence[Json]]

_DIGIT = re.compile(r"\d")
_IDENTIFIER = re.compile(r"[a-z]+(?:_[a-z0-9]+)+")
_JOINING = frozenset(["of", "and", "or", "the", "in", "on", "by", "to", "from", "for", "with", "a", "at"])
_YEARS = range(1500, 2200)
_SINCE = frozenset(["founded", "opened", "built", "established", "created", "creation", "launched", "born", "year"])
"""Words of columns whose numbers are years, if they may be."""
_PAIRED_ROWS = 200
"""In larger results differences of any two rows are not considered: nearly every number would be one."""


class ExtraFact(Frozen):
    """Something true that is not in the rows: a limit, a value filtered on, an aggregate over rows not shown."""

    value: int | float | str
    basis: str


class Ground(NamedTuple):
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
    question: str = ""
    units: Mapping[str, str] = dataclass_field(default_factory=dict)
    """The unit of each column that has one."""

    @cached_property
    def fields(self) -> tuple[Field, ...]:
        return tuple(self._by_cells(field) for field in fields(self.columns, self.plan))

    def _by_cells(self, field: Field) -> Field:
        """What a column is by its cells: text that is always a date (“2024-07”, “October 21, 2011”) and years (1879.0
        in `Founded`) are times, text that is always a number is a quantity."""
        cells = [row[field.index] for row in self.rows if row[field.index] is not None]
        if not cells or (field.type not in ("text", "number") and not _SINCE & set(words(field.name))):
            return field
        if field.type == "text" and all(period_of(cell) for cell in cells):
            return replace(field, role="time")
        numbers = [number_of(cell) for cell in cells]
        if any(number is None for number in numbers) or is_key_name(field.name):
            return field
        if _SINCE & set(words(field.name)) and all(_is_year(number) for number in numbers if number is not None):
            return replace(field, role="time")
        return replace(field, role="measure") if field.type == "text" else field

    @cached_property
    def asked_months(self) -> frozenset[int]:
        """The months that the question names without a year."""
        asked = re.findall(r"[a-z]+", self.question.lower())
        return frozenset(number for number, name in enumerate(MONTHS, 1) if name in asked)

    def narrowed(self, said: StatedDate) -> StatedDate:
        """The year alone of “January 2013”, if the question asks for January and the rows are years."""
        if said.year and said.month in self.asked_months and not any(known.month for known, _, _ in self.dates()):
            return StatedDate(year=said.year, day=said.day)
        return said

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
                    if isinstance(text, str) and text.strip() not in ("", "A", "I") and number_of(text) is None:
                        found.setdefault(text.strip(), set()).add((number, field.index))
                        if _IDENTIFIER.fullmatch(text):  # “bill depth” is bill_depth_mm
                            found.setdefault(_spoken(text), set()).add((number, field.index))
                        # “Zion National Park, Utah, USA” is in Utah, and in the USA.
                        for part in text.split(",") if "," in text else ():
                            if len(part.strip()) > 1 and number_of(part.strip()) is None:
                                found.setdefault(part.strip(), set()).add((number, field.index))
        return found

    @cached_property
    def label_index(self) -> LabelIndex:
        return LabelIndex(self.labels)

    @cached_property
    def known_words(self) -> set[str]:
        """Stems of the words that the result, the question and what was handed in explain."""
        texts = [self.question, *(f.value for f in self.extra if isinstance(f.value, str)), *map(readable, self._names)]
        return {token.key for text in texts for token in tokens(text)} | self.label_index.words

    @cached_property
    def _names(self) -> tuple[str, ...]:
        return tuple(column.name for column in self.columns)

    @cached_property
    def quoted_names(self) -> tuple[str, ...]:
        """Words of the question with digits in them that are no numbers, such as file names."""
        return tuple(
            w for w in re.findall(r"[\w.\-/]*\w", self.question) if re.search(r"[^\W\d]", w) and _DIGIT.search(w)
        )

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
        known = is_fraction_name(field.name) or "squared" in words(field.name)
        return known and all(abs(value) <= 1 for value in self.values(field))

    def is_percentage(self, field: Field) -> bool:
        if is_fraction_name(field.name):
            return not self.is_fraction(field)
        # Where the question asks for percentages and no column is called so, any quantity may be one.
        return self._asked_for_percentages and not any(is_fraction_name(f.name) for f in self.measures)

    @cached_property
    def _asked_for_percentages(self) -> bool:
        return is_fraction_name(self.question) or "proportion" in self.question.lower()

    def unit(self, field: Field) -> str | None:
        """The unit of a column, as it is known or as its name says: `delay_minutes`, `days_to_settle`."""
        known = self.units.get(field.name)
        # “EUR a year” is in EUR; a unit that is not known, such as “points”, is none.
        said = words(known) if known is not None else _unit_words(words(field.name))
        return next((word for word in said if word in DIMENSIONS or stem(word) in DIMENSIONS), None)

    def scale(self, field: Field) -> Decimal:
        """The divisor of the cells: 1,000,000 for `damage_millions_usd`, 1,000 if the question says so."""
        said_by_name = [SCALES[word] for word in words(field.name) if word in SCALES]
        asked = re.search(r"\bin (thousands|millions|billions)\b", self.question.lower())
        return Decimal(str((said_by_name or ([SCALES[asked[1]]] if asked else []) or [1])[0]))

    @cached_property
    def changes(self) -> list[Decimal | None]:
        """How each row has changed: a column that is called so or has losses in it, else its last quantity less its
        first where two columns are the same quantity at two times. Empty if the rows tell of no change."""
        negative = [f for f in self.measures if any(value < 0 for value in self.values(f))]
        for field in (*self.change_fields, *negative):
            return directed(field, self.numbers(field.index))
        pair = self.pair
        if pair is None:
            return []
        first, last = (self.numbers(field.index) for field in pair)
        return [None if a is None or b is None else b - a for a, b in zip(first, last, strict=True)]

    @cached_property
    def relative_changes(self) -> list[Decimal | None]:
        """How each row has changed in relation to its first quantity; empty if that is not known."""
        if self.pair is None:
            return []
        first, last = (self.numbers(field.index) for field in self.pair)
        return [(b - a) / a if a and b is not None else None for a, b in zip(first, last, strict=True)]

    @cached_property
    def change_fields(self) -> list[Field]:
        """The columns whose names say that they are changes."""
        return [f for f in self.measures if is_change(f)]

    @cached_property
    def pair(self) -> tuple[Field, Field] | None:
        """Two columns that are the same quantity at two times, the earlier one first."""
        return paired(self.measures)

    @cached_property
    def series(self) -> tuple[Field, list[int]] | None:
        """The column of time and the rows in its order, if each row is one point in time."""
        for field in self.fields:
            if field.role == "time":
                known = [(row[field.index], i) for i, row in enumerate(self.rows) if row[field.index] is not None]
                if len(known) == len(self.rows) > 1 and len({value for value, _ in known}) == len(known):
                    ordinals = self.ordinals(field)
                    return field, sorted((i for _, i in known), key=lambda i: (ordinals[i] or 0, str(self.rows[i])))
        return None

    def steps(self, field: Field) -> list[Decimal | None]:
        """How a quantity has changed from the row before in time to each row; empty without a series."""
        if self.series is None:
            return []
        numbers, order = self.numbers(field.index), self.series[1]
        changes: list[Decimal | None] = [None] * len(self.rows)
        for one, other in pairwise(order):
            before, now = numbers[one], numbers[other]
            changes[other] = None if before is None or now is None else now - before
        return changes

    def concerning(self, concepts: Sequence[str]) -> list[Field]:
        """The measures that the first concept stands for that any measure has in its name."""
        for concept in concepts:
            found = [f for f in self.measures if stem_key(concept) in self.name_keys(f)]
            if found:
                return found
        return []

    def name_keys(self, field: Field) -> set[str]:
        """The stems of the words of a column's name, without those that only join them."""
        return {stem_key(fold(word)) for word in words(field.name) if word not in _JOINING}

    def distinct(self, field: Field) -> int:
        return len({repr(row[field.index]) for row in self.rows if row[field.index] is not None})

    def cells(self, rows: Sequence[int], measures: Sequence[Field]) -> Iterator[Ground]:
        for field in measures:
            numbers = self.numbers(field.index)
            for row in rows:
                if (value := numbers[row]) is not None:
                    yield Ground(value, "cell", f"{field.name} of row {row + 1}", row, field.index)

    def summed(self, field: Field, rows: Iterable[int]) -> Decimal:
        return sum((value for row in rows if (value := self.number(row, field.index)) is not None), Decimal(0))

    def totals(self, rows: Sequence[int]) -> Iterator[Ground]:
        for field, values in self._columns_of(rows):
            total = sum(values, Decimal(0))
            yield Ground(total, "aggregate", f"sum of {field.name}", column=field.index)

    def means(self, rows: Sequence[int]) -> Iterator[Ground]:
        for field, values in self._columns_of(rows):
            mean = sum(values, Decimal(0)) / len(values)
            yield Ground(mean, "aggregate", f"mean of {field.name}", column=field.index)

    def medians(self, rows: Sequence[int]) -> Iterator[Ground]:
        for field, values in self._columns_of(rows):
            ordered, half = sorted(values), len(values) // 2
            middle = ordered[half] if len(values) % 2 else (ordered[half - 1] + ordered[half]) / 2
            yield Ground(middle, "aggregate", f"median of {field.name}", column=field.index)

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
        ends = {row + step for row in named for step in (-1, 0, 1)}
        if self.complete:
            ends |= {0, 1, len(self.rows) - 1}
            for field in self.measures:
                order = sorted((v, r) for r in range(len(self.rows)) if (v := self.number(r, field.index)) is not None)
                ends |= {r for _, r in (*order[:1], *order[-2:])}
        return sorted(row for row in ends if 0 <= row < len(self.rows))

    def dates(self) -> Iterator[tuple[StatedDate, int, int]]:
        """Every date of the rows, and where it is."""
        for field in self._time_fields:
            for number, row in enumerate(self.rows):
                if period := period_of(row[field.index]):
                    yield period, number, field.index

    def in_month(self, month: int) -> Iterator[tuple[int, int]]:
        """The rows and columns where a month stands as its number."""
        for field in self.fields:
            if field.type == "integer" and calendar_part(field.name) == "month":
                yield from ((row, field.index) for row, cell in enumerate(self.rows) if cell[field.index] == month)

    @cached_property
    def has_dates(self) -> bool:
        return bool(self._time_fields)

    @cached_property
    def _time_fields(self) -> list[Field]:
        """The columns of time. Years are often stored as text: `open_year` with “2008”."""
        return [f for f in self.fields if f.role == "time" or (f.type == "text" and calendar_part(f.name) == "year")]

    def ordinals(self, field: Field) -> list[Decimal | None]:
        """The cells of a column of time as numbers that keep their order."""
        known = [period_of(row[field.index]) for row in self.rows]
        return [
            None if p is None else Decimal((p.year or 0) * 10_000 + (p.month or 0) * 100 + (p.day or 0)) for p in known
        ]

    def _columns_of(self, rows: Sequence[int]) -> Iterator[tuple[Field, list[Decimal]]]:
        for field in self.measures:
            values = [value for row in rows if (value := self.number(row, field.index)) is not None]
            if values:
                yield field, values


def _unit_words(name: Sequence[str]) -> list[str]:
    """The last word of a name, and times in the plural before it. `orders_per_day` is in orders."""
    if "per" in name:
        return []
    return [*name[-1:], *(word for word in name if word in ("days", "hours", "minutes", "seconds", "weeks", "months"))]


def _spoken(identifier: str) -> str:
    """The words of an identifier without its unit."""
    parts = identifier.split("_")
    return " ".join(parts[:-1] if len(parts) > 2 and parts[-1] in DIMENSIONS else parts)


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


def _is_year(number: Decimal) -> bool:
    return number == int(number) and int(number) in _YEARS


@lru_cache(maxsize=4096)
def period_of(value: Json) -> StatedDate | None:
    """The day or the month of ISO 8601 text, the date that a text says in words, or the year that a whole number or a
    text of four digits is."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return StatedDate(year=int(value)) if value == int(value) else None
    if isinstance(value, str) and re.fullmatch(r"\d{4}", value):
        return StatedDate(year=int(value)) if int(value) in _YEARS else None
    if isinstance(value, str) and value[:1].isalpha() and value[-1:].isdigit():
        found = numerals(value)
        return found[0].period if len(found) == 1 and found[0].text == value else None
    match = re.match(r"(\d{4})-(\d{2})(?:-(\d{2})(?!\d)|$)", value) if isinstance(value, str) else None
    if match is None:
        return None
    year, month = int(match[1]), int(match[2])
    return StatedDate(year, (month + 2) // 3, month, int(match[3]) if match[3] else None)


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


def stated_numbers(facts: ResultFacts) -> Iterator[Ground]:
    """The numbers among what may be said beside the rows."""
    for fact in facts.extra:
        value = number_of(fact.value)
        if value is not None:
            yield Ground(value, "fact", fact.basis)
