"""DuckDB in a worker, over the rows of earlier results: Arrow files that become tables in memory."""

import errno
import os
from collections.abc import Iterator
from typing import Any

import duckdb
import polars as pl
from polars.datatypes import DataTypeClass
from polars.exceptions import PolarsError

from answerable.sources.workers.duckdb_engine import DuckDbEngine
from answerable.sources.workers.engine import quoted
from answerable.sources.workers.failures import Failure, too_much_memory
from answerable.sources.workers.harden import Needs

_BATCH_ROWS = 262_144
_PART = "part"
_TAKEN_AS: dict[DataTypeClass, pl.DataType | DataTypeClass] = {
    pl.Null: pl.String,
    pl.Float16: pl.Float32,
    pl.Int128: pl.Decimal(38, 0),
    pl.UInt128: pl.Decimal(38, 0),
}
"""Types that DuckDB does not take from Arrow, and those that hold the same values."""


class FramesEngine(DuckDbEngine):
    """The files are read for DuckDB, which itself may open none."""

    @staticmethod
    def needs(spec: dict[str, Any]) -> Needs:
        return Needs(read=[frame["file"] for frame in spec["frames"]])

    def _fill(self, spec: dict[str, Any]) -> None:
        for frame in spec["frames"]:
            try:
                self._load(frame["name"], pl.scan_ipc(frame["file"], glob=False))
            except (PolarsError, OSError, duckdb.Error) as error:
                if isinstance(error, duckdb.OutOfMemoryException) or os.strerror(errno.ENOMEM) in str(error):
                    raise too_much_memory(self._memory_mb) from error
                raise _unusable(frame["name"], error) from error

    def _load(self, name: str, rows: pl.LazyFrame) -> None:
        for number, batch in enumerate(_batches(rows)):
            self._connection.register(_PART, _Stream(batch))
            verb = f"INSERT INTO {quoted(name)}" if number else f"CREATE TABLE {quoted(name)} AS"
            self._connection.execute(f"{verb} SELECT * FROM {_PART}").fetchall()
            self._connection.unregister(_PART)


class _Stream:
    """A frame as nothing but Arrow: DuckDB would read a frame of polars by way of pyarrow, and a plain stream once."""

    def __init__(self, frame: pl.DataFrame) -> None:
        self._frame = frame

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self._frame.__arrow_c_stream__(requested_schema)


def _batches(rows: pl.LazyFrame) -> Iterator[pl.DataFrame]:
    """The batches of a frame: at least one, so that a frame without rows is a table too."""
    schema = rows.collect_schema()
    kinds = {name: dtype.base_type() for name, dtype in schema.items()}
    casts = [pl.col(name).cast(_TAKEN_AS[kind]) for name, kind in kinds.items() if kind in _TAKEN_AS]
    offset = 0
    while True:
        batch = rows.slice(offset, _BATCH_ROWS).with_columns(casts).collect()
        if batch.height or not offset:
            yield batch
        offset += batch.height
        if batch.height < _BATCH_ROWS:
            return


def _unusable(name: str, error: Exception) -> Failure:
    message = str(error).partition(" Error: ")[2].split("\n")[0] or str(error)
    return Failure(
        "UserError",
        "combine_unusable",
        f"The rows of {name} cannot be combined: {message}",
        "Give its columns plain types: text, numbers, dates, times.",
    )
