"""Looking at stored rows: filters, order, columns, ranges."""

import io
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from answerable.answers import frame, view
from answerable.answers.view import RowFilter, Selection, SortKey, Views
from answerable.core.errors import UserError


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    path = tmp_path / "rows.arrow"
    pl.DataFrame(
        {
            "^id$": [1, 2, 3, 4],
            "name": ["Ana", "bo", None, "Bob"],
            "amount": [1.5, None, 3.0, 3.0],
            "day": [date(2026, 1, n) for n in (1, 2, 3, 4)],
            "at": [datetime(2026, 1, n, 9, tzinfo=UTC) for n in (1, 2, 3, 4)],
            "paid": [True, False, None, True],
            "tags": [["x"], [], None, ["x", "y"]],
        }
    ).write_ipc(path, compression="uncompressed")
    return path


def ids(rows: Path, selection: Selection) -> list[int]:
    return [row[0] for row in view.chosen(frame.scan(rows), selection).collect().rows()]


def where(column: str, operator: Any, value: Any = None) -> Selection:
    return Selection(filters=(RowFilter(column=column, operator=operator, value=value),))


@pytest.mark.parametrize(
    ("selection", "expected"),
    [
        (where("name", "contains", "BO"), [2, 4]),
        (where("name", "starts_with", "a"), [1]),
        (where("name", "ends_with", "b"), [4]),
        (where("name", "eq", "bo"), [2]),
        (where("name", "ne", "bo"), [1, 3, 4]),
        (where("name", "in", ("bo", "Ana", None)), [1, 2, 3]),
        (where("name", "is_null"), [3]),
        (where("name", "not_null"), [1, 2, 4]),
        (where("amount", "gt", 1.5), [3, 4]),
        (where("amount", "ge", "1.5"), [1, 3, 4]),
        (where("^id$", "lt", 2.5), [1, 2]),
        (where("^id$", "le", 2), [1, 2]),
        (where("day", "ge", "2026-01-03"), [3, 4]),
        (where("at", "lt", "2026-01-02T00:00:00+00:00"), [1]),
        (where("paid", "eq", True), [1, 4]),
        (where("paid", "eq", "false"), [2]),
        (where("tags", "contains", "y"), [4]),
        (where("amount", "eq", None), [2]),
        (Selection(search="2026-01-04"), [4]),
        (Selection(search="bo"), [2, 4]),
        (Selection(sort=(SortKey(column="name"),)), [1, 4, 2, 3]),
        (
            Selection(sort=(SortKey(column="amount", descending=True), SortKey(column="^id$", descending=True))),
            [4, 3, 1, 2],
        ),
        (Selection(search="b", sort=(SortKey(column="tags", descending=True),)), [2, 4]),
    ],
)
def test_rows_are_chosen(rows: Path, selection: Selection, expected: list[int]) -> None:
    assert ids(rows, selection) == expected


@pytest.mark.parametrize(
    ("selection", "code"),
    [
        (where("nope", "eq", 1), "column_unknown"),
        (where("amount", "gt", "much"), "filter_invalid"),
        (where("amount", "gt", None), "filter_invalid"),
        (where("amount", "eq", True), "filter_invalid"),
        (where("day", "lt", "yesterday"), "filter_invalid"),
        (where("at", "lt", "2026-01-02"), "filter_invalid"),
        (where("paid", "eq", "maybe"), "filter_invalid"),
        (where("name", "contains", 3), "filter_invalid"),
        (where("tags", "gt", "x"), "filter_invalid"),
        (Selection(sort=(SortKey(column="nope"),)), "column_unknown"),
    ],
)
def test_what_cannot_be_asked_is_said(rows: Path, selection: Selection, code: str) -> None:
    with pytest.raises(UserError) as caught:
        ids(rows, selection)
    assert caught.value.stable_code == code


async def test_a_view_is_written_once_and_read_by_range(rows: Path, tmp_path: Path) -> None:
    views = Views(tmp_path / "views")
    assert await views.path(rows, Selection()) == rows
    selection = Selection(sort=(SortKey(column="^id$", descending=True),))
    first = await views.path(rows, selection)
    written = first.stat().st_ino
    assert await views.path(rows, selection) == first
    assert first.stat().st_ino == written
    columns, cells = view.page(rows, first, 1, 2, ["day", "^id$"])
    assert [column.name for column in columns] == ["day", "^id$"]
    assert cells.rows() == [("2026-01-03", 3), ("2026-01-02", 2)]


async def test_old_views_make_room(rows: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(view, "MOST_FILES", 2)
    monkeypatch.setattr(view, "_IN_USE_SECONDS", -1.0)
    views = Views(tmp_path / "views")
    made = [await views.path(rows, where("^id$", "gt", n)) for n in range(4)]
    assert sum(path.exists() for path in made) == 2
    assert made[-1].exists()


def test_an_arrow_stream_has_only_plain_types(rows: Path) -> None:
    _, cells = view.page(rows, rows, 0, 4)
    read = pl.read_ipc_stream(io.BytesIO(view.arrow_stream(cells)))
    assert read["tags"].to_list() == ['["x"]', "[]", None, '["x","y"]']
    assert read["day"].to_list()[0] == "2026-01-01"
    assert {str(dtype) for dtype in read.dtypes} == {"Int64", "String", "Float64", "Boolean"}
