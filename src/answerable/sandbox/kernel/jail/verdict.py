"""Which limit ended a process that did not come to its own end."""

import signal

from answerable.sandbox.base import SandboxLimits
from answerable.sandbox.kernel.jail.zygote import ProcessEnd
from answerable.sandbox.results import Stopped

_ABORTS = (-signal.SIGABRT, -signal.SIGSEGV, -signal.SIGILL, -signal.SIGTRAP, -signal.SIGBUS, 127)
"""How a process ends that its allocator gives up. The first process of a namespace cannot send itself an abort."""
_OUT_OF_MEMORY = ("memory allocation of", "bad_alloc", "out of memory", "cannot allocate memory", "capacity overflow")


def verdict(
    end: ProcessEnd, complaint: str, limits: SandboxLimits, cpu_seconds: int, *, killed_for_memory: bool
) -> Stopped:
    status = end.status
    if killed_for_memory or _gave_up(status, complaint):
        return Stopped("memory", f"The code needed more than {limits.memory_mb:,} MB of memory.")
    if status == -signal.SIGXCPU or (end.cpu_ms or 0) >= cpu_seconds * 1000:
        return Stopped("cpu", f"The code used more than {cpu_seconds:,} seconds of computing time.")
    if status == -signal.SIGSYS:
        return Stopped("forbidden", "The code made a system call that ends a process here.")
    if status is None:
        return Stopped("died", "The process of the code is gone.")
    if status == -signal.SIGSEGV:
        return Stopped("died", "The code's process was ended by SIGSEGV: it used up its stack, or a library failed.")
    if status < 0:
        return Stopped("died", f"The process of the code was ended by {signal.Signals(-status).name}.")
    return Stopped("died", f"The code ended its process with {status}.")


def _gave_up(status: int | None, complaint: str) -> bool:
    lowered = complaint.lower()
    return status in _ABORTS and any(words in lowered for words in _OUT_OF_MEMORY)
