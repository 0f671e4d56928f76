"""The bound on all memory of the processes of a run, shared memory included.

A control group holds it exactly, where one can be made; elsewhere a watchdog looks. Resource limits stand beside both,
but the kernel counts them for each process, and without memory that can be shared.

    bounds = MemoryBounds()
    place = bounds.take()               # before the process starts
    place.hold(process.pid, 512)        # megabytes, from now on; again with another number for the next piece of work
    ...
    if place.exceeded: ...              # it was killed for its memory
    place.leave()                       # when the process has ended
    await bounds.close()
"""

import os
from contextlib import suppress
from pathlib import Path

from answerable.isolation.control_groups import Group, Groups, own_group
from answerable.isolation.kernel import Unavailable
from answerable.isolation.memory_watch import MemoryWatch, Watched

_MB = 1 << 20
_watch = MemoryWatch()


class MemoryBounds:
    def __init__(self, control_group: Path | None = None, *, watchdog: bool = False) -> None:
        """`control_group`: a folder of the memory controller that the operator has named; raises `Unavailable` if no
        group can be made in it. Without one, the group of this process is tried, and then the watchdog serves, which
        `watchdog` asks for in any case."""
        self._groups: Groups | None = None
        if control_group is not None:
            self._groups = Groups(control_group)
        elif not watchdog and (own := own_group()) is not None:
            with suppress(Unavailable):
                self._groups = Groups(own)

    @property
    def description(self) -> str:
        if self._groups is not None:
            return f"control group v{self._groups.version}"
        return "watchdog over the memory of all processes"

    def take(self) -> "MemoryPlace":
        return MemoryPlace(self._groups)

    async def close(self) -> None:
        if self._groups is not None:
            await self._groups.close()


class MemoryPlace:
    """The bound on the memory of one process and its descendants."""

    def __init__(self, groups: Groups | None) -> None:
        self._groups = groups
        self._group: Group | None = groups.take() if groups is not None else None
        self._watched: Watched | None = None
        self._entered = False

    def entrances(self) -> list[int]:
        """Descriptors for a process that enters by itself: it writes 0 to each, and the caller closes them."""
        self._entered = True
        return [] if self._group is None else [self._group.entrance()]

    def hold(self, pid: int, megabytes: int, scratch: int | None = None) -> None:
        """`scratch`: a descriptor of a folder in memory that only the process writes to."""
        if self._group is not None:
            if not self._entered:
                self._group.enter(pid)
                self._entered = True
            self._group.limit(megabytes)
            return
        self.let_go()
        with suppress(ProcessLookupError):  # it has ended already; whoever speaks to it will notice
            self._watched = _watch.watch(pid, megabytes * _MB, scratch)

    def let_go(self) -> None:
        """The process may hold what it holds until `hold` is called again."""
        if self._watched is not None:
            self._watched.end()
            self._watched = None

    @property
    def exceeded(self) -> bool:
        """Whether a process was killed for its memory since `hold`."""
        if self._group is not None:
            return self._group.has_killed()
        return self._watched is not None and self._watched.exceeded

    @property
    def peak_mb(self) -> float:
        """The most that was seen at once."""
        if self._group is not None:
            return self._group.peak() / _MB
        return 0.0 if self._watched is None else self._watched.peak / _MB

    def leave(self) -> None:
        """The process has ended. What it has left behind in its group ends too."""
        self.let_go()
        group, self._group = self._group, None
        if group is not None and self._groups is not None:
            group.kill()
            self._groups.give_back(group)


def scratch_of(pid: int, folder: str) -> int | None:
    """A descriptor of a folder as another process sees it; None if that cannot be seen from here."""
    try:
        return os.open(f"/proc/{pid}/root{folder}", os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return None
