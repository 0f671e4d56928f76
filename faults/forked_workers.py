"""Worker processes that need not load their libraries first: they are forked from one that has, the nursery.

Loading is most of what a worker does for a small file, and tests start thousands. Such a worker is a child of the
process that asked for it, as one that is started by its command: it is waited for, killed, and dies with it. That
workers load by themselves is shown by the tests that ask for `loading_workers`.
"""

import contextlib
import ctypes
import importlib
import json
import os
import platform
import runpy
import signal
import socket
import subprocess
import sys
import threading
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import answerable
from answerable.isolation import worker_process

LOADED = (
    "answerable.sandbox.monty.host",
    "answerable.sandbox.tables.received",
    "answerable.sources.workers.__main__",
    "answerable.sources.workers.duckdb_engine",
    "answerable.sources.workers.frames_engine",
    "answerable.sources.workers.loader",
    "answerable.sources.workers.postgres_engine",
    "answerable.sources.workers.sqlite_engine",
    "polars",
)
"""What workers load."""
_CLONE_NUMBERS = {"x86_64": 56, "aarch64": 220}
_CLONE_PARENT = 0x8000
_M_ARENA_MAX = -8
_LARGEST_REQUEST = 4096
_ROOM = " " * 200
"""A last word of the nursery's command. Its place is where a worker writes what it is called."""
_ARGUMENTS_BEGIN = 45
"""The field of `/proc/self/stat`, counted after the name; the next one says where they end."""

load_as_usual = worker_process._started


def prepare() -> None:
    """Does once what every worker would do: loads the libraries, and opens DuckDB's catalog of functions, which takes
    as long at the first time as all the rest of a small query."""
    for name in LOADED:
        importlib.import_module(name)
    import duckdb

    with duckdb.connect(config={"threads": 1}) as connection:  # no threads of its own: a fork has only one
        connection.execute("SELECT count(*) FROM range(2)").fetchall()


class Nursery:
    """A process that forks workers on demand, as children of the process that made it."""

    def __init__(self, ours: socket.socket) -> None:
        self._socket = ours
        self._lock = threading.Lock()
        self._maker = os.getpid()

    def fork(self, module: str, descriptor: int, environment: Mapping[str, str]) -> int:
        request = json.dumps([module, dict(environment), os.getpid()]).encode()
        with self._lock:
            socket.send_fds(self._socket, [request], [descriptor])
            reply = self._socket.recv(32)
        if not reply:
            raise OSError("the nursery has ended")
        return int(reply)

    @property
    def is_ours(self) -> bool:
        """Whether its workers become children of this process: not if this one was forked from its maker."""
        return self._maker == os.getpid()


class _ForkedWorker(subprocess.Popen[bytes]):
    """What `worker_process` waits for and kills, with another way to begin."""

    def __init__(self, nursery: Nursery, module: str, descriptor: int, environment: Mapping[str, str]) -> None:
        self._nursery, self._asked = nursery, (module, descriptor, environment)
        super().__init__([module])

    def _execute_child(self, *_arguments: Any) -> None:
        self.pid = self._nursery.fork(*self._asked)
        self._child_created = True


def use_loaded_nursery() -> None:
    """Makes one by a fork of this process, which is prepared and has one thread."""
    if _can_fork():
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            if os.fork() == 0:
                _serve(theirs, prepared=True)
        _use(Nursery(ours))


@contextlib.contextmanager
def started_nursery() -> Iterator[None]:
    """Makes one by its command; it loads what workers need when the first is asked for. Entered by the main thread:
    workers die with the thread that made the nursery."""
    if not _can_fork():
        yield
        return
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with theirs:
        process = subprocess.Popen(
            [sys.executable, "-I", __file__, str(theirs.fileno()), _ROOM],
            pass_fds=[theirs.fileno()],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            env={"LANG": "C.UTF-8"},
            cwd="/",
            start_new_session=True,
        )
    _use(Nursery(ours))
    with process:
        yield
        ours.close()


def _use(nursery: Nursery) -> None:
    python = sys.executable

    def started(module: str, descriptor: int, environment: Mapping[str, str]) -> "subprocess.Popen[bytes]":
        if sys.executable != python or not nursery.is_ours:
            return load_as_usual(module, descriptor, environment)
        return _ForkedWorker(nursery, module, descriptor, environment)

    worker_process._started = started


def _can_fork() -> bool:
    return sys.platform == "linux" and platform.machine() in _CLONE_NUMBERS


def _serve(connection: socket.socket, *, prepared: bool) -> None:
    """In the nursery: forks until its maker closes the line."""
    with contextlib.suppress(BaseException):
        _let_go(connection.fileno())
        while True:
            request, descriptors, _flags, _address = socket.recv_fds(connection, _LARGEST_REQUEST, 1)
            if not request:
                break
            module, environment, parent = json.loads(request)
            if not prepared:
                prepare()
                prepared = True
            pid = _forked_sibling()
            if pid == 0:
                _become_worker(connection, module, descriptors[0], environment, parent)
            os.close(descriptors[0])
            connection.send(str(pid).encode())
    os._exit(0)


def _let_go(kept: int) -> None:
    """Nothing of the maker stays open here, or its workers would hold it too."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nothing, stream)
    for name in os.listdir("/proc/self/fd"):
        if int(name) > 2 and int(name) != kept:
            with contextlib.suppress(OSError):
                os.close(int(name))
    os.chdir("/")
    with contextlib.suppress(PermissionError):  # it is the first of a session already
        os.setsid()
    sys.path[:] = [path for path in sys.path if _is_of_python(path)]
    ctypes.CDLL(None).mallopt(_M_ARENA_MAX, 2)  # as the environment of workers says, which is read only at the start


def _is_of_python(path: str) -> bool:
    """Whether `python -I` has it too."""
    return path.startswith((sys.prefix, sys.base_prefix)) or path == str(Path(answerable.__file__).parents[1])


def _forked_sibling() -> int:
    """A fork whose parent is the maker of this process: only a parent can wait for a process, and only with a parent
    does a process die."""
    call, python = ctypes.PyDLL(None).syscall, ctypes.pythonapi
    python.PyOS_BeforeFork()
    pid: int = call(ctypes.c_long(_CLONE_NUMBERS[platform.machine()]), ctypes.c_ulong(_CLONE_PARENT), *[None] * 4)
    if pid == 0:
        python.PyOS_AfterFork_Child()
    else:
        python.PyOS_AfterFork_Parent()
    return pid


def _become_worker(
    connection: socket.socket, module: str, descriptor: int, environment: dict[str, str], parent: int
) -> None:
    code = 1
    try:
        connection.close()
        os.setsid()
        signal.signal(signal.SIGINT, signal.default_int_handler)
        os.environ.clear()
        os.environ.update(environment)
        sys.argv = [module, str(descriptor), str(parent)]
        _call_itself(sys.executable, "-I", "-m", *sys.argv)
        warnings.simplefilter("ignore")
        runpy.run_module(module, run_name="__main__", alter_sys=True)
        code = 0
    finally:
        os._exit(code)


def _call_itself(*words: str) -> None:
    """Whoever lists processes finds the command of a worker."""
    fields = Path("/proc/self/stat").read_text().rpartition(")")[2].split()
    begin, end = map(int, fields[_ARGUMENTS_BEGIN : _ARGUMENTS_BEGIN + 2])
    ctypes.memmove(begin, "\0".join(words).encode()[: end - begin].ljust(end - begin, b"\0"), end - begin)


if __name__ == "__main__":
    _serve(socket.socket(fileno=int(sys.argv[1])), prepared=False)
