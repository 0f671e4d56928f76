"""A service with an empty store, a small file to ask, and graphs written as text."""

from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from graph_text import graph_text

from answerable.app import open_service
from answerable.core.context import LOCAL
from answerable.service import Service
from answerable.service.graphs import GraphRun
from answerable.settings import Settings

RunGraph = Callable[..., Awaitable[GraphRun]]


@pytest.fixture
def orders(tmp_path: Path) -> Path:
    path = tmp_path / "orders.csv"
    path.write_text("id,region,amount\n1,North,10\n2,South,20\n3,North,7\n4,East,1\n")
    return path


@pytest.fixture
def settings(tmp_path: Path, orders: Path) -> Settings:
    return Settings(home=tmp_path / "home", source=str(orders))


@pytest.fixture
async def service(settings: Settings) -> AsyncIterator[Service]:
    async with open_service(settings, any_location=True) as opened:
        yield opened


@pytest.fixture
def run_graph(service: Service, orders: Path) -> RunGraph:
    """Runs a graph from its nodes in YAML; `ORDERS` stands for the file."""

    async def run(nodes: str, *, head: str = "", **given: Any) -> GraphRun:
        started = await service.graphs.begin(graph_text(nodes, head).replace("ORDERS", str(orders)), given, LOCAL)
        return await service.graphs.wait(started, LOCAL)

    return run
