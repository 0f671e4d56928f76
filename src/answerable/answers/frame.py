"""Reading a stored result: by ranges, as values that JSON can hold, with memory that does not grow with its rows.

How a type is carried in JSON, the same in answers, over HTTP and in exports:

    whole numbers           numbers; text when one of the column needs more than 64 bits
    decimals                numbers; text when one of the column has more digits than a double keeps
    floats                  numbers; NaN and infinities become null, and a finding says so
    dates, times            ISO 8601 text, with the offset where there is a time zone
    durations               ISO 8601 text (P1DT3S)
    binary                  base64 text
    lists, structures       arrays and objects of the above
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import polars as pl
from polars.datatypes import DataTypeClass
from polars.exceptions import PolarsError

from answerable.answers.formatted import json_text
from answerable.core.errors import InternalError, LimitError, OperatorError
from answerable.core.values import ColumnType, Json, OutputColumn

BATCH_ROWS = 65_536
SHOWN_BYTES = 4 << 20
"""Files up to this size are shown whole."""
LONGEST_SHOWN, SHORTEST_SHOWN = 100_000, 200
"""Bounds of what is shown of a text in a larger file, by the number of its cells."""
LARGEST_PAGE = 64 << 20

_DOUBLE_DIGITS = 15
"""Decimal digits that a double always keeps."""


@dataclass(frozen=True, slots=True)
class JsonForm:
    """How the columns of one file are carried in JSON; decided for the whole file, so that all its ranges agree."""

    expressions: tuple[pl.Expr, ...]
    findings: tuple[str, ...]


def scan(path: Path) -> pl.LazyFrame:
    """The file as a lazy frame. Its header is read at once, so that a damaged file is known here."""
    # `glob=False`: a path may hold brackets or stars.
    frame = pl.scan_ipc(path, glob=False)
    try:
        frame.collect_schema()
    except FileNotFoundError:
        raise OperatorError(
            "The stored rows of this answer are gone.", code="artifact_missing", hint="Ask the question again."
        ) from None
    except (PolarsError, OSError) as error:
        raise OperatorError(
            f"The stored rows of this answer cannot be read: {error}.",
            code="artifact_damaged",
            hint="Ask the question again.",
        ) from error
    return frame


def columns(path: Path) -> tuple[OutputColumn, ...]:
    schema = scan(path).collect_schema()
    return tuple(OutputColumn(name=name, type=column_type(dtype)) for name, dtype in schema.items())


def row_count(path: Path) -> int:
    return int(scan(path).select(pl.len()).collect().item())


def shown_rows(path: Path, offset: int = 0, limit: int = 1_000) -> list[tuple[Json, ...]]:
    """Like `rows`, in the form in which rows are shown."""
    return shown_page(path, shown_form(path).expressions, offset, limit).rows()


def shown_page(path: Path, expressions: Sequence[pl.Expr], offset: int, limit: int) -> pl.DataFrame:
    """A range of the rows of a file, in pieces: each is cut before the next one is read. Raises a `LimitError` if what
    is left is still more than the server should hold as values for one request."""
    chosen = scan(path)
    if path.stat().st_size <= SHOWN_BYTES:
        return chosen.slice(offset, limit).select(expressions).collect()
    end, at_once = min(offset + limit, row_count(path)), _at_once(path)
    pages, size = [chosen.head(0).select(expressions).collect()], 0.0
    for start in range(offset, end, at_once):
        pages.append(chosen.slice(start, min(at_once, end - start)).select(expressions).collect())
        size += pages[-1].estimated_size()
        if size > LARGEST_PAGE:
            raise LimitError(
                f"These rows are larger than {LARGEST_PAGE >> 20} MB.",
                code="rows_too_large",
                hint="Ask for fewer rows at a time, or export them.",
            )
    return pl.concat(pages)


def _at_once(path: Path) -> int:
    """Rows of a few megabytes, if all are about the same."""
    return max(1, SHOWN_BYTES * row_count(path) // max(1, path.stat().st_size))


def rows(path: Path, offset: int = 0, limit: int = 1_000) -> list[tuple[Json, ...]]:
    """Rows `offset` to `offset + limit`, as many as there are, as values that JSON can hold."""
    if offset < 0 or limit < 0:
        raise InternalError("A range of rows cannot be negative.")
    return scan(path).slice(offset, limit).select(json_form(path).expressions).collect().rows()


def sample_records(path: Path, count: int = 3) -> tuple[Mapping[str, Json], ...]:
    """The first records, for events, logs and prompts."""
    names = scan(path).collect_schema().names()
    return tuple(dict(zip(names, row, strict=True)) for row in shown_rows(path, 0, count))


def different_values(path: Path, column: str, most: int) -> list[Json]:
    """The different values of a column in the order of their rows, at most this many, as values that JSON can hold."""
    names = scan(path).collect_schema().names()
    chosen = scan(path).select(json_form(path).expressions[names.index(column)]).unique(maintain_order=True)
    return [value for (value,) in chosen.head(most).collect().rows()]


def batches(path: Path, size: int = BATCH_ROWS, offset: int = 0) -> Iterator[pl.DataFrame]:
    """The rows from `offset` on in frames of `size` rows; one frame is in memory at a time."""
    frame = scan(path)
    total = row_count(path)
    for start in range(offset, total, size):
        yield frame.slice(start, size).collect()


def json_form(path: Path) -> JsonForm:
    """See the table at the top. Looks once at every wide or floating column of the file."""
    stat = path.stat()
    return _json_form(path, stat.st_mtime_ns, stat.st_size)


def shown_form(path: Path) -> JsonForm:
    """How columns are carried where people look at rows: like `json_form`, with long texts cut in a large file, because
    one cell may be as large as a whole result. Exports have them whole."""
    stat = path.stat()
    return (_json_form if stat.st_size <= SHOWN_BYTES else _shown_form)(path, stat.st_mtime_ns, stat.st_size)


def column_type(dtype: pl.DataType) -> ColumnType:
    if isinstance(dtype, pl.Decimal):
        return "number" if dtype.scale else "integer"
    if dtype.is_integer():
        return "integer"
    for kind, types in _TYPES.items():
        if isinstance(dtype, types):
            return kind
    return "text"


_TYPES: dict[ColumnType, tuple[type[pl.DataType], ...]] = {
    "number": (pl.Float32, pl.Float64),
    "boolean": (pl.Boolean,),
    "date": (pl.Date,),
    "datetime": (pl.Datetime,),
    "time": (pl.Time,),
    "json": (pl.List, pl.Array, pl.Struct),
    "binary": (pl.Binary,),
}


# The time and size of the file are part of the key: a file that was written anew is looked at again.
@lru_cache(maxsize=256)
def _json_form(path: Path, _modified: int, _size: int) -> JsonForm:
    frame = scan(path)
    schema = frame.collect_schema()
    facts = _facts(frame, schema)
    expressions = tuple(
        _carried(pl.nth(index), dtype, exact=bool(facts.get(f"{index} exact", True))).alias(name)
        for index, (name, dtype) in enumerate(schema.items())
    )
    return JsonForm(expressions, tuple(_findings(schema, facts)))


@lru_cache(maxsize=256)
def _shown_form(path: Path, modified: int, size: int) -> JsonForm:
    whole = _json_form(path, modified, size)
    schema = scan(path).collect_schema()
    cells = max(1, min(row_count(path), 1_000) * len(schema))
    longest = min(LONGEST_SHOWN, max(SHORTEST_SHOWN, SHOWN_BYTES // cells))
    sizes = {
        index: bytes_of
        for index, dtype in enumerate(schema.dtypes())
        if (bytes_of := _text_size(pl.nth(index), dtype)) is not None
    }
    if not sizes:
        return whole
    counted = [(bytes_of > longest).sum().alias(str(index)) for index, bytes_of in sizes.items()]
    long = pl.concat(part.select(counted) for part in batches(path, _at_once(path))).sum()
    expressions, findings = list(whole.expressions), list(whole.findings)
    for index, bytes_of in sizes.items():
        if count := long[str(index)].item():
            name, dtype = schema.names()[index], schema.dtypes()[index]
            expressions[index] = _cut(pl.nth(index), dtype, bytes_of, longest).alias(name)
            which = "1 value" if count == 1 else f"{count:,} values"
            findings.append(f"{which} of more than {longest:,} bytes in “{name}”, cut here; an export has all of it.")
    return JsonForm(tuple(expressions), tuple(findings))


def _text_size(value: pl.Expr, dtype: pl.DataType) -> pl.Expr | None:
    """Bytes of a value that can be long; None for types whose values are short."""
    if isinstance(dtype, pl.Binary):
        return value.bin.size()
    if isinstance(dtype, pl.List | pl.Array | pl.Struct):
        return _nested_text(value, dtype).str.len_bytes()
    return value.str.len_bytes() if isinstance(dtype, pl.String) else None


def _cut(value: pl.Expr, dtype: pl.DataType, size: pl.Expr, longest: int) -> pl.Expr:
    """A text with what fits of it. What is nested becomes JSON text, which can be cut."""
    if isinstance(dtype, pl.Binary):
        text, start = _as_text(value, dtype), _as_text(value.bin.head(longest), dtype)
    else:
        text = value if isinstance(dtype, pl.String) else _nested_text(value, dtype)
        start = text.str.head(longest)
    return pl.when(size > longest).then(start + "…").otherwise(text)


def _nested_text(value: pl.Expr, dtype: pl.DataType) -> pl.Expr:
    return json_text(_carried(value, dtype, exact=False))


def _facts(frame: pl.LazyFrame, schema: pl.Schema) -> dict[str, int]:
    """Whether the widest value of each column is exact as a JSON number, and how many values JSON cannot express."""
    wanted = []
    for index, dtype in enumerate(schema.dtypes()):
        column = pl.nth(index)
        if dtype.is_float():
            wanted.append((~column.is_finite()).sum().alias(f"{index} unspeakable"))
        elif (bound := _bound(dtype)) is not None:
            wanted.append((column.min().ge(-bound) & column.max().le(bound)).fill_null(True).alias(f"{index} exact"))
    return frame.select(wanted).collect().row(0, named=True) if wanted else {}


def _bound(dtype: pl.DataType) -> int | None:
    """The largest value that is surely exact as a JSON number; None if every value of the type is."""
    if isinstance(dtype, pl.Int128 | pl.UInt128):
        return 2**63 - 1
    if isinstance(dtype, pl.Decimal) and dtype.scale == 0:
        return 2**63 - 1
    if isinstance(dtype, pl.Decimal):
        return int(10 ** (_DOUBLE_DIGITS - dtype.scale))
    return None


def _findings(schema: pl.Schema, facts: dict[str, int]) -> Iterator[str]:
    for index, name in enumerate(schema):
        if count := facts.get(f"{index} unspeakable"):
            which = "1 value is" if count == 1 else f"{count:,} values are"
            yield f"{which} not a number (NaN) or infinite in “{name}”; shown as null."
        if not facts.get(f"{index} exact", True):
            yield f"“{name}” has numbers with more digits than JSON numbers keep; they are given as text."


def _carried(value: pl.Expr, dtype: pl.DataType, *, exact: bool) -> pl.Expr:
    if dtype.is_float():
        return pl.when(value.is_finite()).then(value)
    if _bound(dtype) is not None:
        return value.cast(_number(dtype) if exact else pl.String)
    if isinstance(dtype, pl.Array):
        return _carried(value.arr.to_list(), pl.List(dtype.inner), exact=exact)
    if isinstance(dtype, pl.List):
        return value.list.eval(_inner(pl.element(), dtype.inner))
    if isinstance(dtype, pl.Struct):
        return value.struct.with_fields(*(_inner(pl.field(f.name), f.dtype).alias(f.name) for f in dtype.fields))
    return _as_text(value, dtype)


def _inner(value: pl.Expr, dtype: pl.DataType | DataTypeClass) -> pl.Expr:
    """Inside lists and structures nobody looks at every value, so only types that are always exact stay numbers."""
    inner = dtype if isinstance(dtype, pl.DataType) else dtype()
    return _carried(value, inner, exact=isinstance(inner, pl.Decimal) and (inner.precision or 38) <= _DOUBLE_DIGITS)


def _number(dtype: pl.DataType) -> type[pl.DataType]:
    return pl.Float64 if isinstance(dtype, pl.Decimal) and dtype.scale else pl.Int64


def _as_text(value: pl.Expr, dtype: pl.DataType) -> pl.Expr:
    if isinstance(dtype, pl.Datetime):
        return value.dt.to_string("%Y-%m-%dT%H:%M:%S%.f" + ("%:z" if dtype.time_zone else ""))
    if isinstance(dtype, pl.Time):
        return value.dt.to_string("%H:%M:%S%.f")
    if isinstance(dtype, pl.Date | pl.Duration):
        return value.dt.to_string("iso")
    if isinstance(dtype, pl.Binary):
        return value.bin.encode("base64")
    if isinstance(dtype, pl.Categorical | pl.Enum):
        return value.cast(pl.String)
    return value
