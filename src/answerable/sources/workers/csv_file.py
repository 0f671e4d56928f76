"""CSV and its kin: which delimiter, which quotes, where the header is, which rows are broken."""

import csv
import itertools
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from answerable.sources.workers.failures import Failure
from answerable.sources.workers.headers import Header, header_of
from answerable.sources.workers.typing_columns import Typed, literal, selected, typed
from answerable.sources.workers.widths import check_width

_SAMPLE = 1 << 20
_SAMPLE_RECORDS = 1_000
_DELIMITERS = (",", ";", "\t", "|")
_LONG_LINES = 64 * 1024 * 1024
"""Read only if need be, as the buffers for it take much memory."""
_MOST_REJECTS = 100_000
_CUT_LINE = 10_000
"""DuckDB keeps so many characters of a line that it rejects."""
_TOLERATED = 0.01
"""Up to this share of broken rows is left out, with a note; more is an error."""

Records = list[tuple[int, list[str]]]
"""Each with the number of lines before it."""


@dataclass(frozen=True, slots=True)
class ReadTable:
    """A statement that gives the typed rows of a table, and what there is to tell about it."""

    select: str
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Layout:
    path: Path
    delimiter: str
    skip: int
    header: Header
    quote: str = '"'
    escape: str = '"'
    long_lines: bool = False
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Rejected:
    count: int = 0
    lines: tuple[int, ...] = ()
    reason: str = ""
    endless: bool = False
    """Whether a quote took so much with it that DuckDB does not tell how many rows."""

    def badness(self) -> tuple[bool, int]:
        return self.endless, self.count


@dataclass(frozen=True, slots=True)
class _Attempt:
    layout: _Layout
    typed: Typed
    rejected: _Rejected


def read_csv(cursor: Any, path: Path, *, tabs: bool) -> ReadTable:
    sample = _sample(path)
    layout = _layout(path, sample, tabs)
    best = _attempted(cursor, layout)
    for other in _other_ways(layout, sample, best.rejected) if best.rejected.count else ():
        best = min(best, _attempted(cursor, other), key=lambda attempt: attempt.rejected.badness())
    notes = [*layout.notes, *layout.header.notes, *_about_rejected(best), *best.typed.notes]
    scan = _scan(best.layout, "ignore_errors = true")
    return ReadTable(selected(layout.header.names, best.typed.expressions, scan), tuple(notes))


# Layout


def _sample(path: Path) -> str:
    """The first whole lines."""
    with path.open("rb") as file:
        content = file.read(_SAMPLE)
        if file.read(1):
            content = content[: content.rfind(b"\n") + 1] or content
    return content.decode("utf-8", "ignore").removeprefix("\ufeff")


def _layout(path: Path, sample: str, tabs: bool) -> _Layout:
    lines_before = len(sample) - len(sample.lstrip("\r\n"))
    stated = _stated_delimiter(sample)
    choices = [stated] if stated else ["\t", *_DELIMITERS] if tabs else list(_DELIMITERS)
    read = {delimiter: _records(sample, delimiter) for delimiter in dict.fromkeys(choices)}
    delimiter = max(read, key=lambda delimiter: _evenness(read[delimiter]))
    records = read[delimiter][1:] if stated else read[delimiter]
    width = _width(records)
    preamble = list(itertools.takewhile(lambda record: len(record[1]) == 1 < width, records))
    table = records[len(preamble) :]
    if not table:
        raise Failure("FileError", "file_empty", "The file holds no values.", "Put data into it, or name another file.")
    check_width(width)
    _refuse_odd_header(table, width)
    header = header_of([_fitted(cells, width) for _line, cells in table[:200] if len(cells) in (width, width - 1)])
    notes = (f"{len(preamble)} lines above the table were left out",) if preamble else ()
    skip = table[0][0] if preamble or stated or lines_before else 0
    return _Layout(path, delimiter, skip, header, notes=notes)


def _stated_delimiter(sample: str) -> str | None:
    """Excel writes and reads a first line that states it: `sep=;`."""
    first = sample.split("\n", 1)[0].strip()
    return first[4] if len(first) == 5 and first.lower().startswith("sep=") else None


def _records(sample: str, delimiter: str) -> Records:
    # By default Python refuses values of more than 128 KB.
    csv.field_size_limit(_SAMPLE * 2)
    reader = csv.reader(sample.splitlines(keepends=True), delimiter=delimiter)
    records: Records = []
    before = 0
    for cells in itertools.islice(reader, _SAMPLE_RECORDS):
        if any(cell.strip() for cell in cells) or len(cells) > 1:
            records.append((before, cells))
        before = reader.line_num
    return records


def _width(records: Records) -> int:
    """How many values most records have."""
    return Counter(len(cells) for _line, cells in records).most_common(1)[0][0] if records else 1


def _evenness(records: Records) -> tuple[float, int]:
    """The share of records that have as many values as most, then how many those are. One value each says nothing."""
    width = _width(records)
    if width < 2:
        return (0.0, 1)
    even = sum(len(cells) == width for _line, cells in records)
    # Rounded, so that a few broken records do not decide between delimiters; then the wider table wins.
    return (round(even / len(records), 1), width)


def _fitted(cells: list[str], width: int) -> list[str]:
    return [*cells, ""][:width]


