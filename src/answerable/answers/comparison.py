"""Two answers side by side: which rows came, went, changed or stayed.

Two rows are the same row if their keys are equal. Without a key, rows are compared whole: a row that changed then
counts as one that was removed and another that was added.
"""

import difflib
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import or_
from pathlib import Path
from typing import Literal

import polars as pl

from answerable.answers import frame
from answerable.answers.difference import ChangedColumn, changed_columns, comparable
from answerable.core.errors import LimitError, UserError
from answerable.core.values import Frozen, Json, OutputColumn

Change = Literal["added", "removed", "changed", "same"]
CHANGES: tuple[Change, ...] = ("removed", "changed", "added", "same")

MOST_ROWS = 1_000_000
"""Of each side: the comparison holds both in memory."""
# No floats: two runs may compute the same number with different last digits.
_KEY_TYPES = ("text", "integer", "date", "datetime", "boolean", "time")
_TOLERANCE = 1e-9


class ComparedRow(Frozen):
    change: Change
    before: tuple[Json, ...] | None
    after: tuple[Json, ...] | None
    columns: tuple[str, ...]
    """Those whose cells differ."""


class RowCounts(Frozen):
    added: int
    removed: int
    changed: int
    same: int


class RowComparison(Frozen):
    columns: tuple[OutputColumn, ...]
    """Those that both have, in the order of the later one."""
    changed_columns: tuple[ChangedColumn, ...]
    key: tuple[str, ...]
    """By which rows are known; empty when only whole rows could be compared."""
    counts: RowCounts
    rows: tuple[ComparedRow, ...]


def compare(
    before: Path,
    after: Path,
    *,
    key: Sequence[str] | None = None,
    changes: Collection[Change] = CHANGES,
    offset: int = 0,
    limit: int = 200,
) -> RowComparison:
    """A part of the compared rows, and counts of all. Without a key, one is looked for."""
    _check_size(before, after)
    shared = _shared(before, after)
    if not shared:
        return _apart(before, after)
    pairs = _paired(before, after, shared, key)
    shown = pairs.rows.filter(pl.col("change").is_in(list(changes))).slice(offset, limit)
    counts = dict(pairs.rows.group_by("change").len().iter_rows())
    return RowComparison(
        columns=tuple(shared),
        changed_columns=changed_columns(before, after),
        key=tuple(pairs.names[place] for place in pairs.places),
        counts=RowCounts(**{change: counts.get(change, 0) for change in CHANGES}),
        rows=tuple(_row(row, pairs.names) for row in shown.iter_rows(named=True)),
    )


def write_differences(before: Path, after: Path, into: Path, *, key: Sequence[str] | None = None) -> None:
    """Every row that came, went or changed, as an Arrow file: the key once, of each other column both sides."""
    _check_size(before, after)
    shared = _shared(before, after)
    if not shared:
        raise UserError("The two answers have no column in common.", code="nothing_to_compare")
    pairs = _paired(before, after, shared, key)
    cells = [pl.col("change").alias(_free("change", pairs.names))]
    for number, name in enumerate(pairs.names):
        old, new = pl.col(f"b{number}"), pl.col(f"a{number}")
        if pairs.places and number not in pairs.places:
            cells += [old.alias(_free(f"{name} before", pairs.names)), new.alias(name)]
        else:
            cells.append(pl.coalesce(new, old).alias(name))
    pairs.rows.filter(pl.col("change") != "same").select(cells).write_ipc(into, compression="uncompressed")


def text_difference(before: str, after: str) -> str:
    """The unified diff of two texts; empty when they are the same."""
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), "before", "after", lineterm="", n=3)
    return "\n".join(lines)


def _check_size(*paths: Path) -> None:
    largest = max(map(frame.row_count, paths))
    if largest > MOST_ROWS:
        raise LimitError(
            f"One of the answers has {largest:,} rows; up to {MOST_ROWS:,} can be compared.",
            code="comparison_too_large",
            hint="Narrow both questions.",
        )


def _apart(before: Path, after: Path) -> RowComparison:
    """The result for tables without a column in common: there is nothing to compare."""
    counts = RowCounts(added=frame.row_count(after), removed=frame.row_count(before), changed=0, same=0)
    changed = changed_columns(before, after)
    return RowComparison(columns=(), changed_columns=changed, key=(), counts=counts, rows=())


@dataclass(frozen=True, slots=True)
class _Pairs:
    names: Sequence[str]
    places: Sequence[int]
    """Of the key among the names; empty when rows are known by all of their values."""
    rows: pl.DataFrame


def _shared(before: Path, after: Path) -> list[OutputColumn]:
    old_types = {column.name: column.type for column in frame.columns(before)}
    return [column for column in frame.columns(after) if old_types.get(column.name) == column.type]


