"""An API under rules: two shops that differ only in what is hidden give the same to each attempt, and say the same."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import polars
import pytest
import pytest_asyncio
from access_world import ANA
from api_server import Answer, Received
from shop_api import CUSTOMERS, ORDERS, TOKEN, ShopApi

from answerable.core.errors import AnswerableError
from answerable.query.sql.check import checked
from answerable.sources.base import CallableApi, Limits
from answerable.sources.registry import SourceRegistry

pytestmark = pytest.mark.asyncio(loop_scope="module")

POLICY = """
users:
  ana: {roles: [seller], attributes: {city: Berlin}}
roles:
  seller: {actions: [ask, sql, python]}
rules:
  - {name: see, for: seller, source: shop, allow: true}
  - {name: own-city, for: seller, source: shop, tables: customers, rows: city = user.city}
  - name: own-orders
    for: seller
    source: shop
    tables: orders
    rows: customer_id IN (SELECT id FROM customers WHERE city = user.city)
  - {name: own-notes, for: seller, source: shop, tables: notes, rows: customer_id = 'c0'}
  - {name: no-mail, for: seller, source: shop, tables: customers, columns: contact_email, deny: true}
  - {name: coded, for: seller, source: shop, tables: customers, columns: name, mask: partial}
"""
ATTEMPTS = """
SELECT * FROM customers
SELECT count(*) AS n FROM customers
SELECT id, name FROM customers ORDER BY id
SELECT city, count(*) AS n FROM customers GROUP BY city
SELECT id FROM customers WHERE city <> 'Berlin'
SELECT id FROM customers WHERE city = 'Berlin' OR true
SELECT id FROM customers WHERE id = 'c1'
SELECT id FROM customers WHERE id = 'h1'
SELECT id FROM customers WHERE id = 'nobody'
SELECT id FROM customers WHERE id IN ('c0', 'c1', 'h0', 'h5', 'nobody')
SELECT id FROM customers WHERE status = 'closed'
SELECT id FROM customers WHERE status = 'hidden'
SELECT id FROM customers WHERE name = 'Ada'
SELECT id FROM customers WHERE name LIKE 'Ad%'
SELECT max(name) AS a, min(name) AS b FROM customers
SELECT contact_email FROM customers
SELECT count(contact_email) AS n FROM customers
SELECT id FROM customers WHERE contact_email LIKE 'ada%'
SELECT id FROM customers ORDER BY contact_email LIMIT 1
SELECT * FROM customers ORDER BY since DESC LIMIT 1
SELECT * FROM customers ORDER BY id LIMIT 2 OFFSET 2
SELECT min(since) AS a, max(since) AS b FROM customers
SELECT count(*) AS n FROM orders
SELECT sum(total) AS s, max(total) AS m FROM orders
SELECT id FROM orders WHERE customer_id = 'c1'
SELECT id FROM orders WHERE customer_id = 'h1'
SELECT o.id FROM orders AS o LEFT JOIN customers AS c ON o.customer_id = c.id WHERE c.id IS NULL
SELECT c.id, count(o.id) AS n FROM customers AS c LEFT JOIN orders AS o ON o.customer_id = c.id GROUP BY c.id
SELECT id FROM customers UNION ALL SELECT customer_id FROM orders
SELECT customer_id FROM orders EXCEPT SELECT id FROM customers
WITH customers AS (SELECT 1 AS x) SELECT x FROM customers
SELECT 1 / (total - 999) AS x FROM orders
SELECT CAST(status AS INTEGER) AS x FROM customers WHERE city <> 'Berlin'
SELECT count(*) AS n FROM notes
SELECT text FROM notes
SELECT text FROM notes WHERE customer_id = 'h1'
SELECT n.text FROM notes AS n JOIN customers AS c ON n.customer_id = c.id WHERE c.city = 'Oslo'
SELECT (SELECT count(*) FROM customers) AS a, count(*) AS b FROM stock
SELECT sku FROM stock WHERE EXISTS (SELECT 1 FROM customers WHERE city = 'Oslo')
SELECT row_number() OVER (ORDER BY id) AS r, id FROM customers
SELECT id FROM customer
SELECT citi FROM customers
""".strip().splitlines()


class HidingShop(ShopApi):
    """Has customers of other cities, who differ from world to world, and their orders and notes."""

    def __init__(self, world: int) -> None:
        super().__init__()
        self._customers = [row for row in CUSTOMERS if row["city"] == "Berlin"]
        self._orders = [row for row in ORDERS if row["customer_id"] in {row["id"] for row in self._customers}]
        for number in range(2 + 7 * world):
            of = {"city": ("Oslo", "Lisbon")[world], "status": "hidden" if world else "closed"}
            mail = {"email": f"hid{world}@example.com"}
            row = {"id": f"h{number}", "name": f"Hid{world}", "since": f"20{20 + world}-01-01", "contact": mail, **of}
            self._customers.insert(number % 3, row)
            placed = {"placed_at": "2030-01-01T00:00:00Z", "lines": []}
            self._orders.append({"id": 900 + number, "customer_id": f"h{number}", "total": 999.0 + world, **placed})

    def answer(self, received: Received) -> Answer:
        if received.query.get("api_key") != [TOKEN]:
            return Answer({"error": "no key"}, 401)
        match received.path.split("/")[2:]:
            case ["customers"]:
                wanted = received.query.get("status")
                rows = [row for row in self._customers if wanted is None or row["status"] == wanted[0]]
                start = int(received.query.get("after", ["0"])[0])
                more = start + self.page < len(rows)
                page = rows[start : start + self.page]
                return Answer({"data": page, "next_cursor": str(start + self.page) if more else None})
            case ["customers", name]:
                found = [row for row in self._customers if row["id"] == name]
                return Answer(found[0]) if found else Answer({}, 404)
            case ["customers", name, "notes"]:
                return Answer([{"text": f"hidden {name}", "author": "x"}] if name.startswith("h") else [])
            case ["orders"]:
                number = int(received.query.get("page", ["1"])[0])
                return Answer(self._orders[(number - 1) * 8 : number * 8])
        return super().answer(received)


class ShopWorld:
    def __init__(self, folder: Path, number: int) -> None:
        self.api, self.folder = HidingShop(number), folder
        (folder / "home").mkdir(parents=True)
        (folder / "home" / "access.yaml").write_text(POLICY)
        self.registry = SourceRegistry({"shop": self.api.location}, folder / "home", any_location=False)

    async def outcome(self, sql: str) -> tuple[Any, ...]:
        try:
            source = await self.registry.get("shop", ANA)
            into = self.folder / "result.arrow"
            result = await source.execute(checked(sql, await source.describe()), into, Limits(seconds=20))
        except AnswerableError as error:
            return error.stable_code, error.message, error.hint
        rows = result.plain_rows if result.plain_rows is not None else polars.read_ipc(into.read_bytes()).rows()
        assert result.live is not None
        return sorted(rows, key=repr), result.live.calls, result.live.pages, result.live.notes, result.live.text[:22]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def shops(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[list[ShopWorld]]:
    patch = pytest.MonkeyPatch()
    patch.setenv("SHOP_TOKEN", TOKEN)
    worlds = [ShopWorld(tmp_path_factory.mktemp(f"shop{number}"), number) for number in (0, 1)]
    yield worlds
    for world in worlds:
        await world.registry.close()
        world.api.close()
    patch.undo()


async def test_an_api_tells_nothing_of_what_is_hidden(shops: list[ShopWorld]) -> None:
    different = []
    for sql in ATTEMPTS:
        first, second = [await world.outcome(sql) for world in shops]
        if first != second:
            different.append((sql, first, second))
    assert different == []
    assert len(ATTEMPTS) >= 40


async def test_programs_may_not_call_an_api_to_which_rules_apply(shops: list[ShopWorld]) -> None:
    source = await shops[0].registry.get("shop", ANA)
    assert isinstance(source, CallableApi)
    assert not source.may_be_called
