"""Tables that code leaves: recognised, made of lists of dictionaries, and written as an Arrow stream."""

import io
import numbers
from collections.abc import Mapping
from typing import Any, BinaryIO

from answerable.sandbox.runner.plain import DEEPEST, TooLarge, Unreturnable, holds_others

_LONG_LIST = 10_000
"""A list of more plain values than this goes to the host as a table of one column, where rows are wanted."""
_MOST_COLUMNS = 10_000
"""The host takes no more."""
_MOST_NESTED = 2_000_000
"""Lists and dictionaries inside of the rows of a table."""


def as_frame(result: Any) -> Any:
    """The value as a polars frame, if it is a table of any kind."""
    import polars

    if isinstance(result, polars.LazyFrame):
        return result.collect()
    if isinstance(result, polars.Series):
        return result.to_frame(result.name or "value")
    if isinstance(result, polars.DataFrame):
        return result
    origin = type(result).__module__.partition(".")[0]
    if origin == "pandas" and type(result).__name__ in ("DataFrame", "Series"):
        return _from_pandas(result)
    if origin == "pyarrow" and type(result).__name__ in ("Table", "RecordBatch"):
        return polars.from_arrow(result)
    return None


def rows_in(value: Any) -> list[dict[str, Any]] | None:
    """The value, if it is a list of dictionaries that all have the same keys. A long list of plain values has one
    column."""
    if not isinstance(value, list) or not value:
        return None
    if len(value) > _LONG_LIST and not any(map(holds_others, value)):
        return [{"value": item} for item in value]
    if not all(isinstance(row, dict) for row in value):
        return None
    keys = value[0].keys()
    fit = keys and all(isinstance(key, str) for key in keys) and all(row.keys() == keys for row in value)
    return value if fit else None


def check_text(rows: list[dict[str, Any]], limit: int) -> None:
    """One text may stand in many rows; a table holds it once for each of them."""
    if sum(len(cell) for row in rows for cell in row.values() if isinstance(cell, str | bytes)) > limit:
        raise TooLarge(limit)


def table_of(rows: list[dict[str, Any]]) -> Any:
    """The value as a polars frame. Raises `Unreturnable` if a column holds things that have no type in common."""
    import polars
    from polars.exceptions import PolarsError

    _check_width(len(rows[0]))
    # polars follows a list that contains itself until the process dies.
    _check_nesting(rows)
    for name in rows[0]:
        _check_column(name, {_kind(row[name]) for row in rows} - {type(None)})
    try:
        frame = polars.DataFrame(rows, infer_schema_length=None)
    except (PolarsError, TypeError, OverflowError, ValueError) as error:
        raise Unreturnable(f"The rows of the result do not make a table: {str(error)[:300]}") from error
    for name, dtype in frame.schema.items():
        if dtype in (polars.Object, polars.Int128, polars.UInt128):
            raise Unreturnable(f"The column `{name}` holds values that a table cannot hold; give them as text.")
    return frame


def _check_width(columns: int) -> None:
    if columns > _MOST_COLUMNS:
        raise Unreturnable(f"The result has {columns:,} columns; {_MOST_COLUMNS:,} can be taken.")


def _check_nesting(rows: list[dict[str, Any]]) -> None:
    level: list[Any] = [cell for row in rows for cell in row.values() if holds_others(cell)]
    seen = 0
    for _ in range(DEEPEST):
        seen += len(level)
        if not level:
            return
        if seen > _MOST_NESTED:
            raise Unreturnable(f"The rows of the result hold more than {_MOST_NESTED:,} lists.")
        level = [
            child
            for each in level
            for child in (each.values() if isinstance(each, Mapping) else each)
            if holds_others(child)
        ]
    raise Unreturnable(f"The result is nested more than {DEEPEST} deep.")


def _kind(value: Any) -> type:
    """Numbers of libraries are as good as Python's."""
    if isinstance(value, numbers.Integral) and not isinstance(value, bool):
        return int
    return float if isinstance(value, numbers.Real) and not isinstance(value, bool) else type(value)


def _check_column(name: str, kinds: set[type]) -> None:
    """polars would make text of a number among texts, and a number of a date among numbers, without a word."""
    if len(kinds) > 1 and kinds != {int, float}:
        both = " and ".join(sorted(kind.__name__ for kind in kinds))
        raise Unreturnable(f"The column `{name}` holds {both}; make all of its values of one kind.")


def _from_pandas(result: Any) -> Any:
    """An index that says something becomes columns."""
    import polars

    table = result.to_frame() if type(result).__name__ == "Series" else result
    if type(table.index).__name__ != "RangeIndex":
        table = table.reset_index()
    return polars.from_pandas(table.rename(columns=str))


def write(frame: Any, file: "BoundedFile") -> None:
    if not frame.width:
        raise Unreturnable("The result is a table without columns.")
    _check_width(frame.width)
    try:
        _sendable(frame).write_ipc_stream(file, compression="uncompressed", compat_level=_compat_level())
    except Exception as error:  # polars passes failures of the file on as its own
        if file.exceeded:
            raise TooLarge(file.limit) from None
        raise Unreturnable(f"The rows of the result cannot be written: {str(error).strip()[:2_000]}") from error


def _compat_level() -> Any:
    """The layouts that every reader of Arrow knows."""
    import polars

    return polars.CompatLevel.oldest()


def _sendable(frame: Any) -> Any:
    """The frame in one piece, with types that the host accepts."""
    types = {name: _sendable_type(dtype) for name, dtype in frame.schema.items()}
    return frame.cast({name: dtype for name, dtype in types.items() if dtype != frame.schema[name]}).rechunk()


def _sendable_type(dtype: Any) -> Any:
    """Categories become text, and so does a column that holds nothing at all."""
    import polars

    if isinstance(dtype, polars.Categorical | polars.Enum | polars.Null):
        return polars.String()
    if isinstance(dtype, polars.Int128 | polars.UInt128):
        return polars.Decimal(38, 0)
    if isinstance(dtype, polars.List):
        return polars.List(_sendable_type(dtype.inner))
    if isinstance(dtype, polars.Array):
        return polars.Array(_sendable_type(dtype.inner), dtype.size)
    if isinstance(dtype, polars.Struct):
        return polars.Struct([polars.Field(field.name, _sendable_type(field.dtype)) for field in dtype.fields])
    return dtype


class BoundedFile(io.RawIOBase):
    """A file that takes so much and no more."""

    def __init__(self, file: BinaryIO, limit: int) -> None:
        self._file = file
        self._left = limit
        self.limit = limit
        self.exceeded = False

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self._left -= len(data)
        if self._left < 0:
            self.exceeded = True
            raise OSError("the result is too large")
        self._file.write(data)
        return len(data)

    def flush(self) -> None:
        self._file.flush()
