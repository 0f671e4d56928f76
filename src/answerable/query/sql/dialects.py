"""Where the three SQL dialects differ: points in time, text comparison, division, median. All as syntax trees."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal

from sqlglot import exp

from answerable.core.values import ColumnType, Language, Scalar
from answerable.query.plan import Part, Unit

Duration = Literal["second", "minute", "hour", "day"]
Moment = Literal["date", "datetime"]

_SECONDS: dict[Duration, int] = {"second": 1, "minute": 60, "hour": 3600, "day": 86400}
_PARTS_OF_DAYS = ("second", "minute", "hour")
_ESCAPE = "!"


def call(name: str, *arguments: exp.Expr) -> exp.Expr:
    """A function by its exact name: no dialect rewrites it."""
    return exp.Anonymous(this=name, expressions=list(arguments))


def text(value: str) -> exp.Expr:
    return exp.Literal.string(value)


def number(value: int | float) -> exp.Expr:
    literal = exp.Literal.number(repr(abs(value)))
    return exp.Neg(this=literal) if value < 0 else literal


def grouped(node: exp.Expr) -> exp.Expr:
    """In brackets, where a neighbouring operator might bind more tightly."""
    loose = exp.Binary | exp.Neg | exp.Not | exp.Between | exp.In
    return exp.Paren(this=node) if isinstance(node, loose) else node


def cast(node: exp.Expr, to: exp.DType) -> exp.Expr:
    return exp.Cast(this=node, to=exp.DataType(this=to))


def or_null_if_zero(node: exp.Expr) -> exp.Expr:
    while isinstance(node, exp.Paren):
        node = node.this
    never_zero = isinstance(node, exp.Nullif) or (node.is_number and float(node.name or 0) != 0)
    return grouped(node) if never_zero else exp.Nullif(this=node, expression=number(0))


def moment_of(iso: str) -> datetime:
    """The point in time that ISO 8601 text means, in UTC when it names a zone."""
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
    """Table and column of the catalog whose values these are, as they are stored."""
    is_day: bool = False
    """Made by a bucket, so certainly a date without a time."""


class SqlDialect:
    """The standard, which PostgreSQL follows; the others say where they differ."""

    name: Language
    nulls_first_descending = False
    nulls_first_ascending = False
    has_statistics = True
    """Whether median and standard deviation are functions."""
    moments_are_text = False
    """ISO 8601 text, with or without a time of day, with a blank or a T in between."""
    casts_dividend: Literal["never", "whole", "always"] = "whole"
    """So that division never cuts off: not needed, for whole numbers, or as any number may be stored as a whole one."""

    def constant(self, value: Scalar, kind: Moment | None) -> exp.Expr:
        if value is None:
            return exp.Null()
        if kind is not None:
            return self.moment(moment_of(str(value)), kind)
        if isinstance(value, bool):
            return self.boolean(value)
        return text(value) if isinstance(value, str) else number(value)

    def boolean(self, value: bool) -> exp.Expr:
        return exp.Boolean(this=value)

    def moment(self, moment: datetime, kind: Moment) -> exp.Expr:
        if kind == "date":
            return cast(text(moment.date().isoformat()), exp.DType.DATE)
        return cast(text(moment.isoformat(sep=" ")), exp.DType.TIMESTAMP)

    def aligned(self, operands: Sequence[Operand], op: str | None = None) -> list[exp.Expr]:
        """The sides of a comparison, in forms that compare as points in time where they are such."""
        if not self.moments_are_text or _compare_as_stored(operands) or _starts_period(operands, op):
            return [operand.node for operand in operands]
        if any(operand.type == "datetime" for operand in operands):
            return [_to_the_millisecond(operand) for operand in operands]
        return [_to_the_day(operand) for operand in operands]

    def divided(self, left: exp.Expr, right: exp.Expr, *, whole: bool) -> exp.Expr:
        """`whole` when both sides may be whole numbers."""
        must_cast = whole if self.casts_dividend == "whole" else self.casts_dividend == "always"
        left = cast(left, exp.DType.DOUBLE) if must_cast else grouped(left)
        return self.quotient(left, or_null_if_zero(right))

    def quotient(self, left: exp.Expr, right: exp.Expr) -> exp.Expr:
        """As the dialect divides, which may cut off to whole numbers."""
        return exp.Div(this=left, expression=right, typed=self.casts_dividend != "never")

    def bucket(self, unit: Unit, of: Operand) -> exp.Expr:
        if unit == "day":
            return of.node if of.type == "date" else cast(of.node, exp.DType.DATE)
        if unit in _PARTS_OF_DAYS:
            return call("DATE_TRUNC", text(unit), self.as_datetime(of))
        return cast(call("DATE_TRUNC", text(unit), of.node), exp.DType.DATE)

    def as_datetime(self, of: Operand) -> exp.Expr:
        return cast(of.node, exp.DType.TIMESTAMP) if of.type == "date" else of.node

    def part(self, part: Part, of: exp.Expr) -> exp.Expr:
        field = "ISODOW" if part == "weekday" else part.upper()
        return exp.Extract(this=exp.Var(this=field), expression=of)

    def difference(self, unit: Duration, start: Operand, end: Operand) -> exp.Expr:
        if unit == "day" and start.type == end.type == "date":
            return exp.Sub(this=end.node, expression=start.node)
        return self.in_units(self.seconds_between(start, end), unit)

    def in_units(self, seconds: exp.Expr, unit: Duration) -> exp.Expr:
        return seconds if unit == "second" else self.quotient(grouped(seconds), number(_SECONDS[unit]))

    def seconds_between(self, start: Operand, end: Operand) -> exp.Expr:
        apart = exp.Sub(this=self.as_datetime(end), expression=self.as_datetime(start))
        return exp.Extract(this=exp.Var(this="EPOCH"), expression=apart)

    def median(self, of: Operand) -> exp.Expr:
        order = exp.Order(expressions=[exp.Ordered(this=of.node, nulls_first=False)])
        return exp.WithinGroup(this=call("PERCENTILE_CONT", exp.Literal.number("0.5")), expression=order)

    def match(self, left: exp.Expr, how: str, pattern: str) -> exp.Expr:
        return _like(exp.ILike, left, how, pattern)


class DuckDb(SqlDialect):
    name: Language = "duckdb"
    casts_dividend = "never"

    def seconds_between(self, start: Operand, end: Operand) -> exp.Expr:
        return exp.Sub(this=call("EPOCH", end.node), expression=call("EPOCH", start.node))

    def median(self, of: Operand) -> exp.Expr:
        # Of decimals, DuckDB cuts the mean of the two values in the middle off to their scale.
        return call("MEDIAN", of.node if of.type == "integer" else cast(of.node, exp.DType.DOUBLE))


class Postgres(SqlDialect):
    name: Language = "postgres"
    nulls_first_descending = True

    def part(self, part: Part, of: exp.Expr) -> exp.Expr:
        return cast(super().part(part, of), exp.DType.INT)


class Sqlite(SqlDialect):
    name: Language = "sqlite"
    nulls_first_ascending = True
    has_statistics = False
    moments_are_text = True
    casts_dividend = "always"

    def boolean(self, value: bool) -> exp.Expr:
        return number(int(value))

    def moment(self, moment: datetime, kind: Moment) -> exp.Expr:
        return text(moment.date().isoformat() if kind == "date" else moment.isoformat(sep=" "))

    def bucket(self, unit: Unit, of: Operand) -> exp.Expr:
        match unit:
            case "day":
                return call("DATE", of.node)
            case "week":
                return call("DATE", of.node, text("-6 days"), text("weekday 1"))
            case "month" | "year":
                return call("DATE", of.node, text(f"start of {unit}"))
            case "quarter":
                return call("DATE", of.node, text("start of month"), _months_into_quarter(of.node.copy()))
        return call("STRFTIME", text(_STARTS[unit]), of.node)

    def part(self, part: Part, of: exp.Expr) -> exp.Expr:
        match part:
            case "quarter":
                months = exp.Paren(this=exp.Add(this=_field("%m", of), expression=number(2)))
                return self.quotient(months, number(3))
            case "weekday":
                shifted = exp.Paren(this=exp.Add(this=_field("%w", of), expression=number(6)))
                return exp.Add(this=exp.Mod(this=shifted, expression=number(7)), expression=number(1))
            case "week":
                thursday = call("DATE", of, text("-3 days"), text("weekday 4"))
                days = exp.Paren(this=exp.Sub(this=_field("%j", thursday), expression=number(1)))
                return exp.Add(this=self.quotient(days, number(7)), expression=number(1))
        return cast(_field(_FIELDS[part], of), exp.DType.INT)

    def difference(self, unit: Duration, start: Operand, end: Operand) -> exp.Expr:
        days = exp.Sub(this=call("JULIANDAY", end.node), expression=call("JULIANDAY", start.node))
        if unit == "day" and start.type == end.type == "date":
            return days
        # SQLite computes in whole milliseconds; rounding takes away what the fraction of a day lost.
        seconds = call("ROUND", exp.Mul(this=exp.Paren(this=days), expression=number(86400)), number(3))
        return self.in_units(seconds, unit)

    def match(self, left: exp.Expr, how: str, pattern: str) -> exp.Expr:
        # LIKE disregards the case of ASCII letters only; every other letter of the pattern is folded one by one.
        for letter in sorted({letter.lower() for letter in pattern if not letter.isascii()}):
            upper = letter.upper()
            if upper != letter and len(upper) == len(letter) == 1:
                left = call("REPLACE", left, text(upper), text(letter))
                pattern = pattern.replace(upper, letter)
        return _like(exp.Like, left, how, pattern)


_STARTS = {"second": "%Y-%m-%d %H:%M:%S", "minute": "%Y-%m-%d %H:%M:00", "hour": "%Y-%m-%d %H:00:00"}
_FIELDS = {"year": "%Y", "month": "%m", "day": "%d", "hour": "%H", "minute": "%M"}
_MILLISECONDS = "%Y-%m-%d %H:%M:%f"


def _field(field: str, of: exp.Expr) -> exp.Expr:
    """Digits as text; SQLite takes them as a number in arithmetic."""
    return call("STRFTIME", text(field), of)


def _months_into_quarter(of: exp.Expr) -> exp.Expr:
    month = exp.Paren(this=exp.Sub(this=_field("%m", of), expression=number(1)))
    since = exp.Paren(this=exp.Mod(this=month, expression=number(3)))
    return exp.DPipe(this=exp.DPipe(this=text("-"), expression=since), expression=text(" months"))


def _compare_as_stored(operands: Sequence[Operand]) -> bool:
    """Whether these are no points in time, or all from one column and so written alike."""
    origins = {operand.origin for operand in operands}
    alike = len(origins) == 1 and None not in origins
    return alike or {operand.type for operand in operands}.isdisjoint(("date", "datetime"))


def _starts_period(operands: Sequence[Operand], op: str | None) -> bool:
    """Whether ISO text compares rightly with a bare date as it stands: the date sorts before all times of that day."""
    if op is None or len(operands) != 2:
        return False
    left, right = operands
    return (op in (">=", "<") and right.type == "date" and right.moment is not None) or (
        op in ("<=", ">") and left.type == "date" and left.moment is not None
    )


def _to_the_day(operand: Operand) -> exp.Expr:
    if operand.moment is not None or operand.is_day or operand.type != "date":
        return operand.node
    return call("DATE", operand.node)


def _to_the_millisecond(operand: Operand) -> exp.Expr:
    if operand.moment is not None:
        return text(operand.moment.isoformat(sep=" ", timespec="milliseconds"))
    if operand.type not in ("date", "datetime"):
        return operand.node
    return call("STRFTIME", text(_MILLISECONDS), operand.node)


def _like(kind: type[exp.Like] | type[exp.ILike], left: exp.Expr, how: str, pattern: str) -> exp.Expr:
    special = any(letter in pattern for letter in f"%_\\{_ESCAPE}")
    if special:
        for letter in (_ESCAPE, "%", "_"):
            pattern = pattern.replace(letter, _ESCAPE + letter)
    before = "%" if how in ("contains", "ends_with") else ""
    after = "%" if how in ("contains", "starts_with") else ""
    matches = kind(this=left, expression=text(f"{before}{pattern}{after}"))
    return exp.Escape(this=matches, expression=text(_ESCAPE)) if special else matches


FRAMES_DIALECT = "duckdb"
"""The dialect of the engine that queries the rows of earlier steps, whatever sources they came from."""
DIALECTS: dict[Language, SqlDialect] = {"duckdb": DuckDb(), "postgres": Postgres(), "sqlite": Sqlite()}
