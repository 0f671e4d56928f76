"""Applies the form that a user asked for to all rows: arranges them, adds them up, and writes a markdown table."""

from collections.abc import Iterable, Sequence
from pathlib import Path

import polars as pl

from answerable.answers import frame
from answerable.answers.format import FormatSpec, NumberFormat, Total, format_cell, headed, total_cells
from answerable.answers.requested_format import RequestedFormat
from answerable.answers.totals import totals
from answerable.core.values import Json

MARKDOWN_ROWS = 200
"""Rows of a markdown table. More are there to be exported."""


def arrange(path: Path, into: Path, requested: RequestedFormat) -> None:
    """Writes the rows at `path` in the requested order, with the requested columns, as an Arrow file."""
    rows = frame.scan(path)
    names = rows.collect_schema().names()
    # By place: polars reads a name between ^ and $ as a pattern.
    if requested.order:
        keys = [pl.nth(names.index(each.column)) for each in requested.order]
        descending = [each.descending for each in requested.order]
        rows = rows.sort(keys, descending=descending, nulls_last=True, maintain_order=True)
    if requested.columns:
        rows = rows.select(pl.nth(names.index(name)) for name in dict.fromkeys(requested.columns))
    rows.sink_ipc(into)


def requested_spec(spec: FormatSpec, requested: RequestedFormat, path: Path) -> FormatSpec:
    """The format with the heads, units, decimals and totals that were asked for. `path`: all rows, for the totals."""
    spec = headed(spec, requested.headers)
    columns = []
    for column in spec.columns:
        update: dict[str, Json] = {}
        if unit := requested.units.get(column.column):
            update["unit"] = unit
        places = requested.decimals.get(column.column)
        if places is not None and isinstance(column.format, NumberFormat):
            update["format"] = column.format.model_copy(update={"decimals": min(12, max(0, places))})
        if column.column in requested.totals and column.quantity is None:
            update["quantity"] = "amount"  # what is summed by request adds up, on the page too
        columns.append(column.model_copy(update=update))
    sums = {each.column: each.total for each in totals(path)} if requested.totals else {}
    shown = tuple(Total(column=name, value=sums[name]) for name in dict.fromkeys(requested.totals) if name in sums)
    return spec.model_copy(update={"columns": tuple(columns), "totals": shown, "markdown": requested.markdown})


def markdown_table(spec: FormatSpec, rows: Sequence[Sequence[Json]], row_count: int) -> str:
    """The rows as a markdown table under the spec's heads, with its totals as the last line."""
    heads = [f"{column.header} ({column.unit})" if column.unit else column.header for column in spec.columns]
    lines = [_line(heads), _line(["---:" if column.right else "---" for column in spec.columns])]
    for row in rows[:MARKDOWN_ROWS]:
        cells = [format_cell(value, column.format) for value, column in zip(row, spec.columns, strict=True)]
        lines.append(_line([cell or "" for cell in cells]))
    if spec.totals:
        lines.append(_line(total_cells(spec)))
    left = row_count - min(len(rows), MARKDOWN_ROWS)
    return "\n".join([*lines, *([f"\n… and {left:,} more rows"] if left > 0 else [])])


def _line(cells: Iterable[str]) -> str:
    # A bar or a line break in a cell would begin another cell or row.
    safe = (cell.replace("\\", "\\\\").replace("|", "\\|").replace("\n", " ") for cell in cells)
    return f"| {' | '.join(safe)} |"
