"""Where the rows of a result are written by code that nobody trusts, and how they are taken out of its hands."""

import fcntl
import mmap
import os

from answerable.sandbox.kernel.jail.zygote import Child

_FROZEN = fcntl.F_SEAL_SEAL | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_WRITE


class RowsFile:
    """A file in memory. Once it is frozen it is the same for whoever still holds it open, so that what is checked stays
    what was checked, without waiting for the process to be gone."""

    def __init__(self) -> None:
        self.descriptor = os.memfd_create("rows", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)

    async def taken(self, child: Child) -> memoryview:
        try:
            fcntl.fcntl(self.descriptor, fcntl.F_ADD_SEALS, _FROZEN)
        except OSError:  # it is mapped for writing: then the process must go first
            await child.finish()
        size = os.fstat(self.descriptor).st_size
        return memoryview(mmap.mmap(self.descriptor, size, prot=mmap.PROT_READ) if size else b"")

    def close(self) -> None:
        os.close(self.descriptor)
