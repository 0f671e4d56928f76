"""Servers in processes of their own, as users run them."""

import contextlib
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path


@contextlib.contextmanager
def answerable_serving(home: Path, data: Path) -> Iterator[tuple[int, int]]:
    """`answerable serve` with the folder `data` as the source `big`: its process and its port."""
    port = free_port()
    command = [str(Path(sys.executable).parent / "answerable"), "serve", "--port", str(port), "-s", f"big={data}"]
    with running(command, port, {**os.environ, "ANSWERABLE_HOME": str(home)}) as process:
        yield process, port


@contextlib.contextmanager
def running(command: list[str], port: int, environment: dict[str, str]) -> Iterator[int]:
    process = subprocess.Popen(command, env=environment, cwd=Path(__file__).parents[1])
    try:
        for _ in range(200):
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
                break
            time.sleep(0.1)
        yield process.pid
    finally:
        process.terminate()
        process.wait()


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])
