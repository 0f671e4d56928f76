"""How two stored results differ, row by row."""

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import polars as pl

from answerable.answers import frame
from answerable.answers.formatted import json_text
from answerable.core.values import Frozen, Json

SHOWN = 5
"""How many added, removed and changed rows are reported as examples."""

_DIGITS = 12
_TOLERANCE = 1e-9
"""Sums of floating numbers depend in their last digits on the order of adding, which databases do not promise."""
_TURN = "turn"
_PAIRED = 100_000
"""Up to this many differing rows are matched to each other; above, they are only counted."""


class ChangedColumn(Frozen):
    column: str
    how: Literal["added", "removed", "type"]
    before: str | None = None
    after: str | None = None


class ChangedRow(Frozen):
    before: tuple[Json, ...]
    after: tuple[Json, ...]
    columns: tuple[str, ...]
    """Those whose cells differ."""


class Difference(Frozen):
    rows_before: int
    rows_after: int
    columns: tuple[ChangedColumn, ...] = ()
    added_count: int = 0
    removed_count: int = 0
    changed_count: int = 0
    added: tuple[tuple[Json, ...], ...] = ()
    removed: tuple[tuple[Json, ...], ...] = ()
    changed: tuple[ChangedRow, ...] = ()
    reordered: bool = False
    """An order was asked for, and the same rows came in another one."""

    @property
    def none(self) -> bool:
        """Whether the rows are the same. Another order of rows that tie is not a difference of the answer."""
        return not (self.columns or self.added_count or self.removed_count or self.changed_count)

    @property
    def text(self) -> str:
        if self.columns:
            return "; ".join(_column_text(column) for column in self.columns) + "."
        if self.none:
            return "the same rows in another order." if self.reordered else "the same rows."
        counts = {"added": self.added_count, "gone": self.removed_count, "changed": self.changed_count}
        parts = [f"{count:,} {word}" for word, count in counts.items() if count]
        return f"{self.rows_before:,} rows before, {self.rows_after:,} now; {', '.join(parts)}."


def difference(before: Path, after: Path, *, ordered: bool) -> Difference:
    """What changed from one Arrow file to the other."""
    rows_before, rows_after = frame.row_count(before), frame.row_count(after)
    columns = changed_columns(before, after)
    if columns:
        return Difference(rows_before=rows_before, rows_after=rows_after, columns=columns)
    names = [column.name for column in frame.columns(before)]
    old, new = comparable(before, names), comparable(after, names)
    removed, added = _leftovers(old, new)
    # `comparable` has rounded the floats, but two that are nearly equal may have been rounded in different directions.
    if removed.height == added.height and _nearly_equal(removed, added):
        reordered = ordered and not _same_order(old, new, rows_before)
        return Difference(rows_before=rows_before, rows_after=rows_after, reordered=reordered)
    pairs, removed, added = _paired(removed, added)
    return Difference(
        rows_before=rows_before,
        rows_after=rows_after,
        added_count=added.height,
        removed_count=removed.height,
        changed_count=len(pairs),
        added=tuple(added.head(SHOWN).rows()),
        removed=tuple(removed.head(SHOWN).rows()),
        changed=tuple(_changed_row(b, a, names) for b, a in pairs[:SHOWN]),
    )


def changed_columns(before: Path, after: Path) -> tuple[ChangedColumn, ...]:
    old = {column.name: column.type for column in frame.columns(before)}
    new = {column.name: column.type for column in frame.columns(after)}
    gone = [ChangedColumn(column=name, how="removed", before=old[name]) for name in old if name not in new]
    came = [ChangedColumn(column=name, how="added", after=new[name]) for name in new if name not in old]
    retyped = [
        ChangedColumn(column=name, how="type", before=old[name], after=new[name])
        for name in old
        if name in new and old[name] != new[name]
    ]
    return (*gone, *came, *retyped)


def comparable(path: Path, names: Sequence[str]) -> pl.LazyFrame:
    """The named columns as plain values under their numbers, floats cut to the digits that count."""
    carried = frame.scan(path).select(frame.json_form(path).expressions)
    schema = carried.collect_schema()
    place = {name: i for i, name in enumerate(schema)}
    return carried.select(
        _plain(pl.nth(place[name]), schema[name]).alias(str(number)) for number, name in enumerate(names)
    )


