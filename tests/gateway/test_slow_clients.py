"""Clients that hold connections without asking for anything, over real sockets."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest
from served_app import serving

from answerable.gateway.app import create_app
from answerable.gateway.connections import BoundedConnection
from answerable.gateway.middleware import bodies
from answerable.settings import Settings

HEAD = (
    b"POST /api/v1/chat HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n"
)
UPLOAD = b"POST /api/v1/uploads?name=a.csv HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 100000\r\n\r\n"


@pytest.fixture
async def port(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[int]:
    monkeypatch.setattr(BoundedConnection, "head_seconds", 0.6)
    monkeypatch.setattr(BoundedConnection, "most_per_client", 20)
    monkeypatch.setattr(bodies, "BODY_SECONDS", 0.6)
    async with serving(create_app(Settings(home=tmp_path / "home"))) as port:
        yield port


async def is_closed(port: int, sent: bytes, drip: bytes) -> bool:
    """Whether the server closes a connection on which bytes keep coming, one at a time."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        writer.write(sent)
        for _ in range(40):
            try:
                return await asyncio.wait_for(reader.read(4096), 0.1) is not None
            except TimeoutError:
                writer.write(drip)
        return False
    except ConnectionError:
        return True
    finally:
        writer.close()


@pytest.mark.parametrize(
    ("sent", "drip"),
    [
        (b"", b""),
        (b"GET /healthz HT", b""),
        (b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nX: ", b"x"),
        (HEAD, b""),
        (HEAD, b" "),
        (UPLOAD, b""),
        (UPLOAD, b"a"),
    ],
    ids=["nothing", "half a line", "dripping head", "no body", "dripping body", "no upload", "dripping upload"],
)
async def test_a_slow_client_is_left(port: int, sent: bytes, drip: bytes, tmp_path: Path) -> None:
    assert await is_closed(port, sent, drip)
    left = [path for path in (tmp_path / "home" / "uploads").rglob("*") if path.is_file()]
    assert [path for path in left if path.suffix != ".lock"] == []
    async with httpx.AsyncClient() as client:
        assert (await client.get(f"http://127.0.0.1:{port}/healthz")).status_code == 200


async def test_one_client_has_only_so_many_connections(port: int) -> None:
    opened = [await asyncio.open_connection("127.0.0.1", port) for _ in range(40)]
    await asyncio.sleep(0.2)
    refused = [reader for reader, _ in opened if reader.at_eof() or reader.exception() is not None]
    assert len(refused) == 20
    for _, writer in opened:
        writer.close()
    await asyncio.sleep(0.2)
    async with httpx.AsyncClient() as client:
        assert (await client.get(f"http://127.0.0.1:{port}/healthz")).status_code == 200


async def test_an_answer_may_take_its_time_and_a_connection_serves_many_requests(port: int) -> None:
    async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=30) as client:
        for _ in range(3):
            assert (await client.get("/healthz")).status_code == 200
        asked = await client.post("/api/v1/chat", json={"message": "revenue per month in 2024", "source": "demo"})
        assert asked.status_code == 200
        assert "run.finished" in (await client.get(f"/api/v1/runs/{asked.json()['run_id']}/events")).text
