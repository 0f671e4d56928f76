"""How a dialect writes points in time, medians and text matches. A dialect takes the standard form unless it has one
of its own here; `dialects.py` says which."""

from collections.abc import Sequence
from datetime import datetime

from sqlglot import exp

from answerable.query.plan import Part, Unit
from answerable.query.sql.function_classes import DIGEST_FUNCTION
from answerable.query.sql.syntax import Duration, Moment, Operand, call, cast, grouped, number, quotient, text

_SECONDS: dict[Duration, int] = {"second": 1, "minute": 60, "hour": 3600, "day": 86400}
_PARTS_OF_DAYS = ("second", "minute", "hour")
_ESCAPE = "!"


# The standard, which PostgreSQL follows.


def boolean(value: bool) -> exp.Expr:
    return exp.Boolean(this=value)


def moment(value: datetime, kind: Moment) -> exp.Expr:
    if kind == "date":
        return cast(text(value.date().isoformat()), exp.DType.DATE)
    return cast(text(value.isoformat(sep=" ")), exp.DType.TIMESTAMP)


def as_stored(operands: Sequence[Operand], _op: str | None) -> list[exp.Expr]:
    """Typed columns compare rightly as they are."""
    return [operand.node for operand in operands]


def bucket(unit: Unit, of: Operand) -> exp.Expr:
    if unit == "day":
        return of.node if of.type == "date" else cast(of.node, exp.DType.DATE)
    if unit in _PARTS_OF_DAYS:
        return call("DATE_TRUNC", text(unit), _as_datetime(of))
    return cast(call("DATE_TRUNC", text(unit), of.node), exp.DType.DATE)


def part(part: Part, of: exp.Expr) -> exp.Expr:
    field = "ISODOW" if part == "weekday" else part.upper()
    return exp.Extract(this=exp.Var(this=field), expression=of)


def difference(unit: Duration, start: Operand, end: Operand) -> exp.Expr:
    if unit == "day" and start.type == end.type == "date":
        return exp.Sub(this=end.node, expression=start.node)
    apart = exp.Sub(this=_as_datetime(end), expression=_as_datetime(start))
    return _in_units(exp.Extract(this=exp.Var(this="EPOCH"), expression=apart), unit, cuts_off=True)


def median(of: Operand) -> exp.Expr:
    order = exp.Order(expressions=[exp.Ordered(this=of.node, nulls_first=False)])
    return exp.WithinGroup(this=call("PERCENTILE_CONT", exp.Literal.number("0.5")), expression=order)


def digest(of: exp.Expr, secret: str) -> exp.Expr:
    keyed = exp.DPipe(this=text(secret), expression=of)
    return call("ENCODE", call("SHA256", call("CONVERT_TO", keyed, text("UTF8"))), text("hex"))


def match(left: exp.Expr, how: str, pattern: str) -> exp.Expr:
    return _like(exp.ILike, left, how, pattern)


def _as_datetime(of: Operand) -> exp.Expr:
    return cast(of.node, exp.DType.TIMESTAMP) if of.type == "date" else of.node


def _in_units(seconds: exp.Expr, unit: Duration, *, cuts_off: bool) -> exp.Expr:
    return seconds if unit == "second" else quotient(grouped(seconds), number(_SECONDS[unit]), cuts_off=cuts_off)


def _like(kind: type[exp.Like] | type[exp.ILike], left: exp.Expr, how: str, pattern: str) -> exp.Expr:
    # A backslash counts too: without an ESCAPE clause PostgreSQL takes it for the escape sign.
    special = any(letter in pattern for letter in f"%_\\{_ESCAPE}")
    if special:
        # The escape sign comes first, else it would be doubled where it was just put.
        for letter in (_ESCAPE, "%", "_"):
            pattern = pattern.replace(letter, _ESCAPE + letter)
    before = "%" if how in ("contains", "ends_with") else ""
    after = "%" if how in ("contains", "starts_with") else ""
    matches = kind(this=left, expression=text(f"{before}{pattern}{after}"))
    return exp.Escape(this=matches, expression=text(_ESCAPE)) if special else matches


# PostgreSQL.


def postgres_part(of_part: Part, of: exp.Expr) -> exp.Expr:
    # EXTRACT gives a numeric there; the parts of a date are whole numbers.
    return cast(part(of_part, of), exp.DType.INT)


def postgres_row_estimate(number: exp.Expr, relation: exp.Expr) -> exp.Select:
    """The server's own estimate of the rows of a relation, and the relation's kind. The name is looked up as the
    statements themselves will look it up."""
    named = exp.EQ(this=exp.column("oid"), expression=exp.func("to_regclass", relation))
    kind, estimate = exp.column("relkind"), exp.column("reltuples")
    return exp.select(number, estimate, kind).from_(exp.table_("pg_class", db="pg_catalog")).where(named)


# DuckDB.


def duckdb_difference(unit: Duration, start: Operand, end: Operand) -> exp.Expr:
    if unit == "day" and start.type == end.type == "date":
        return exp.Sub(this=end.node, expression=start.node)
    seconds = exp.Sub(this=call("EPOCH", end.node), expression=call("EPOCH", start.node))
    return _in_units(seconds, unit, cuts_off=False)