def _plain(value: pl.Expr, dtype: pl.DataType) -> pl.Expr:
    if isinstance(dtype, pl.List | pl.Struct):
        return json_text(value)
    return value.round_sig_figs(_DIGITS) if dtype.is_float() else value


def _leftovers(before: pl.LazyFrame, after: pl.LazyFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Rows of either that have no equal in the other; a row that occurs twice needs two."""
    old, new = _numbered(before), _numbered(after)
    keys = old.collect_schema().names()
    gone = old.join(new, on=keys, how="anti", nulls_equal=True).drop(_TURN)
    came = new.join(old, on=keys, how="anti", nulls_equal=True).drop(_TURN)
    return gone.collect(), came.collect()


def _numbered(rows: pl.LazyFrame) -> pl.LazyFrame:
    """The rows with the number of each among its equals, so that a join compares bags rather than sets."""
    return rows.with_columns(pl.int_range(pl.len()).over(pl.struct(pl.all())).alias(_TURN))


def _nearly_equal(removed: pl.DataFrame, added: pl.DataFrame) -> bool:
    """Whether the leftovers are the same but for the last digits of floats."""
    if removed.is_empty():
        return True
    if removed.height > _PAIRED or removed.schema != added.schema:
        return False
    floats = [i for i, dtype in enumerate(removed.dtypes) if dtype.is_float()]
    # Sorts by floats last: their last digits must not decide which rows are compared.
    by = [pl.nth(i) for i in range(removed.width) if i not in floats] + [pl.nth(i) for i in floats]
    rows = zip(removed.sort(by).iter_rows(), added.sort(by).iter_rows(), strict=True)
    return all(_near(b, a) for before, after in rows for b, a in zip(before, after, strict=True))


def _near(before: Json, after: Json) -> bool:
    if isinstance(before, float) and isinstance(after, float):
        return abs(before - after) <= _TOLERANCE * max(abs(before), abs(after))
    return bool(before == after)


def _same_order(before: pl.LazyFrame, after: pl.LazyFrame, count: int) -> bool:
    for start in range(0, count, frame.BATCH_ROWS):
        old, new = (rows.slice(start, frame.BATCH_ROWS).collect() for rows in (before, after))
        pairs = zip(old.iter_rows(), new.iter_rows(), strict=True)
        if not all(_near(b, a) for row in pairs for b, a in zip(*row, strict=True)):
            return False
    return True


def _paired(
    removed: pl.DataFrame, added: pl.DataFrame
) -> tuple[list[tuple[tuple[Json, ...], tuple[Json, ...]]], pl.DataFrame, pl.DataFrame]:
    """Rows that agree in everything but their numbers are one row that changed, when that is unambiguous."""
    labels = [i for i, dtype in enumerate(removed.dtypes) if not dtype.is_numeric()]
    if not labels or max(removed.height, added.height) > _PAIRED or removed.schema != added.schema:
        return [], removed, added
    old, new = _by_label(removed, labels), _by_label(added, labels)
    shared = [label for label in old if len(old[label]) == 1 and len(new.get(label, ())) == 1]
    pairs = [(removed.row(old[label][0]), added.row(new[label][0])) for label in shared]
    return pairs, _without(removed, [old[s][0] for s in shared]), _without(added, [new[s][0] for s in shared])


def _by_label(rows: pl.DataFrame, labels: Sequence[int]) -> dict[tuple[Json, ...], list[int]]:
    found: dict[tuple[Json, ...], list[int]] = {}
    for number, row in enumerate(rows.iter_rows()):
        found.setdefault(tuple(row[i] for i in labels), []).append(number)
    return found


def _without(rows: pl.DataFrame, numbers: Sequence[int]) -> pl.DataFrame:
    dropped = set(numbers)
    return rows[[i for i in range(rows.height) if i not in dropped]]


def _changed_row(before: tuple[Json, ...], after: tuple[Json, ...], names: Sequence[str]) -> ChangedRow:
    differing = tuple(name for name, b, a in zip(names, before, after, strict=True) if not _near(b, a))
    return ChangedRow(before=before, after=after, columns=differing)


def _column_text(column: ChangedColumn) -> str:
    if column.how == "type":
        return f"column “{column.column}” was {column.before} and is {column.after}"
    return f"column “{column.column}” was {column.how}"
