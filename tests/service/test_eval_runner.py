"""Gold statements of evaluations run as the operator wrote them, within the walls of their source."""

import sqlite3
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from answerable.app import open_service
from answerable.core.catalog import Catalog, Column, Table
from answerable.core.context import LOCAL
from answerable.core.errors import AnswerableError, RefusedError
from answerable.evals.cases import Case
from answerable.evals.run import evaluate
from answerable.query.sql.check import checked
from answerable.service import Service
from answerable.settings import Settings

UNLISTED = "WITH RECURSIVE n(x) AS (SELECT 1 UNION SELECT 1 FROM n) SELECT COUNT(*) FROM orders"
"""A recursion without a bound is refused, although this one ends."""
"""Its function is not on the allow-list."""
ORDERS = Table(name="orders", columns=(Column(name="id", type="integer"),))
CATALOG = Catalog(source="shop", dialect="sqlite", tables=(ORDERS,))


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    with sqlite3.connect(tmp_path / "shop.sqlite") as connection:
        connection.execute("CREATE TABLE orders (id INTEGER PRIMARY KEY)")
        connection.executemany("INSERT INTO orders VALUES (?)", [(1,), (2,), (3,)])
    connection.close()
    return tmp_path / "shop.sqlite"


@pytest.fixture
async def service(tmp_path: Path, shop: Path) -> AsyncIterator[Service]:
    settings = Settings(home=tmp_path / "home", sources={"shop": str(shop)}, store=":memory:")
    async with open_service(settings, any_location=True) as opened:
        yield opened


def _case(gold_sql: str) -> Case:
    return Case(id="count", question="How many orders are there?", source="shop", gold_sql=gold_sql)


async def test_a_gold_statement_outside_the_allow_list_runs(service: Service) -> None:
    with pytest.raises(RefusedError, match="no condition that ends it"):
        checked(UNLISTED, CATALOG)
    runner = service.evals.runner(LOCAL)
    assert await runner.execute(_case(UNLISTED), UNLISTED) == [(3,)]
    measured = await evaluate([_case(UNLISTED)], runner)
    assert (measured.cases, measured.correct) == (1, 1)


async def test_a_gold_statement_cannot_write(service: Service, shop: Path) -> None:
    with pytest.raises(AnswerableError):
        await service.evals.runner(LOCAL).execute(_case("x"), "DELETE FROM orders")
    with sqlite3.connect(shop) as connection:
        assert connection.execute("SELECT COUNT(*) FROM orders").fetchone() == (3,)
    connection.close()
