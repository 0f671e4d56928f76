"""Programs that somebody hands in to be run in a sandbox, beside any question and any source."""

from collections.abc import Mapping
from pathlib import Path

from answerable.core.context import Principal
from answerable.sandbox.base import SandboxLimits, SandboxRequest, SandboxResult
from answerable.sandbox.open import Sandboxes


class ProgramService:
    def __init__(self, sandboxes: Sandboxes, limits: SandboxLimits) -> None:
        self._sandboxes = sandboxes
        self._limits = limits

    async def run(self, code: str, principal: Principal, *, frames: Mapping[str, Path], into: Path) -> SandboxResult:
        """Runs Python in the sandbox that the settings name. `frames` are Arrow files by the variable that holds each;
        a result that is a table is written to the Arrow file `into`. Nothing is recorded."""
        return await self._sandboxes.run(SandboxRequest(code, frames=frames, limits=self._limits, into=into))
