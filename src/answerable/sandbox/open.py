"""Every backend by its name, opened when it is first used."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from answerable.core.errors import AnswerableError, RefusedError, UserError
from answerable.core.records import dataclass
from answerable.core.values import Json
from answerable.sandbox.base import Availability, Reason, Sandbox, SandboxRequest, SandboxResult

if TYPE_CHECKING:
    from answerable.sandbox.tables.workers import TableWorkers

_VALUE_TABLE_MB = 256
"""A value is small, but its rows may each lack most columns of the table."""


@dataclass(frozen=True, slots=True)
class SandboxOptions:
    """What the operator chose. A backend reads only what is its own."""

    backend: str = "kernel"
    """The one for requests that name none."""
    pool: int = 2
    """How many can run at once. Backends that can start their processes ahead of need do so."""
    allow_unisolated: bool = False
    """Whether code may run without isolation where the kernel offers too little."""
    control_group: Path | None = None
    """A folder of the memory controller that is ours to make a group in for each run of `kernel`."""
    docker_image: str = "answerable-sandbox"
    docker_host: str = ""
    """Where the daemon listens: `unix:///…` or `tcp://…`; empty for the usual place."""
    kubernetes_image: str = ""
    kubernetes_namespace: str = "answerable-sandbox"
    microsandbox_image: str = ""


def _monty(options: SandboxOptions) -> Sandbox:
    from answerable.sandbox.monty.sandbox import MontySandbox

    return MontySandbox(options.pool)


def _kernel(options: SandboxOptions) -> Sandbox:
    from answerable.sandbox.kernel.sandbox import KernelSandbox

    return KernelSandbox(options.pool, options.allow_unisolated, control_group=options.control_group)


def _docker(options: SandboxOptions) -> Sandbox:
    from answerable.sandbox.containers.docker import DockerSandbox

    return DockerSandbox(options.docker_image, options.docker_host or None, at_once=options.pool)


def _kubernetes(options: SandboxOptions) -> Sandbox:
    from answerable.sandbox.containers.kubernetes import KubernetesSandbox

    return KubernetesSandbox(options.kubernetes_image, options.kubernetes_namespace)


def _microsandbox(options: SandboxOptions) -> Sandbox:
    from answerable.sandbox.containers.microsandbox import MicrosandboxSandbox

    return MicrosandboxSandbox(options.microsandbox_image)


BACKENDS: Mapping[str, Callable[[SandboxOptions], Sandbox]] = {
    "monty": _monty,
    "kernel": _kernel,
    "docker": _docker,
    "kubernetes": _kubernetes,
    "microsandbox": _microsandbox,
}
"""A backend's module is imported only when it is opened."""


def open_sandbox(name: str, options: SandboxOptions) -> Sandbox:
    """The backend, not yet started."""
    return BACKENDS[_known(name)](options)


def _known(name: str) -> str:
    if name not in BACKENDS:
        hint = f"There are: {', '.join(BACKENDS)}."
        raise UserError(f"There is no sandbox {name!r}.", code="sandbox_unknown", hint=hint)
    return name


class Sandboxes:
    """The backends that are in use, each started once."""

    def __init__(self, options: SandboxOptions) -> None:
        self.options = options
        self._starting: dict[str, asyncio.Task[Sandbox]] = {}
        self._tables: TableWorkers | None = None

    async def get(self, backend: str | None = None) -> Sandbox:
        """Started, and open until `close`. One that could not start is tried again the next time."""
        name = backend or self.options.backend
        if name not in self._starting:
            self._starting[name] = asyncio.ensure_future(self._started(name))
        starting = self._starting[name]
        try:
            return await asyncio.shield(starting)
        finally:
            if starting.done() and (starting.cancelled() or starting.exception() is not None):
                self._starting.pop(name, None)

    async def _started(self, name: str) -> Sandbox:
        # In a thread, because the module of the backend is imported: others must not wait for that.
        sandbox = await asyncio.to_thread(open_sandbox, name, self.options)
        try:
            await sandbox.start()
        except BaseException:
            await sandbox.close()
            raise
        return sandbox

    async def run(self, request: SandboxRequest, backend: str | None = None) -> SandboxResult:
        """What the policy refuses, or what is not Python, never reaches a sandbox."""
        name = _known(backend or self.options.backend)
        refused = _refused(request.code, name)
        return refused if refused is not None else await (await self.get(name)).run(request)

    async def type_errors(
        self, code: str, frames: Mapping[str, Sequence[str]], backend: str | None = None, functions: Sequence[str] = ()
    ) -> tuple[str, ...]:
        """What cannot work in a program over these frames, by their columns; it does not run. `functions`: the names of
        the host's functions that it may call.

        Nothing of one that will be refused; nor for Monty, which looks by itself."""
        name = _known(backend or self.options.backend)
        if name == "monty" or _refused(code, name) is not None:
            return ()
        from answerable.sandbox.type_check import type_errors

        return await asyncio.to_thread(type_errors, code, frames, functions)

    def libraries(self) -> str:
        """What code may import beside the standard library, with versions as far as they are known."""
        from answerable.sandbox.policy import importable_libraries

        return importable_libraries(self.options.backend)

    async def write_table(self, records: list[dict[str, Json]], into: Path) -> None:
        """Writes the rows that stand for a value of a program as an Arrow IPC file, in a process of its own. Raises
        `UserError` if they do not make a table."""
        from answerable.sandbox.tables.workers import NoTable, TableWorkers

        if self._tables is None:
            self._tables = TableWorkers(self.options.pool)
        try:
            await self._tables.from_records(records, into, _VALUE_TABLE_MB)
        except NoTable as error:
            raise UserError(str(error), code="python_failed", reason="result") from error

    async def availability(self) -> tuple[Availability, ...]:
        """What this machine can run, in the order of the table."""
        return tuple(await asyncio.gather(*(open_sandbox(name, self.options).available() for name in BACKENDS)))

    async def close(self) -> None:
        starting, self._starting = list(self._starting.values()), {}
        for task in starting:
            task.cancel()
        for outcome in await asyncio.gather(*starting, return_exceptions=True):
            if not isinstance(outcome, BaseException):
                await outcome.close()
        if self._tables is not None:
            await self._tables.close()


def _refused(code: str, backend: str) -> SandboxResult | None:
    from answerable.sandbox.policy import importable, require_python

    try:
        require_python(code, importable(backend))
    except AnswerableError as error:
        reason: Reason = "policy" if isinstance(error, RefusedError) else "exception"
        message = f"{error} {error.hint}" if error.hint else str(error)
        return SandboxResult(outcome="error", backend=backend, reason=reason, message=message)
    return None
