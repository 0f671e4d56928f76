"""What is particular to the `kernel` sandbox; what every sandbox must do is in tests/conformance."""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import psutil
import pytest

from answerable.core.errors import OperatorError
from answerable.sandbox.base import HostCalls, SandboxLimits, SandboxRequest
from answerable.sandbox.kernel.jail.launch import bubblewrap
from answerable.sandbox.kernel.jail.zygote import Zygote
from answerable.sandbox.kernel.sandbox import KernelSandbox
from answerable.sandbox.libraries import loaded_for
from answerable.sandbox.open import SandboxOptions, open_sandbox

WAYS: dict[str, dict[str, Any]] = {
    "bubblewrap": {"bubblewrap": True},
    "namespaces": {"bubblewrap": False},
    "landlock": {"namespaces": False},
}


async def opened(way: str, pool: int = 1) -> KernelSandbox:
    if way == "bubblewrap" and bubblewrap() is None:
        pytest.skip("bubblewrap is not installed")
    sandbox = KernelSandbox(pool, **WAYS[way])
    try:
        await sandbox.start()
    except OperatorError as error:
        pytest.skip(str(error))
    return sandbox


@pytest.fixture
async def sandbox() -> AsyncIterator[KernelSandbox]:
    sandbox = await opened("namespaces")
    yield sandbox
    await sandbox.close()


SEEN = """
import os, stat
def listed(folder):
    try:
        return sorted(os.listdir(folder))
    except OSError as error:
        return type(error).__name__
result = {
    "uid": os.getuid(), "gid": os.getgid(), "groups": os.getgroups(),
    "environment": sorted(os.environ),
    "open": [number for number in range(256) if not _closed(number) and stat.S_IFMT(os.fstat(number).st_mode)],
    "root": listed("/"), "proc": listed("/proc"), "etc": listed("/etc"), "work": listed("."),
    "libraries": listed("/python/site"),
}
"""
CLOSED = """
import os
def _closed(number):
    try:
        os.fstat(number)
    except OSError:
        return True
"""


@pytest.mark.parametrize("way", ["bubblewrap", "namespaces"])
async def test_what_the_code_sees(way: str) -> None:
    sandbox = await opened(way)
    result = await sandbox.run(SandboxRequest(CLOSED + SEEN))
    await sandbox.close()
    assert result.outcome == "ok", result.message
    seen = result.value
    assert (seen["uid"], seen["gid"]) == (65534, 65534)
    assert set(seen["groups"]) <= {65534}
    assert seen["open"] == [0, 1, 2, 3]  # and what threads wake each other with, which has no kind
    assert seen["root"] == seen["proc"] == seen["etc"] == "PermissionError"
    assert seen["work"] == []
    assert not [name for name in seen["libraries"] if name.startswith(("answerable", "pytest", "duckdb", "pip"))]
    assert not {name for name in seen["environment"] if name.startswith(("ANSWERABLE", "PATH", "USER", "PYTEST"))}


@pytest.mark.parametrize("way", WAYS)
async def test_each_way_tells_which_walls_stand(way: str) -> None:
    sandbox = await opened(way)
    result = await sandbox.run(SandboxRequest("result = 1"))
    found = await KernelSandbox(**WAYS[way]).available()
    await sandbox.close()
    assert result.isolated
    assert found.available
    assert result.isolation == found.walls
    assert "seccomp" in result.isolation["network"]
    assert "seccomp" in result.isolation["processes"]
    named = {"files", "network", "processes", "memory"}
    assert set(result.isolation) >= named
    assert ("mount namespace" in result.isolation["files"]) == (way != "landlock")
    assert (found.remedy is not None) == (way == "landlock")


