"""Control groups: each run has one of its own with its own bound on memory, below one that the operator has set or
that this process is in.

Both versions are spoken: 2 where the folder has `cgroup.controllers`, else the memory controller of 1.
"""

import asyncio
import errno
import os
import signal
from contextlib import suppress
from pathlib import Path

from answerable.isolation.kernel import Unavailable

_MB = 1 << 20
_BEFORE_MB = 1_024
"""Until the code comes and brings its own limit."""
_LOOKS, _LOOK_SECONDS = 500, 0.01
"""A killed process stays in its group until the kernel has freed all of its memory."""


class Group:
    """A control group for one process at a time. It outlives the process and serves the next one."""

    def __init__(self, folder: Path, version: int) -> None:
        self._folder = folder
        self._version = version
        self._kill_counts = str(folder / ("memory.events" if version == 2 else "memory.oom_control"))
        self._megabytes: int | None = None
        self._kills_before = 0
        self._held_too_much = False

    def entrance(self) -> int:
        """A descriptor; whoever writes 0 to it is in."""
        return os.open(self._folder / "cgroup.procs", os.O_WRONLY | os.O_CLOEXEC)

    def enter(self, pid: int) -> None:
        """Moves a process in. What it holds already still counts where it was."""
        with suppress(ProcessLookupError):
            (self._folder / "cgroup.procs").write_text(str(pid))

    def limit(self, megabytes: int) -> None:
        self._held_too_much = False
        self._kills_before = self._kills()
        if megabytes != self._megabytes:
            self._write_limit(megabytes)

    def _write_limit(self, megabytes: int) -> None:
        name = "memory.max" if self._version == 2 else "memory.limit_in_bytes"
        try:
            (self._folder / name).write_text(str(megabytes * _MB))
            self._megabytes = megabytes
        except OSError as error:
            if error.errno != errno.EBUSY:
                raise
            # Version 1 refuses a bound below what is held already, where version 2 kills.
            self._held_too_much = True
            self.kill()
        if self._version == 2:
            with suppress(OSError):  # a machine without swap has no such file
                (self._folder / "memory.swap.max").write_text("0")

    def peak(self) -> int:
        """The most bytes at once since the group was made."""
        try:
            name = "memory.peak" if self._version == 2 else "memory.max_usage_in_bytes"
            return int((self._folder / name).read_text())
        except OSError:
            return 0

    def has_killed(self) -> bool:
        """Since the limit was set."""
        return self._held_too_much or self._kills() > self._kills_before

    def kill(self) -> None:
        """Whoever is still in."""
        with suppress(OSError):
            for pid in (self._folder / "cgroup.procs").read_text().split():
                with suppress(ProcessLookupError):
                    os.kill(int(pid), signal.SIGKILL)

    def remove(self) -> None:
        """An `OSError` as long as somebody is in."""
        self._folder.rmdir()

    def _kills(self) -> int:
        # Read with every run, so without what `Path` and text files cost.
        with suppress(FileNotFoundError), open(self._kill_counts, "rb", buffering=0) as file:  # it was closed meanwhile
            for line in (file.read(4_096) or b"").splitlines():
                word, _, number = line.partition(b" ")
                if word == b"oom_kill":
                    return int(number)
        return 0


class Groups:
    """The groups below `parent`, the one that the operator has set."""

    def __init__(self, parent: Path) -> None:
        self.version = 2 if (parent / "cgroup.controllers").exists() else 1
        self._folder = parent / f"answerable-{os.getpid()}-{id(self):x}"
        self._free: list[Group] = []
        self._all: list[Group] = []
        try:
            (parent / "cgroup.procs").stat()  # or it is a folder like any other
            _remove_abandoned(parent)
            if self.version == 2:
                _delegate(parent)
            self._folder.mkdir()
            if self.version == 2:
                _delegate(self._folder)
            self.take()  # to see that it works
        except OSError as error:
            self._removed()
            raise Unavailable(f"control group {parent}: {error.strerror or error}") from error
        self._free = list(self._all)

    def take(self) -> Group:
        if self._free:
            return self._free.pop()
        folder = self._folder / str(len(self._all))
        folder.mkdir()
        group = Group(folder, self.version)
        self._all.append(group)
        group.limit(_BEFORE_MB)
        return group

    def give_back(self, group: Group) -> None:
        """One of a closed family is not taken: its process ended after its successor had begun."""
        if group in self._all:
            self._free.append(group)

    async def close(self) -> None:
        for group in self._all:
            group.kill()
        for _ in range(_LOOKS):
            if self._removed():
                return
            await asyncio.sleep(_LOOK_SECONDS)

    def _removed(self) -> bool:
        """Whether all are gone. What does not go is taken by the next start."""
        try:
            while self._all:
                self._all[-1].remove()
                self._all.pop()
            with suppress(FileNotFoundError):  # closed before
                self._folder.rmdir()
        except OSError:
            return False
        return True


def own_group() -> Path | None:
    """The folder of the group of the memory controller that this process is in."""
    with suppress(OSError):
        for line in Path("/proc/self/cgroup").read_text().splitlines():
            _number, controllers, path = line.split(":", 2)
            if "memory" in controllers.split(","):
                return _existing(Path("/sys/fs/cgroup/memory"), path)
        for line in Path("/proc/self/cgroup").read_text().splitlines():
            if line.startswith("0::"):
                return _existing(Path("/sys/fs/cgroup"), line[3:])
    return None


def _existing(mount: Path, path: str) -> Path | None:
    """The folder of the group that exists. In a container the path may be that of the host, and the folder the mount
    itself."""
    folder = mount / path.lstrip("/")
    return next((found for found in (folder, mount) if os.access(found / "cgroup.procs", os.W_OK)), None)


def _delegate(folder: Path) -> None:
    (folder / "cgroup.subtree_control").write_text("+memory")


def _remove_abandoned(parent: Path) -> None:
    """Groups of servers that were killed: nobody is in them, and a process of that number no longer lives."""
    for folder in parent.glob("answerable-*-*"):
        if os.path.exists(f"/proc/{folder.name.split('-')[1]}"):
            continue
        for group in (*folder.glob("*/"), folder):
            with suppress(OSError):  # still in use, or removed by another server meanwhile
                group.rmdir()
