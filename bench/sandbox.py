"""The `kernel` sandbox: what its walls cost a run, against a worker without any; its pool; and what it leaves behind.

The bare worker is a copy of a process with the same libraries, forked and warmed ahead of need and used once, like
ours, and runs the same runner over the same files. It has no walls, and nobody checks what it gives back.
"""

import asyncio
import gc
import json
import mmap
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from bench.figures import Figure, compared, in_turn

ROWS = 10_000
BARE_LIMIT, COLD_LIMIT = 2.0, 8.0
POOL, AT_ONCE = 4, 100
CODE = "result = rows.with_columns(double=pl.col('a') * 2, share=pl.col('b') / pl.col('b').sum())"


def measure(quick: bool) -> list[Figure]:
    with tempfile.TemporaryDirectory() as folder:
        return asyncio.run(_measured(Path(folder), quick))


async def _measured(folder: Path, quick: bool) -> list[Figure]:
    from answerable.sandbox.kernel.sandbox import KernelSandbox

    _write_rows(folder / "rows.arrow")
    bare = BareWorkers(folder)
    sandbox = KernelSandbox(POOL)
    await sandbox.start()
    try:
        ours, floor = await _dispatch(sandbox, bare, folder, 5 if quick else 15)
        cold = _cold(3 if quick else 7)
        return [
            compared(
                "kernel sandbox, 10k rows in and out, to a bare worker", ours * 1e3, floor * 1e3, "ms", BARE_LIMIT
            ),
            Figure(
                "kernel sandbox, cold import in bubblewrap to a warm run",
                ours * 1e3,
                cold * 1e3,
                "ms",
                cold / ours,
                COLD_LIMIT,
                "higher",
            ),
            await _first_statistics(3 if quick else 5),
            await _fairness(sandbox),
            *await _growth(sandbox, 100 if quick else 1_000),
        ]
    finally:
        await sandbox.close()
        bare.close()


def _write_rows(path: Path) -> None:
    """In another process: this one must not have used polars when it forks."""
    code = (
        "import sys, polars as pl; n = int(sys.argv[2]); "
        "pl.DataFrame({'a': range(n), 'b': [i / 7 for i in range(n)], 'c': [f'row {i}' for i in range(n)]})"
        ".write_ipc(sys.argv[1])"
    )
    subprocess.run([sys.executable, "-c", code, str(path), str(ROWS)], check=True)


async def _dispatch(sandbox: Any, bare: "BareWorkers", folder: Path, repeats: int) -> tuple[float, float]:
    from answerable.sandbox.base import SandboxRequest

    request = SandboxRequest(CODE, frames={"rows": folder / "rows.arrow"}, into=folder / "ours.arrow")

    async def ours() -> None:
        result = await sandbox.run(request)
        assert result.frame is not None, result.message
        assert result.frame.row_count == ROWS

    return await in_turn(ours, bare.run, repeats)


def _cold(repeats: int) -> float:
    """The best of several: whatever else the machine does can only add."""
    jail = [shutil.which("bwrap") or "", "--ro-bind", "/", "/", "--unshare-all", "--die-with-parent"]
    command = [*(jail if jail[0] else []), sys.executable, "-I", "-c", "import polars"]
    best = float("inf")
    for _ in range(repeats):
        began = time.perf_counter()
        subprocess.run(command, check=True)
        best = min(best, time.perf_counter() - began)
    return best


STATISTICS = "from scipy import stats\nresult = float(stats.ttest_ind([1, 2, 3], [2, 3, 5]).statistic)"


