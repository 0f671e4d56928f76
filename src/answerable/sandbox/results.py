"""What a sandbox said, turned into a result. Nothing that comes out of a sandbox is believed before it is checked."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, get_args

from answerable.sandbox.base import Frame, Outcome, Reason, Resources, SandboxRequest, SandboxResult
from answerable.sandbox.tables.workers import NoTable, TableWorkers

if TYPE_CHECKING:
    from answerable.core.values import Json  # brings pydantic, which worker processes do without

_OUTCOMES, _REASONS = get_args(Outcome), get_args(Reason)
_MESSAGE = 4_000
"""The longest message in characters; the rest is cut off."""


@dataclass(slots=True)
class SandboxRecord:
    """What one run has sent so far, and what ended it if it was not the code."""

    output: str = ""
    output_bytes: int = 0
    host_calls: int = 0
    rows: BinaryIO | None = None
    """What the code says are rows: an Arrow stream."""
    frame: Frame | None = None
    """Rows that are written already."""
    wall_ms: float = 0.0
    done: Mapping[str, Json] | None = None
    stopped: Stopped | None = None


@dataclass(frozen=True, slots=True)
class Stopped:
    reason: Reason
    message: str


@dataclass(frozen=True, slots=True)
class RunPlace:
    """Where the code ran, and what it used as seen from outside."""

    backend: str
    isolation: Mapping[str, str] = field(default_factory=dict)
    isolated: bool = True
    peak_mb: float | None = None


async def result_of(
    record: SandboxRecord, request: SandboxRequest, place: RunPlace, tables: TableWorkers
) -> SandboxResult:
    """`tables` makes a table of the rows, in a process of its own."""
    try:
        end = await _end(record, request, tables)
    finally:
        if record.rows is not None:
            record.rows.close()
    return SandboxResult(
        outcome=end.outcome,
        backend=place.backend,
        reason=end.reason,
        message=end.message,
        value=end.value,
        frame=end.frame,
        output=record.output,
        resources=_resources(record, place),
        isolation=place.isolation,
        isolated=place.isolated,
    )


@dataclass(frozen=True, slots=True)
class _End:
    outcome: Outcome
    reason: Reason | None = None
    message: str | None = None
    value: Json = None
    frame: Frame | None = None


async def _end(record: SandboxRecord, request: SandboxRequest, tables: TableWorkers) -> _End:
    if record.stopped is not None:
        return _End("stopped", record.stopped.reason, record.stopped.message)
    done = record.done or {}
    outcome: Any = done.get("outcome")
    if outcome == "ok":
        if done.get("frame") is not True or request.into is None:
            return _End("ok", value=done.get("value"))
        return await _frame(record, request.into, request.limits.result_mb, tables)
    if outcome not in _OUTCOMES:
        return _End("stopped", "died", "The code ended its process.")
    # The code can forge `done`, so its reason and message are bounded like everything else that it sends.
    message = done.get("message")
    reason: Any = done.get("reason")
    if reason not in _REASONS:
        reason = "died"
    return _End(outcome, reason, message[:_MESSAGE] if isinstance(message, str) else "The code gave no reason.")


async def _frame(record: SandboxRecord, into: Path, result_mb: int, tables: TableWorkers) -> _End:
    if record.frame is not None:
        return _End("ok", frame=record.frame)
    if record.rows is None:
        return _End("error", "result", "The code said that it wrote rows, and wrote none.")
    try:
        return _End("ok", frame=await tables.from_file("arrow", record.rows, into, result_mb))
    except NoTable as error:
        return _End("error", "result", str(error))


def _resources(record: SandboxRecord, place: RunPlace) -> Resources:
    done = record.done or {}
    return Resources(
        wall_ms=record.wall_ms,
        cpu_ms=_amount(done.get("cpu_ms")),
        peak_mb=place.peak_mb if place.peak_mb is not None else _amount(done.get("peak_mb")),
        output_bytes=record.output_bytes,
        host_calls=record.host_calls,
    )


def _amount(reported: Json) -> float | None:
    if not isinstance(reported, int | float) or isinstance(reported, bool) or not math.isfinite(reported):
        return None
    return float(reported)
