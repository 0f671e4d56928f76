"""`answerable serve` in a process of its own, which a script may harm."""

import resource
import signal
import time
from dataclasses import dataclass, field
from pathlib import Path

from faults.forked_command import ForkedCommand
from faults.serving import free_port, started_server

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

    def serve(self, changed_by: str | None = None, **environment: str) -> "Server":
        """Starts a server. `changed_by`: a module that changes its process before it begins."""
        server = Server(self, environment, changed_by)
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
    changed_by: str | None = None
    port: int = field(default_factory=free_port)
    process: ForkedCommand | None = None
    children: set[Child] = field(default_factory=set)
    """Of processes that have ended."""

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def pid(self) -> int:
        assert self.process is not None
        return self.process.pid

    def start(self) -> None:
        self.process = started_server(
            self.url,
            "--port",
            str(self.port),
            "--source",
            f"people={self.room.data}",
            environment={
                "ANSWERABLE_HOME": str(self.room.home),
                "HOME": str(self.room.folder),
                "TMPDIR": str(self.room.temporary),
                **self.environment,
            },
            log=self.room.folder / f"{self.port}.log",
            changed_by=self.changed_by,
        )

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
