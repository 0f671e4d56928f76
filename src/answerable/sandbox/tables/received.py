"""Tables that come out of a sandbox: bytes that nobody vouches for, on their way into the host's own memory.

polars trusts its input: a forged number of nulls ends the process. So before it sees a table, `arrow_stream`
has cut the bytes into columns of the right size, nulls are counted here, and every offset is looked at. Text comes as
bytes, of which polars makes text itself. All of this runs in a worker process, which writes a file of its own.
"""

from __future__ import annotations

import os
from datetime import date
from typing import TYPE_CHECKING

from answerable.isolation import arrow_stream
from answerable.isolation.arrow_stream import ArrowColumn, ArrowValues
from answerable.sandbox.runner.plain import Unreturnable

if TYPE_CHECKING:
    import polars as pl
    from nanoarrow.c_array import CArray
    from nanoarrow.c_schema import CSchema
    from polars._typing import PolarsDataType

    from answerable.core.values import ColumnType, Json  # brings pydantic, which worker processes do without

_FIRST_DAY = date.min.toordinal() - date(1970, 1, 1).toordinal()
_DAY_AFTER_LAST = date.max.toordinal() - date(1970, 1, 1).toordinal() + 1
_STEPS_A_DAY = {"ms": 86_400 * 10**3, "us": 86_400 * 10**6, "ns": 86_400 * 10**9}
_BYTES_FOR_TEXT = {"u": "z", "U": "Z"}
_OFFSETS = {"z": "i", "Z": "l", "+l": "i", "+L": "l"}
"""What the numbers are that say where the bytes or the list of a row begin."""


def write_table(frame: pl.DataFrame, output: int) -> dict[str, Json]:
    """Writes an Arrow IPC file to a descriptor; returns the description of it for the server. Raises `Unreturnable` if
    a value could be stored and not be shown."""
    for column in frame:
        _check_name(column.name)
        _check_moments(column.name, column)
    with os.fdopen(os.dup(output), "wb") as file:
        frame.write_ipc(file, compression="uncompressed")
    columns = [(name, _type(dtype)) for name, dtype in frame.schema.items()]
    return {"columns": columns, "rows": frame.height, "bytes": os.fstat(output).st_size}


def _check_name(name: str) -> None:
    if len(name.encode()) > arrow_stream.LONGEST_NAME:
        raise Unreturnable(f"A column has a name of more than {arrow_stream.LONGEST_NAME:,} bytes.")
    if "\x00" in name:
        raise Unreturnable("A column has a zero byte in its name.")


def _check_moments(name: str, values: pl.Series) -> None:
    """polars holds dates of any year, but panics when it writes those that are far away."""
    import polars as pl

    dtype = values.dtype
    if isinstance(dtype, pl.List | pl.Array):
        _check_moments(name, values.explode())
    elif isinstance(dtype, pl.Struct):
        for field in dtype.fields:
            _check_moments(name, values.struct.field(field.name))
    elif isinstance(dtype, pl.Date | pl.Datetime):
        steps = 1 if isinstance(dtype, pl.Date) else _STEPS_A_DAY[dtype.time_unit]
        numbers = values.to_physical()
        if not numbers.drop_nulls().is_between(_FIRST_DAY * steps, _DAY_AFTER_LAST * steps, closed="left").all():
            raise Unreturnable(f"The column `{name}` holds a date outside of the years 1 to 9999; give it as text.")


def received(data: memoryview) -> pl.DataFrame:
    """The table, whose columns may lie in `data`; a `ValueError` if it is not one."""
    import polars as pl
    from nanoarrow.c_array_stream import CArrayStream
    from polars.exceptions import PanicException, PolarsError

    try:
        table = arrow_stream.read(data)
        schema = _schema(ArrowColumn("", "+s", table.columns))
        whole = [ArrowValues(length, 0, (data[:0],), values) for length, values in table.batches]
        arrays = [_array(schema, values) for values in whole]
        frame = pl.DataFrame(CArrayStream.from_c_arrays(arrays, schema))
        columns = zip(frame.schema.items(), table.columns, strict=True)
        return frame.cast({name: _with_text(dtype, column) for (name, dtype), column in columns})
    except (ValueError, RuntimeError, PolarsError, PanicException) as error:
        raise ValueError(f"The rows of the result cannot be read: {str(error)[:200]}.") from error


def _schema(column: ArrowColumn) -> CSchema:
    from nanoarrow import c_schema, null

    kind = _BYTES_FOR_TEXT.get(column.format, column.format)
    children = [_schema(child) for child in column.children]
    return c_schema(null()).modify(format=kind, name=column.name, nullable=True, children=children)


def _array(schema: CSchema, values: ArrowValues) -> CArray:
    from nanoarrow.c_array import c_array_from_buffers

    validity, *others = values.buffers
    nulls = _nulls(validity, values.length)
    if schema.format in _OFFSETS and values.length:
        _check_offsets(_OFFSETS[schema.format], values)
    return c_array_from_buffers(
        schema,
        values.length,
        [validity if nulls else None, *others],
        null_count=nulls,
        children=[_array(child, inside) for child, inside in zip(schema.children, values.children, strict=True)],
        validation_level="none" if values.children else "full",  # it cannot look into nested ones
    )


def _check_offsets(format: str, values: ArrowValues) -> None:
    """Each row begins where the one before it ends, and all lie inside."""
    import polars as pl
    from nanoarrow import c_schema, null
    from nanoarrow.c_array import c_array_from_buffers

    numbers = c_schema(null()).modify(format=format)
    found = pl.Series(c_array_from_buffers(numbers, values.length + 1, [None, values.buffers[1]]))
    inside = values.children[0].length if values.children else len(values.buffers[2])
    # An offset outside would make polars read other memory of the host into the result.
    if found[0] < 0 or found[-1] > inside or not found.is_sorted():
        raise ValueError("a row points out of its values")


def _nulls(validity: memoryview, length: int) -> int:
    """An empty buffer says that there are none."""
    if not len(validity):
        return 0
    if 8 * len(validity) < length:
        raise ValueError("a column does not say which of its values are there")
    bits = int.from_bytes(validity, "little") & ((1 << length) - 1)
    return length - bits.bit_count()


def _with_text(dtype: PolarsDataType, column: ArrowColumn) -> PolarsDataType:
    """The type that a column has once its bytes are text again."""
    import polars as pl

    if column.format in _BYTES_FOR_TEXT:
        return pl.String()
    if isinstance(dtype, pl.List):
        return pl.List(_with_text(dtype.inner, column.children[0]))
    if isinstance(dtype, pl.Array):
        return pl.Array(_with_text(dtype.inner, column.children[0]), dtype.size)
    if isinstance(dtype, pl.Struct):
        fields = zip(dtype.fields, column.children, strict=True)
        return pl.Struct([pl.Field(field.name, _with_text(field.dtype, child)) for field, child in fields])
    return dtype


def _type(dtype: pl.DataType) -> ColumnType:
    kinds: dict[str, ColumnType] = {
        "Boolean": "boolean",
        "Date": "date",
        "Datetime": "datetime",
        "Time": "time",
        "Binary": "binary",
        "List": "json",
        "Array": "json",
        "Struct": "json",
    }
    if dtype.is_integer() or (dtype.is_decimal() and not getattr(dtype, "scale", 0)):
        return "integer"
    return "number" if dtype.is_numeric() else kinds.get(type(dtype).__name__, "text")
