"""A gateway to the scripted model, with a store in memory and a clock that does not wait."""

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from scripted_model import ScriptedModel

from answerable.core.context import Principal, RunContext
from answerable.core.ids import RunId, TenantId, ThreadId, UserId
from answerable.models.calls import ModelCalled
from answerable.models.config import ModelsConfig
from answerable.models.gateway import Models
from answerable.store.base import Store
from answerable.store.open import open_store


class QuickClock:
    """Sleeping only moves it on; `slept` tells for how long."""

    def __init__(self) -> None:
        self.time = datetime(2026, 11, 16, 12, tzinfo=UTC)
        self.slept: list[float] = []

    def now(self) -> datetime:
        return self.time

    def monotonic(self) -> float:
        return self.time.timestamp()

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.time += timedelta(seconds=seconds)


class Always:
    """A random number that is always the highest."""

    def uniform(self, low: float, high: float) -> float:
        return high


@pytest.fixture
def clock() -> QuickClock:
    return QuickClock()


@pytest.fixture
def calls() -> list[ModelCalled]:
    """What the gateway told about its calls."""
    return []


@pytest.fixture
def context() -> RunContext:
    return RunContext(RunId("run_1"), Principal(TenantId("acme"), UserId("ada")), ThreadId("thr_1"))


@pytest.fixture
async def store() -> AsyncIterator[Store]:
    store = await open_store(":memory:")
    yield store
    await store.close()


Maker = Callable[..., Models]


@pytest.fixture
async def make(
    scripted_model: ScriptedModel, store: Store, clock: QuickClock, calls: list[ModelCalled]
) -> AsyncIterator[Maker]:
    """`make(reasoning=…, budget=…)`: a gateway whose provider `lab` is the scripted model. Closed at the end."""
    async with AsyncExitStack() as closing:

        def made(environment: dict[str, str] | None = None, **settings: Any) -> Models:
            lab = {"base_url": scripted_model.base_url, "key": "lab-key"}
            given = {"reasoning": "lab:scripted", **settings}
            given["providers"] = {"lab": lab, **settings.get("providers", {})}
            models = Models(
                ModelsConfig.model_validate(given),
                store.budgets,
                clock=clock,
                environment=environment or {},
                random=Always(),  # type: ignore[arg-type]
                listeners=[calls.append],
            )
            closing.push_async_callback(models.close)
            return models

        yield made


@pytest.fixture
def models(make: Maker) -> Models:
    return make()
