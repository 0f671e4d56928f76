"""The rows of an answer: by page, filtered and sorted, added up, and whole as a file."""

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl
from pydantic import Field

from answerable.answers import frame, view
from answerable.answers.export import Format, export
from answerable.answers.totals import ColumnTotal, totals
from answerable.core.context import Principal
from answerable.core.ids import RunId
from answerable.core.values import Frozen, Json, OutputColumn
from answerable.service.answers import AnswerService
from answerable.service.runs import RunService

EVERY_ROW = view.Selection()


class RowTotals(Frozen):
    row_count: int = Field(description="Of all rows that the filters leave.")
    columns: list[ColumnTotal] = Field(description="Of the columns of numbers.")


@dataclass(frozen=True, slots=True)
class RowsPage:
    columns: tuple[OutputColumn, ...]
    rows: Sequence[Sequence[Json]]
    row_count: int


@dataclass(frozen=True, slots=True)
class RowsPart:
    """Some of the chosen rows, with some of their columns."""

    columns: Sequence[OutputColumn]
    cells: pl.DataFrame
    row_count: int
    """Of all rows that the filters leave."""
    total_rows: int
    """Of the whole answer."""

    def arrow_stream(self) -> bytes:
        return view.arrow_stream(self.cells)


class RowService:
    def __init__(self, runs: RunService, answers: AnswerService, folder: Path) -> None:
        """`folder`: where filtered and sorted rows are cached."""
        self._runs = runs
        self._answers = answers
        self._views = view.Views(folder)

    async def file(self, run: RunId, principal: Principal, selection: view.Selection = EVERY_ROW) -> Path:
        """An Arrow file with the chosen rows of an answer."""
        answer = await self._runs.answer(run, principal)
        return await self._views.path(await self._answers.rows_path(answer, principal), selection)

    async def page(
        self,
        run: RunId,
        principal: Principal,
        selection: view.Selection = EVERY_ROW,
        *,
        offset: int = 0,
        limit: int = 1_000,
    ) -> RowsPage:
        path = await self.file(run, principal, selection)
        return await asyncio.to_thread(
            lambda: RowsPage(frame.columns(path), frame.shown_rows(path, offset, limit), frame.row_count(path))
        )

    async def part(
        self,
        run: RunId,
        principal: Principal,
        selection: view.Selection = EVERY_ROW,
        *,
        offset: int = 0,
        limit: int = 1_000,
        columns: Sequence[str] | None = None,
    ) -> RowsPart:
        """A part of the chosen rows, with all columns or with those that are named."""
        answer = await self._runs.answer(run, principal)
        path = await self._answers.rows_path(answer, principal)
        chosen = await self._views.path(path, selection)
        known, cells = await asyncio.to_thread(view.page, path, chosen, offset, limit, columns)
        return RowsPart(known, cells, await asyncio.to_thread(frame.row_count, chosen), answer.row_count)

    async def totals(self, run: RunId, principal: Principal, selection: view.Selection = EVERY_ROW) -> RowTotals:
        """What the numbers of an answer add up to, and between which they lie."""
        path = await self.file(run, principal, selection)
        columns = await asyncio.to_thread(totals, path)
        return RowTotals(row_count=await asyncio.to_thread(frame.row_count, path), columns=list(columns))

    async def export(
        self, run: RunId, principal: Principal, selection: view.Selection = EVERY_ROW, *, format: Format
    ) -> Iterator[bytes]:
        """Every chosen row, as the bytes of a file."""
        return export(await self.file(run, principal, selection), format)
