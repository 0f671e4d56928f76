"""One zygote, and the copies of it that wait for code ahead of need."""

from collections import deque

from answerable.isolation.memory import MemoryBounds
from answerable.sandbox.base import SandboxLimits
from answerable.sandbox.kernel.jail.zygote import Child, Zygote


class ZygotePool:
    def __init__(self, zygote: Zygote, memory: MemoryBounds, size: int) -> None:
        """`size`: how many copies wait. Both the zygote and the bounds on its memory are closed with the pool."""
        self.zygote = zygote
        self.memory = memory
        self._size = size
        self._spare: deque[Child] = deque()
        self._open = True

    @property
    def alive(self) -> bool:
        return self._open and self.zygote.alive

    def take(self, scratch_mb: int) -> Child:
        if self._spare and self._spare[0].scratch_mb == scratch_mb:
            return self._spare.popleft()
        return self._spawned(scratch_mb)

    def refill(self) -> None:
        while self.alive and len(self._spare) < self._size:
            # With the usual scratch size: its walls are raised before anybody knows which request it will get.
            self._spare.append(self._spawned(SandboxLimits().scratch_mb))

    async def close(self) -> None:
        self._open = False
        await self.zygote.close()
        while self._spare:
            self._spare.pop().close()
        await self.memory.close()

    def _spawned(self, scratch_mb: int) -> Child:
        return self.zygote.spawn(scratch_mb, self.memory.take())
