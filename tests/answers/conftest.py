"""Stored results for the tests of answers."""

import itertools
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from answerable.answers import frame
from answerable.answers.answer import Answer, Provenance
from answerable.answers.present import present
from answerable.core.ids import ArtifactId, RunId
from answerable.core.values import FrameRef, OutputColumn
from answerable.query.plan import Aggregate, ColumnRef, OrderItem, QueryPlan, SelectItem

Stored = Callable[..., Path]


@pytest.fixture
def stored(tmp_path: Path) -> Stored:
    """Writes a frame as the artifact store would keep it."""
    numbers = itertools.count(1)

    def write(data: pl.DataFrame | Mapping[str, Any], **options: Any) -> Path:
        path = tmp_path / f"result{next(numbers)}.arrow"
        data = data if isinstance(data, pl.DataFrame) else pl.DataFrame(data)
        data.write_ipc(path, **options)
        return path

    return write


@pytest.fixture
def answered(stored: Stored) -> Callable[..., Answer]:
    """The answer that presents some rows."""

    def make(data: pl.DataFrame | Mapping[str, Any], *, question: str = "What?", **options: Any) -> Answer:
        path = stored(data)
        ref = FrameRef(
            artifact=ArtifactId("sha256:0"),
            columns=frame.columns(path),
            row_count=frame.row_count(path),
            byte_count=path.stat().st_size,
        )
        options.setdefault("provenance", Provenance())
        return present(RunId("run_test"), question, path, ref, **options)

    return make


@pytest.fixture
def ranked() -> Callable[..., QueryPlan]:
    """A plan that sums one column per value of others and orders by the sum."""

    def make(measure: str, *keys: str, descending: bool = True, limit: int | None = None) -> QueryPlan:
        summed = Aggregate(function="sum", of=ColumnRef(table="sales", column=measure))
        columns = tuple(ColumnRef(table="sales", column=key) for key in keys)
        return QueryPlan(
            entity="sales",
            select=(*(SelectItem(expr=column) for column in columns), SelectItem(expr=summed, label=measure)),
            group_by=columns,
            order_by=(OrderItem(expr=summed, descending=descending),),
            limit=limit,
        )

    return make


@pytest.fixture
def columns() -> Callable[..., Sequence[OutputColumn]]:
    def make(**types: Any) -> Sequence[OutputColumn]:
        return tuple(OutputColumn(name=name, type=kind) for name, kind in types.items())

    return make
