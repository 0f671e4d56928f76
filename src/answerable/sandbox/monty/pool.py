"""The worker processes of Monty: opened together, and gone with the process that opened them, however that ends."""

import errno
import functools
import os
import shlex
import shutil
import sys
import sysconfig
from contextlib import ExitStack
from pathlib import Path

from pydantic_monty import Monty

from answerable.core.errors import OperatorError
from answerable.sandbox.monty import launch

_MFD_EXEC = 0x10
"""Newer kernels want to be told that a file in memory is a program; older ones do not know the flag."""


class MontyPool:
    def __init__(self, size: int, request_seconds: float | None = None) -> None:
        """Starts them. An `OperatorError` if the interpreter cannot be started here.

        `request_seconds`: the longest that one may be silent before it is killed.
        """
        self._open = ExitStack()
        self._report: int | None = None
        try:
            # Without a number of checkouts after which a worker is replaced: a process that confined itself after it
            # opened the pool cannot start another. Such a process is replaced with its pool.
            monty = Monty(
                binary_path=self._program(), min_processes=size, max_processes=size, request_timeout=request_seconds
            )
            self.monty = self._open.enter_context(monty)
        except (OSError, RuntimeError) as error:
            self._open.close()
            raise OperatorError(
                f"The sandbox monty cannot run here: {error}.",
                code="sandbox_unavailable",
                hint="Install it again: `pip install pydantic-monty`.",
            ) from error

    @functools.cached_property
    def walls(self) -> str:
        """What the kernel keeps around the workers, as they say; to be asked when one of them has answered."""
        return "" if self._report is None else os.pread(self._report, 1_000, 0).decode().partition("\n")[0]

    def close(self) -> None:
        self._open.close()

    def _program(self) -> str | None:
        """A worker starts without walls, and does not notice that its host was killed while it computes; started by
        this program it has them, and does. The program and what it reports are files in memory: nothing of them can be
        left behind. Where such a file cannot be started, a worker ends when the time of its code is over.
        """
        found = binary()
        if found is None or sys.platform != "linux":
            return found
        self._report = os.memfd_create("walls")
        self._open.callback(os.close, self._report)
        words = [sys.executable, "-I", "-S", launch.__file__, _path(self._report), found]
        program = _program_in_memory(f'#!/bin/sh\nexec {shlex.join(words)} "$@"\n')
        if program is None:
            return found
        self._open.callback(os.close, program)
        return _path(program)


def _program_in_memory(text: str) -> int | None:
    """Returns None if this machine does not start such programs."""
    try:
        file = os.memfd_create("monty", os.MFD_CLOEXEC | _MFD_EXEC)
    except OSError as error:
        if error.errno != errno.EINVAL:
            return None
        file = os.memfd_create("monty")
    try:
        os.write(file, text.encode())
        os.fchmod(file, 0o500)
        # Opened again, because a file that is open for writing cannot be started.
        return os.open(_path(file), os.O_RDONLY | os.O_CLOEXEC) if os.access(_path(file), os.X_OK) else None
    finally:
        os.close(file)


def binary() -> str | None:
    """Where the interpreter is installed."""
    beside = Path(sysconfig.get_path("scripts")) / "monty"
    return str(beside) if beside.is_file() else shutil.which("monty")


def _path(descriptor: int) -> str:
    """The path of an open file that also holds in a child of this process, which has other descriptors."""
    return f"/proc/{os.getpid()}/fd/{descriptor}"
