"""A real server in its own process on loopback, with the demo data and a small folder."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
from served import Server


def _small(base: Path) -> Path:
    folder = base / "small"
    folder.mkdir()
    (folder / "people.csv").write_text("id,name,city\n1,Ana,Berlin\n2,Bo,Paris\n3,Cy,Berlin\n")
    return folder


@pytest.fixture(scope="package")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    base = tmp_path_factory.mktemp("gateway")
    started = Server(home=base / "home", folder=_small(base)).start()
    yield started
    assert started.process is not None
    started.process.terminate()
    started.process.wait(timeout=20)


@pytest.fixture
def api(server: Server) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=f"{server.url}/api/v1", timeout=60) as client:
        yield client


@pytest.fixture
def upload(api: httpx.Client) -> Iterator[Callable[..., httpx.Response]]:
    """Uploads; what was made goes away in the end."""
    made: set[str] = set()

    def send(content: bytes, name: str, **more: Any) -> httpx.Response:
        reply = api.post("/uploads", params={"name": name, **more}, content=content)
        if reply.status_code == 201:
            made.add(reply.json()["source"]["name"])
        return reply

    yield send
    for name in made:
        api.delete(f"/sources/{name}")


@pytest.fixture
def own_server(tmp_path: Path) -> Iterator[Server]:
    """One that a test may kill."""
    started = Server(home=tmp_path / "server-home", folder=_small(tmp_path)).start()
    yield started
    started.kill()


@dataclass
class SseEvent:
    id: int
    type: str
    data: dict[str, Any]


def parsed(lines: Iterator[str]) -> Iterator[SseEvent]:
    fields: dict[str, str] = {}
    for line in lines:
        if line:
            name, _, value = line.partition(": ")
            fields[name] = value
        elif "id" in fields:
            yield SseEvent(int(fields["id"]), fields["event"], json.loads(fields["data"]))
            fields = {}
        else:
            fields = {}


@pytest.fixture
def sse() -> Any:
    return parsed
