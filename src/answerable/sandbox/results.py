"""What a sandbox said, turned into a result. Nothing that comes out of a sandbox is believed before it is checked."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, get_args

from answerable.core.values import Json
from answerable.sandbox.base import Frame, Outcome, Reason, Resources, SandboxResult
from answerable.sandbox.tables import received, written

_OUTCOMES, _REASONS = get_args(Outcome), get_args(Reason)
_MESSAGE = 4_000
"""The longest message in characters; the rest is cut off."""
_SMALL = 4 << 20
"""Up to so many bytes looking at rows takes less time than finding a thread for it."""


@dataclass(slots=True)
class SandboxRecord:
    """What one run has sent so far, and what ended it if it was not the code."""

    output: str = ""
    output_bytes: int = 0
    host_calls: int = 0
    rows: memoryview = field(default_factory=lambda: memoryview(b""))
    """What the code says are rows."""
    frame: Frame | None = None
    """Rows that the host has written itself."""
    wall_ms: float = 0.0
    done: Mapping[str, Json] | None = None
    stopped: "Stopped | None" = None


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


async def result_of(record: SandboxRecord, into: Path | None, place: RunPlace) -> SandboxResult:
    """`into` is where the rows of a frame go, once they have been looked at."""
    if len(record.rows) <= _SMALL:
        return _result(record, into, place)
    return await asyncio.to_thread(_result, record, into, place)


def _result(record: SandboxRecord, into: Path | None, place: RunPlace) -> SandboxResult:
    end = _end(record, into)
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


def _end(record: SandboxRecord, into: Path | None) -> _End:
    if record.stopped is not None:
        return _End("stopped", record.stopped.reason, record.stopped.message)
    done = record.done or {}
    outcome: Any = done.get("outcome")
    if outcome == "ok":
        return (
            _End("ok", value=done.get("value"))
            if done.get("frame") is not True or into is None
            else _frame(record, into)
        )
    if outcome not in _OUTCOMES:
        return _End("stopped", "died", "The code ended its process.")
    # The code can forge `done`, so its reason and message are bounded like everything else that it sends.
    reason = done.get("reason")
    return _End(outcome, reason if reason in _REASONS else "died", str(done.get("message"))[:_MESSAGE])


def _frame(record: SandboxRecord, into: Path) -> _End:
    if record.frame is not None:
        return _End("ok", frame=record.frame)
    try:
        return _End("ok", frame=written(received(record.rows), into))
    except ValueError as error:
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
    return float(reported) if isinstance(reported, int | float) and not isinstance(reported, bool) else None