async def _first_statistics(repeats: int) -> Figure:
    """The first program of statistics in a sandbox, to a process that imports the same modules and runs it."""
    from answerable.sandbox.base import SandboxRequest
    from answerable.sandbox.kernel.sandbox import KernelSandbox
    from answerable.sandbox.libraries import loaded_for

    imports = "".join(f"import {module}\n" for module in loaded_for(STATISTICS))
    ours, bare = [], []
    for _ in range(repeats):
        sandbox = KernelSandbox(1)
        await sandbox.start()
        began = time.perf_counter()
        assert (await sandbox.run(SandboxRequest(STATISTICS))).outcome == "ok"
        ours.append(time.perf_counter() - began)
        await sandbox.close()
        began = time.perf_counter()
        await asyncio.to_thread(subprocess.run, [sys.executable, "-c", imports + STATISTICS], check=True)
        bare.append(time.perf_counter() - began)
    name = "kernel sandbox, first program of statistics, to a bare process with the same imports"
    return compared(name, sorted(ours)[repeats // 2] * 1e3, sorted(bare)[repeats // 2] * 1e3, "ms", BARE_LIMIT)


async def _fairness(sandbox: Any) -> Figure:
    """The place in which each of many equal requests ends, against the place in which it was made."""
    from answerable.sandbox.base import SandboxRequest

    ended: list[int] = []

    async def one(number: int) -> None:
        result = await sandbox.run(SandboxRequest(f"result = {number}"))
        assert result.value == number, result.message
        ended.append(number)

    await asyncio.gather(*(one(number) for number in range(AT_ONCE)))
    late = max(place - number for place, number in enumerate(ended))
    return compared(f"kernel sandbox, {AT_ONCE} at once on {POOL}: places that one was late", late, POOL, "", 3.0)


async def _growth(sandbox: Any, runs: int) -> list[Figure]:
    """Figures of one more than the growth, so that none is a ratio of 1."""
    from answerable.sandbox.base import SandboxRequest

    async def some(count: int) -> None:
        for _ in range(count // POOL):
            await asyncio.gather(*(sandbox.run(SandboxRequest("result = 1")) for _ in range(POOL)))

    await some(runs // 2)
    before = await _state()
    await some(runs)
    after = await _state()
    return [
        compared(f"kernel sandbox, {name} after {runs} runs", after[name], before[name], unit, limit)
        for name, unit, limit in (("descriptors", "", 1.0), ("processes", "", 1.0), ("resident memory", "MB", 1.02))
    ]


async def _state() -> dict[str, float]:
    await asyncio.sleep(1.0)  # the spare processes are all there again
    gc.collect()
    return {
        "descriptors": len(os.listdir("/proc/self/fd")),
        "processes": _descendants(os.getpid()),
        "resident memory": _resident_mb(),
    }


def _resident_mb() -> float:
    return int(Path("/proc/self/statm").read_text().split()[1]) * mmap.PAGESIZE / (1 << 20)


def _descendants(process: int) -> int:
    found = 0
    for task in Path(f"/proc/{process}/task").iterdir():
        for child in (task / "children").read_text().split():
            found += 1 + _descendants(int(child))
    return found


class BareWorkers:
    """Copies of a process that has the libraries loaded: ready ahead of need, used once, without walls."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._control, theirs = socket.socketpair()
        self._server = subprocess.Popen(
            [sys.executable, "-m", "bench.bare_worker", str(theirs.fileno())], pass_fds=[theirs.fileno()]
        )
        theirs.close()
        self._control.setblocking(False)
        self._spare: list[socket.socket] = []

    async def run(self) -> None:
        loop = asyncio.get_running_loop()
        self._fill()
        connection = self._spare.pop(0)
        paths = {"rows": str(self._folder / "rows.arrow")}
        asked = json.dumps({"code": CODE, "frames": paths, "into": str(self._folder / "bare.arrow")})
        await loop.sock_sendall(connection, asked.encode() + b"\n")
        answer = b""
        while not answer.endswith(b"\n"):
            answer += await loop.sock_recv(connection, 65536)
        connection.close()
        self._fill()
        assert json.loads(answer)["frame"] is True, answer

    def _fill(self) -> None:
        """When a run has ended, as ours does."""
        while len(self._spare) < POOL:
            self._spare.append(self._new())

    def _new(self) -> socket.socket:
        ours, theirs = socket.socketpair()
        ours.setblocking(False)
        socket.send_fds(self._control, [b"+"], [theirs.fileno()])
        theirs.close()
        return ours

    def close(self) -> None:
        for connection in self._spare:
            connection.close()
        self._control.close()
        self._server.wait()
