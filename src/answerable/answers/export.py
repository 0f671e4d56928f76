"""A stored result as a file of another format, in pieces, with memory that does not grow with its rows."""

import io
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime, time
from pathlib import Path
from typing import Any, Literal

import polars as pl

from answerable.answers import frame
from answerable.answers.format import FormatSpec
from answerable.answers.formatted import applied, json_text
from answerable.core.errors import LimitError, UserError
from answerable.isolation.own_folder import scratch_folder

Format = Literal["csv", "ndjson", "json", "parquet", "arrow", "xlsx"]


@dataclass(frozen=True, slots=True)
class FormatInfo:
    media_type: str
    extension: str


FORMATS: Mapping[Format, FormatInfo] = {
    "csv": FormatInfo("text/csv; charset=utf-8", "csv"),
    "ndjson": FormatInfo("application/x-ndjson", "ndjson"),
    "json": FormatInfo("application/json", "json"),
    "parquet": FormatInfo("application/vnd.apache.parquet", "parquet"),
    "arrow": FormatInfo("application/vnd.apache.arrow.file", "arrow"),
    "xlsx": FormatInfo("application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", "xlsx"),
}

XLSX_ROWS = 1_048_576
"""Of a sheet, the head included."""
XLSX_COLUMNS = 16_384
XLSX_TEXT = 32_767
"""Characters in a cell."""

_SHEET_FIRST_YEAR = 1900
_DOUBLE_WHOLE = 2**53

_CHUNK_BYTES = 1 << 20
_BATCH_BYTES = 4 << 20
_FORMULA = r"(?s)^(?:[=@\t\r\n＝＋－＠]|[+\-](?:$|.*[^0-9.]))"
"""How a text begins that a spreadsheet would run. A signed number is not one."""


def export(
    path: Path, format: Format, *, spec: FormatSpec | None = None, guard_formulas: bool = True
) -> Iterator[bytes]:
    """The rows of the Arrow file at `path` in another format, piece by piece.

    What cannot be written is refused here, before the first piece. With a `spec` the rows are written as people read
    them. In CSV, text that a spreadsheet would take for a formula gets an apostrophe before it unless `guard_formulas`
    is off; XLSX needs no such guard, because there a text is marked as one.
    """
    if format not in FORMATS:
        raise UserError(
            f"There is no export format {format!r}.", code="format_unknown", hint="Use " + ", ".join(FORMATS) + "."
        )
    if format == "xlsx":
        _check_sheet(path)
    if spec is not None:
        # Raises for an unknown column now. `_formatted` is a generator and would raise only after the response has
        # begun.
        applied(spec, frame.scan(path))
        return _formatted(path, format, spec, guard_formulas)
    return _pieces(path, format, guard_formulas)


def format_of(path: Path) -> Format:
    """The format that a file name asks for."""
    wanted = path.suffix.lower().removeprefix(".")
    for format, info in FORMATS.items():
        if wanted == info.extension:
            return format
    raise UserError(
        f"{path.name} does not say in which format to write.",
        code="format_unknown",
        hint="End it with " + ", ".join(f".{info.extension}" for info in FORMATS.values()) + ".",
    )


