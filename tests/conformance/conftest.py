"""The store's suite runs on every database that it supports."""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from answerable.core.context import Principal
from answerable.core.ids import TenantId, UserId
from answerable.store.base import Store
from answerable.store.open import open_store
from answerable.store.schema import Migration


class People:
    """Two tenants. Nothing of one may ever reach the other; within a tenant, rules of the layers above decide."""

    ada = Principal(TenantId("acme"), UserId("ada"))
    bob = Principal(TenantId("acme"), UserId("bob"))
    eve = Principal(TenantId("evil"), UserId("eve"))


class SteppingClock:
    """Each look at it is a second later, so that order is certain; `step` can be set to zero to make times equal."""

    def __init__(self) -> None:
        self.time = datetime(2026, 1, 1, 12, 0, 0, 123456, tzinfo=UTC)
        self.step = timedelta(seconds=1)

    def now(self) -> datetime:
        self.time += self.step
        return self.time

    def monotonic(self) -> float:
        return self.time.timestamp()

    async def sleep(self, seconds: float) -> None:
        self.time += timedelta(seconds=seconds)


Opener = Callable[..., Awaitable[Store]]


@pytest.fixture
def people() -> People:
    return People()


@pytest.fixture
def clock() -> SteppingClock:
    return SteppingClock()


@pytest.fixture(params=["sqlite", "postgres"])
def store_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'answerable.db'}"
    return str(request.getfixturevalue("postgres_url"))


@pytest.fixture
async def opened(store_url: str, tmp_path: Path, clock: SteppingClock) -> AsyncIterator[Opener]:
    """Opens the same store as often as wanted, as other processes would; all are closed at the end."""
    async with AsyncExitStack() as closing:

        async def open_one_more(known: Sequence[Migration] | None = None, **options: Any) -> Store:
            store = await open_store(store_url, artifacts=tmp_path / "artifacts", clock=clock, known=known, **options)
            closing.push_async_callback(store.close)
            return store

        yield open_one_more


@pytest.fixture
async def store(opened: Opener) -> Store:
    return await opened()
