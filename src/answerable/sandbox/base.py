"""The seam to places where untrusted code runs: three verbs, one request, one result.

A backend never raises because of what the code does. Code that fails, or that a limit stops, is a result that says so;
an error that is raised (`OperatorError`, `UserError`) means that the code was not run.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias

from answerable.core.records import dataclass

if TYPE_CHECKING:
    from answerable.core.values import Json, OutputColumn  # brings pydantic, which worker processes do without


Outcome: TypeAlias = Literal["ok", "error", "stopped"]
"""`ok`: it ran to its end. `error`: the code failed. `stopped`: a limit or a wall ended it."""

Reason: TypeAlias = Literal[
    "policy",
    "type_check",
    "exception",
    "result",
    "time",
    "cpu",
    "memory",
    "output",
    "result_size",
    "processes",
    "recursion",
    "host_calls",
    "forbidden",
    "died",
    "cancelled",
]
"""Which rule or limit ended it. `policy` and `type_check` are found before it runs; `exception` is the code's own;
`result` is a result of a type that cannot be returned; `forbidden` a system call that ends the process;
`died` an end that nothing else explains."""

HostFunction: TypeAlias = "Callable[..., Awaitable[Json]]"
"""A function of the host that the code may call: JSON in, JSON out. What it raises as an `AnswerableError`, the code
sees as a `RuntimeError` with the same message, and nothing more of it."""


class Pause(Exception):
    """Raised by a host function whose call a person must decide about first.

    Only a run that was started with `begin` can wait for that; in any other the code sees a `RuntimeError`.
    """


@dataclass(frozen=True, slots=True)
class SandboxLimits:
    """What one run may use. Reaching one stops the code, and the result names it."""

    seconds: float = 30.0
    """By the clock on the wall; the time that host functions take counts too."""
    memory_mb: int = 1024
    output_bytes: int = 64 * 1024
    """What may be printed; the code is stopped when it prints more."""
    result_mb: int = 256
    scratch_mb: int = 64
    """What may be written to the working folder, which is gone after the run."""
    host_calls: int = 1_000
    recursion: int = 1_000


@dataclass(frozen=True, slots=True)
class HostCalls:
    """The functions of the host, by the name that the code uses, and their stubs for the type check."""

    functions: Mapping[str, HostFunction] = field(default_factory=dict)
    stubs: str = ""
    """Their signatures as Python: `def api_get(path: str, params: dict[str, str] | None = None) -> Any: ...`"""


@dataclass(frozen=True, slots=True)
class SandboxRequest:
    code: str
    """Python. Its result is the value of the variable `result` when it ends, or else that of its last line."""
    frames: Mapping[str, Path] = field(default_factory=dict)
    """Arrow IPC files that the code sees as data frames, by the variable's name."""
    values: Mapping[str, Json] = field(default_factory=dict)
    """Small inputs, by the variable's name."""
    limits: SandboxLimits = SandboxLimits()
    host: HostCalls = HostCalls()
    into: Path | None = None
    """Where to write the rows of a result that is a frame, as an Arrow IPC file; None if frames are not wanted."""


@dataclass(frozen=True, slots=True)
class Frame:
    """The result was a table; its rows are in the file that the request named."""

    columns: tuple[OutputColumn, ...]
    row_count: int
    byte_count: int


@dataclass(frozen=True, slots=True)
class Resources:
    wall_ms: float = 0.0
    cpu_ms: float | None = None
    """None if the backend cannot measure it."""
    peak_mb: float | None = None
    output_bytes: int = 0
    host_calls: int = 0


@dataclass(frozen=True, slots=True)
class SandboxResult:
    outcome: Outcome
    backend: str
    reason: Reason | None = None
    """None if the outcome is `ok`."""
    message: str | None = None
    """What went wrong, in a sentence that a person and a model can act on, with the line of the code if it is known."""
    value: Json = None
    """The result, unless it is a frame."""
    frame: Frame | None = None
    output: str = ""
    """What was printed, up to the limit."""
    resources: Resources = Resources()
    isolation: Mapping[str, str] = field(default_factory=dict)
    """The mechanism behind each wall: `{"files": "mount namespace, Landlock 7", "network": "network namespace", …}`."""
    isolated: bool = True
    """False only where the operator chose to run without isolation; shown with every answer that came of it."""


@dataclass(frozen=True, slots=True)
class Paused:
    """Code that waits in the middle of a call until a person has decided. Nothing of it runs or is held meanwhile.

    `snapshot` is the interpreter's memory, and whoever can write it decides what goes on. The host stores it,
    nobody else reads it, and it is never taken from a user, a request or a model: nothing in it says whether it is
    genuine.
    """

    snapshot: bytes
    function: str
    args: tuple[Json, ...]
    kwargs: Mapping[str, Json]
    reason: str
    """What the host function said when it paused."""
    output: str = ""
    """What was printed so far. It and the figures below count on when the code goes on."""
    output_bytes: int = 0
    host_calls: int = 0
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Availability:
    """Whether this machine can run a backend, and what it would isolate; `answerable doctor` prints it."""

    backend: str
    available: bool
    detail: str
    """What was found, or why it cannot run."""
    walls: Mapping[str, str] = field(default_factory=dict)
    remedy: str | None = None


class Sandbox(Protocol):
    """One backend, with whatever it keeps warm."""

    name: str

    async def available(self) -> Availability:
        """Looks, and changes nothing."""
        ...

    async def start(self) -> None:
        """Warms it up. An `OperatorError` (`sandbox_unavailable`) with reason and remedy if it cannot run here."""
        ...

    async def run(self, request: SandboxRequest) -> SandboxResult:
        """Runs the code once, in a place that has never run anything else. Cancelling ends the code."""
        ...

    async def close(self) -> None:
        """Ends everything; no process stays."""
        ...