def batch_rows(path: Path) -> int:
    """Rows for a batch of a few megabytes, so that wide rows do not make large batches."""
    rows = max(1, frame.row_count(path))
    return max(256, min(frame.BATCH_ROWS, _BATCH_BYTES * rows // max(1, path.stat().st_size)))


def _pieces(path: Path, format: Format, guard_formulas: bool) -> Iterator[bytes]:
    # Reads the header, so that a damaged file fails before the first piece.
    frame.scan(path)
    if format == "csv":
        return _csv(path, guard_formulas)
    if format in _WRITERS:
        return _through_file(path, _WRITERS[format])
    return {"ndjson": _ndjson, "json": _json, "arrow": _read}[format](path)


def _formatted(path: Path, format: Format, spec: FormatSpec, guard_formulas: bool) -> Iterator[bytes]:
    """Through a file of the formatted text, so that sorting happens once and all formats are written the same way."""
    with scratch_folder() as folder:
        text = folder / "text.arrow"
        applied(spec, frame.scan(path)).sink_ipc(text, compression="uncompressed")
        yield from _pieces(text, format, guard_formulas)


def _ready(path: Path) -> Iterator[pl.DataFrame]:
    """Batches of columns that JSON can carry."""
    form = frame.json_form(path)
    for batch in frame.batches(path, batch_rows(path)):
        yield batch.select(form.expressions)


def _ndjson(path: Path) -> Iterator[bytes]:
    for batch in _ready(path):
        buffer = io.BytesIO()
        batch.write_ndjson(buffer)
        yield buffer.getvalue()


def _json(path: Path) -> Iterator[bytes]:
    """One array of objects. A line break inside a text is escaped, so a bare one always parts two rows."""
    before = b"[\n"
    for lines in _ndjson(path):
        # `lines[:-1]` drops the last line break: the comma before the next batch is written by the next round.
        yield before + lines[:-1].replace(b"\n", b",\n")
        before = b",\n"
    yield b"[]\n" if before == b"[\n" else b"\n]\n"


def _csv(path: Path, guard_formulas: bool) -> Iterator[bytes]:
    names = pl.Series(frame.scan(path).collect_schema().names(), dtype=pl.String)
    # Heads come from data too: a column can be named like a formula.
    heads = pl.select(_guarded(pl.lit(names)) if guard_formulas else names).to_series()
    yield pl.DataFrame(schema=dict.fromkeys(heads, pl.String)).write_csv().encode()
    cells = _csv_cells(path, guard_formulas)
    for batch in frame.batches(path, batch_rows(path)):
        buffer = io.BytesIO()
        batch.select(cells).write_csv(buffer, include_header=False, **_CSV_FORMATS)
        yield buffer.getvalue()


_CSV_FORMATS: Mapping[str, Any] = {"datetime_format": "%Y-%m-%dT%H:%M:%S%.f", "time_format": "%H:%M:%S%.f"}


def _csv_cells(path: Path, guard_formulas: bool) -> list[pl.Expr]:
    """The cells as in JSON, except that dates and times stay what they are, because the writer is faster at them."""
    dtypes = frame.scan(path).collect_schema().dtypes()
    return [
        _csv_cell(pl.nth(i) if _is_dated(dtype) else carried, dtype, guard_formulas).alias(str(i))
        for i, (dtype, carried) in enumerate(zip(dtypes, frame.json_form(path).expressions, strict=True))
    ]


def _csv_cell(value: pl.Expr, dtype: pl.DataType, guard_formulas: bool) -> pl.Expr:
    if isinstance(dtype, pl.List | pl.Array | pl.Struct):
        return json_text(value)
    return _guarded(value) if guard_formulas and isinstance(dtype, pl.String | pl.Categorical | pl.Enum) else value


def _is_dated(dtype: pl.DataType) -> bool:
    """A date or time without a zone, which CSV and Excel can write as such."""
    return isinstance(dtype, pl.Date | pl.Time) or (isinstance(dtype, pl.Datetime) and dtype.time_zone is None)


def _guarded(text: pl.Expr) -> pl.Expr:
    return pl.when(text.str.contains(_FORMULA)).then(pl.lit("'") + text).otherwise(text)


def _read(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        while piece := file.read(_CHUNK_BYTES):
            yield piece


def _through_file(path: Path, write: Callable[[Path, Path], None]) -> Iterator[bytes]:
    with scratch_folder() as folder:
        out = folder / "out"
        write(path, out)
        yield from _read(out)


def _write_parquet(path: Path, out: Path) -> None:
    frame.scan(path).sink_parquet(out)


def _check_sheet(path: Path) -> None:
    rows, columns = frame.row_count(path), len(frame.columns(path))
    if rows >= XLSX_ROWS:
        raise LimitError(
            f"The answer has {rows:,} rows; an Excel sheet holds {XLSX_ROWS - 1:,} and a head.",
            code="xlsx_too_many_rows",
            hint="Export as CSV or Parquet, or narrow the question.",
        )
    if columns > XLSX_COLUMNS:
        raise LimitError(
            f"The answer has {columns:,} columns; an Excel sheet holds {XLSX_COLUMNS:,}.",
            code="xlsx_too_many_columns",
            hint="Export as CSV or Parquet.",
        )


def _write_sheet(path: Path, out: Path) -> None:
    import xlsxwriter  # type: ignore[import-untyped]

    options = {
        # Rows go to the disk as they are written. The three `strings_to_…` keep text as text: no formula, no link.
        "constant_memory": True,
        "strings_to_formulas": False,
        "strings_to_urls": False,
        "strings_to_numbers": False,
        "tmpdir": str(out.parent),
    }
    names = [column.name for column in frame.columns(path)]
    with xlsxwriter.Workbook(out, options) as book:
        sheet = book.add_worksheet("Answer")
        sheet.freeze_panes(1, 0)
        bold = book.add_format({"bold": True})
        styles = {kind: book.add_format({"num_format": pattern}) for kind, pattern in _SHEET_DATES.items()}
        for at, name in enumerate(names):
            sheet.set_column(at, at, max(10, min(40, len(name) + 2)))
            sheet.write_string(0, at, name, bold)
        for number, row in enumerate(_sheet_rows(path), 1):
            for at, value in enumerate(row):
                # xlsxwriter reports a text that is too long by a negative number, after it has cut it.
                if value is not None and sheet.write(number, at, value, styles.get(type(value))) < 0:
                    raise _too_long(names[at])


_SHEET_DATES: Mapping[type, str] = {datetime: "yyyy-mm-dd hh:mm:ss", date: "yyyy-mm-dd", time: "hh:mm:ss"}


def _too_long(column: str) -> LimitError:
    return LimitError(
        f"A text in “{column}” is longer than the {XLSX_TEXT:,} characters that an Excel cell holds.",
        code="xlsx_text_too_long",
        hint="Export as CSV or Parquet.",
    )


def _sheet_rows(path: Path) -> Iterator[tuple[Any, ...]]:
    schema = frame.scan(path).collect_schema()
    carried = frame.json_form(path).expressions
    cells = [
        _sheet_cell(pl.nth(i), expression, dtype).alias(str(i))
        for i, (expression, dtype) in enumerate(zip(carried, schema.dtypes(), strict=True))
    ]
    for batch in frame.batches(path, batch_rows(path)):
        for row in batch.select(cells).iter_rows():
            yield tuple(map(_sheet_value, row))


def _sheet_cell(value: pl.Expr, carried: pl.Expr, dtype: pl.DataType) -> pl.Expr:
    """Dates stay dates where Excel has such; the rest is as in JSON."""
    if _is_dated(dtype):
        return value
    return json_text(carried) if isinstance(dtype, pl.List | pl.Array | pl.Struct) else carried


def _sheet_value(value: Any) -> Any:
    """Excel counts days from 1900 on and keeps numbers as doubles: what would change is written as text."""
    if isinstance(value, date) and value.year < _SHEET_FIRST_YEAR:
        return value.isoformat()
    if isinstance(value, int) and abs(value) > _DOUBLE_WHOLE:
        return str(value)
    return value


_WRITERS: Mapping[str, Callable[[Path, Path], None]] = {"parquet": _write_parquet, "xlsx": _write_sheet}
"""Formats whose beginning can be written only when the end is known."""
