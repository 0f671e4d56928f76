"""A table of too many columns is refused before anything is built of them, whatever file it comes in."""

import json
from pathlib import Path
from typing import Any

import duckdb
import pytest

from answerable.sources.workers import json_file, widths
from answerable.sources.workers.csv_file import read_csv
from answerable.sources.workers.engine import unique_names
from answerable.sources.workers.failures import Failure
from answerable.sources.workers.json_file import read_json

WIDE = {f"k{number}": number for number in range(12)}
FILES = {
    "array.json": json.dumps([WIDE]),
    "object.json": json.dumps(WIDE),
    "lines.json": "\n".join(json.dumps(WIDE) for _ in range(2)),
    "apart.json": "\n".join(json.dumps({key: 1}) for key in WIDE),
    "wrapped.json": json.dumps({"rows": [WIDE, WIDE]}),
    "flattened.json": json.dumps([{"a": WIDE}]),
    "plain.csv": ",".join(WIDE) + "\n" + ",".join(map(str, WIDE.values())) + "\n",
    "same.csv": ",".join(["a"] * 12) + "\n" + ",".join(["1"] * 12) + "\n",
}


class Watched:
    """A connection that remembers what it was asked."""

    def __init__(self, connection: Any) -> None:
        self._connection = connection
        self.asked: list[str] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._connection, name)

    def sql(self, statement: str) -> Any:
        self.asked.append(statement)
        return self._connection.sql(statement)


@pytest.mark.parametrize("name", FILES)
def test_too_many_columns_are_refused(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / name
    path.write_text(FILES[name])
    with duckdb.connect() as connection:
        assert _read(connection, path).select
        monkeypatch.setattr(widths, "MOST_COLUMNS", 10)
        with pytest.raises(Failure) as caught:
            _read(connection, path)
    assert caught.value.report.message == "The file has 12 columns; 10 can be read."


@pytest.mark.parametrize("name", ["array.json", "object.json", "lines.json", "apart.json"])
def test_no_columns_are_made_of_too_many_keys(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / name
    path.write_text(FILES[name])
    monkeypatch.setattr(widths, "MOST_COLUMNS", 10)
    with duckdb.connect() as connection:
        watched = Watched(connection)
        with pytest.raises(Failure):
            read_json(watched, path)
    assert watched.asked == []


def test_a_large_object_is_read_with_larger_buffers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_file, "_DEFAULT_OBJECT", 1_000)
    path = tmp_path / "large.json"
    path.write_text(json.dumps([{"a": "x" * 200_000}]))
    with duckdb.connect() as connection:
        assert connection.sql(read_json(connection, path).select).columns == ["a"]


class Counted(str):
    """A name that counts how often it is looked at."""

    looks = 0

    def __format__(self, spec: str) -> str:
        Counted.looks += 1
        return str(self)


def test_equal_names_are_numbered_without_trying_every_number_again() -> None:
    assert unique_names([Counted("a")] * 500)[-1] == "a_500"
    assert Counted.looks < 1_000
    assert unique_names(["a", "a_2", "a", "A", "a"]) == ["a", "a_2", "a_3", "A_4", "a_5"]


def _read(connection: Any, path: Path) -> Any:
    return read_json(connection, path) if path.suffix == ".json" else read_csv(connection, path, tabs=False)
