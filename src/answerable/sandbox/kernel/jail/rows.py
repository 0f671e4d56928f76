"""How the rows of a result leave a process that nobody trusts: through a pipe, into a file that only the host has.

A file in memory that both sides share would be quicker by one copy, but the code could map it as a program.
"""

import asyncio
import fcntl
import os
from contextlib import suppress
from typing import BinaryIO

_PIECE = 1 << 20
_F_SETPIPE_SZ = 1031


class RowsPipe:
    def __init__(self, limit: int) -> None:
        """`limit`: how many bytes are taken; the rest stays in the pipe, and its writer waits."""
        self._limit = limit
        self._taken = 0
        self._file = os.memfd_create("rows", os.MFD_CLOEXEC)
        self._ours, self.theirs = os.pipe2(os.O_CLOEXEC)
        os.set_blocking(self._ours, False)
        with suppress(OSError):  # the pipes of a user are bounded together; a small one works too
            fcntl.fcntl(self._ours, _F_SETPIPE_SZ, _PIECE)
        asyncio.get_running_loop().add_reader(self._ours, self._take)

    @property
    def exceeded(self) -> bool:
        return self._taken > self._limit

    def handed_over(self) -> None:
        """The process has its end now."""
        os.close(self.theirs)
        self.theirs = -1

    def _take(self) -> None:
        """A piece each time that the loop comes by. The kernel moves the bytes; Python never holds them."""
        try:
            moved = os.splice(self._ours, self._file, _PIECE)
        except BlockingIOError:
            return
        self._taken += moved
        if not moved or self.exceeded:
            asyncio.get_running_loop().remove_reader(self._ours)

    async def rows(self) -> BinaryIO:
        """All that was written before the process said that it is done."""
        before = -1
        while self._taken != before and not self.exceeded:
            before = self._taken
            self._take()
            await asyncio.sleep(0)
        return os.fdopen(os.dup(self._file), "rb")

    def close(self) -> None:
        asyncio.get_running_loop().remove_reader(self._ours)
        for descriptor in (self._ours, self._file, self.theirs):
            if descriptor >= 0:
                os.close(descriptor)
