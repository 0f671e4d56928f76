"""Runs cases on a backend, through the protocol and nothing else, and gathers what each of them has shown."""

import asyncio
import contextlib
import ctypes
import json
import os
import resource
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import polars as pl
import psutil
from tests.faults.escapes.canaries import Canaries
from tests.faults.escapes.catalog import Case
from tests.sandboxes import Abilities

from answerable.answers.result_table import records_of
from answerable.core.errors import UserError
from answerable.core.values import Json
from answerable.sandbox.base import HostCalls, HostFunction, Sandbox, SandboxRequest, SandboxResult
from answerable.sandbox.open import Sandboxes, SandboxOptions

CLAIM = "ESCAPED"
LATE_SECONDS = 30.0
"""How long after its limit a run may end on a busy machine. Code that is not stopped at all takes for ever."""
MOST_GROWTH_MB = 400
"""How much the host itself may grow while many cases are tried at once."""
_BECOME_REAPER = 36


@dataclass
class Attempt:
    """One case on one backend."""

    results: list[SandboxResult] = field(default_factory=list, repr=False)
    evidence: list[str] = field(default_factory=list)
    """How the escape is known to have succeeded; empty if it was held."""
    faults: list[str] = field(default_factory=list)
    """What is wrong with the account that the backend gave."""


@dataclass
class Report:
    attempts: dict[str, Attempt] = field(default_factory=dict, repr=False)
    harm: list[str] = field(default_factory=list)
    survivors: list[str] = field(default_factory=list)


async def attempt_all(sandbox: Sandbox, cases: Sequence[Case], folder: Path, size: int, abilities: Abilities) -> Report:
    report = Report()
    room = asyncio.Semaphore(size)
    peak_mb = _peak_mb()
    async with Canaries(folder) as canaries:
        with adopting_orphans():
            known = set(psutil.Process().children(recursive=True))
            await sandbox.start()
            try:
                done = await asyncio.gather(
                    *(
                        _Trial(sandbox, case, canaries, number, abilities).attempted(room, size)
                        for number, case in enumerate(cases)
                    )
                )
            finally:
                await sandbox.close()
            report.survivors = [str(process) for process in _living(known)] + canaries.processes()
        report.attempts = {case.id: attempt for case, attempt in zip(cases, done, strict=True)}
        report.harm = canaries.harm() + _grown(peak_mb)
    return report


def _peak_mb() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10


def _grown(before_mb: int) -> list[str]:
    """What is made of results must not pass through the host's own memory."""
    more = _peak_mb() - before_mb
    return [f"the host took {more} MB more"] if more > MOST_GROWTH_MB else []


