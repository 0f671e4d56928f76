"""What a worker may not do, taken from it before it opens any data.

Each wall stands by itself: limits on resources, no files but those named (Landlock), no network and no new programs
(seccomp). What the kernel does not offer is reported, not passed over in silence.
"""

import os
import resource
import sys
from collections.abc import Sequence
from functools import cache

from answerable.core.records import dataclass
from answerable.isolation import landlock, seccomp
from answerable.isolation.kernel import Unavailable, forbid_new_privileges

_OPEN_FILES = 512
HEADROOM_MB = 256
"""Address space for stacks and arenas of threads, which is reserved but not used."""
_MACHINE = ("/proc/self/cgroup", "/proc/stat", "/proc/meminfo", "/sys/fs/cgroup", "/sys/devices/system/cpu")
"""What engines ask about the machine when they start; DuckDB ends the process when it is refused."""


@dataclass(frozen=True, slots=True)
class Needs:
    """What a worker must still be able to do."""

    read: Sequence[str] = ()
    """Files and folders."""
    write: Sequence[str] = ()
    network: bool = False
    port: int | None = None
    reserved_mb: int = 0
    """Address space that the engine reserves and does not fill."""


def confine(needs: Needs, memory_mb: int) -> dict[str, str]:
    """Raises every wall that this kernel knows, and says which stand."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    _lower(resource.RLIMIT_NOFILE, _OPEN_FILES)
    report = {"memory": _bounded(memory_mb, needs.reserved_mb)}
    try:
        forbid_new_privileges()
    except Unavailable as reason:
        return {**report, "files": f"open: {reason}", "network": f"open: {reason}", "programs": f"open: {reason}"}
    return {**report, **_landlocked(needs), **_filtered(needs)}


def _bounded(memory_mb: int, reserved_mb: int) -> str:
    try:
        _lower(resource.RLIMIT_AS, _address_space(memory_mb + reserved_mb))
    except (OSError, ValueError) as reason:
        return f"open: {reason}"
    return f"{memory_mb} MB"


def _landlocked(needs: Needs) -> dict[str, str]:
    read = [*needs.read, *_MACHINE, *(path for path in sys.path if os.path.isdir(path))]
    try:
        version = landlock.restrict(read, needs.write, needs.port if needs.network else None)
    except Unavailable as reason:
        return {"files": f"open: {reason}", "network": f"open: {reason}"}
    network = "open: needs Landlock 4" if version < 4 else f"Landlock {version}"
    return {"files": f"Landlock {version}", "network": network}


def _filtered(needs: Needs) -> dict[str, str]:
    try:
        seccomp.restrict(network=needs.network)
    except Unavailable as reason:
        return {"programs": f"open: {reason}"}
    return {"programs": "seccomp"} if needs.network else {"programs": "seccomp", "network": "seccomp"}


def limit_statement(seconds: float, threads: int, address_mb: int, file_bytes: int) -> None:
    """Limits the time of the next statement. The clock of the parent comes first; this one holds if the parent cannot
    act."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    spent = used.ru_utime + used.ru_stime
    # The kernel counts the time of all threads since the process began. Five seconds more let the parent's clock come
    # first.
    _soft(resource.RLIMIT_CPU, int(spent + seconds * (threads + 1)) + 5)
    _soft(resource.RLIMIT_FSIZE, file_bytes + (1 << 20))
    _soft(resource.RLIMIT_AS, _address_space(address_mb))


def _address_space(memory_mb: int) -> int:
    return _mapped_at_start() + (memory_mb + HEADROOM_MB) * 1024 * 1024


@cache
def _mapped_at_start() -> int:
    """What the interpreter and its libraries take before any data is opened."""
    try:
        with open("/proc/self/statm", "rb") as file:
            return int(file.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return HEADROOM_MB * 1024 * 1024


def _lower(which: int, value: int) -> None:
    _soft_now, hard = resource.getrlimit(which)
    value = value if hard == resource.RLIM_INFINITY else min(value, hard)
    resource.setrlimit(which, (value, value))


def _soft(which: int, value: int) -> None:
    _soft_now, hard = resource.getrlimit(which)
    resource.setrlimit(which, (value if hard == resource.RLIM_INFINITY else min(value, hard), hard))
