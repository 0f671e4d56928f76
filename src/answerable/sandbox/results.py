"""What a sandbox said, turned into a result. Nothing that comes out of a sandbox is believed before it is checked."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from answerable.core.values import ColumnType, Json, OutputColumn
from answerable.sandbox.base import Frame, Outcome, Reason, Resources, SandboxResult

if TYPE_CHECKING:
    import polars as pl

_MESSAGE = 4_000
"""Characters of a message that are kept."""


@dataclass(slots=True)
class Heard:
    """What one run has said so far, and what ended it if it was not the code."""

    output: str = ""
    output_bytes: int = 0
    host_calls: int = 0
    row_bytes: int = 0
    wall_ms: float = 0.0
    done: Mapping[str, Json] | None = None
    stopped: "Stopped | None" = None


@dataclass(frozen=True, slots=True)
class Stopped:
    reason: Reason
    message: str


@dataclass(frozen=True, slots=True)
class Place:
    """Where the code ran, and what it used as seen from outside."""

    backend: str
    isolation: Mapping[str, str] = field(default_factory=dict)
    isolated: bool = True
    peak_mb: float | None = None


def result_of(heard: Heard, into: Path | None, place: Place) -> SandboxResult:
    """`into` is the file of the rows; it is looked into before it is called a frame."""
    base = SandboxResult(
        outcome="stopped",
        backend=place.backend,
        output=heard.output,
        resources=_resources(heard, place),
        isolation=place.isolation,
        isolated=place.isolated,
    )
    if heard.stopped is not None:
        return replace(base, reason=heard.stopped.reason, message=heard.stopped.message)
    done = heard.done or {}
    outcome = _one_of(done.get("outcome"), Outcome)
    if outcome is None:
        return replace(base, reason="died", message="The code ended its process.")
    if outcome != "ok":
        reason: Reason = _one_of(done.get("reason"), Reason) or "died"
        return replace(base, outcome=outcome, reason=reason, message=str(done.get("message"))[:_MESSAGE])
    if done.get("frame") is not True or into is None:
        return replace(base, outcome="ok", value=done.get("value"))
    return _with_frame(base, into)


def _with_frame(base: SandboxResult, path: Path) -> SandboxResult:
    try:
        return replace(base, outcome="ok", frame=frame_in(path))
    except ValueError as error:
        return replace(base, outcome="error", reason="result", message=str(error))


def frame_in(path: Path) -> Frame:
    """What an Arrow IPC file holds; a `ValueError` if it is not one."""
    import polars as pl
    from polars.exceptions import PanicException, PolarsError

    count = _checked_count(path)
    try:
        schema = pl.read_ipc_schema(path)
        if count is None:
            count = int(pl.scan_ipc(path, glob=False).select(pl.len()).collect().item())
    except (PolarsError, PanicException, OSError) as error:
        raise _unreadable(error) from error
    columns = tuple(OutputColumn(name=name, type=_type(dtype)) for name, dtype in schema.items())
    return Frame(columns=columns, row_count=count, byte_count=path.stat().st_size)


def _checked_count(path: Path) -> int | None:
    """How many rows there are, once all buffers are seen to be what they claim.

    A forged file that claims more than it holds would end the process that polars reads it in. pyarrow is made to look
    at what strangers send; where it is not installed there is no such check, and nothing is returned.
    """
    try:
        import pyarrow as pa
    except ModuleNotFoundError:
        return None
    try:
        with pa.memory_map(str(path)) as mapped:
            file = pa.ipc.open_file(mapped)
            batches = [file.get_batch(number) for number in range(file.num_record_batches)]
            for batch in batches:
                batch.validate(full=True)
            return sum(int(batch.num_rows) for batch in batches)
    except (pa.ArrowException, OSError, ValueError) as error:
        raise _unreadable(error) from error


def _unreadable(error: BaseException) -> ValueError:
    return ValueError(f"The rows of the result cannot be read: {str(error)[:200]}.")


def _type(dtype: "pl.DataType") -> ColumnType:
    kinds: dict[str, ColumnType] = {
        "Boolean": "boolean",
        "Date": "date",
        "Datetime": "datetime",
        "Time": "time",
        "Binary": "binary",
        "List": "json",
        "Array": "json",
        "Struct": "json",
    }
    if dtype.is_integer() or (dtype.is_decimal() and not getattr(dtype, "scale", 0)):
        return "integer"
    return "number" if dtype.is_numeric() else kinds.get(type(dtype).__name__, "text")


def _resources(heard: Heard, place: Place) -> Resources:
    done = heard.done or {}
    return Resources(
        wall_ms=heard.wall_ms,
        cpu_ms=_amount(done.get("cpu_ms")),
        peak_mb=place.peak_mb if place.peak_mb is not None else _amount(done.get("peak_mb")),
        output_bytes=heard.output_bytes,
        host_calls=heard.host_calls,
    )


def _amount(told: Json) -> float | None:
    return float(told) if isinstance(told, int | float) and not isinstance(told, bool) else None


def _one_of(told: Json, words: Any) -> Any:
    return told if isinstance(told, str) and told in get_args(words) else None
