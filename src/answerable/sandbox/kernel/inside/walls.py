"""The walls around one run, raised by the process itself before it knows what it runs; none can be taken down."""

import mmap
import os
import resource
import signal
from typing import Any

from answerable.isolation import computing, landlock, namespaces
from answerable.isolation.kernel import Unavailable, forbid_new_privileges, signal_on_parent_death

SCRATCH = "/work"
SIZE = 4
"""The descriptor that tells how large the process is; closed before the code runs."""
_SCRATCH_FILES = 4_096
_OPEN_FILES = 256
_THREADS = 128
_HEADROOM_MB = 128
"""What allocators keep in reserve, and stacks of threads."""
_RESERVED_MB = 2_048
"""Addresses that are set aside without being used."""
_MB = 1 << 20
_STACK = 8 * _MB
"""The usual size. Stacks count for nothing in the limit on data."""
_SEALED = namespaces.NO_SETUID | namespaces.NO_DEVICES | namespaces.NO_PROGRAMS


def raise_all(setup: dict[str, Any], scratch_mb: int) -> dict[str, str]:
    """Which stand. `Unavailable` if they are too few and the operator has not allowed that."""
    report = {"memory": "limits on data and addresses", **_apart(setup, scratch_mb)}
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_NOFILE, (_OPEN_FILES, _OPEN_FILES))
    try:
        # Landlock and seccomp refuse a process without rights that could still gain some, so this comes first.
        forbid_new_privileges()
        signal_on_parent_death(signal.SIGKILL)
        report |= _landlocked(setup)
        # Last: the filter forbids the system calls of namespaces, mounts and Landlock.
        computing.restrict_to_computing(own_files=setup["jailed"])
        report["network"] = _and(report.get("network"), "seccomp")
        report["processes"] = _and(report.get("processes"), "seccomp")
    except Unavailable as reason:
        report["processes"] = f"open: {reason}"
    missing = [wall for wall in ("files", "network", "processes") if report.get(wall, "open").startswith("open")]
    if missing and not setup["allow_unisolated"]:
        raise Unavailable(", ".join(f"{wall}: {report.get(wall, 'open')}" for wall in missing))
    return report


def _apart(setup: dict[str, Any], scratch_mb: int) -> dict[str, str]:
    if not setup["jailed"]:
        return {}
    if not setup["nested"]:
        return {"files": "mount namespace", "network": "network namespace"}
    user, group = os.getuid(), os.getgid()
    namespaces.unshare(namespaces.NEW_IDS | namespaces.NEW_MOUNTS | namespaces.NEW_MESSAGES)
    namespaces.show_as(user, group)
    namespaces.keep_mounts_private()
    namespaces.mount_memory(SCRATCH, _SEALED, megabytes=scratch_mb, files=_SCRATCH_FILES)
    namespaces.mount_memory("/proc", _SEALED | namespaces.READ_ONLY, megabytes=1, files=2)
    os.chdir(SCRATCH)
    # Only now: the mounts above need the capabilities that a new user namespace gives.
    namespaces.drop_capabilities()
    resource.setrlimit(resource.RLIMIT_NPROC, (_THREADS, _THREADS))
    return {
        "files": "mount namespace",
        "network": "network namespace",
        "processes": "process namespace",
        "ids": "user namespace",
    }


def _landlocked(setup: dict[str, Any]) -> dict[str, str]:
    scratch = [SCRATCH] if setup["nested"] else []
    try:
        version = landlock.restrict(setup["read"], (), None, scratch)
    except Unavailable as reason:
        return {} if setup["jailed"] else {"files": f"open: {reason}"}
    standing = "mount namespace" if setup["jailed"] else None
    return {"files": _and(standing, f"Landlock {version}")}


def _and(standing: str | None, more: str) -> str:
    return f"{standing}, {more}" if standing else more


class ProcessSize:
    """How large this process is. The file is opened while /proc is there, and read after polars has its threads."""

    def __init__(self) -> None:
        self.descriptor = os.open("/proc/self/statm", os.O_RDONLY)

    def read(self) -> tuple[int, int]:
        """Bytes of data and of addresses; can be read once."""
        fields = os.pread(SIZE, 200, 0).split()
        os.close(SIZE)
        page = mmap.PAGESIZE
        return int(fields[5]) * page, int(fields[0]) * page


def limit(limits: dict[str, Any], size: ProcessSize, inputs: int) -> None:
    """Sets the limits of the code that comes now. It cannot raise them again."""
    data, addresses = size.read()
    memory = (limits["memory_mb"] + _HEADROOM_MB) * _MB
    for which, value in (
        (resource.RLIMIT_DATA, data + memory),
        (resource.RLIMIT_AS, addresses + memory + inputs + _RESERVED_MB * _MB),
        (resource.RLIMIT_STACK, _STACK),
        (resource.RLIMIT_FSIZE, max(limits["result_mb"], limits["scratch_mb"]) * _MB),
        (resource.RLIMIT_CPU, limits["cpu_seconds"]),
    ):
        # A container may have lower hard limits, which a process without rights cannot raise.
        hard = resource.getrlimit(which)[1]
        value = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(which, (value, value))
