"""A stored result as somebody wants to look at it: some columns, some rows, in another order.

Rows that were filtered or sorted are written once as an Arrow file of their own, so that every page of them costs as
little as one of the result itself: a page is read by its range, and memory does not grow with the rows.
"""

import asyncio
import io
import os
from collections.abc import Sequence
from contextlib import suppress
from datetime import date, datetime, time
from decimal import Decimal, InvalidOperation
from functools import reduce
from hashlib import sha256
from operator import and_, or_
from pathlib import Path
from time import time as now
from typing import Any, Literal, TypeAlias

import polars as pl
from polars.exceptions import PolarsError
from pydantic import Field

from answerable.answers import frame
from answerable.answers.formatted import json_text
from answerable.core.errors import UserError
from answerable.core.values import Frozen, Json, OutputColumn
from answerable.store.whole_files import cache_file

Operator = Literal[
    "eq", "ne", "lt", "le", "gt", "ge", "contains", "starts_with", "ends_with", "in", "is_null", "not_null"
]
Operand: TypeAlias = str | int | float | bool | None

MOST_BYTES = 2_000_000_000
"""The most bytes that all stored views may take together."""
MOST_FILES = 64
_IN_USE_SECONDS = 60.0
"""A view that was asked for this recently is not cleaned away: its reader may still be at it."""


class SortKey(Frozen):
    column: str
    descending: bool = False
    """Nulls come last either way."""


class RowFilter(Frozen):
    """A condition on one column. Operators on text ignore case; dates and times are ISO 8601 text."""

    column: str
    operator: Operator
    value: Operand | tuple[Operand, ...] = None
    """A list for `in`; None for `is_null` and `not_null`."""


class Selection(Frozen):
    """Which rows, in which order, with which columns."""

    filters: tuple[RowFilter, ...] = Field(default=(), max_length=50)
    sort: tuple[SortKey, ...] = Field(default=(), max_length=20)
    search: str | None = Field(default=None, max_length=1_000)
    """Text that some column holds, whatever its case."""
    columns: tuple[str, ...] | None = Field(default=None, min_length=1)
    """All of them when left out."""