@pytest.mark.parametrize("way", WAYS)
async def test_a_file_outside_stays_outside(way: str, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("secret")
    os.chmod(tmp_path / "secret", 0o644)
    sandbox = await opened(way)
    result = await sandbox.run(SandboxRequest(f"result = open({str(tmp_path / 'secret')!r}).read()"))
    written = await sandbox.run(SandboxRequest(f"open({str(tmp_path / 'new')!r}, 'w')"))
    await sandbox.close()
    assert (result.outcome, result.reason) == ("error", "exception")
    assert written.outcome == "error"
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize(
    "spoil",
    ["os.write(rows, b'ARROW1 this is not')", "pass", "os.write(rows, bytes(1 << 15))"],
    ids=["not-arrow", "empty", "zeros"],
)
async def test_rows_that_are_forged_are_not_a_frame(sandbox: KernelSandbox, spoil: str, tmp_path: Path) -> None:
    code = f"""
import json, os, struct
rows = max(number for number in range(256) if not _closed(number))
{spoil}
said = json.dumps({{"done": {{"outcome": "ok", "frame": True}}}}).encode()
os.write(3, struct.pack("!I", len(said)) + said)
os._exit(0)
"""
    result = await sandbox.run(SandboxRequest(CLOSED + code, into=tmp_path / "rows.arrow"))
    assert (result.outcome, result.reason, result.frame) == ("error", "result", None)
    assert not (tmp_path / "rows.arrow").exists()


async def test_rows_that_claim_more_than_they_hold_do_not_end_the_host(sandbox: KernelSandbox, tmp_path: Path) -> None:
    code = """
import io, json, os, struct
rows = max(number for number in range(256) if not _closed(number))
file = io.BytesIO()
texts = pl.DataFrame({"s": ["a text of thirty-seven bytes, in all."] * 50})
texts.write_ipc_stream(file, compat_level=pl.CompatLevel.oldest())
end = struct.pack("<q", 37 * 50)
data = file.getvalue()
assert end in data
os.write(rows, data.replace(end, struct.pack("<q", 1 << 50)))
said = json.dumps({"done": {"outcome": "ok", "frame": True}}).encode()
os.write(3, struct.pack("!I", len(said)) + said)
os._exit(0)
"""
    result = await sandbox.run(SandboxRequest(CLOSED + code, into=tmp_path / "rows.arrow"))
    assert (result.outcome, result.reason) == ("error", "result"), result


async def test_rows_cannot_be_changed_once_they_are_given(sandbox: KernelSandbox, tmp_path: Path) -> None:
    """A writable mapping of the file outlives the answer, unless the process is gone before the file is read."""
    code = """
import io, json, mmap, os, struct, threading, time
rows = max(number for number in range(256) if not _closed(number))
file = io.BytesIO()
pl.DataFrame({"a": [1] * 1000}).write_ipc_stream(file)
os.write(rows, file.getvalue())
said = json.dumps({"done": {"outcome": "ok", "frame": True}}).encode()
os.write(3, struct.pack("!I", len(said)) + said)
while True:
    os.pwrite(rows, b"changed", 400)
"""
    result = await sandbox.run(SandboxRequest(CLOSED + code, into=tmp_path / "rows.arrow"))
    if result.frame is not None:
        assert pl.read_ipc(tmp_path / "rows.arrow").height == 1000
    else:
        assert result.reason in ("result", "died")


@pytest.mark.parametrize(
    "said",
    [
        b"\xff\xff\xff\xff",
        b"\x00\x00\x00\x05[1,2]",
        b"\x00\x00\x00\x03{{{",
        b'\x00\x00\x00\x09{"no": 1}',
        b"\x00\x01\x11\x70" + b"[" * 70_000,
    ],
    ids=["too-long", "no-object", "no-json", "unknown", "deep"],
)
async def test_nonsense_on_the_line_ends_the_run_and_nothing_else(sandbox: KernelSandbox, said: bytes) -> None:
    result = await sandbox.run(SandboxRequest(f"import os\nos.write(3, {said!r})\nimport time\ntime.sleep(20)"))
    assert (result.outcome, result.reason) == ("stopped", "died")
    assert (await sandbox.run(SandboxRequest("result = 1"))).value == 1


async def test_a_zygote_that_dies_is_replaced(sandbox: KernelSandbox) -> None:
    first = living_zygote(sandbox)
    begun = asyncio.Event()

    async def begin() -> None:
        begun.set()

    code = "import time\nbegin()\ntime.sleep(60)"
    running = asyncio.create_task(sandbox.run(SandboxRequest(code, host=HostCalls({"begin": begin}))))
    await asyncio.wait_for(begun.wait(), 60)
    os.kill(first.pid, signal.SIGKILL)
    result = await asyncio.wait_for(running, 20)
    assert (result.outcome, result.reason) == ("stopped", "died")
    assert (await sandbox.run(SandboxRequest("result = 1"))).value == 1
    assert living_zygote(sandbox).pid != first.pid


def living_zygote(sandbox: KernelSandbox) -> Zygote:
    return sandbox._pools[loaded_for("")].zygote


@pytest.mark.parametrize("way", WAYS)
async def test_many_runs_leave_nothing(way: str) -> None:
    sandbox = await opened(way, pool=2)

    async def some(count: int) -> tuple[int, int]:
        for _ in range(count):
            await asyncio.gather(sandbox.run(SandboxRequest("result = 1")), sandbox.run(SandboxRequest("1 / 0")))
        await asyncio.sleep(1)
        processes = psutil.Process(living_zygote(sandbox).pid).children(recursive=True)
        return len(os.listdir("/proc/self/fd")), len(processes)

    before = await some(5)
    assert await some(20) == before
    await sandbox.close()


async def test_scratch_is_bounded(sandbox: KernelSandbox) -> None:
    code = "for n in range(9):\n    open(str(n), 'wb').write(b'x' * (1 << 20))"
    result = await sandbox.run(SandboxRequest(code, limits=SandboxLimits(scratch_mb=4)))
    assert (result.outcome, result.reason) == ("error", "exception")
    assert "No space left" in (result.message or "")
    assert (await sandbox.run(SandboxRequest(code, limits=SandboxLimits(scratch_mb=16)))).outcome == "ok"


THREADS = """
import threading, time
made = 0
threading.stack_size(65536)
try:
    while made < 5_000:
        threading.Thread(target=time.sleep, args=(30,), daemon=True).start()
        made += 1
except RuntimeError:
    pass
result = made
"""


async def test_threads_are_bounded(sandbox: KernelSandbox) -> None:
    result = await sandbox.run(SandboxRequest(THREADS))
    assert result.outcome == "ok", result.message
    assert 4 < result.value < 200


async def test_a_kernel_that_offers_too_little_is_refused_with_reason_and_remedy() -> None:
    """In a process whose filter forbids what the walls are made of."""
    done = await asyncio.to_thread(
        subprocess.run,
        [sys.executable, str(Path(__file__).with_name("kernel_without_walls.py"))],
        capture_output=True,
        text=True,
        timeout=100,
    )
    assert done.returncode == 0, done.stderr
    refused, reason, remedy, open_handed = done.stdout.splitlines()
    assert refused == "sandbox_unavailable"
    assert "landlock" in reason.lower()
    assert "user namespaces" in remedy
    assert open_handed == "ok False"


@pytest.fixture
def control_group() -> Iterator[Path]:
    """At the top of the memory controller, where only root may make one."""
    folder = next((path for path in GROUPS if os.access(path, os.W_OK) and (path / "cgroup.procs").exists()), None)
    if folder is None:
        pytest.skip("no control group can be made here")
    given = folder / f"test-{os.getpid()}"
    given.mkdir()
    yield given
    given.rmdir()


GROUPS = (Path("/sys/fs/cgroup/memory"), Path("/sys/fs/cgroup"))


async def test_a_control_group_bounds_what_the_limits_of_a_process_cannot_see(control_group: Path) -> None:
    """Files in memory count for nothing in the limits of a process."""
    sandbox = KernelSandbox(1, bubblewrap=False, control_group=control_group)
    assert "control group v" in (await sandbox.available()).walls["memory"]
    await sandbox.start()
    code = "open('x', 'wb').write(b'x' * (300 << 20))\nresult = 1"
    limits = SandboxLimits(memory_mb=64, scratch_mb=400, result_mb=400)
    result = await sandbox.run(SandboxRequest(code, limits=replace(limits, memory_mb=800)))
    stopped = await sandbox.run(SandboxRequest(FILL, limits=limits))
    after = await sandbox.run(SandboxRequest("result = 2"))
    await sandbox.close()
    assert result.value == 1, result.message
    assert "control group" in result.isolation["memory"]
    assert (stopped.outcome, stopped.reason) == ("stopped", "memory")
    assert after.value == 2
    assert not [name for name in os.listdir(control_group) if name.startswith("answerable-")]


FILL = """
block = b"x" * (1 << 20)
with open("x", "wb") as file:
    for _ in range(390):
        file.write(block)
"""


async def test_a_control_group_that_is_not_ours_is_refused(tmp_path: Path) -> None:
    sandbox = open_sandbox("kernel", SandboxOptions(pool=1, control_group=tmp_path))
    found = await sandbox.available()
    assert not found.available
    assert str(tmp_path) in found.detail
    with pytest.raises(OperatorError) as caught:
        await sandbox.start()
    await sandbox.close()
    assert caught.value.stable_code == "sandbox_unavailable"
