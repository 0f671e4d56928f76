"""Every door of the API, gone through by Ana in two worlds that differ only in what she may not see: all replies are
the same. In both worlds the boss has asked before about all that is hidden."""

import json
import re
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import httpx
import pytest
import pytest_asyncio
from access_world import POLICY, fill_duckdb, rows_of
from served_app import serving

from answerable.access.policy import new_key
from answerable.gateway.app import create_app
from answerable.settings import Settings

pytestmark = pytest.mark.asyncio(loop_scope="module")
HIDDEN = re.compile(
    r"Hid[01]x\d|Hidden[01]|Codename[01]-|azz@|aa@x|secret\.org|hidden note|not json|77700[01]|9123[0-9]|500[1-3]\b"
)
VARYING = re.compile(
    r"(run|thr|msg|req|evl|edt|art|key|ses)_[0-9a-z]{16,}|\d{4}-\d\d-\d\dT[\d:.]+(Z|\+00:00)|\b[0-9a-f]{8,64}\b"
    r'|"(duration_ms|elapsed_ms|ms|seconds|started|ended|at|took|bytes|size|data_age_seconds|p\d+|age)":[\d.]+'
    r"|/shared/[\w-]+|\d+ ms|\d+ min|world\d+"
)
_WORDS = re.compile(r"[\w.]+")
QUESTIONS = (
    "how many staff are there?",
    "how many orders by region?",
    "orders of Hid0x10",
    "how many orders have the item Hidden0?",
    "how many orders have the item hiden1?",
    "what is the codename of plan 1?",
    "average salary",
    "who has the highest salary?",
    "staff with email aa@x.no",
    "who is the oldest?",
    "average amount of orders in North",
    "regions without staff",
    "which region has the most orders?",
    "how many different items are there?",
    "orders above 9000",
    "SQL: SELECT region, count(*) AS n FROM staff GROUP BY region",
    "SQL: SELECT * FROM plans",
    "SQL: SELECT name, age, email, badge FROM staff ORDER BY id",
    "SQL: SELECT 1 / (amount - 9010) FROM orders",
)
FOLLOWED = ("how many orders by region?", "average amount of orders in North", *QUESTIONS[-4:-2])
"""Whose runs are looked at from all sides."""
EXPLORED: tuple[tuple[str, list[dict[str, Any]]], ...] = (
    ("staff", []),
    ("orders", []),
    ("plans", []),
    ("planets", []),
    ("orders", [{"kind": "group", "by": {"column": "item"}}]),
    ("orders", [{"kind": "filter", "of": {"column": "region"}, "values": ["East"]}]),
    ("orders", [{"kind": "measure", "function": "max", "of": {"column": "amount"}}]),
    ("staff", [{"kind": "group", "by": {"column": "salary"}}]),
    ("staff", [{"kind": "group", "by": {"column": "email"}}]),
    ("staff", [{"kind": "measure", "function": "avg", "of": {"column": "age"}}]),
    ("staff", [{"kind": "measure", "function": "max", "of": {"column": "salary"}}]),
    ("staff", [{"kind": "filter", "of": {"column": "note"}, "values": ["hidden note 0"]}]),
    ("regions", [{"kind": "measure", "function": "count", "of": {"table": "staff", "column": "id"}}]),
)


