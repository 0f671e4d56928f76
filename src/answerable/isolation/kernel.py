"""System calls that Python has no function for."""

import ctypes
import os
import signal
import sys
from contextlib import suppress
from typing import Any

_PR_SET_PDEATHSIG = 1
_PR_SET_DUMPABLE = 4
_PR_SET_NO_NEW_PRIVS = 38


class Unavailable(Exception):
    """The kernel does not offer this. The message says why."""


def libc() -> Any:
    if sys.platform != "linux":
        raise Unavailable(f"not on {sys.platform}")
    return ctypes.CDLL(None, use_errno=True)


def prctl(option: int, *arguments: Any) -> None:
    passed = [ctypes.c_ulong(argument) if isinstance(argument, int) else argument for argument in arguments]
    passed += [ctypes.c_ulong(0)] * (4 - len(passed))
    if libc().prctl(option, *passed) != 0:
        raise Unavailable(os.strerror(ctypes.get_errno()).lower())


def system_call(number: int, *arguments: Any) -> int:
    result: int = libc().syscall(ctypes.c_long(number), *arguments)
    if result < 0:
        raise Unavailable(os.strerror(ctypes.get_errno()).lower())
    return result


def signal_on_parent_death(number: int) -> None:
    prctl(_PR_SET_PDEATHSIG, int(number))


def die_with_parent(parent: int) -> None:
    """A worker must not outlive its parent, however that ends. Where the kernel cannot help, the closed socket does."""
    with suppress(Unavailable):
        signal_on_parent_death(signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(0)  # the parent ended before the kernel knew that it should send the signal


def forbid_new_privileges() -> None:
    prctl(_PR_SET_NO_NEW_PRIVS, 1)


def set_dumpable() -> None:
    """Changing its ids takes from a process its own files in /proc; this gives them back."""
    prctl(_PR_SET_DUMPABLE, 1)