def duckdb_median(of: Operand) -> exp.Expr:
    # Of decimals, DuckDB cuts the mean of the two values in the middle off to their scale.
    return call("MEDIAN", of.node if of.type == "integer" else cast(of.node, exp.DType.DOUBLE))


# SQLite, where a point in time is ISO 8601 text: with or without a time of day, with a blank or a T in between.

_STARTS = {"second": "%Y-%m-%d %H:%M:%S", "minute": "%Y-%m-%d %H:%M:00", "hour": "%Y-%m-%d %H:00:00"}
_FIELDS = {"year": "%Y", "month": "%m", "day": "%d", "hour": "%H", "minute": "%M"}
_MILLISECONDS = "%Y-%m-%d %H:%M:%f"


def sqlite_boolean(value: bool) -> exp.Expr:
    return number(int(value))


def sqlite_moment(value: datetime, kind: Moment) -> exp.Expr:
    return text(value.date().isoformat() if kind == "date" else value.isoformat(sep=" "))


def sqlite_aligned(operands: Sequence[Operand], op: str | None) -> list[exp.Expr]:
    """Points in time in one form, so that they compare as text; all other operands as they are."""
    if _compare_as_stored(operands) or _starts_period(operands, op):
        return as_stored(operands, op)
    if any(operand.type == "datetime" for operand in operands):
        return [_to_the_millisecond(operand) for operand in operands]
    return [_to_the_day(operand) for operand in operands]


def sqlite_bucket(unit: Unit, of: Operand) -> exp.Expr:
    match unit:
        case "day":
            return call("DATE", of.node)
        case "week":
            # `weekday 1` moves forward to a Monday unless the day is one: from six days before, to that of the week.
            return call("DATE", of.node, text("-6 days"), text("weekday 1"))
        case "month" | "year":
            return call("DATE", of.node, text(f"start of {unit}"))
        case "quarter":
            return call("DATE", of.node, text("start of month"), _months_into_quarter(of.node.copy()))
    return call("STRFTIME", text(_STARTS[unit]), of.node)


def sqlite_part(part: Part, of: exp.Expr) -> exp.Expr:
    match part:
        case "quarter":
            months = exp.Paren(this=exp.Add(this=_field("%m", of), expression=number(2)))
            return quotient(months, number(3), cuts_off=True)
        case "weekday":
            # SQLite counts from Sunday, 0 to 6; ISO 8601 counts from Monday, 1 to 7.
            shifted = exp.Paren(this=exp.Add(this=_field("%w", of), expression=number(6)))
            return exp.Add(this=exp.Mod(this=shifted, expression=number(7)), expression=number(1))
        case "week":
            # The week of a date is the one that its Thursday falls in.
            thursday = call("DATE", of, text("-3 days"), text("weekday 4"))
            days = exp.Paren(this=exp.Sub(this=_field("%j", thursday), expression=number(1)))
            return exp.Add(this=quotient(days, number(7), cuts_off=True), expression=number(1))
    return cast(_field(_FIELDS[part], of), exp.DType.INT)


def sqlite_difference(unit: Duration, start: Operand, end: Operand) -> exp.Expr:
    days = exp.Sub(this=call("JULIANDAY", end.node), expression=call("JULIANDAY", start.node))
    if unit == "day" and start.type == end.type == "date":
        return days
    # SQLite computes in whole milliseconds; rounding takes away what the fraction of a day lost.
    seconds = call("ROUND", exp.Mul(this=exp.Paren(this=days), expression=number(86400)), number(3))
    return _in_units(seconds, unit, cuts_off=True)


def sqlite_match(left: exp.Expr, how: str, pattern: str) -> exp.Expr:
    # LIKE ignores the case of ASCII letters only; every other letter of the pattern is folded one by one.
    for letter in sorted({letter.lower() for letter in pattern if not letter.isascii()}):
        upper = letter.upper()
        if upper != letter and len(upper) == len(letter) == 1:
            left = call("REPLACE", left, text(upper), text(letter))
            pattern = pattern.replace(upper, letter)
    return _like(exp.Like, left, how, pattern)


def _field(field: str, of: exp.Expr) -> exp.Expr:
    """Digits as text; SQLite takes them as a number in arithmetic."""
    return call("STRFTIME", text(field), of)


def _months_into_quarter(of: exp.Expr) -> exp.Expr:
    month = exp.Paren(this=exp.Sub(this=_field("%m", of), expression=number(1)))
    since = exp.Paren(this=exp.Mod(this=month, expression=number(3)))
    return exp.DPipe(this=exp.DPipe(this=text("-"), expression=since), expression=text(" months"))


def _compare_as_stored(operands: Sequence[Operand]) -> bool:
    """Whether none is a point in time, or all come from one column and are so written alike."""
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


def duckdb_digest(of: exp.Expr, secret: str) -> exp.Expr:
    return call("SHA256", exp.DPipe(this=text(secret), expression=of))


def sqlite_digest(of: exp.Expr, secret: str) -> exp.Expr:
    """SQLite has no such function; its worker has."""
    return call(DIGEST_FUNCTION, exp.DPipe(this=text(secret), expression=of))
