"""Queries that people wrote for real databases pass the check and give the same rows afterwards."""

import json
import sqlite3
from contextlib import closing
from functools import cache
from pathlib import Path

from answerable.core.catalog import Catalog, Column, Table
from answerable.query.sql.check import checked

EVERY = 7


def _catalog(database: sqlite3.Connection) -> Catalog:
    names = database.execute(
        "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite_%'"
    )
    tables = []
    for (name,) in names.fetchall():
        described = database.execute(f'SELECT name FROM pragma_table_info("{name}")').fetchall()
        tables.append(Table(name=name, columns=tuple(Column(name=column, type="text") for (column,) in described)))
    return Catalog(source="gold", dialect="sqlite", tables=tuple(tables))


def test_gold_sql_of_many_databases(shared_data: Path) -> None:
    folder = shared_data / "spider_train"
    cases = [json.loads(line) for line in (folder / "cases.jsonl").read_text().splitlines()][::EVERY]
    assert len(cases) > 400
    databases: dict[str, sqlite3.Connection] = {}

    @cache
    def catalog(source: str) -> Catalog:
        databases[source] = sqlite3.connect(f"file:{folder / source}?mode=ro", uri=True)
        databases[source].text_factory = lambda raw: raw.decode(errors="replace")
        return _catalog(databases[source])

    for case in cases:
        text = checked(case["gold_sql"], catalog(case["source"])).text
        database = databases[case["source"]]
        assert database.execute(text).fetchall() == database.execute(case["gold_sql"]).fetchall(), text
    for database in databases.values():
        with closing(database):
            pass
