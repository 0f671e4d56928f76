"""Where the three SQL dialects differ: points in time, text comparison, division, median. All as syntax trees."""

from collections.abc import Callable
from typing import Literal

from sqlglot import exp

from answerable.core.errors import UserError
from answerable.core.values import ColumnType, Dialect, Scalar
from answerable.query.plan import Part, TextMatch, Unit

_SECONDS = {"second": 1, "minute": 60, "hour": 3600, "day": 86400}
_ESCAPE = "!"


def call(name: str, *arguments: exp.Expression) -> exp.Expression:
    """A function by its exact name: no dialect rewriting."""
    return exp.Anonymous(this=name, expressions=list(arguments))


def text(value: str) -> exp.Expression:
    return exp.Literal.string(value)


def number(value: int | float) -> exp.Expression:
    literal = exp.Literal.number(repr(abs(value)))
    return exp.Neg(this=literal) if value < 0 else literal


def grouped(node: exp.Expression) -> exp.Expression:
    """In brackets where the operator might bind differently."""
    return exp.Paren(this=node) if isinstance(node, exp.Binary | exp.Neg | exp.Not) else node


def cast(node: exp.Expression, to: str) -> exp.Expression:
    return exp.Cast(this=node, to=exp.DataType(this=exp.DataType.Type[to]))


class SqlDialect:
    """What DuckDB and PostgreSQL have in common."""

    name: Dialect
    double: str = "DOUBLE"

    def constant(self, value: Scalar, kind: Literal["date", "datetime"] | None) -> exp.Expression:
        if value is None:
            return exp.Null()
        if kind is not None:
            return self.moment(str(value), kind)
        if isinstance(value, bool):
            return exp.Boolean(this=value)
        if isinstance(value, str):
            return text(value)
        return number(value)

    def moment(self, iso: str, kind: Literal["date", "datetime"]) -> exp.Expression:
        if kind == "date":
            return cast(text(iso[:10]), "DATE")
        return cast(text(iso.replace("T", " ")), "TIMESTAMP")

    def comparable(self, node: exp.Expression, own: ColumnType | None, other: ColumnType | None) -> exp.Expression:
        """A side of a comparison of two points in time."""
        return node

    def divide(self, left: exp.Expression, right: exp.Expression, whole: bool) -> exp.Expression:
        """`whole` when both sides are whole numbers."""
        if whole:
            left = cast(left, "DOUBLE")
        divisor = exp.Nullif(this=right, expression=number(0))
        return exp.Div(this=grouped(left), expression=divisor, typed=True)

    def bucket(self, unit: Unit, of: exp.Expression) -> exp.Expression:
        start = call("DATE_TRUNC", text(unit), of)
        return start if unit in ("second", "minute", "hour") else cast(start, "DATE")

    def part(self, part: Part, of: exp.Expression) -> exp.Expression:
        field = "ISODOW" if part == "weekday" else part.upper()
        return exp.Extract(this=exp.Var(this=field), expression=of)

    def difference(
        self, unit: Literal["second", "minute", "hour", "day"], start: exp.Expression, end: exp.Expression
    ) -> exp.Expression:
        seconds = exp.Sub(this=self.epoch(end), expression=self.epoch(start))
        return self._in_units(seconds, unit)

    def _in_units(self, seconds: exp.Expression, unit: str) -> exp.Expression:
        if unit == "second":
            return seconds
        return exp.Div(this=grouped(seconds), expression=exp.Literal.number(f"{_SECONDS[unit]}.0"), typed=True)

    def epoch(self, of: exp.Expression) -> exp.Expression:
        return exp.Extract(this=exp.Var(this="EPOCH"), expression=of)

    def median(self, of: exp.Expression) -> exp.Expression:
        order = exp.Order(expressions=[exp.Ordered(this=of)])
        return exp.WithinGroup(this=call("PERCENTILE_CONT", exp.Literal.number("0.5")), expression=order)

    def stddev(self, of: exp.Expression) -> exp.Expression:
        return call("STDDEV_SAMP", of)

    def match(self, left: exp.Expression, how: str, pattern: str) -> exp.Expression:
        return _like(exp.ILike, left, how, pattern)


class DuckDb(SqlDialect):
    name: Dialect = "duckdb"

    def divide(self, left: exp.Expression, right: exp.Expression, whole: bool) -> exp.Expression:
        return exp.Div(this=grouped(left), expression=exp.Nullif(this=right, expression=number(0)))

    def median(self, of: exp.Expression) -> exp.Expression:
        return call("MEDIAN", of)


class Postgres(SqlDialect):
    name: Dialect = "postgres"

    def part(self, part: Part, of: exp.Expression) -> exp.Expression:
        return cast(super().part(part, of), "INT")

    def epoch(self, of: exp.Expression) -> exp.Expression:
        return cast(super().epoch(of), "DOUBLE")


