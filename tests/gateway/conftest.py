"""A real server in its own process on loopback, with the demo data and a small folder."""

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

COMMAND = Path(sys.executable).with_name("answerable")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@dataclass
class Server:
    """Start it, kill it, start it again on the same home."""

    home: Path
    folder: Path
    port: int
    process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        environment = {k: v for k, v in os.environ.items() if not k.startswith("ANSWERABLE_")}
        environment |= {
            "ANSWERABLE_HOME": str(self.home),
            "ANSWERABLE_LOG_LEVEL": "debug",
            "HOME": str(self.home.parent),
        }
        with (self.home.parent / "server.log").open("ab") as log:
            self.process = subprocess.Popen(
                [str(COMMAND), "serve", "--port", str(self.port), "--source", f"small={self.folder}"],
                env=environment,
                stdout=log,
                stderr=log,
            )
        for _ in range(300):
            try:
                httpx.get(f"{self.url}/healthz", timeout=1)
                return
            except httpx.TransportError:
                assert self.process.poll() is None, (self.home.parent / "server.log").read_text()
                time.sleep(0.1)
        raise AssertionError("the server did not start")

    def kill(self) -> None:
        assert self.process is not None
        self.process.kill()
        self.process.wait()

    def log(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in (self.home.parent / "server.log").read_text().splitlines()]


@pytest.fixture(scope="package")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    base = tmp_path_factory.mktemp("gateway")
    folder = base / "small"
    folder.mkdir()
    (folder / "people.csv").write_text("id,name,city\n1,Ana,Berlin\n2,Bo,Paris\n3,Cy,Berlin\n")
    started = Server(home=base / "home", folder=folder, port=free_port())
    started.start()
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
    folder = tmp_path / "small"
    folder.mkdir()
    (folder / "people.csv").write_text("id,name,city\n1,Ana,Berlin\n2,Bo,Paris\n3,Cy,Berlin\n")
    started = Server(home=tmp_path / "server-home", folder=folder, port=free_port())
    started.start()
    yield started
    if started.process is not None and started.process.poll() is None:
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