class Views:
    """The files of views. Each can be computed again, so the oldest are deleted when room runs out."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._making: dict[Path, asyncio.Task[None]] = {}
        # Sorting a large result takes memory and every core: two at a time are enough.
        self._few = asyncio.Semaphore(2)

    async def path(self, rows: Path, selection: Selection) -> Path:
        """An Arrow file with the chosen rows of another."""
        if selection == Selection():
            return rows
        key = f"{rows.parent.name}{rows.name}\n{selection.model_dump_json()}"
        file = self._folder / f"{sha256(key.encode()).hexdigest()[:40]}.arrow"
        if not await asyncio.to_thread(_touched, file):
            making = self._making.get(file)
            if making is None:
                making = self._making[file] = asyncio.create_task(self._make(rows, selection, file))
                making.add_done_callback(lambda _: self._making.pop(file, None))
            # Others may wait for the same file, so a client that leaves must not cancel the work.
            await asyncio.shield(making)
        return file

    async def _make(self, rows: Path, selection: Selection, file: Path) -> None:
        async with self._few:
            await asyncio.to_thread(_write, rows, selection, file)
            await asyncio.to_thread(_clean, self._folder)


def page(
    rows: Path, view: Path, offset: int, limit: int, names: Sequence[str] | None = None
) -> tuple[tuple[OutputColumn, ...], pl.DataFrame]:
    """A range of a view that has every column of `rows`, as values that JSON can hold. How these are carried, the whole
    result decides."""
    known = frame.columns(rows)
    places = _places(known, names)
    carried = frame.shown_form(rows).expressions
    cells = frame.shown_page(view, [carried[place] for place in places], offset, limit)
    return tuple(known[place] for place in places), cells


def arrow_stream(cells: pl.DataFrame) -> bytes:
    """Text, whole numbers, floating numbers and booleans only: what is nested goes as JSON text."""
    nested = [i for i, dtype in enumerate(cells.dtypes) if dtype.is_nested()]
    flat = cells.with_columns(json_text(pl.nth(i)).alias(cells.columns[i]) for i in nested)
    buffer = io.BytesIO()
    # `oldest` writes plain strings instead of string views, which not every Arrow reader knows.
    flat.write_ipc_stream(buffer, compression="uncompressed", compat_level=pl.CompatLevel.oldest())
    return buffer.getvalue()


def _places(known: Sequence[OutputColumn], names: Sequence[str] | None) -> list[int]:
    if names is None:
        return list(range(len(known)))
    return [_place([column.name for column in known], name) for name in dict.fromkeys(names)]


def _place(known: Sequence[str], name: str) -> int:
    if name not in known:
        raise UserError(
            f"The answer has no column {name!r}.", code="column_unknown", hint=f"Columns are: {', '.join(known)}."
        )
    return known.index(name)


def _touched(file: Path) -> bool:
    try:
        os.utime(file)
    except FileNotFoundError:
        return False
    return True


def _write(rows: Path, selection: Selection, file: Path) -> None:
    try:
        with cache_file(file) as partial:
            chosen(frame.scan(rows), selection).sink_ipc(partial, compression="uncompressed")
    except PolarsError as error:
        raise UserError(f"The rows cannot be chosen so: {error}.", code="filter_invalid") from error


def _clean(folder: Path) -> None:
    """The oldest views go, until the rest is few and small enough."""
    newest_first = sorted(folder.glob("*.arrow"), key=_age, reverse=True)
    room, files = MOST_BYTES, MOST_FILES
    for path in newest_first:
        with suppress(OSError):
            room, files = room - path.stat().st_size, files - 1
            if (room < 0 or files < 0) and now() - _age(path) > _IN_USE_SECONDS:
                path.unlink()


def _age(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0


# Choosing


def chosen(rows: pl.LazyFrame, selection: Selection) -> pl.LazyFrame:
    schema = rows.collect_schema()
    names, dtypes = schema.names(), schema.dtypes()
    conditions = [_condition(each, names, dtypes) for each in selection.filters]
    if selection.search:
        conditions.append(_mentions(selection.search, dtypes))
    if conditions:
        rows = rows.filter(reduce(and_, conditions))
    if selection.sort:
        rows = _sorted(rows, selection.sort, names, dtypes)
    if selection.columns is None:
        return rows
    return rows.select(pl.nth(_place(names, name)) for name in dict.fromkeys(selection.columns))


def _sorted(
    rows: pl.LazyFrame, keys: Sequence[SortKey], names: Sequence[str], dtypes: Sequence[pl.DataType]
) -> pl.LazyFrame:
    places = [_place(names, key.column) for key in keys]
    by = [_orderable(pl.nth(place), dtypes[place]) for place in places]
    descending = [key.descending for key in keys]
    return rows.sort(by, descending=descending, nulls_last=True, maintain_order=True)


def _orderable(value: pl.Expr, dtype: pl.DataType) -> pl.Expr:
    return json_text(value) if dtype.is_nested() else value


def _mentions(text: str, dtypes: Sequence[pl.DataType]) -> pl.Expr:
    found = [_text(pl.nth(i), dtype) for i, dtype in enumerate(dtypes)]
    return reduce(or_, (_contains(value, text) for value in found))


def _contains(value: pl.Expr, text: str) -> pl.Expr:
    # `literal`: what people type is text, never a pattern.
    return value.str.to_lowercase().str.contains(text.lower(), literal=True).fill_null(False)


def _condition(filter_: RowFilter, names: Sequence[str], dtypes: Sequence[pl.DataType]) -> pl.Expr:
    place = _place(names, filter_.column)
    value, dtype = pl.nth(place), dtypes[place]
    match filter_.operator:
        case "is_null":
            return value.is_null()
        case "not_null":
            return value.is_not_null()
        case "contains" | "starts_with" | "ends_with":
            return _text_condition(_text(value, dtype), filter_)
        case "in":
            wanted = filter_.value if isinstance(filter_.value, tuple) else (filter_.value,)
            return reduce(or_, (_equal(value, one, dtype, filter_) for one in wanted), pl.lit(False))
        case "eq":
            return _equal(value, filter_.value, dtype, filter_)
        case "ne":
            return ~_equal(value, filter_.value, dtype, filter_)
    return _ordered(value, filter_, dtype)


def _text_condition(value: pl.Expr, filter_: RowFilter) -> pl.Expr:
    if not isinstance(filter_.value, str):
        raise _unfit(filter_, "text")
    lower, wanted = value.str.to_lowercase(), filter_.value.lower()
    if filter_.operator == "contains":
        return _contains(value, filter_.value)
    found = lower.str.starts_with(wanted) if filter_.operator == "starts_with" else lower.str.ends_with(wanted)
    return found.fill_null(False)


def _equal(value: pl.Expr, wanted: Json, dtype: pl.DataType, filter_: RowFilter) -> pl.Expr:
    if wanted is None:
        return value.is_null()
    if dtype.is_nested() or isinstance(dtype, pl.Binary):
        return (_text(value, dtype) == str(wanted)).fill_null(False)
    return (value == _literal(wanted, dtype, filter_)).fill_null(False)


def _ordered(value: pl.Expr, filter_: RowFilter, dtype: pl.DataType) -> pl.Expr:
    wanted = _literal(filter_.value, dtype, filter_)
    compare = {"lt": value.lt, "le": value.le, "gt": value.gt, "ge": value.ge}[filter_.operator]
    return compare(wanted).fill_null(False)


def _literal(wanted: Json, dtype: pl.DataType, filter_: RowFilter) -> pl.Expr:
    """The value as one of the column's type; what cannot be that is the user's error, never an empty result."""
    try:
        return pl.lit(_as(wanted, dtype))
    except (ValueError, TypeError, InvalidOperation, OverflowError):
        raise _unfit(filter_, frame.column_type(dtype)) from None


def _as(wanted: Json, dtype: pl.DataType) -> Any:
    if isinstance(wanted, tuple) or wanted is None:
        raise TypeError
    if isinstance(dtype, pl.Boolean):
        return _boolean(wanted)
    if dtype.is_numeric():
        return _number(wanted)
    if isinstance(dtype, pl.Date):
        return date.fromisoformat(str(wanted)[:10])
    if isinstance(dtype, pl.Datetime):
        return _moment(str(wanted), zoned=dtype.time_zone is not None)
    if isinstance(dtype, pl.Time):
        return time.fromisoformat(str(wanted))
    if isinstance(dtype, pl.String | pl.Categorical | pl.Enum):
        return str(wanted)
    raise TypeError


def _boolean(wanted: Json) -> bool:
    if isinstance(wanted, bool):
        return wanted
    if str(wanted).lower() not in ("true", "false"):
        raise ValueError
    return str(wanted).lower() == "true"


def _number(wanted: Json) -> int | float | Decimal:
    if isinstance(wanted, bool):
        raise TypeError
    if isinstance(wanted, int | float):
        return wanted
    # By Decimal, because a float would change whole numbers above 2**53.
    number = Decimal(wanted)
    return int(number) if number == number.to_integral_value() else float(number)


def _moment(text: str, *, zoned: bool) -> datetime:
    moment = datetime.fromisoformat(text)
    if zoned and moment.tzinfo is None:
        raise ValueError
    return moment if zoned else moment.replace(tzinfo=None)


def _unfit(filter_: RowFilter, kind: str) -> UserError:
    return UserError(
        f"{filter_.value!r} cannot be compared with the {kind} column {filter_.column!r}.",
        code="filter_invalid",
        hint="Dates are written as 2026-11-16, times with a zone as 2026-11-16T09:30:00+00:00.",
    )


def _text(value: pl.Expr, dtype: pl.DataType) -> pl.Expr:
    """The text of a value, as JSON shows it."""
    if dtype.is_nested():
        return json_text(value)
    if isinstance(dtype, pl.Binary):
        return value.bin.encode("base64")
    return value.cast(pl.String)