def _refuse_odd_header(table: Records, width: int) -> None:
    line, cells = table[0]
    trailing = len(cells) == width - 1 and all(not row[-1].strip() for _l, row in table[1:] if len(row) == width)
    if len(cells) != width and not trailing:
        raise Failure(
            "FileError",
            "file_ragged",
            f"Line {line + 1} has {len(cells)} values, but most lines have {width}.",
            "Give every row as many values as the header has names.",
        )


def _other_ways(layout: _Layout, sample: str, rejected: "_Rejected") -> Iterator[_Layout]:
    """Quotes are escaped or meant in other ways than the standard says, or a line is very long."""
    if rejected.reason == _REASONS["LINE SIZE OVER MAXIMUM"]:
        yield replace(layout, long_lines=True)
    if '\\"' in sample:
        yield replace(layout, escape="\\")
    # Such files often do not quote at all: a quote is then a plain character.
    if layout.delimiter in ("\t", "|"):
        yield replace(layout, quote="", escape="")


# Reading


def _attempted(cursor: Any, layout: _Layout) -> _Attempt:
    cursor.execute("DROP TABLE IF EXISTS rejects")
    cursor.execute("DROP TABLE IF EXISTS reject_scans")
    keeping = (
        "store_rejects = true, rejects_table = 'rejects', rejects_scan = 'reject_scans',"
        f" rejects_limit = {_MOST_REJECTS}"
    )
    found = typed(
        cursor,
        _scan(layout, "ignore_errors = true"),
        layout.header.names,
        # Where the comma is the decimal sign, programs separate values by semicolons or tabs.
        comma_decimals=layout.delimiter in (";", "\t"),
        checked_scan=_scan(layout, keeping),
    )
    return _Attempt(layout, found, _rejected(cursor, layout))


def _scan(layout: _Layout, errors: str) -> str:
    columns = ", ".join(f"'c{place}': 'VARCHAR'" for place in range(len(layout.header.names)))
    options = (
        "auto_detect = false",
        f"columns = {{{columns}}}",
        f"header = {str(layout.header.present).lower()}",
        f"skip = {layout.skip}",
        f"delim = {literal(layout.delimiter)}",
        f"quote = {literal(layout.quote)}",
        f"escape = {literal(layout.escape)}",
        "strict_mode = true",
        errors,
        *([f"max_line_size = {_LONG_LINES}", f"buffer_size = {_LONG_LINES}"] if layout.long_lines else []),
    )
    return f"SELECT * FROM read_csv({literal(str(layout.path))}, {', '.join(options)})"


def _rejected(cursor: Any, layout: _Layout) -> _Rejected:
    """A quote that never closes takes many lines with it; each of them counts."""
    bad = "FROM rejects WHERE trim(csv_line, E' \\t\\r\\n') <> ''"
    lines_of = "CASE WHEN error_type = 'UNQUOTED VALUE' THEN len(string_split(rtrim(csv_line), chr(10))) ELSE 1 END"
    [(count,)] = cursor.execute(
        f"SELECT coalesce(sum(lines), 0)::BIGINT FROM (SELECT line, max({lines_of}) AS lines {bad} GROUP BY line)"
    ).fetchall()
    if not count:
        return _Rejected()
    first = cursor.execute(f"SELECT line_byte_position, error_type {bad} ORDER BY 1 LIMIT 20").fetchall()
    [(endless,)] = cursor.execute(
        f"SELECT count(*) > 0 {bad} AND error_type = 'UNQUOTED VALUE' AND strlen(csv_line) >= {_CUT_LINE}"
    ).fetchall()
    lines = dict.fromkeys(_line_number(layout.path, position) for position, _reason in first)
    return _Rejected(count, tuple(lines)[:5], _REASONS.get(first[0][1], "cannot be read"), endless)


_REASONS = {
    "MISSING COLUMNS": "has too few values",
    "TOO MANY COLUMNS": "has too many values",
    "UNQUOTED VALUE": "has a quote that is not closed or closes too early",
    "LINE SIZE OVER MAXIMUM": "is too long",
    "INVALID ENCODING": "is not valid text",
}


def _line_number(path: Path, position: int) -> int:
    """Counts every line feed, as an editor does. Records would not do: a value may hold line feeds."""
    number, remaining = 1, position - 1
    with path.open("rb") as file:
        while remaining > 0 and (piece := file.read(min(remaining, 1 << 20))):
            number += piece.count(b"\n")
            remaining -= len(piece)
    return number


def _about_rejected(attempt: _Attempt) -> Sequence[str]:
    rejected, rows = attempt.rejected, attempt.typed.rows
    if not rejected.count:
        return ()
    if rejected.endless:
        raise Failure(
            "FileError",
            "file_ragged",
            f"Line {rejected.lines[0]} {rejected.reason}; what follows cannot be told apart.",
            "Close the quote in that line, or double it if it is part of the value.",
        )
    if rejected.count > _TOLERATED * (rows + rejected.count):
        raise Failure(
            "FileError",
            "file_ragged",
            f"Line {rejected.lines[0]} {rejected.reason}; in all, {rejected.count:,} of {rows + rejected.count:,} rows"
            " cannot be read.",
            "Check the delimiter and the quotes of that line; every row needs as many values as the header has names.",
        )
    lines = ", ".join(map(str, rejected.lines)) + (", …" if rejected.count > len(rejected.lines) else "")
    return (f"{rejected.count:,} of {rows + rejected.count:,} rows cannot be read and were left out: line {lines}",)
