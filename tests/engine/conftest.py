"""Means to try the engine: a clock that does not wait, kinds made from functions, graphs written as dependencies."""

import asyncio
import heapq
import itertools
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from answerable.core.context import LOCAL, RunContext
from answerable.core.events import Event
from answerable.core.ids import new_run_id
from answerable.engine.graph import Graph, Node
from answerable.engine.steps.base import Step
from answerable.store.base import Store
from answerable.store.open import open_store

QUIET_TICKS = 50


class FakeClock:
    """Time passes only when everybody sleeps: then at once, to the moment when the next one wakes."""

    def __init__(self) -> None:
        self.seconds = 1000.0
        self.slept: list[float] = []
        self._sleepers: list[tuple[float, int, asyncio.Future[None]]] = []
        self._numbers = itertools.count()
        self._pump: asyncio.Task[None] | None = None

    def now(self) -> datetime:
        return datetime(2026, 1, 1, tzinfo=UTC) + timedelta(seconds=self.seconds)

    def monotonic(self) -> float:
        return self.seconds

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        waked: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        heapq.heappush(self._sleepers, (self.seconds + seconds, next(self._numbers), waked))
        if self._pump is None or self._pump.done():
            self._pump = asyncio.create_task(self._pass_time())
        await waked

    async def _pass_time(self) -> None:
        while self._sleepers:
            for _ in range(QUIET_TICKS):
                await asyncio.sleep(0)
            moment, _, waked = heapq.heappop(self._sleepers)
            if not waked.done():
                self.seconds = max(self.seconds, moment)
                waked.set_result(None)


class FunctionKind:
    def __init__(self, function: Callable[[Step], Awaitable[Any]]) -> None:
        self.run = function


class MemoryEvents:
    """A journal in memory that counts its commits. `before` may raise, to play a store that fails."""

    def __init__(self, events: Sequence[Event] = ()) -> None:
        self.stored: list[Event] = list(events)
        self.commits: list[list[str]] = []
        self.before: Callable[[Sequence[Event]], None] = lambda _: None

    async def append(self, events: Sequence[Event], lease: object, end: object = None) -> None:
        await asyncio.sleep(0)
        self.before(events)
        taken = {event.seq for event in self.stored}
        assert not taken & {event.seq for event in events}
        self.stored.extend(events)
        self.commits.append([event.type for event in events])

    async def still_ours(self, lease: object) -> None: ...

    async def read(self, principal: object, run: str, *, after: int = 0, limit: int | None = None) -> Sequence[Event]:
        return [event for event in self.stored if event.run == run and event.seq > after][:limit]


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def context() -> RunContext:
    return RunContext(new_run_id(), LOCAL)


@pytest.fixture
def kind() -> type[FunctionKind]:
    return FunctionKind


@pytest.fixture
def memory_events() -> type[MemoryEvents]:
    return MemoryEvents


@pytest.fixture
def graph_of() -> Callable[..., Graph]:
    """`graph_of({"a": "", "b": "a", "c": "a b"})`; keyword arguments go to the graph, `nodes={"b": {…}}` to nodes."""

    def build(after: Mapping[str, str], nodes: Mapping[str, Mapping[str, Any]] | None = None, **options: Any) -> Graph:
        made = [
            Node.model_validate({"id": id, "kind": "f", "after": parents.split(), **(nodes or {}).get(id, {})})
            for id, parents in after.items()
        ]
        return Graph(nodes=tuple(made), **options)

    return build


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    opened = await open_store(tmp_path / "store.db", synchronous="normal")
    yield opened
    await opened.close()
