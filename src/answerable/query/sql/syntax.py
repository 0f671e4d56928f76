"""Small pieces of SQL syntax trees, from which the forms of every dialect are built."""

from datetime import UTC, datetime
from typing import Literal

from sqlglot import exp

from answerable.core.records import dataclass
from answerable.core.values import ColumnType

Duration = Literal["second", "minute", "hour", "day"]
Moment = Literal["date", "datetime"]


def call(name: str, *arguments: exp.Expr) -> exp.Expr:
    """A function by its exact name: no dialect rewrites it."""
    return exp.Anonymous(this=name, expressions=list(arguments))


def text(value: str) -> exp.Expr:
    return exp.Literal.string(value)


def number(value: int | float) -> exp.Expr:
    # In SQL a sign is an operator, not a part of the number.
    literal = exp.Literal.number(repr(abs(value)))
    return exp.Neg(this=literal) if value < 0 else literal


def grouped(node: exp.Expr) -> exp.Expr:
    """The node in brackets if a neighbouring operator might bind more tightly."""
    loose = exp.Binary | exp.Neg | exp.Not | exp.Between | exp.In
    return exp.Paren(this=node) if isinstance(node, loose) else node


def cast(node: exp.Expr, to: exp.DType) -> exp.Expr:
    return exp.Cast(this=node, to=exp.DataType(this=to))


def quotient(left: exp.Expr, right: exp.Expr, *, cuts_off: bool) -> exp.Expr:
    """`cuts_off`: whether the dialect divides whole numbers to a whole number. sqlglot then leaves the division alone;
    without it, sqlglot would add a cast."""
    return exp.Div(this=left, expression=right, typed=cuts_off)


def or_null_if_zero(node: exp.Expr) -> exp.Expr:
    """A divisor that becomes null instead of zero: dialects disagree on what a division by zero is."""
    while isinstance(node, exp.Paren):
        node = node.this
    never_zero = isinstance(node, exp.Nullif) or (node.is_number and float(node.name or 0) != 0)
    return grouped(node) if never_zero else exp.Nullif(this=node, expression=number(0))


def moment_of(iso: str) -> datetime:
    """The point in time that ISO 8601 text names, in UTC if the text has a zone."""
    moment = datetime.fromisoformat(iso)
    return moment if moment.tzinfo is None else moment.astimezone(UTC).replace(tzinfo=None)


@dataclass(frozen=True, slots=True)
class Operand:
    """One side of a comparison."""

    node: exp.Expr
    type: ColumnType | None
    moment: datetime | None = None
    """Of a constant."""
    origin: tuple[str, str] | None = None
    """Table and column of the catalog whose stored values these are."""
    is_day: bool = False
    """Whether a bucket returned it: then it is a date without a time."""
