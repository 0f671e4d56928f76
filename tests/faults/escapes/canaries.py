"""What the host has that no code may reach: secrets, listeners, a process, folders; and what became of them."""

import asyncio
import contextlib
import hashlib
import os
import secrets
import signal
import socket
import sqlite3
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Self

import polars as pl

ENVIRONMENT_NAME = "ESCAPE_CANARY_TOKEN"
PROJECT = Path(__file__).parents[3]
DECOY = Path(__file__).with_name("decoy.py")
_WATCHED_SIGNALS = (signal.SIGWINCH, signal.SIGURG, signal.SIGUSR1, signal.SIGUSR2, signal.SIGHUP)


class Canaries:
    def __init__(self, folder: Path) -> None:
        self.start = f"canary-{secrets.token_hex(4)}"
        self.secret = f"{self.start}:{secrets.token_hex(16)}"
        self.run_id = f"escape-{secrets.token_hex(4)}"
        self.key = secrets.randbelow(1 << 30) + 1
        self.home = folder / "host-home"
        self.artifacts = folder / "artifacts"
        self.results = folder / "results"
        self.heard: list[str] = []
        self.signals: list[int] = []
        self._closing = contextlib.AsyncExitStack()

    # Setting up

    async def __aenter__(self) -> Self:
        for folder in (self.home, self.artifacts, self.results, PROJECT / ".pytest_cache"):
            folder.mkdir(parents=True, exist_ok=True)
        self._closing.enter_context(self._environment())
        self._closing.enter_context(self._signals_noted())
        self._write_files()
        self._start_decoy()
        await self._listen()
        self._leaked = os.open(self.home_file, os.O_RDONLY)
        os.set_inheritable(self._leaked, True)
        self._closing.callback(os.close, self._leaked)
        self._before = self._fingerprints()
        return self

    async def __aexit__(self, *failure: object) -> None:
        for path in self._marked():
            path.unlink(missing_ok=True)
        await self._closing.aclose()

    @contextlib.contextmanager
    def _environment(self) -> Iterator[None]:
        before = {name: os.environ.get(name) for name in (ENVIRONMENT_NAME, "HOME")}
        os.environ.update({ENVIRONMENT_NAME: self.secret, "HOME": str(self.home)})
        yield
        for name, value in before.items():
            os.environ.pop(name)
            if value is not None:
                os.environ[name] = value

    @contextlib.contextmanager
    def _signals_noted(self) -> Iterator[None]:
        before = {number: signal.signal(number, lambda n, _: self.signals.append(n)) for number in _WATCHED_SIGNALS}
        yield
        for number, handler in before.items():
            signal.signal(number, handler)

    def _write_files(self) -> None:
        self.home_file = self.home / f"{self.start}.txt"
        self.project_file = PROJECT / ".pytest_cache" / f"{self.start}.txt"
        self.etc_file = Path(f"/etc/{self.start}.txt")
        self.artifact_file = self.artifacts / "other-secret.txt"
        self.frame_file = self.artifacts / "input.arrow"
        for path in (self.home_file, self.project_file, self.etc_file, self.artifact_file):
            with contextlib.suppress(PermissionError):
                path.write_text(self.secret + "\n")
                self._closing.callback(path.unlink, missing_ok=True)
        (self.home / "host_script.py").write_text(f"secret = {self.secret!r}\n")
        with zipfile.ZipFile(self.home / "host.zip", "w") as packed:
            packed.writestr("in_zip.py", f"secret = {self.secret!r}\n")
        with contextlib.closing(sqlite3.connect(self.home / "host.sqlite")) as connection:
            connection.execute("CREATE TABLE t AS SELECT ? AS s", [self.secret])
            connection.commit()
        table = pl.DataFrame({"s": [self.secret]})
        table.write_parquet(self.home / "host.parquet")
        table.write_ndjson(self.home / "host.json")
        table.write_ipc(self.artifacts / "other.arrow")
        pl.DataFrame({"n": [1, 2, 3], "s": ["a", "b", None]}).write_ipc(self.frame_file)

    def _start_decoy(self) -> None:
        self._record = self.home.parent / "decoy-signals"
        self.decoy = subprocess.Popen(
            [sys.executable, DECOY, self.secret, self._record, self.home_file],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
            cwd=self.artifacts,
        )
        assert self.decoy.stdout is not None
        self._decoy_address, self._decoy_fd = map(int, self.decoy.stdout.readline().split())
        self._closing.callback(self._end_decoy)

    def _end_decoy(self) -> None:
        self.decoy.kill()
        self.decoy.communicate()

    async def _listen(self) -> None:
        self.unix = str(self.home / "s")
        self.unix_datagram = str(self.home / "d")
        stream = [
            await asyncio.start_server(self._met, "127.0.0.1", 0),
            await asyncio.start_unix_server(self._met, self.unix),
            await asyncio.start_unix_server(self._met, f"\0{self.run_id}-stream"),
        ]
        self.tcp = stream[0].sockets[0].getsockname()[1]
        with contextlib.suppress(OSError):
            stream.append(await asyncio.start_server(self._met, "::1", self.tcp))
        for server in stream:
            self._closing.callback(server.close)
        self.udp = await self._datagrams(("127.0.0.1", 0))
        with contextlib.suppress(OSError):
            await self._datagrams(("::1", self.udp))
        await self._datagrams(self.unix_datagram)
        await self._datagrams(f"\0{self.run_id}-datagram")

    async def _met(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Whoever comes gets the secret; that somebody came is enough."""
        self.heard.append("a connection")
        with contextlib.suppress(OSError, TimeoutError):
            writer.write(self.secret.encode())
            async with asyncio.timeout(2):
                self.heard.append((await reader.read(200)).decode("latin-1"))
        writer.close()

    async def _datagrams(self, address: Any) -> int:
        family = (
            socket.AF_UNIX if isinstance(address, str) else socket.AF_INET6 if ":" in address[0] else socket.AF_INET
        )
        bound = socket.socket(family, socket.SOCK_DGRAM)
        bound.bind(address)
        bound.setblocking(False)
        asyncio.get_running_loop().add_reader(bound, self._got_datagram, bound)
        self._closing.callback(bound.close)
        self._closing.callback(asyncio.get_running_loop().remove_reader, bound)
        return int(bound.getsockname()[1]) if family != socket.AF_UNIX else 0

    def _got_datagram(self, bound: socket.socket) -> None:
        data, sender = bound.recvfrom(1000)
        self.heard.append(data.decode("latin-1"))
        with contextlib.suppress(OSError):
            bound.sendto(self.secret.encode(), sender)

    # What the code is told

    def target(self, number: int) -> dict[str, Any]:
        mark = f"{self.run_id}-{number}"
        return {
            "mark": mark,
            "env": ENVIRONMENT_NAME,
            "secret_start": self.start,
            "home": str(self.home),
            "home_file": str(self.home_file),
            "project_file": str(self.project_file),
            "etc_file": str(self.etc_file),
            "artifact_file": str(self.artifact_file),
            "frame_file": str(self.frame_file),
            "other_frame": str(self.artifacts / "other.arrow"),
            "host_script": str(self.home / "host_script.py"),
            "host_zip": str(self.home / "host.zip"),
            "host_database": str(self.home / "host.sqlite"),
            "host_parquet": str(self.home / "host.parquet"),
            "host_json": str(self.home / "host.json"),
            "write_here": str(self.home / f"written-{mark}"),
            "into": str(self.into(number)),
            "tcp": self.tcp,
            "tcp6": self.tcp,
            "udp": self.udp,
            "udp6": self.udp,
            "unix": self.unix,
            "unix_datagram": self.unix_datagram,
            "abstract": f"{self.run_id}-stream",
            "abstract_datagram": f"{self.run_id}-datagram",
            "free_port": _free_port(),
            "interfaces": [name for _, name in socket.if_nameindex() if name != "lo"],
            "host": os.getpid(),
            "decoy": self.decoy.pid,
            "decoy_group": self.decoy.pid,
            "decoy_address": self._decoy_address,
            "decoy_fd": self._decoy_fd,
            "leaked_fd": self._leaked,
            "passwd": hashlib.sha256(Path("/etc/passwd").read_bytes()).hexdigest(),
            "environ": hashlib.sha256(Path("/proc/self/environ").read_bytes()).hexdigest(),
            "key": self.key + number,
        }

    def into(self, number: int) -> Path:
        return self.results / f"{number}.arrow"

    # What became of it

    def harm(self) -> list[str]:
        """What was done to the host, in words."""
        found = [f"a listener heard {text!r}" for text in self.heard]
        found += [f"the host got signal {number}" for number in self.signals]
        if self._record.exists():
            found.append(f"a process of the host got the signals {self._record.read_text().split()}")
        if self.decoy.poll() is not None:
            found.append("a process of the host was ended")
        found += [f"{path} was written" for path in self._marked()]
        after = self._fingerprints()
        found += [
            f"{path} changed"
            for path in self._before.keys() | after.keys()
            if self._before.get(path) != after.get(path)
        ]
        return found

    def _fingerprints(self) -> dict[Path, object]:
        """Of everything in the folders of the host; the results are the host's own writing."""
        files = [*self.home.rglob("*"), *self.artifacts.rglob("*"), self.project_file, self.etc_file]
        return {path: _fingerprint(path) for path in files if path.exists() and "written-" not in path.name}

    def _marked(self) -> list[Path]:
        folders = {
            Path(p) for p in ("/", "/etc", "/tmp", "/var/tmp", "/dev/shm", "/root", "/usr", "/opt", "/srv", "/var")
        }
        folders |= {self.home, self.artifacts, PROJECT, Path.cwd()} | {Path(p) for p in sys.path if Path(p).is_dir()}
        return [
            path for folder in folders if folder.is_dir() for path in folder.glob(f"*{self.run_id}*") if path.is_file()
        ]

    def processes(self) -> list[str]:
        """Programs of cases that still run, by their arguments."""
        found = []
        for path in Path("/proc").glob("[0-9]*/cmdline"):
            with contextlib.suppress(OSError):
                text = path.read_bytes().replace(b"\0", b" ").decode("latin-1")
                if self.run_id in text:
                    found.append(text)
        return found


def _fingerprint(path: Path) -> object:
    told = path.stat()
    content = path.read_bytes() if path.is_file() else b""
    extra = os.listxattr(path) if hasattr(os, "listxattr") else []
    return told.st_ino, told.st_mode, told.st_uid, told.st_nlink, told.st_size, told.st_mtime_ns, content, extra


def _free_port() -> int:
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        return int(bound.getsockname()[1])
