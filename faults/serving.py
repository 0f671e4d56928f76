"""A server of its own on loopback: started, and waited for until it answers."""

import os
import random
import socket
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

import httpx

from faults.forked_command import ForkedCommand

START_SECONDS = 60.0


def free_port() -> int:
    """Below those that the system gives to connections by itself: a server that is started again finds it free."""
    while True:
        port = random.SystemRandom().randrange(20_000, 32_000)
        with socket.socket() as probe, suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port


def started_server(
    url: str, *arguments: str, environment: Mapping[str, str], log: Path, changed_by: str | None = None
) -> ForkedCommand:
    """Serves with none of this process's own settings. Returns when the server answers at `url`."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("ANSWERABLE_")}
    process = ForkedCommand(
        ("serve", *arguments),
        cwd=Path(__file__).parents[1],
        env={**inherited, **environment},
        out=log,
        err=log,
        changed_by=changed_by,
    )
    _wait_until_it_answers(url, process, log)
    return process


def _wait_until_it_answers(url: str, process: ForkedCommand, log: Path) -> None:
    until = time.monotonic() + START_SECONDS
    with httpx.Client(base_url=url, timeout=1) as client:
        while time.monotonic() < until and process.poll() is None:
            with suppress(httpx.TransportError):
                client.get("/healthz")
                return
            time.sleep(0.05)
    process.kill()
    raise AssertionError(f"the server at {url} did not start:\n{log.read_text()}")
