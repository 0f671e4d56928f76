"""Memory that generated code takes in ways that a limit on a process does not count."""

import threading
from collections.abc import AsyncIterator
from pathlib import Path

import polars as pl
import psutil
import pytest
from tests.sandboxes import available_sandbox

from answerable.sandbox.base import Sandbox, SandboxLimits, SandboxRequest
from answerable.sandbox.kernel.sandbox import KernelSandbox
from answerable.sandbox.monty.sandbox import MontySandbox

LIMITS = SandboxLimits(seconds=30, memory_mb=256, scratch_mb=400, result_mb=400)
MOST_MB = 256 + 128 + 64
"""The limit, the room that allocators have, and the copies that wait beside the one that runs."""
SYSTEM = """
import ctypes, mmap, os, resource, threading
libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = libc.mremap.restype = ctypes.c_void_p
def mapped(size, flags):
    at = libc.mmap(None, ctypes.c_size_t(size), 3, flags, -1, ctypes.c_long(0))
    if at in (None, 2**64 - 1):
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return memoryview((ctypes.c_char * size).from_address(at)).cast("B")
def touch(memory, size):
    for start in range(0, size, 4096):
        memory[start] = 1
GB = 1 << 30
"""
TAKEN = {
    "bytes": "kept = [bytes([1]) * (16 << 20) for _ in range(200)]",
    "a-list-that-grows": 'kept = []\nwhile True: kept.append(bytearray(b"x") * 100_000)',
    "shared-memory": "touch(mmap.mmap(-1, 2 * GB), 2 * GB)",
    "shared-memory-in-pieces": "kept = [mmap.mmap(-1, 1 << 20) for _ in range(2000)]\nfor m in kept: touch(m, 1 << 20)",
    "a-stack-that-grows": "touch(mapped(2 * GB, 0x122), 2 * GB)",
    "all-at-once": "mapped(3 * GB, 0x8022)",
    "all-at-once-and-shared": "mapped(3 * GB, 0x8021)",
    "moved-and-grown": """
size = 1 << 20
at = ctypes.addressof(ctypes.c_char.from_buffer(mapped(size, 0x22)))
while True:
    at = libc.mremap(ctypes.c_void_p(at), ctypes.c_size_t(size), ctypes.c_size_t(2 * size), 1)
    if at in (None, 2**64 - 1):
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    size *= 2
    ctypes.memset(at, 1, size)
""",
    "scratch-files": """
block = b"x" * (1 << 20)
with open("x", "wb") as file:
    for _ in range(399):
        file.write(block)
import time
time.sleep(20)  # a busy machine may look late; what is found is there until then
""",
    "scratch-files-and-bytes": """
open("x", "wb").write(b"x" * (100 << 20))
with open("y", "wb") as file:
    file.truncate(250 << 20)
    file.flush()
kept = bytes([1]) * (200 << 20)
touch(mmap.mmap(os.open("y", os.O_RDWR), 250 << 20), 250 << 20)
import time
time.sleep(20)  # as above
""",
    "numpy": "import numpy\nkept = numpy.ones(GB)",
    "numpy-in-pieces": "import numpy\nkept = [numpy.ones(1 << 20) for _ in range(500)]",
    "polars": "import polars\nkept = polars.select(polars.int_range(0, GB)).sum()",
    "polars-in-threads": """
import polars
kept = []
def take():
    while True:
        kept.append(polars.DataFrame({"a": range(1 << 18)}))
threads = [threading.Thread(target=take, daemon=True) for _ in range(6)]
for thread in threads: thread.start()
take()
""",
}
"""Each ends as `memory`."""
REFUSED = {
    "a-file-in-memory": "os.write(os.memfd_create('x'), b'x' * GB)",
    "system-five": "id = libc.shmget(0, ctypes.c_size_t(GB), 0o1600)\nif id < 0: raise OSError(ctypes.get_errno(), '')",
    "posix": "os.open('/dev/shm/x', os.O_CREAT | os.O_RDWR)",
    "processes": "for _ in range(50): os.fork()",
    "a-larger-stack": "resource.setrlimit(resource.RLIMIT_STACK, (GB, GB))",
    "a-larger-limit": "resource.setrlimit(resource.RLIMIT_DATA, (8 * GB, 8 * GB))",
    "stacks-of-threads": """
threading.stack_size(256 << 20)
event = threading.Event()
def wait(): event.wait(5)
for _ in range(100): threading.Thread(target=wait, daemon=True).start()
""",
    "pipes": "while True:\n    r, w = os.pipe()\n    os.set_blocking(w, False)\n    os.write(w, b'x' * (1 << 20))",
    "sockets": """
import socket
kept = []
while True:
    pair = socket.socketpair()
    kept += pair
    for one in pair:
        one.setblocking(False)
        one.send(b"x" * (1 << 20))
""",
}
"""Each is an error of the code."""


