"""Cancelling a run of a graph ends the call that is under way: of an API, a model, a query, a program, inside a map."""

import asyncio
import logging
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from answerable.app import open_service
from answerable.core.context import LOCAL
from answerable.core.events import StepStarted
from answerable.service import Service
from answerable.settings import Settings

CROSSED = " cross join ".join(f"orders t{n}" for n in range(24))
NODES = {
    "api": "{kind: api, api: silent, path: /any}",
    "agent": "{kind: agent, prompt: Say something}",
    "sql": f"{{kind: sql, source: ORDERS, sql: 'select sum(t0.amount * t1.amount) as s from {CROSSED}'}}",
    "python": "{kind: python, code: 'while True: pass'}",
}


class Silent:
    """Takes requests and never replies."""

    def __init__(self) -> None:
        self.taken, self.closed = asyncio.Event(), asyncio.Event()

    async def serve(self) -> asyncio.Server:
        return await asyncio.start_server(self._hold, "127.0.0.1", 0)

    async def _hold(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while await reader.read(65536):
            self.taken.set()
        self.closed.set()
        writer.close()


@pytest.fixture
async def silent() -> AsyncIterator[tuple[Silent, str]]:
    target = Silent()
    async with await target.serve() as server:
        yield target, f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"


@pytest.fixture
async def service(tmp_path: Path, orders: Path, silent: tuple[Silent, str]) -> AsyncIterator[Service]:
    url = silent[1]
    settings = Settings(
        home=tmp_path / "home",
        source=str(orders),
        model="compatible:silent",
        model_base_url=f"{url}/v1",
        apis={"silent": {"url": url, "paths": ["/any"]}},
    )
    async with open_service(settings, any_location=True) as opened:
        yield opened


@pytest.mark.parametrize("kind", NODES)
async def test_the_call_that_is_under_way_ends(
    kind: str, service: Service, orders: Path, silent: tuple[Silent, str], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.ERROR, "answerable.engine")
    node = NODES[kind].replace("ORDERS", str(orders))
    text = f"name: held\nnodes:\n  all: {{kind: map, over: [1], body: {{nodes: {{held: {node}}}}}}}\n"
    run = await service.graphs.begin(text, {}, LOCAL)
    async with asyncio.timeout(60):
        async for event in service.runs.events(run, LOCAL):
            if isinstance(event, StepStarted) and event.node == "all/0":
                break
        if kind in ("api", "agent"):
            await silent[0].taken.wait()
        await service.runs.cancel(run, LOCAL)
        if kind in ("api", "agent"):
            await silent[0].closed.wait()
    found = await service.graphs.get_run(run, LOCAL)
    assert (found.status, found.nodes["all"].status) == ("cancelled", "running")
    assert "did not stop" not in caplog.text
