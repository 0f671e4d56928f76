"""Where the rows of a result are written by code that nobody trusts, and how they are taken out of its hands."""

import asyncio
import fcntl
import os
import shutil
from pathlib import Path

from answerable.sandbox.jail.zygote import Child

_FROZEN = fcntl.F_SEAL_SEAL | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_WRITE
_SMALL = 4 << 20
"""Up to so many bytes copying takes less time than finding a thread for it."""


class Rows:
    """A file in memory. Once it is frozen it is the same for whoever still holds it open, so that what is checked stays
    what was checked, without waiting for the process to be gone."""

    def __init__(self) -> None:
        self.descriptor = os.memfd_create("rows", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)

    async def take(self, child: Child, into: Path) -> None:
        try:
            fcntl.fcntl(self.descriptor, fcntl.F_ADD_SEALS, _FROZEN)
        except OSError:  # it is mapped for writing: then the process must go first
            await child.finish()
        if os.fstat(self.descriptor).st_size <= _SMALL:
            self._copy(into)
        else:
            await asyncio.to_thread(self._copy, into)

    def _copy(self, into: Path) -> None:
        os.lseek(self.descriptor, 0, os.SEEK_SET)
        with open(self.descriptor, "rb", closefd=False) as rows, into.open("wb") as file:
            shutil.copyfileobj(rows, file, 1 << 20)

    def close(self) -> None:
        os.close(self.descriptor)