@pytest.fixture(params=["group", "watchdog"])
async def sandbox(request: pytest.FixtureRequest) -> AsyncIterator[Sandbox]:
    await available_sandbox("kernel-namespaces", 1)
    opened = KernelSandbox(1, bubblewrap=False, watchdog=request.param == "watchdog")
    await opened.start()
    memory = (await opened.available()).walls["memory"]
    if request.param == "group" and "control group" not in memory:
        pytest.skip("no control group can be made here")
    assert request.param in memory
    yield opened
    await opened.close()


class Observer:
    """What all processes of the sandbox hold, as an outsider counts it."""

    def __init__(self) -> None:
        self.peak_mb = 0.0
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._look)
        self._before = self._held()

    def __enter__(self) -> "Observer":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def _look(self) -> None:
        while not self._over.wait(0.03):
            self.peak_mb = max(self.peak_mb, self._held() - self._before)

    def _held(self) -> float:
        total = 0
        for process in psutil.Process().children(recursive=True):
            try:
                total += process.memory_full_info().pss
            except psutil.Error:
                continue
        return total / (1 << 20)


async def test_memory_ends_code_however_it_is_taken(sandbox: Sandbox) -> None:
    """All in one sandbox: what one has left behind would be seen by the next."""
    ends = [await _end(sandbox, name, code, "stopped", "memory") for name, code in TAKEN.items()]
    assert [end for end in ends if end] == []
    assert (await sandbox.run(SandboxRequest("result = 1"))).value == 1


async def test_memory_that_nobody_counts_is_refused(sandbox: Sandbox) -> None:
    ends = [await _end(sandbox, name, code, "error", "exception") for name, code in REFUSED.items()]
    assert [end for end in ends if end] == []


async def _end(sandbox: Sandbox, name: str, code: str, outcome: str, reason: str) -> str | None:
    """None if it was as expected."""
    with Observer() as observer:
        result = await sandbox.run(SandboxRequest(SYSTEM + code, limits=LIMITS))
    said = f"{name}: {result.reason}, {observer.peak_mb:.0f} MB; {result.message}"
    print(said)
    right = (result.outcome, result.reason) == (outcome, reason) and observer.peak_mb < MOST_MB
    return None if right else said


@pytest.mark.parametrize("watchdog", [False, True], ids=["group", "watchdog"])
async def test_monty_and_the_process_that_holds_its_result_count_together(watchdog: bool) -> None:
    """A value is larger as an object of Python than in the interpreter."""
    sandbox = MontySandbox(1, watchdog=watchdog)
    await sandbox.start()
    with Observer() as observer:
        limits = SandboxLimits(memory_mb=200, result_mb=400)
        code = "result = [[i, i + 1, i + 2] for i in range(1_500_000)]"
        large = await sandbox.run(SandboxRequest(code, limits=limits))
        endless = await sandbox.run(SandboxRequest("x = []\nwhile True: x.append('a' * 10_000)", limits=limits))
    after = await sandbox.run(SandboxRequest("result = 1"))
    await sandbox.close()
    print(f"{observer.peak_mb:.0f} MB; {large.message} {endless.message}")
    assert {large.reason, endless.reason} == {"memory"}
    assert after.value == 1
    assert observer.peak_mb < 200 + 256 + 100


async def test_what_is_within_the_limit_runs(sandbox: Sandbox) -> None:
    """Pages that are mapped twice are held once."""
    code = """
import polars
kept = bytes([1]) * (150 << 20)
open("x", "wb").write(b"x" * (60 << 20))
file = os.open("x", os.O_RDWR)
maps = [mmap.mmap(file, 60 << 20) for _ in range(2)]
for each in maps: touch(each, 60 << 20)
result = polars.DataFrame({"a": range(100_000)})["a"].sum()
"""
    result = await sandbox.run(SandboxRequest(SYSTEM + code, limits=LIMITS))
    assert result.value == 4_999_950_000, result.message


async def test_rows_cannot_be_executed(sandbox: Sandbox, tmp_path: Path) -> None:
    """Neither the rows that came in, nor a file that the code has written."""
    code = """
rows = table["a"].to_numpy().ctypes.data
tries = {"rows": libc.mprotect(ctypes.c_void_p(rows - rows % 4096), ctypes.c_size_t(4096), 5)}
open("x", "wb").write(b"\\xc3" * 4096)
file = os.open("x", os.O_RDONLY)
def executable(descriptor, flags):
    found = libc.mmap(None, ctypes.c_size_t(4096), 5, flags, descriptor, ctypes.c_long(0))
    return -1 if found in (None, 2**64 - 1) else 0
tries["a file of its own"] = executable(file, 2)
tries["a shared file of its own"] = executable(file, 1)
tries["memory"] = executable(-1, 0x22)
result = tries
"""
    table = tmp_path / "table.arrow"
    pl.DataFrame({"a": [0xC3C3C3C3] * 10_000}).write_ipc(table)
    result = await sandbox.run(SandboxRequest(SYSTEM + code, frames={"table": table}, limits=LIMITS))
    assert result.outcome == "ok", result.message
    assert set(result.value.values()) == {-1}, result.value
