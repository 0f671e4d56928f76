"""How an API's own limits are heeded: rate headers, busy answers, unchanged answers, and a host that is down."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from datetime import timedelta
from email.utils import format_datetime

import pytest
from api_server import Answer, ApiServer, Received

from answerable.apis.broker import Broker
from answerable.apis.call import ApiCall
from answerable.apis.rate import Concurrency, RateLimiter
from answerable.apis.session import ApiSession
from answerable.apis.target import ApiTarget, Rate
from answerable.core.clock import SystemClock
from answerable.core.errors import TransientError


@pytest.fixture
def api() -> Iterator[ApiServer]:
    server = ApiServer()
    yield server
    server.close()


class HastyClock(SystemClock):
    """Waits in no time, and remembers how long it was to wait."""

    def __init__(self) -> None:
        self.passed = 0.0

    def monotonic(self) -> float:
        return SystemClock.monotonic() + self.passed

    async def sleep(self, seconds: float) -> None:
        self.passed += seconds
        await asyncio.sleep(0)


@pytest.fixture
def clock() -> HastyClock:
    return HastyClock()


@pytest.fixture
async def broker(api: ApiServer, clock: HastyClock) -> AsyncIterator[Broker]:
    broker = Broker(
        {"api": ApiTarget(url=api.url, paths=("/rows",), rate=Rate(per_second=1e6, burst=1000))}, clock=clock
    )
    yield broker
    await broker.close()


@pytest.fixture
def session(broker: Broker) -> ApiSession:
    return broker.session("api", seconds=600)


ROWS = ApiCall("/rows")


async def test_an_unchanged_reply_is_not_sent_again(api: ApiServer, session: ApiSession) -> None:
    def route(received: Received) -> Answer:
        known = received.headers.get("If-None-Match") == '"v1"'
        return Answer(b"", 304) if known else Answer([1, 2], 200, {"ETag": '"v1"'})

    api.route = route
    first, second = await session.call(ROWS), await session.call(ROWS)
    assert first.data == second.data == [1, 2]
    assert (first.byte_count > 0, second.byte_count) == (True, 0)
    other = await session.call(ApiCall("/rows", params={"q": "x"}))
    assert other.byte_count > 0


@pytest.mark.parametrize("header", ["X-Rate-Limit-{}", "X-RateLimit-{}", "RateLimit-{}"])
async def test_an_api_that_allows_no_more_is_left_alone_until_it_does(
    api: ApiServer, session: ApiSession, clock: HastyClock, header: str
) -> None:
    api.route = lambda _received: Answer([], 200, {header.format("Remaining"): "0", header.format("Reset"): "42"})
    await session.call(ROWS)
    assert clock.passed == 0
    await session.call(ROWS)
    assert 40 < clock.passed <= 42


async def test_a_reset_may_be_a_moment(api: ApiServer, session: ApiSession, clock: HastyClock) -> None:
    reset = str(int(clock.now().timestamp()) + 30)
    api.route = lambda _received: Answer([], 200, {"X-Rate-Limit-Remaining": "0", "X-Rate-Limit-Reset": reset})
    await session.call(ROWS)
    await session.call(ROWS)
    assert 25 < clock.passed <= 31


@pytest.mark.parametrize("hours", [-1, 1])
async def test_the_clock_of_the_api_may_differ_from_ours(
    api: ApiServer, session: ApiSession, clock: HastyClock, hours: int
) -> None:
    theirs = clock.now() + timedelta(hours=hours)
    headers = {
        "Date": format_datetime(theirs, usegmt=True),
        "X-Rate-Limit-Remaining": "0",
        "X-Rate-Limit-Reset": str(int(theirs.timestamp()) + 30),
    }
    api.route = lambda _received: Answer([], 200, headers)
    await session.call(ROWS)
    await session.call(ROWS)
    assert 25 < clock.passed <= 31
    later = format_datetime(theirs + timedelta(seconds=70), usegmt=True)
    api.route = lambda _received: Answer({}, 429, headers | {"Retry-After": later}) if clock.passed < 90 else Answer([])
    await session.call(ROWS)
    assert 90 < clock.passed < 200


async def test_retry_after_holds_all_sessions_back(api: ApiServer, broker: Broker, clock: HastyClock) -> None:
    api.route = lambda _received: Answer({}, 429, {"Retry-After": "7"}) if len(api.received) == 1 else Answer([])
    await broker.session("api", seconds=600).call(ROWS)
    assert clock.passed >= 7
    assert len(api.received) == 2


async def test_calls_at_once_grow_while_the_api_answers_and_halve_when_it_is_busy(
    api: ApiServer, session: ApiSession
) -> None:
    concurrency = session._host.concurrency
    assert int(concurrency.allowed) == 2
    await asyncio.gather(*(session.call(ROWS) for _ in range(60)))
    grown = concurrency.allowed
    assert grown > 6
    api.route = lambda _received: Answer({}, 429) if len(api.received) == 61 else Answer([])
    await session.call(ROWS)
    assert concurrency.allowed < grown * 0.7


async def test_no_more_calls_run_at_once_than_are_allowed_and_those_who_give_up_take_no_place() -> None:
    concurrency = Concurrency(first=2, most=2)
    running = most = 0

    async def work() -> None:
        nonlocal running, most
        async with concurrency.place():
            running += 1
            most = max(most, running)
            await asyncio.sleep(0.001)
            running -= 1

    tasks = [asyncio.create_task(work()) for _ in range(20)]
    await asyncio.sleep(0)
    for task in tasks[5:10]:
        task.cancel()
    done = await asyncio.gather(*tasks, return_exceptions=True)
    assert most == 2
    assert sum(isinstance(each, asyncio.CancelledError) for each in done) == 5


async def test_a_host_that_fails_again_and_again_is_left_alone(api: ApiServer, session: ApiSession) -> None:
    api.route = lambda _received: Answer({}, 500)
    for _ in range(5):
        with pytest.raises(TransientError):
            await session.call(ROWS)
    before = len(api.received)
    with pytest.raises(TransientError) as caught:
        await session.call(ROWS)
    assert caught.value.stable_code == "breaker_open"
    assert caught.value.details["may_have_acted"] is False
    assert len(api.received) == before == 10


async def test_the_tokens_never_exceed_what_the_api_still_gives(clock: HastyClock) -> None:
    limiter = RateLimiter(Rate(per_second=1, burst=100), clock)
    limiter.learn(2, 60)
    for _ in range(3):
        await limiter.wait_for_turn(clock.monotonic() + 1_000)
    assert clock.passed > 0
