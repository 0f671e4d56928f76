"""Runs with an empty temporary folder, which `TMPDIR` names: `temporary_files_process.py HOW`.

A server begins everything that needs temporary files; it is killed, or ends by itself (HOW: `killed`, `closed`). Then
another one starts at the same home and ends. Prints, as JSON, what was in the temporary folder and in the home while
the first was at work, after its end, and after the end of the second.
"""

import asyncio
import ctypes
import json
import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

_TEMPORARY = os.environ["TMPDIR"]
_HOME = Path(_TEMPORARY) / "home"
_BECOME_REAPER = 36
_ENDLESS = "while True: pass"


def main(how: str) -> None:
    _HOME.mkdir()
    ctypes.CDLL(None).prctl(_BECOME_REAPER, 1, 0, 0, 0)
    first = _started("work")
    assert first.stdout is not None
    assert first.stdout.readline() == b"ready\n"
    during = _files()
    if how == "killed":
        first.send_signal(signal.SIGKILL)
    else:
        first.communicate(b"end\n")
    _wait_for_all()
    after = _files()
    second = _started("start")
    second.communicate()
    _wait_for_all()
    print(json.dumps({"during": during, "after": after, "restarted": _files()}))


def _started(what: str) -> "subprocess.Popen[bytes]":
    command = [sys.executable, __file__, what]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)


def _wait_for_all() -> None:
    """Processes of a killed server end after it."""
    with suppress(ChildProcessError):
        while True:
            os.waitpid(-1, 0)


def _files() -> list[str]:
    """All in the temporary folder; of the home, what is below folders that are for files on their way."""
    found = map(str, Path(_TEMPORARY).rglob("*"))
    return sorted(path for path in found if not path.startswith(str(_HOME)) or "staging/" in path)


async def work() -> None:
    """Begins everything that needs temporary files, and waits."""
    import polars as pl

    from answerable.answers.export import export
    from answerable.app import open_service
    from answerable.core.context import LOCAL
    from answerable.sandbox.base import SandboxLimits, SandboxRequest
    from answerable.sandbox.open import Sandboxes, SandboxOptions
    from answerable.settings import Settings
    from answerable.sources.added import AddedSources
    from answerable.store.open import open_store

    table = _HOME / "rows.arrow"
    pl.DataFrame({"a": range(1_000)}).write_ipc(table)
    settings = Settings(home=_HOME)
    async with open_service(settings, any_location=False):
        store = await open_store(settings.store_url, artifacts=settings.artifacts)
        passing = await open_store(":memory:")
        half_exported = export(table, "parquet")
        next(half_exported)
        sandboxes = Sandboxes(SandboxOptions(pool=2))
        stopped = SandboxRequest(_ENDLESS, limits=SandboxLimits(seconds=0.2))
        running = SandboxRequest(_ENDLESS, limits=SandboxLimits(seconds=60))
        begun = []
        for backend in ("monty", "kernel"):
            await sandboxes.run(stopped, backend)
            cancelled = asyncio.ensure_future(sandboxes.run(running, backend))
            await asyncio.sleep(0.1)
            cancelled.cancel()
            await asyncio.wait({cancelled})
            begun.append(asyncio.ensure_future(sandboxes.run(running, backend)))
        for half in (store.artifacts.staging(), passing.artifacts.staging(), AddedSources(_HOME).staging()):
            half.write_bytes(b"half")
        await passing.artifacts.adopt(LOCAL, _whole(passing.artifacts.staging()))
        print("ready", flush=True)
        await asyncio.to_thread(sys.stdin.readline)
        for task in begun:
            task.cancel()
        await asyncio.wait(begun)
        for _ in half_exported:
            pass
        await sandboxes.close()
        await passing.close()
        await store.close()


def _whole(path: Path) -> Path:
    path.write_bytes(b"whole")
    return path


async def start() -> None:
    from answerable.app import open_service
    from answerable.settings import Settings
    from answerable.sources.added import AddedSources

    async with open_service(Settings(home=_HOME), any_location=False):
        AddedSources(_HOME).all()


if __name__ == "__main__":
    match sys.argv[1]:
        case "work":
            asyncio.run(work())
        case "start":
            asyncio.run(start())
        case how:
            main(how)
