"""Excel and OpenDocument: each sheet that holds something is a table."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from answerable.sources.workers.csv_file import ReadTable
from answerable.sources.workers.failures import Failure
from answerable.sources.workers.headers import header_of
from answerable.sources.workers.typing_columns import selected, typed
from answerable.sources.workers.widths import check_width

_SAMPLE_ROWS = 200
_HEADER_WITHIN = 50
_MOST_SHEETS = 500


def read_excel(cursor: Any, path: Path) -> Iterator[tuple[str, ReadTable]]:
    """Each sheet's name and rows; the statement is good until the next sheet is asked for."""
    import fastexcel

    try:
        book = fastexcel.read_excel(str(path))
        names = book.sheet_names
    except fastexcel.FastExcelError as error:
        raise _unreadable(error) from error
    if len(names) > _MOST_SHEETS:
        message = f"The workbook has {len(names):,} sheets; {_MOST_SHEETS:,} can be read."
        raise Failure("LimitError", "file_too_large", message, "Split it into several files.")
    for name in names:
        try:
            table = _sheet(cursor, book, name)
        except fastexcel.FastExcelError as error:
            raise _unreadable(error) from error
        if table is not None:
            yield name, table


def _unreadable(error: Exception) -> Failure:
    reason = str(error).splitlines()[0]
    return Failure(
        "FileError",
        "file_damaged",
        f"The workbook cannot be read: {reason}",
        "Open it in a spreadsheet program and save it again, without a password.",
    )


def _sheet(cursor: Any, book: Any, name: str) -> ReadTable | None:
    sheet = book.load_sheet(name, header_row=None, dtypes="string")
    if sheet.width == 0 or sheet.height == 0:
        return None
    check_width(sheet.width)
    rows = _registered(cursor, sheet).execute(f"SELECT * FROM sheet LIMIT {_SAMPLE_ROWS}").fetchall()
    above = _rows_above(rows)
    header = header_of(rows[above:])
    first = above + header.present
    scan = f"SELECT * FROM sheet WHERE {_not_empty(sheet.width)} OFFSET {_filled(rows[:first])}"
    found = typed(cursor, scan, header.names, comma_decimals=False)
    notes = (f"{above} rows above the table were left out",) if above else ()
    return ReadTable(selected(header.names, found.expressions, scan), (*notes, *header.notes, *found.notes))


def _registered(cursor: Any, sheet: Any) -> Any:
    """The sheet under the name `sheet`, its columns c0, c1, …"""
    cursor.register("raw_sheet", sheet)
    columns = ", ".join(f"c{place}" for place in range(sheet.width))
    cursor.execute(f"CREATE OR REPLACE TEMP TABLE sheet AS SELECT * FROM raw_sheet AS t({columns})")
    cursor.unregister("raw_sheet")
    return cursor


def _not_empty(width: int) -> str:
    return "(" + " OR ".join(f"c{place} IS NOT NULL" for place in range(width)) + ")"


def _filled(rows: Sequence[Sequence[str | None]]) -> int:
    return sum(any(cell is not None for cell in row) for row in rows)


def _rows_above(rows: Sequence[Sequence[str | None]]) -> int:
    """Titles stand above a table and fill few cells; the table begins with the first row that fills most of them."""
    filled = [sum(cell is not None and bool(cell.strip()) for cell in row) for row in rows[:_HEADER_WITHIN]]
    widest = max(filled)
    return next(number for number, count in enumerate(filled) if 2 * count > widest)
