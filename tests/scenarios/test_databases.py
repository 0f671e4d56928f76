"""PostgreSQL as a source and as the store; and stores that cannot be used."""

import json
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psycopg
import pytest

Run = Callable[..., Any]


@pytest.fixture
def shop(postgres_url: str) -> str:
    with psycopg.connect(postgres_url) as connection:
        connection.execute("CREATE TABLE customers (id int PRIMARY KEY, name text, city text)")
        connection.execute(
            "CREATE TABLE orders (id int PRIMARY KEY, customer_id int REFERENCES customers, amount numeric)"
        )
        connection.execute("INSERT INTO customers VALUES (1, 'Ana', 'Berlin'), (2, 'Bo', 'Paris')")
        connection.execute("INSERT INTO orders VALUES (1, 1, 10), (2, 1, 20), (3, 2, 5)")
    return postgres_url


def test_a_postgresql_database_is_asked(answerable: Run, shop: str) -> None:
    done = answerable("ask", "total amount per city", "--source", shop, "--json")
    assert done.code == 0, done.out + done.err
    assert sorted(sorted(row, key=str) for row in done.json["rows"]) == [[5, "Paris"], [30, "Berlin"]]


def test_postgresql_keeps_runs_for_the_next_process(answerable: Run, shop: str, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a\n1\n")
    env = {"ANSWERABLE_STORE": shop}
    run = answerable("ask", "SQL: SELECT a FROM t", "-s", str(tmp_path / "t.csv"), "--json", env=env).json["run_id"]
    assert answerable("runs", "show", run, "--json", env=env).json["answer"]["rows"] == [[1]]


@pytest.mark.parametrize(
    "url",
    ["postgresql://nobody:secret@127.0.0.1:1/none", "postgresql://", "postgresql://[", "mysql://x/y"],
)
def test_a_wrong_url_is_explained_without_its_password(answerable: Run, url: str) -> None:
    done = answerable("ask", "how many orders?", "--source", url, "--json")
    assert done.code in (1, 2)
    assert done.json["text"]
    assert "secret" not in done.out + done.err


def test_a_damaged_store_is_named(answerable: Run, home: Path) -> None:
    folder = home / ".answerable"
    folder.mkdir()
    (folder / "answerable.db").write_bytes(b"not a database, but quite long" * 200)
    done = answerable("runs", "list")
    assert done.code == 1
    assert "answerable.db" in done.err


def test_a_newer_store_is_left_alone(answerable: Run, home: Path) -> None:
    assert answerable("runs", "list").code == 0
    path = home / ".answerable" / "answerable.db"
    with sqlite3.connect(path) as connection:
        connection.execute("INSERT INTO migrations VALUES (9999, 'from the future', '2030-01-01')")
    connection.close()
    before = path.read_bytes()
    done = answerable("runs", "list")
    assert done.code == 1
    assert "newer" in done.err
    assert path.read_bytes() == before


def test_a_password_in_a_url_is_written_nowhere(answerable: Run, shop: str, home: Path) -> None:
    """Not with the run, its events, its answer or its rows, nor in what is kept of the description."""
    location = f"{shop}&password=hunter2"
    asked = answerable("ask", "total amount per city", "--source", location, "--json")
    assert asked.code == 0, asked.out + asked.err
    assert "hunter2" not in asked.out
    assert asked.json["steps"][0]["source"] == shop.replace(":@", "@")
    plan = {"source": location, "steps": [{"id": "one", "tool": "sql", "source": location, "code": "SELECT 1 AS n"}]}
    (home / "plan.json").write_text(json.dumps(plan))
    planned = answerable("ask", "--plan", str(home / "plan.json"), "--json")
    assert planned.code == 0, planned.out + planned.err
    (home / "plan.json").unlink()
    kept = [path for path in home.rglob("*") if path.is_file()]
    assert any(path.suffix == ".db" for path in kept)
    assert [path for path in kept if b"hunter2" in path.read_bytes()] == []
    assert answerable("replay", asked.json["run_id"]).code == 0
