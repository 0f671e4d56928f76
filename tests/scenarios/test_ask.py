"""A user asks a folder of files, follows up, chooses, exports, and checks."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

KEYS = {
    "run_id",
    "status",
    "kind",
    "text",
    "columns",
    "rows",
    "row_count",
    "steps",
    "choices",
    "provenance",
    "usage",
    "thread_id",
    "graph",
}
Run = Callable[..., Any]


def test_a_folder_of_csv_files_is_asked_in_plain_words(answerable: Run, sales: Path) -> None:
    done = answerable("ask", "which region grew fastest last quarter?", "--source", str(sales), "--json")
    assert done.code == 0, done.out + done.err
    answer = done.json
    assert set(answer) == KEYS
    assert answer["rows"][0][0] == "South"
    assert "South" in answer["text"]
    [step] = answer["steps"]
    assert step["kind"] == "sql"
    assert "SELECT" in step["code"]
    assert answer["provenance"]["understood"]
    assert answer["provenance"]["fingerprint"]


def test_people_get_the_sentence_the_code_and_the_table(answerable: Run, sales: Path) -> None:
    done = answerable("ask", "total amount per region", "--source", str(sales))
    assert done.code == 0, done.out + done.err
    for part in ("SELECT", "North", "South", "East", "210", "250", "180"):
        assert part in done.out


def test_units_of_the_semantic_file_stand_with_the_numbers(answerable: Run, sales: Path) -> None:
    (sales / "semantic.yaml").write_text("tables: {orders: {columns: {amount: {unit: EUR}}}}\n")
    each = answerable("ask", "total amount per region", "--source", str(sales), "--json").json
    assert [column["unit"] for column in each["provenance"]["format"]["columns"]] == [None, "EUR"]
    whole = answerable("ask", "what is the average amount?", "--source", str(sales)).out
    assert "EUR" in whole


def test_a_follow_up_refers_to_the_last_answer(answerable: Run, sales: Path) -> None:
    thread = "thr_000000000000000000000001"
    first = answerable("ask", "total amount per region", "--source", str(sales), "--thread", thread, "--json").json
    assert len(first["rows"]) == 3
    second = answerable("ask", "and by product?", "--source", str(sales), "--thread", thread, "--json")
    assert second.code == 0, second.out + second.err
    flat = [cell for row in second.json["rows"] for cell in row]
    assert "Tea" in flat
    assert "Coffee" in flat


def test_a_word_that_matches_nothing_is_named(answerable: Run, sales: Path) -> None:
    done = answerable("ask", "how many zeppelins per region?", "--source", str(sales), "--json")
    assert done.code == 3
    assert done.json["kind"] == "clarify"
    assert "zeppelins" in done.json["text"]


@pytest.mark.parametrize("ending", ["csv", "ndjson", "json", "parquet", "arrow", "xlsx"])
def test_all_rows_can_be_written_to_a_file(answerable: Run, sales: Path, tmp_path: Path, ending: str) -> None:
    target = tmp_path / f"out.{ending}"
    done = answerable("ask", "SQL: SELECT region FROM regions ORDER BY region", "-s", str(sales), "-o", str(target))
    assert done.code == 0, done.out + done.err
    readers: dict[str, Callable[[Path], pl.DataFrame]] = {
        "csv": pl.read_csv,
        "ndjson": pl.read_ndjson,
        "json": pl.read_json,
        "parquet": pl.read_parquet,
        "arrow": pl.read_ipc,
        "xlsx": pl.read_excel,
    }
    assert readers[ending](target)["region"].to_list() == ["East", "North", "South"]


def test_a_written_query_that_writes_is_refused(answerable: Run, sales: Path) -> None:
    done = answerable("ask", "SQL: DELETE FROM orders", "--source", str(sales), "--json")
    assert done.code == 4
    assert done.json["kind"] == "refusal"
    assert done.json["provenance"]["error"]["code"].startswith("sql_")


def test_an_answer_is_recorded_and_replayed(answerable: Run, sales: Path) -> None:
    run = answerable("ask", "total amount per region", "--source", str(sales), "--json").json["run_id"]
    assert run in answerable("runs", "list").out
    assert answerable("runs", "show", run, "--json").json["answer"]["run_id"] == run
    same = answerable("replay", run, "--json")
    assert (same.code, same.json["verdict"]) == (0, "same")
    (sales / "orders.csv").write_text((sales / "orders.csv").read_text() + "99,2025-11-20,1,Tea,1,5\n")
    changed = answerable("replay", run, "--json")
    assert (changed.code, changed.json["verdict"]) == (1, "differs")


async def test_a_synonym_is_understood_as_soon_as_it_is_written(sales: Path, home: Path) -> None:
    """In the same process: the data is the same, what is said about it is not."""
    from answerable import Answerable

    with Answerable(sales, home=home / "x") as data:
        assert data.ask("total turnover per region").kind == "clarify"
        (sales / "semantic.yaml").write_text("measures: {turnover: {table: orders, expression: sum(amount)}}\n")
        assert data.ask("total turnover per region").row_count == 3
