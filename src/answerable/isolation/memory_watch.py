"""A watchdog over memory: kills a process whose tree holds more than it may, where no control group counts it.

It counts what a tree holds of private and of shared memory, its page tables, and the files of its scratch folder. Pages
that several processes share count in part for each of them. Between two looks a process can take as much as the machine
can hand out in that time; the limits on resources are the bound on that.
"""

import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import suppress

_SECONDS_BETWEEN = 0.02
_RESIDENT = (b"RssAnon", b"RssShmem", b"VmSwap", b"VmPTE")
_PROPORTIONAL = (b"Pss_Anon", b"Pss_Shmem", b"SwapPss")
_SHARED = (b"RssShmem", b"Pss_Shmem")


class MemoryWatch:
    """Looks at the processes that it is told, from a thread of its own."""

    def __init__(self) -> None:
        self._watched: set[Watched] = set()
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None

    def watch(self, pid: int, limit: int, scratch: int | None = None) -> "Watched":
        """Allows `pid` and its descendants `limit` bytes from now on. `scratch`: a descriptor of a folder in memory
        that only they write to. Raises `ProcessLookupError` if there is no such process."""
        watched = Watched(self, pid, limit, scratch)
        with self._changed:
            self._watched.add(watched)
            if self._thread is None:
                self._thread = threading.Thread(target=self._look, name="memory-watch", daemon=True)
                self._thread.start()
            self._changed.notify()
        return watched

    def forget(self, watched: "Watched") -> None:
        with self._changed:
            self._watched.discard(watched)

    def _look(self) -> None:
        while True:
            with self._changed:
                while not self._watched:
                    self._changed.wait()
                current = list(self._watched)
            for watched in current:
                watched.look()
            time.sleep(_SECONDS_BETWEEN)


class Watched:
    """One process tree."""

    def __init__(self, watch: MemoryWatch, pid: int, limit: int, scratch: int | None) -> None:
        self.exceeded = False
        """Whether it was killed because it held too much."""
        self.peak = 0
        """The most bytes that were seen."""
        self._watch = watch
        self._pid = pid
        # A number may be given to another process once this one has ended; a descriptor never is.
        self._process = os.pidfd_open(pid)
        self._limit = limit
        self._scratch = scratch
        self._lock = threading.Lock()

    def look(self) -> None:
        with self._lock:
            if self._process < 0 or self.exceeded:
                return
            used = memory_of(self._pid, self._limit, self._in_scratch())
            self.peak = max(self.peak, used)
            if used > self._limit:
                self.exceeded = True
                self._kill()

    def _kill(self) -> None:
        descendants = list(_tree(self._pid))[1:]
        with suppress(OSError):
            signal.pidfd_send_signal(self._process, signal.SIGKILL)
            for pid in descendants:
                os.kill(pid, signal.SIGKILL)

    def end(self) -> None:
        """Stops watching the memory of the process."""
        self._watch.forget(self)
        with self._lock:
            if self._process >= 0:
                os.close(self._process)
                self._process = -1

    def _in_scratch(self) -> int:
        if self._scratch is None:
            return 0
        found = os.fstatvfs(self._scratch)
        return (found.f_blocks - found.f_bfree) * found.f_frsize


def memory_of(pid: int, enough: int = 0, scratch: int = 0) -> int:
    """Bytes that a process and its descendants hold, with `scratch` bytes in a folder in memory.

    Pages that are shared count in full as long as the sum stays below `enough`: only beyond that it is worth the time
    to ask the kernel for the exact share."""
    tree = list(_tree(pid))
    found = [_kilobytes(f"/proc/{each}/status", _RESIDENT) for each in tree]
    used = _sum(found, scratch)
    if used > enough:
        shares = [_kilobytes(f"/proc/{each}/smaps_rollup", _PROPORTIONAL) for each in tree]
        if all(shares):
            tables = sum(each.get(b"VmPTE", 0) for each in found) * 1024
            used = _sum(shares, scratch) + tables
    return used


def _sum(kilobytes: list[dict[bytes, int]], scratch: int) -> int:
    """Files in the scratch folder that are mapped are shared memory too, and count once."""
    shared = sum(value for each in kilobytes for name, value in each.items() if name in _SHARED) * 1024
    rest = sum(value for each in kilobytes for name, value in each.items() if name not in _SHARED) * 1024
    return rest + max(shared, scratch)


def _tree(pid: int) -> Iterator[int]:
    yield pid
    with suppress(OSError):
        for task in os.listdir(f"/proc/{pid}/task"):
            with suppress(OSError), open(f"/proc/{pid}/task/{task}/children", "rb") as file:
                for child in file.read().split():
                    yield from _tree(int(child))


def _kilobytes(path: str, names: tuple[bytes, ...]) -> dict[bytes, int]:
    """These lines; none if the file cannot be read, because the process has ended or is not ours to see."""
    try:
        with open(path, "rb") as file:
            lines = file.read().splitlines()
    except OSError:
        return {}
    pairs = (line.split(b":", 1) for line in lines if b":" in line)
    return {name: int(value.split()[0]) for name, value in pairs if name in names}