def _paired(before: Path, after: Path, shared: Sequence[OutputColumn], key: Sequence[str] | None) -> _Pairs:
    names = [column.name for column in shared]
    old, new = _aligned(*(comparable(path, names).collect() for path in (before, after)))
    places = _chosen(key, names, old, new) if key else _found(shared, old, new)
    return _Pairs(names, places, _joined(old, new, places))


def _free(name: str, taken: Collection[str]) -> str:
    while name in taken:
        name += "_"
    return name


def _aligned(old: pl.DataFrame, new: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Numbers that only one side could carry as such are compared as text."""
    uneven = [name for name in old.columns if old[name].dtype != new[name].dtype]
    return old.cast(dict.fromkeys(uneven, pl.String)), new.cast(dict.fromkeys(uneven, pl.String))


def _chosen(key: Sequence[str], names: Sequence[str], *sides: pl.DataFrame) -> list[int]:
    places = []
    for name in dict.fromkeys(key):
        if name not in names:
            hint = f"Both have: {', '.join(names)}."
            raise UserError(f"Not both answers have a column {name!r}.", code="column_unknown", hint=hint)
        places.append(names.index(name))
    for side in sides:
        if not _is_key(side, places):
            shown = ", ".join(map(repr, key))
            raise UserError(f"Several rows have the same {shown}.", code="key_ambiguous", hint="Name more columns.")
    return places


def _found(columns: Sequence[OutputColumn], *sides: pl.DataFrame) -> list[int]:
    """The first column, else the fewest first columns, that tell all rows of both sides apart."""
    # Single columns first, as a key of one column is easiest to read; then prefixes, as keys tend to stand first.
    able = [place for place, column in enumerate(columns) if column.type in _KEY_TYPES]
    candidates = [[place] for place in able] + [able[:count] for count in range(2, min(len(able) + 1, len(columns)))]
    return next((places for places in candidates if all(_is_key(side, places) for side in sides)), [])


def _is_key(rows: pl.DataFrame, places: Sequence[int]) -> bool:
    return not rows.select(pl.nth(places)).is_duplicated().any()


def _joined(old: pl.DataFrame, new: pl.DataFrame, places: Sequence[int]) -> pl.DataFrame:
    """One row for each pair, in the order of the later answer; what has gone comes last."""
    on = [f"k{number}" for number in range(len(places) or old.width)] + ["turn"]
    before = _sided(old, places, "b").with_columns(pl.lit(True).alias("in_b"))
    after = _sided(new, places, "a").with_columns(pl.lit(True).alias("in_a")).with_row_index("at")
    # `nulls_equal`: a null in a key is a value like any other here, else such rows would never find each other.
    both = after.join(before, on=on, how="full", nulls_equal=True, coalesce=True)
    differ = reduce(or_, (_differs(number, dtype) for number, dtype in enumerate(old.dtypes)), pl.lit(False))
    change = (
        pl.when(pl.col("in_b").is_null())
        .then(pl.lit("added"))
        .when(pl.col("in_a").is_null())
        .then(pl.lit("removed"))
        .when(differ)
        .then(pl.lit("changed"))
        .otherwise(pl.lit("same"))
    )
    return both.with_columns(change.alias("change")).sort("at", nulls_last=True, maintain_order=True)


def _sided(rows: pl.DataFrame, places: Sequence[int], side: str) -> pl.DataFrame:
    """Cells named by side and number, beside the key; equal keys are counted so that a join pairs them one to one."""
    keys = [pl.nth(place).alias(f"k{number}") for number, place in enumerate(places or range(rows.width))]
    cells = [pl.nth(number).alias(f"{side}{number}") for number in range(rows.width)]
    turn = pl.int_range(pl.len()).over(pl.struct(keys)).alias("turn") if keys else pl.lit(0).alias("turn")
    return rows.select(*keys, *cells, turn)


def _differs(number: int, dtype: pl.DataType) -> pl.Expr:
    before, after = pl.col(f"b{number}"), pl.col(f"a{number}")
    if dtype.is_float():
        near = (before - after).abs() <= _TOLERANCE * pl.max_horizontal(before.abs(), after.abs())
        return ~(before.eq_missing(after) | near.fill_null(False))
    return before.ne_missing(after)


def _row(row: dict[str, Json], names: Sequence[str]) -> ComparedRow:
    change: Change = row["change"]
    before = tuple(row[f"b{number}"] for number in range(len(names)))
    after = tuple(row[f"a{number}"] for number in range(len(names)))
    pairs = zip(names, before, after, strict=True)
    return ComparedRow(
        change=change,
        before=None if change == "added" else before,
        after=None if change == "removed" else after,
        columns=tuple(name for name, b, a in pairs if b != a) if change == "changed" else (),
    )
