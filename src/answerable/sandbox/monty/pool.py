"""The worker processes of Monty: opened together, and gone with the process that opened them, however that ends."""

import functools
import os
import shlex
import shutil
import sys
import sysconfig
import tempfile
from contextlib import ExitStack
from pathlib import Path

from pydantic_monty import Monty

from answerable.core.errors import OperatorError
from answerable.sandbox.monty import launch

_REPORT = "walls"
_RUNS_PER_PROCESS = 1_000
"""After so many a process is replaced, whatever it did."""


class MontyPool:
    def __init__(self, size: int, request_seconds: float | None = None) -> None:
        """Starts them. An `OperatorError` if the interpreter cannot be started here.

        `request_seconds`: the longest that one may be silent before it is killed.
        """
        self._open = ExitStack()
        try:
            folder = Path(self._open.enter_context(tempfile.TemporaryDirectory(prefix="answerable-monty-")))
            self._report = folder / _REPORT
            options = {"min_processes": size, "max_processes": size, "max_checkouts_per_worker": _RUNS_PER_PROCESS}
            monty = Monty(binary_path=_program(folder), request_timeout=request_seconds, **options)
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
        return self._report.read_text().partition("\n")[0] if self._report.exists() else ""

    def close(self) -> None:
        self._open.close()


def binary() -> str | None:
    """Where the interpreter is installed."""
    beside = Path(sysconfig.get_path("scripts")) / "monty"
    return str(beside) if beside.is_file() else shutil.which("monty")


def _program(folder: Path) -> str | None:
    """A worker starts without walls, and does not notice that its host was killed while it computes; started this way
    it has them, and does. Where programs cannot be started from the temporary folder, it ends when the time of its code
    is over.
    """
    found = binary()
    if found is None or sys.platform != "linux":
        return found
    script = folder / "monty"
    words = [sys.executable, "-I", "-S", launch.__file__, str(folder / _REPORT), found]
    script.write_text(f'#!/bin/sh\nexec {shlex.join(words)} "$@"\n')
    script.chmod(0o500)
    return str(script) if os.access(script, os.X_OK) else found
