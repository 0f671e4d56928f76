"""SQLite lets any column hold anything. How its values are really stored decides which type the catalog may claim.

A type is recognised only when every value has it: a text column is a date column when all its values are ISO dates, and
a column that was declared as a date but holds `3/4/2021` is text, because the engine's date functions cannot read it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlglot import exp

from answerable.core.values import ColumnType


@dataclass(frozen=True, slots=True)
class Stored:
    """How many values of a column SQLite stores in each form."""

    integers: int
    reals: int
    texts: int
    dates: int
    """Texts that are exactly YYYY-MM-DD, of a day that exists."""
    datetimes: int
    """Texts that are such a day and a time."""
    flags: int
    """Integers that are 0 or 1."""
    values: int
    """All that are not null."""


_FIGURES = ("integers", "reals", "texts", "dates", "datetimes", "flags", "values")


def figures(value: exp.Expr) -> dict[str, exp.Expr]:
    """The aggregates that `read` needs, by name."""
    first_ten = exp.func("substr", value.copy(), exp.Literal.number(1), exp.Literal.number(10))
    reads_as_time = exp.Not(this=exp.Is(this=_call("datetime", value), expression=exp.Null()))
    long_enough = exp.GTE(this=_call("length", value), expression=exp.Literal.number(16))
    conditions: tuple[exp.Expr, ...] = (
        _is_stored_as(value, "integer"),
        _is_stored_as(value, "real"),
        _is_stored_as(value, "text"),
        _is_day(value),
        exp.and_(_is_day(first_ten), reads_as_time, long_enough),
        exp.and_(_is_stored_as(value, "integer"), exp.In(this=value.copy(), expressions=_numbers(0, 1))),
        exp.Not(this=exp.Is(this=value.copy(), expression=exp.Null())),
    )
    return {name: exp.Sum(this=condition) for name, condition in zip(_FIGURES, conditions, strict=True)}


def numbers_only(value: exp.Expr) -> exp.Expr:
    """Keeps a stray text from being the greatest number."""
    is_number = exp.In(this=_call("typeof", value), expressions=[exp.Literal.string(t) for t in ("integer", "real")])
    return exp.Case(ifs=[exp.If(this=is_number, true=value.copy())])


def read(cells: Mapping[str, Any]) -> Stored | None:
    if "texts" not in cells:
        return None
    return Stored(**{name: int(cells[name] or 0) for name in _FIGURES})


def recognised(declared: ColumnType, stored: Stored) -> ColumnType:
    """The type that holds for every value; the declared one when nothing better is certain."""
    if stored.values == 0:
        return declared
    if stored.texts == stored.values:
        return _of_texts(declared, stored)
    if stored.integers == stored.values:
        return _of_integers(declared, stored)
    if stored.integers + stored.reals == stored.values:
        return "number"
    if declared in ("date", "datetime", "boolean", "time"):
        return "text"
    return "text" if 2 * stored.texts > stored.values else declared


def _of_texts(declared: ColumnType, stored: Stored) -> ColumnType:
    if stored.dates == stored.values:
        return "date"
    if stored.datetimes + stored.dates == stored.values:
        return "datetime"
    return declared if declared in ("time", "json") else "text"


def _of_integers(declared: ColumnType, stored: Stored) -> ColumnType:
    if declared == "number" or (declared == "boolean" and stored.flags == stored.values):
        return declared
    return "integer"


def _is_day(value: exp.Expr) -> exp.EQ:
    """Adding no days makes the engine work the date out: 30 February then becomes another day, and is none."""
    day = exp.Anonymous(this="date", expressions=[value.copy(), exp.Literal.string("+0 days")])
    return exp.EQ(this=day, expression=value.copy())


def _is_stored_as(value: exp.Expr, kind: str) -> exp.Expr:
    return exp.EQ(this=_call("typeof", value), expression=exp.Literal.string(kind))


def _call(name: str, value: exp.Expr) -> exp.Expr:
    """Calls a function by its SQLite name: sqlglot would rewrite its own date functions."""
    return exp.Anonymous(this=name, expressions=[value.copy()])


def _numbers(*numbers: int) -> list[exp.Expr]:
    return [exp.Literal.number(number) for number in numbers]
