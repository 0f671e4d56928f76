"""Rows of two answers, side by side."""

from pathlib import Path
from typing import Any

import polars as pl
import pytest

from answerable.answers import comparison
from answerable.answers.comparison import compare, text_difference
from answerable.core.errors import AnswerableError


@pytest.fixture
def compared(tmp_path: Path) -> Any:
    def run(before: dict[str, Any], after: dict[str, Any], **how: Any) -> comparison.RowComparison:
        paths = []
        for name, data in (("before", before), ("after", after)):
            paths.append(tmp_path / f"{name}.arrow")
            pl.DataFrame(data).write_ipc(paths[-1], compression="uncompressed")
        return compare(*paths, **how)

    return run


OLD = {"login": ["ana", "bo", "cy", "di"], "factor": ["push", "sms", None, "totp"], "groups": [1.0, 2.0, 3.0, 4.0]}
NEW = {
    "login": ["bo", "ana", "cy", "ed"],
    "factor": ["push", "push", "sms", "totp"],
    "groups": [2.0, 1.0 + 1e-12, 3.0, 4.0],
}


def test_rows_are_known_by_a_key_that_is_found(compared: Any) -> None:
    found = compared(OLD, NEW)
    assert found.key == ("login",)
    assert found.counts.model_dump() == {"added": 1, "removed": 1, "changed": 2, "same": 1}
    told = [(row.change, (row.after or row.before)[0], row.columns) for row in found.rows]
    assert told == [
        ("changed", "bo", ("factor",)),
        ("same", "ana", ()),
        ("changed", "cy", ("factor",)),
        ("added", "ed", ()),
        ("removed", "di", ()),
    ]
    assert (found.rows[0].before[1], found.rows[0].after[1]) == ("sms", "push")
    assert (found.rows[3].before, found.rows[4].after) == (None, None)


def test_every_difference_is_written_with_both_sides(tmp_path: Path) -> None:
    before, after, into = (tmp_path / name for name in ("before", "after", "into"))
    numbers = range(3_000)
    pl.DataFrame({"id": numbers, "change": [1] * 3_000, "change before": ["x"] * 3_000}).write_ipc(before)
    pl.DataFrame({"id": numbers, "change": [2] * 3_000, "change before": ["x"] * 3_000}).write_ipc(after)
    comparison.write_differences(before, after, into)
    written = pl.read_ipc(into)
    assert written.columns == ["change_", "id", "change before_", "change", "change before before", "change before"]
    assert written.row(2_999) == ("changed", 2_999, 1, 2, "x", "x")


def test_without_a_key_whole_rows_came_and_went(tmp_path: Path) -> None:
    before, after, into = (tmp_path / name for name in ("before", "after", "into"))
    pl.DataFrame({"city": ["A", "A", "B"]}).write_ipc(before)
    pl.DataFrame({"city": ["A", "C"]}).write_ipc(after)
    comparison.write_differences(before, after, into)
    assert pl.read_ipc(into).rows() == [("added", "C"), ("removed", "A"), ("removed", "B")]


def test_only_what_is_wanted_is_shown_and_all_is_counted(compared: Any) -> None:
    found = compared(OLD, NEW, changes=["changed", "removed"], offset=1, limit=1)
    assert [row.after[0] for row in found.rows] == ["cy"]
    assert found.counts.added == 1


def test_several_columns_can_be_the_key(compared: Any) -> None:
    before = {"city": ["A", "A", "B"], "year": [1, 2, 1], "sum": [1.5, 2.5, 3.5]}
    after = {"city": ["A", "A", "B"], "year": [1, 2, 1], "sum": [1.5, 2.5, 4.5]}
    found = compared(before, after)
    assert found.key == ("city", "year")
    assert found.counts.changed == 1
    assert compared(before, after, key=["year", "city"]).key == ("year", "city")
    with pytest.raises(AnswerableError) as caught:
        compared(before, after, key=["city"])
    assert caught.value.stable_code == "key_ambiguous"
    with pytest.raises(AnswerableError) as caught:
        compared(before, after, key=["nope"])
    assert caught.value.stable_code == "column_unknown"


def test_without_a_key_whole_rows_come_and_go_as_often_as_they_are_there(compared: Any) -> None:
    found = compared({"n": [1.5, 1.5, 2.5, None]}, {"n": [1.5, 2.5, 3.5, None]})
    assert found.key == ()
    assert found.counts.model_dump() == {"added": 1, "removed": 1, "changed": 0, "same": 3}


def test_columns_of_one_side_are_told(compared: Any) -> None:
    found = compared({"id": [1, 2], "old": ["x", "y"]}, {"id": [1, 3], "new": ["x", "y"]})
    assert [(column.column, column.how) for column in found.changed_columns] == [("old", "removed"), ("new", "added")]
    assert found.counts.model_dump() == {"added": 1, "removed": 1, "changed": 0, "same": 1}
    apart = compared({"a": [1]}, {"b": [1, 2]})
    assert (apart.counts.removed, apart.counts.added, apart.rows) == (1, 2, ())


def test_nothing_is_compared_with_nothing(compared: Any) -> None:
    none = {"id": pl.Series([], dtype=pl.Int64)}
    assert compared(none, none).rows == ()
    assert compared(none, {"id": [1]}).counts.added == 1


def test_too_many_rows_are_refused(compared: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(comparison, "MOST_ROWS", 3)
    with pytest.raises(AnswerableError) as caught:
        compared(OLD, NEW)
    assert caught.value.stable_code == "comparison_too_large"


def test_texts_differ_line_by_line() -> None:
    assert text_difference("a\nb", "a\nb") == ""
    assert "-b\n+c" in text_difference("a\nb", "a\nc")