class Sqlite(SqlDialect):
    """Points in time are ISO 8601 text, with or without a time of day, in any column type."""

    name: Dialect = "sqlite"

    def constant(self, value: Scalar, kind: Literal["date", "datetime"] | None) -> exp.Expression:
        if isinstance(value, bool) and kind is None:
            return number(int(value))
        return super().constant(value, kind)

    def moment(self, iso: str, kind: Literal["date", "datetime"]) -> exp.Expression:
        return text(iso[:10]) if kind == "date" else text(iso.replace("T", " "))

    def divide(self, left: exp.Expression, right: exp.Expression, whole: bool) -> exp.Expression:
        divisor = exp.Nullif(this=right, expression=number(0))
        return exp.Div(this=cast(left, "DOUBLE"), expression=divisor, typed=True, safe=True)

    def bucket(self, unit: Unit, of: exp.Expression) -> exp.Expression:
        match unit:
            case "day":
                return call("DATE", of)
            case "week":
                return call("DATE", of, text("-6 days"), text("weekday 1"))
            case "quarter":
                back = exp.Mod(this=exp.Paren(this=exp.Sub(this=self._field("%m", of), expression=number(1))), expression=number(3))
                shift = exp.DPipe(this=text("-"), expression=exp.DPipe(this=exp.Paren(this=back), expression=text(" months")))
                return call("DATE", of, text("start of month"), shift)
            case "month" | "year":
                return call("DATE", of, text(f"start of {unit}"))
        return call("STRFTIME", text(_STARTS[unit]), of)

    def part(self, part: Part, of: exp.Expression) -> exp.Expression:
        match part:
            case "quarter":
                month = exp.Paren(this=exp.Add(this=self._field("%m", of), expression=number(2)))
                return exp.Div(this=month, expression=number(3), typed=True, safe=True)
            case "weekday":
                shifted = exp.Paren(this=exp.Add(this=self._field("%w", of), expression=number(6)))
                return exp.Add(this=exp.Mod(this=shifted, expression=number(7)), expression=number(1))
            case "week":
                thursday = call("DATE", of, text("-3 days"), text("weekday 4"))
                days = exp.Paren(this=exp.Sub(this=self._field("%j", thursday), expression=number(1)))
                weeks = exp.Div(this=days, expression=number(7), typed=True, safe=True)
                return exp.Add(this=weeks, expression=number(1))
        return self._field(_FIELDS[part], of)

    def _field(self, field: str, of: exp.Expression) -> exp.Expression:
        return cast(call("STRFTIME", text(field), of), "INT")

    def difference(
        self, unit: Literal["second", "minute", "hour", "day"], start: exp.Expression, end: exp.Expression
    ) -> exp.Expression:
        days = exp.Sub(this=call("JULIANDAY", end), expression=call("JULIANDAY", start))
        if unit == "day":
            return days
        # SQLite computes in whole milliseconds; rounding takes away what the fraction of a day lost.
        seconds = call("ROUND", exp.Mul(this=exp.Paren(this=days), expression=number(86400)), number(3))
        return self._in_units(seconds, unit)

    def median(self, of: exp.Expression) -> exp.Expression:
        raise _unsupported("median")

    def stddev(self, of: exp.Expression) -> exp.Expression:
        raise _unsupported("standard deviation")

    def match(self, left: exp.Expression, how: str, pattern: str) -> exp.Expression:
        # LIKE disregards the case of ASCII letters only; each other letter of the pattern is folded by hand.
        for letter in sorted({letter for letter in pattern if not letter.isascii()}):
            lower, upper = letter.lower(), letter.upper()
            if lower != upper and len(lower) == len(upper) == 1:
                left = call("REPLACE", left, text(upper), text(lower))
                pattern = pattern.replace(upper, lower)
        return _like(exp.Like, left, how, pattern)


_STARTS = {"second": "%Y-%m-%d %H:%M:%S", "minute": "%Y-%m-%d %H:%M:00", "hour": "%Y-%m-%d %H:00:00"}
_FIELDS = {"year": "%Y", "month": "%m", "day": "%d", "hour": "%H", "minute": "%M"}

DIALECTS: dict[Dialect, SqlDialect] = {"duckdb": DuckDb(), "postgres": Postgres(), "sqlite": Sqlite()}


def _unsupported(what: str) -> UserError:
    return UserError(
        f"SQLite cannot compute a {what}.", code="unsupported_by_source", hint="Ask for the average instead."
    )


def _like(
    kind: Callable[..., exp.Expression], left: exp.Expression, how: str, pattern: str
) -> exp.Expression:
    literal = pattern
    special = any(letter in pattern for letter in f"%_\\{_ESCAPE}")
    if special:
        for letter in (_ESCAPE, "%", "_"):
            literal = literal.replace(letter, _ESCAPE + letter)
    before = "%" if how in ("contains", "ends_with") else ""
    after = "%" if how in ("contains", "starts_with") else ""
    matches = kind(this=left, expression=text(f"{before}{literal}{after}"))
    return exp.Escape(this=matches, expression=text(_ESCAPE)) if special else matches


__all__ = ["DIALECTS", "SqlDialect", "TextMatch", "call", "cast", "grouped", "number", "text"]