class Door:
    """One world behind HTTP."""

    def __init__(self, port: int, keys: dict[str, str]) -> None:
        self._keys = keys
        self.client = httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}/api/v1", timeout=60)

    async def send(self, user: str, method: str, path: str, body: Any = None) -> httpx.Response:
        return await self.client.request(method, path, json=body, headers={"X-API-Key": self._keys[user]})

    async def seen(self, method: str, path: str, body: Any = None) -> str:
        """What Ana gets, without what differs between any two runs."""
        reply = await self.send("ana", method, path, body)
        return f"{reply.status_code} {VARYING.sub('_', _sorted(reply.text))}"

    async def asked(self, user: str, text: str) -> dict[str, Any]:
        reply = await self.send(user, "POST", "/chat", {"message": text})
        found: dict[str, Any] = reply.json()
        return found


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def doors(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[list[Door]]:
    async with AsyncExitStack() as stack:
        made = []
        for number in (0, 1):
            folder = tmp_path_factory.mktemp("world")
            keys = {user: new_key() for user in ("ana", "boss")}
            settings = Settings(
                home=_home(folder, keys),
                sources={"shop": str(fill_duckdb(folder / "shop.duckdb", rows_of(number))), "extra": _extra(folder)},
                source="shop",
                store=":memory:",
            )
            door = Door(
                await stack.enter_async_context(serving(create_app(settings))), {u: k[0] for u, k in keys.items()}
            )
            stack.push_async_callback(door.client.aclose)
            await _boss_was_here(door, number)
            made.append(door)
        yield made


def _home(folder: Path, keys: dict[str, tuple[str, str]]) -> Path:
    text = POLICY.replace("[ask, sql]", "[ask, sql, evaluate]").replace("administer]", "administer, evaluate]")
    text += "  - {name: extra, for: [seller, manager], source: extra, allow: true}\n"
    for user, (_, digest) in keys.items():
        text = text.replace(f"  {user}: {{", f"  {user}: {{keys: [{{name: k, digest: '{digest}'}}], ")
    (folder / "home").mkdir()
    (folder / "home" / "access.yaml").write_text(text)
    (folder / "home" / "access.secret").write_text("the same in both worlds")
    return folder / "home"


def _extra(folder: Path) -> str:
    (folder / "extra").mkdir()
    (folder / "extra" / "targets.csv").write_text("region,target\nWest,10\nEast,20\nNorth,30\n")
    return str(folder / "extra")


async def _boss_was_here(door: Door, number: int) -> None:
    for text in (
        "SQL: SELECT name, salary, email FROM staff",
        f"SQL: SELECT * FROM plans WHERE codename = 'Codename{number}-1'",
        f"how many orders have the item Hidden{number}?",
    ):
        run = (await door.asked("boss", text))["run_id"]
        await door.send("boss", "POST", "/evals/mine/cases", {"run_id": run})
        await door.send("boss", "POST", "/wrong-answers", {"run_id": run, "what": "rows", "note": "hidden note"})
        thread = (await door.send("boss", "GET", f"/runs/{run}")).json().get("thread_id")
        await door.send("boss", "POST", f"/threads/{thread}/share")
    for path in ("/sources/shop/questions", "/sources/shop/status", "/sources/shop/tables/plans/statistics"):
        await door.send("boss", "GET", path)


async def test_every_door_before_a_question(doors: list[Door]) -> None:
    document = (await doors[0].client.get(doors[0].client.base_url.copy_with(path="/openapi.json"))).json()
    gone_through = 0
    for path, operations in document["paths"].items():
        if "get" not in operations or not path.startswith("/api/v1/") or "{run_id}" in path or "{thread_id}" in path:
            continue
        for table in ("staff", "orders", "plans", "planets") if "{table}" in path else ("",):
            filled = path.removeprefix("/api/v1").replace("{table}", table).replace("{dataset_id}", "shop")
            filled = filled.replace("{name}", "shop").replace("{suite}", "mine")
            if "{" not in filled:
                gone_through += 1
                _same(filled, *[await door.seen("GET", filled) for door in doors])
    assert gone_through > 25
    for search in ("Hid", "Codename", "salary", "secret"):
        _same(search, *[await door.seen("GET", f"/threads?search={search}") for door in doors])


async def test_questions_and_all_that_follows_from_them(doors: list[Door]) -> None:
    for text in QUESTIONS:
        replies = [await door.asked("ana", text) for door in doors]
        _same(text, *(VARYING.sub("_", _sorted(json.dumps(reply))) for reply in replies))
        for path in _of_a_run() if text in FOLLOWED else ():
            seen = [
                await door.seen("POST" if path.endswith("replay") else "GET", path.format(reply["run_id"]))
                for door, reply in zip(doors, replies, strict=True)
            ]
            _same(f"{text}: {path}", *seen)


def _of_a_run() -> Iterator[str]:
    for part in ("", "/status", "/plan", "/rows", "/rows/totals", "/judgement", "/nodes", "/replay"):
        yield "/runs/{}" + part
    yield "/runs/{}/rows?format=csv"
    yield "/runs/{0}/comparison?with={0}"


@pytest.mark.parametrize("rows", [False, True])
async def test_tables_that_are_explored(doors: list[Door], rows: bool) -> None:
    for table, changes in EXPLORED:
        path, body = f"/sources/shop/tables/{table}/explore", {"changes": changes, "rows": rows}
        _same(f"{path} {changes}", *[await door.seen("POST", path, body) for door in doors])


async def test_two_sources_asked_together(doors: list[Door]) -> None:
    for text in ("orders and targets by region", "target of each region with its number of staff"):
        body = {"message": text, "sources": ["shop", "extra"]}
        _same(text, *[await door.seen("POST", "/chat", body) for door in doors])
    sql = (
        'SELECT t.region, t.target, count(o.id) AS n FROM "extra".targets t '
        'LEFT JOIN "shop".orders o ON o.region = t.region GROUP BY ALL'
    )
    body = {"message": f"SQL: {sql}", "sources": ["shop", "extra"]}
    _same(sql, *[await door.seen("POST", "/chat", body) for door in doors])


async def test_the_boss_sees_what_differs(doors: list[Door]) -> None:
    """Otherwise the tests above would prove nothing."""
    told = [json.dumps(await door.asked("boss", "SQL: SELECT name, salary, email FROM staff")) for door in doors]
    assert all(HIDDEN.search(text) for text in told)
    assert told[0] != told[1]


def _sorted(text: str) -> str:
    """JSON with its keys in order, so that two replies can be compared as text."""
    try:
        return json.dumps(json.loads(text), sort_keys=True, separators=(",", ":"))
    except ValueError:
        return text


def _same(what: str, first: str, second: str) -> None:
    for text in (first, second):
        leaked = [found for found in HIDDEN.findall(text) if found not in what]
        assert not leaked, (what, leaked, text[:3000])
    # Rows of the same rank come in any order.
    assert sorted(_WORDS.findall(first)) == sorted(_WORDS.findall(second)), (what, first[:2000], second[:2000])