class _Trial:
    def __init__(self, sandbox: Sandbox, case: Case, canaries: Canaries, number: int, abilities: Abilities) -> None:
        self._sandbox = sandbox
        self._case = case
        self._canaries = canaries
        self._number = number
        self._abilities = abilities
        self._target = canaries.target(number)
        self._attempt = Attempt()

    async def attempted(self, room: asyncio.Semaphore, size: int) -> Attempt:
        await self._one(room, self._case.code, first=True)
        if self._case.then is not None:
            await asyncio.gather(*(self._one(room, self._case.then, first=False) for _ in range(size)))
        return self._attempt

    async def _one(self, room: asyncio.Semaphore, code: str, first: bool) -> None:
        async with room:
            began = time.monotonic()
            result = await self._run(self._request(code, first))
            seconds = time.monotonic() - began
        if result is None:
            return
        if self._case.table and result.outcome == "ok" and result.frame is None:
            await self._tabulate(result)
        self._attempt.results.append(result)
        self._attempt.evidence += self._shown(result) + self._overfull()
        if seconds > self._case.limits.seconds + LATE_SECONDS + self._abilities.start_seconds:
            self._attempt.evidence.append(f"it held the host for {seconds:.1f} s")
        self._attempt.faults += self._wrong(result, first)

    async def _run(self, request: SandboxRequest) -> SandboxResult | None:
        visiting = asyncio.create_task(self._visit()) if self._case.visited else None
        try:
            return await self._sandbox.run(request)
        except Exception as error:  # whatever comes out of a backend is what this suite is about
            if not self._case.raises:
                self._attempt.faults.append(f"the run raised {error!r}")
            return None
        finally:
            if visiting is not None:
                visiting.cancel()

    async def _tabulate(self, result: SandboxResult) -> None:
        """As a step of a question does."""
        sandboxes = Sandboxes(SandboxOptions())
        try:
            with contextlib.suppress(UserError):
                await sandboxes.write_table(records_of(result.value)[0], self._canaries.into(self._number))
        finally:
            await sandboxes.close()

    def _request(self, code: str, first: bool) -> SandboxRequest:
        return SandboxRequest(
            code=code,
            frames={"table": self._canaries.frame_file} if self._case.frame and first else {},
            values={"target": self._target},
            limits=self._case.limits,
            host=HostCalls(_functions(self._canaries.secret)) if self._case.host else HostCalls(),
            into=self._canaries.into(self._number) if self._case.into else None,
        )

    async def _visit(self) -> None:
        while True:
            for address in (self._target["free_port"], f"\0{self._target['mark']}"):
                with contextlib.suppress(OSError):
                    if isinstance(address, int):
                        _, writer = await asyncio.open_connection("127.0.0.1", address)
                    else:
                        _, writer = await asyncio.open_unix_connection(address)
                    writer.close()
                    self._attempt.evidence.append(f"the host could connect to {address!r}")
                    return
            await asyncio.sleep(0.05)

    def _shown(self, result: SandboxResult) -> list[str]:
        value = json.dumps(result.value, default=str)
        told = "\n".join([value, result.output, result.message or "", str(result.isolation), self._rows(result)])
        found = [f"it says {value[:200]}"] if CLAIM in value else []
        return found + (["it knows the secret"] if self._canaries.secret in told else [])

    def _overfull(self) -> list[str]:
        path = self._canaries.into(self._number)
        size = path.stat().st_size >> 20 if path.exists() else 0
        return [f"it made the host keep {size} MB"] if size > self._case.limits.result_mb + 1 else []

    def _rows(self, result: SandboxResult) -> str:
        if result.frame is None:
            return ""
        return str(pl.read_ipc(self._canaries.into(self._number)).rows())

    def _wrong(self, result: SandboxResult, first: bool) -> list[str]:
        found = []
        if (result.outcome == "ok") != (result.reason is None):
            found.append(f"the outcome is {result.outcome}, the reason {result.reason}")
        if result.outcome != "ok" and not result.message:
            found.append(f"stopped by {result.reason} without a message")
        if len(result.output.encode()) > self._case.limits.output_bytes or len(result.message or "") > 20_000:
            found.append("it says more than it may")
        if self._abilities.python and first and self._case.stops:
            fits = result.reason in self._case.stops or (result.outcome == "ok" and self._case.may_end)
            if not fits:
                told = f"{result.outcome}, {result.reason}: {(result.message or '')[:200]}"
                found.append(f"expected to be stopped by {' or '.join(self._case.stops)}, and got {told}")
        return found


def _functions(secret: str) -> dict[str, HostFunction]:
    async def lookup(name: Json, **options: Json) -> Json:
        return {"found": str(name)[:20]}

    async def fail_with_secret() -> Json:
        known = secret
        try:
            raise ValueError(known)
        except ValueError as error:
            raise UserError("There is no such thing.", code="not_found") from error

    async def break_with_secret() -> Json:
        raise ValueError(secret)

    async def never_returns() -> Json:
        await asyncio.sleep(600)

    return {
        "lookup": lookup,
        "fail_with_secret": fail_with_secret,
        "break_with_secret": break_with_secret,
        "never_returns": never_returns,
    }


@contextlib.contextmanager
def adopting_orphans() -> Iterator[None]:
    """Processes that lose their parent become children of this one, where they are seen."""
    prctl = ctypes.CDLL(None).prctl
    prctl(_BECOME_REAPER, 1, 0, 0, 0)
    yield
    prctl(_BECOME_REAPER, 0, 0, 0, 0)


def _living(known: set[psutil.Process]) -> list[psutil.Process]:
    """New descendants that are not gone within two seconds. The dead ones are buried."""
    new = [process for process in psutil.Process().children(recursive=True) if process not in known]
    alive: list[psutil.Process]
    gone, alive = psutil.wait_procs(new, timeout=2)
    for process in gone:
        with contextlib.suppress(ChildProcessError):
            os.waitpid(process.pid, os.WNOHANG)
    return alive
