"""What an analyst writes runs: ordinary queries, as data, checked and run in the real engines."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from answerable.core.catalog import Catalog
from answerable.core.values import Language
from answerable.query.sql.check import checked

FOLDER = Path(__file__).parents[1] / "fixtures" / "query" / "ordinary"
DIALECTS: tuple[Language, ...] = ("duckdb", "sqlite", "postgres")


def _queries(dialect: Language) -> list[str]:
    return [line for name in ("all", dialect) for line in (FOLDER / f"{name}.sql").read_text().splitlines() if line]


def _cases() -> Iterator[Any]:
    for dialect in DIALECTS:
        for sql in _queries(dialect):
            yield pytest.param(sql, dialect, id=f"{dialect}: {sql[:70]}")


@pytest.mark.parametrize(("sql", "dialect"), list(_cases()))
def test_runs(sql: str, dialect: Language, shop: Catalog, engines: dict[Language, Any]) -> None:
    answer = checked(sql, shop, dialect=dialect)
    labels, _rows = engines[dialect].run(answer.text)
    assert labels
    checked(answer.text, shop, dialect=dialect)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_there_are_many(dialect: Language) -> None:
    assert len(set(_queries(dialect))) >= 120
