"""`answerable serve` in a process of its own, which a script may harm."""

import os
import random
import resource
import signal
import socket
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import httpx

START_SECONDS = 60.0
ORPHAN_SECONDS = 5.0
"""How long the children of a dead server may take to notice."""


class Room:
    """The servers of one script, and the folder with their home, their data and their temporary files.

    `pause`: how many seconds each client of the load waits before its next request.
    """

    def __init__(self, folder: Path, pause: float = 0.0) -> None:
        self.folder = folder
        self.pause = pause
        self.home = folder / "home"
        self.data = folder / "data"
        self.temporary = folder / "temporary"
        self.servers: list[Server] = []
        for each in (self.data, self.temporary):
            each.mkdir()
        (self.data / "people.csv").write_text("id,name,city\n1,Ana,Berlin\n2,Bo,Paris\n3,Cy,Berlin\n")

    @property
    def store_file(self) -> str:
        return str(self.home / "answerable.db")

    def serve(self, *command: str, **environment: str) -> "Server":
        """Starts a server. `command`: what to start it with instead of `answerable`."""
        server = Server(self, environment, command or (str(Path(sys.executable).with_name("answerable")),))
        self.servers.append(server)
        server.start()
        return server

    def close(self) -> None:
        for server in self.servers:
            server.kill()


@dataclass(frozen=True, slots=True)
class Child:
    """A process, told from a later one of the same number by when it began."""

    pid: int
    began: str


@dataclass
class Server:
    room: Room
    environment: dict[str, str]
    command: tuple[str, ...]
    port: int = field(default_factory=lambda: _free_port())
    process: subprocess.Popen[bytes] | None = None
    children: set[Child] = field(default_factory=set)
    """Of processes that have ended."""

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def _log(self) -> Path:
        return self.room.folder / f"{self.port}.log"

    @property
    def pid(self) -> int:
        assert self.process is not None
        return self.process.pid

    def start(self) -> None:
        environment = {name: value for name, value in os.environ.items() if not name.startswith("ANSWERABLE_")}
        environment |= {
            "ANSWERABLE_HOME": str(self.room.home),
            "HOME": str(self.room.folder),
            "TMPDIR": str(self.room.temporary),
            **self.environment,
        }
        source = f"people={self.room.data}"
        with self._log.open("ab") as log:
            self.process = subprocess.Popen(
                [*self.command, "serve", "--port", str(self.port), "--source", source],
                env=environment,
                cwd=Path(__file__).parents[1],
                stdout=log,
                stderr=log,
            )
        self.answers()

    def answers(self) -> None:
        """Waits until the server answers."""
        until = time.monotonic() + START_SECONDS
        while time.monotonic() < until:
            with suppress(httpx.TransportError):
                httpx.get(f"{self.url}/healthz", timeout=1)
                return
            if self.process is None or self.process.poll() is not None:
                break
            time.sleep(0.05)
        raise RuntimeError(f"the server on port {self.port} did not start:\n{self._log.read_text()}")

    def kill(self) -> None:
        """As a machine that loses its power, or the kernel that needs memory."""
        self._end(signal.SIGKILL)

    def stop(self) -> None:
        self._end(signal.SIGTERM)

    def _end(self, how: signal.Signals) -> None:
        if self.process is None or self.process.poll() is not None:
            return
        self.children |= descendants(self.pid)
        self.process.send_signal(how)
        self.process.wait(timeout=60)

    def limit(self, what: int, soft: int) -> tuple[int, int]:
        """Sets a limit of the running process; returns the limits as they were."""
        before = resource.prlimit(self.pid, what)
        resource.prlimit(self.pid, what, (soft, before[1]))
        return before

    def orphans(self) -> list[str]:
        """Children that outlive their server."""
        until = time.monotonic() + ORPHAN_SECONDS
        while (alive := self.children & _all_processes()) and time.monotonic() < until:
            time.sleep(0.05)
        return [f"process {child.pid} outlives its server" for child in alive]


def descendants(pid: int) -> set[Child]:
    parents = {child: _status(child.pid)[0] for child in _all_processes()}
    found, added = {pid}, True
    while added:
        more = {child.pid for child, parent in parents.items() if parent in found} - found
        found, added = found | more, bool(more)
    return {child for child in parents if child.pid in found - {pid}}


def _all_processes() -> set[Child]:
    processes = set()
    for path in Path("/proc").iterdir():
        if path.name.isdigit():
            parent, state, began = _status(int(path.name))
            if parent and state != "Z":
                processes.add(Child(int(path.name), began))
    return processes


def _status(pid: int) -> tuple[int, str, str]:
    """The parent, the state and the start of a process; 0 for the parent of one that has ended."""
    try:
        parts = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0, "", ""
    return int(parts[1]), parts[0], parts[19]


def _free_port() -> int:
    """Below those that the system gives to connections by itself: a server that is started again finds it free."""
    while True:
        port = random.SystemRandom().randrange(20_000, 32_000)
        with socket.socket() as probe, suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port
