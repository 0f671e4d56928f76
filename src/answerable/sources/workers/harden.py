"""What a worker may not do, taken from it before it opens any data."""

import ctypes
import os
import resource
import signal
from typing import Any

_PR_SET_PDEATHSIG = 1


def die_with_parent() -> None:
    """A worker must not outlive its parent, however that ends."""
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def limit_resources(spec: dict[str, Any]) -> None:
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_NOFILE, (256, 256))
    address_space = spec["memory_mb"] * 1024 * 1024 + _base_address_space()
    _lower(resource.RLIMIT_AS, address_space)


def _lower(which: int, value: int) -> None:
    _soft, hard = resource.getrlimit(which)
    value = value if hard == resource.RLIM_INFINITY else min(value, hard)
    resource.setrlimit(which, (value, value))


def _base_address_space() -> int:
    """What the interpreter and its libraries have mapped already."""
    with open("/proc/self/statm", "rb") as file:
        return int(file.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
