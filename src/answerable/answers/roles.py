"""What the columns of a result are to a reader: a point in time, a name, a key, a quantity."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Literal

from answerable.core.records import dataclass
from answerable.core.values import ColumnType, Json, OutputColumn
from answerable.query.plan import (
    Aggregate,
    Arithmetic,
    Bucket,
    ColumnRef,
    DateDifference,
    DatePart,
    Expr,
    MeasureRef,
    QueryPlan,
    Unit,
)

Role = Literal["time", "category", "key", "measure", "other"]

_KEY_WORDS = frozenset(
    {"id", "key", "code", "zip", "postcode", "sku", "isbn", "ean", "uuid", "guid", "phone", "no", "nr"}
)
_CALENDAR_WORDS = frozenset({"year", "quarter", "month", "week", "day", "weekday", "hour", "minute"})
_FIRST_NAMES = frozenset({"firstname", "forename", "givenname", "fname"})
_LAST_NAMES = frozenset({"lastname", "surname", "familyname", "lname"})
_FRACTION_WORDS = frozenset({"share", "percent", "percentage", "pct", "rate", "ratio", "margin", "growth", "%"})


@dataclass(frozen=True, slots=True)
class Field:
    """One column of a result, as a reader sees it."""

    index: int
    name: str
    type: ColumnType
    role: Role
    unit: Unit | None = None
    """The period that a date stands for, if the plan says so: the first day of a month stands for the month."""
    part: str | None = None
    """The part of a date that a whole number stands for: a year, a weekday."""


def fields(columns: Sequence[OutputColumn], plan: QueryPlan | None = None) -> tuple[Field, ...]:
    expressions = _expressions(columns, plan)
    return tuple(_field(i, column, expressions[i]) for i, column in enumerate(columns))


@lru_cache(maxsize=4096)
def words(name: str) -> tuple[str, ...]:
    """`unitPrice`, `unit_price` and `Unit price` are all unit, price."""
    spaced = "".join(f" {c}" if _starts_word(name, i) else c for i, c in enumerate(name))
    return tuple("".join(c if c.isalnum() or c == "%" else " " for c in spaced).lower().split())


def is_fraction_name(name: str) -> bool:
    """Whether the name says that the values are shares or rates."""
    return not _FRACTION_WORDS.isdisjoint(words(name)) or "%" in name


def is_key_name(name: str) -> bool:
    found = words(name)
    return bool(found) and (found[-1] in _KEY_WORDS or found == ("number",))


def person_name(found: Sequence[Field]) -> tuple[Field, ...]:
    """The columns that make up the full name of a person, the first name first. Empty if one of them is missing."""
    first = next((field for field in found if _says(field, _FIRST_NAMES)), None)
    last = next((field for field in found if _says(field, _LAST_NAMES)), None)
    return (first, last) if first is not None and last is not None else ()


def _says(field: Field, names: frozenset[str]) -> bool:
    return field.type == "text" and "".join(words(field.name)) in names


def calendar_part(name: str) -> str | None:
    """The part of a date that a column of this name holds: `birth_year` holds years, `calls_per_year` does not."""
    found = words(name)
    return found[-1] if found and found[-1] in _CALENDAR_WORDS and "per" not in found else None


def distinct(rows: Sequence[Sequence[Json]], index: int) -> int:
    return len({repr(row[index]) for row in rows})


def _starts_word(name: str, i: int) -> bool:
    return i > 0 and name[i].isupper() and (name[i - 1].islower() or name[i + 1 : i + 2].islower())


def _expressions(columns: Sequence[OutputColumn], plan: QueryPlan | None) -> Sequence[Expr | None]:
    """The expression that each column was computed from; None if that is not certain."""
    if plan is None or plan.set_operation is not None or len(plan.select) != len(columns):
        return [None] * len(columns)
    return [item.expr for item in plan.select]


def _field(index: int, column: OutputColumn, expression: Expr | None) -> Field:
    unit = expression.unit if isinstance(expression, Bucket) else None
    part = _date_part(column, expression)
    return Field(index, column.name, column.type, _role(column, expression, part), unit, part)


def _date_part(column: OutputColumn, expression: Expr | None) -> str | None:
    """The part of a date that whole numbers stand for: the earliest year is a year, too."""
    if isinstance(expression, Aggregate) and expression.function in ("min", "max"):
        expression = expression.of
    if isinstance(expression, DatePart):
        return expression.part
    if column.type != "integer" or not isinstance(expression, ColumnRef | None):
        return None
    return calendar_part(column.name if expression is None else expression.column)


def _role(column: OutputColumn, expression: Expr | None, part: str | None) -> Role:
    numeric = column.type in ("integer", "number")
    if numeric and isinstance(expression, Aggregate | MeasureRef | Arithmetic | DateDifference):
        return "measure"
    if column.type in ("date", "datetime") or part == "year":
        return "time"
    if part is not None or column.type in ("text", "boolean"):
        return "category"
    if numeric:
        return "key" if is_key_name(column.name) else "measure"
    return "other"
