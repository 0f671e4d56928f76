"""Why code in Monty ended before its end, in the words of the contract."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson
from pydantic_monty import MontyCrashedError, MontyError, MontyRuntimeError, MontySyntaxError, MontyTypingError

from answerable.sandbox.base import SandboxLimits
from answerable.sandbox.results import Stopped

if TYPE_CHECKING:
    from answerable.core.values import Json  # brings pydantic, which worker processes do without

_SHOWN = 5
"""The most findings of the type check that a message names."""
_MESSAGE = 4_000
"""Characters; the code may raise a text of any length."""
_UNSUPPORTED = "The monty syntax parser does not yet support "


def fault_of(error: MontyError, limits: SandboxLimits) -> Stopped | dict[str, Json]:
    """A limit that stopped it, or the content of `done` for code that is wrong or failed."""
    if isinstance(error, MontyTypingError):
        return _error("type_check", _findings(error.display()))
    if isinstance(error, MontySyntaxError):
        return _error("type_check", f"{error.display('type-msg')}{_line(error)}")
    if isinstance(error, MontyCrashedError):
        return (
            too_long(limits) if error.timed_out else Stopped("died", "The interpreter ended in the middle of the code.")
        )
    if isinstance(error, MontyRuntimeError):
        return _limit(error, limits) or _raised(error)
    return _error("exception", str(error))


def too_long(limits: SandboxLimits) -> Stopped:
    return Stopped("time", f"The code took longer than {limits.seconds:g} seconds.")


def _limit(error: MontyRuntimeError, limits: SandboxLimits) -> Stopped | None:
    """The limits come as exceptions that the code cannot catch, but could imitate; that would only fool itself."""
    kind, _, text = error.display("type-msg").partition(": ")
    if kind == "TimeoutError" and text.startswith("feed time limit exceeded"):
        return too_long(limits)
    if kind == "MemoryError" and ("memory limit" in text):
        return Stopped("memory", f"The code needed more memory than it may use{_line(error)}.")
    if kind == "RecursionError" and text.startswith("maximum recursion depth"):
        return Stopped("recursion", f"The code calls itself too deeply{_line(error)}.")
    if kind == "RuntimeError" and text.startswith("suspension limit"):
        return Stopped("host_calls", f"The code called the host more than {limits.host_calls:,} times.")
    return None


def _raised(error: MontyRuntimeError) -> dict[str, Json]:
    text = error.display("type-msg")
    if _UNSUPPORTED in text:
        what = text.partition(_UNSUPPORTED)[2]
        return _error("type_check", f"This sandbox (monty) does not know {what}{_line(error)}. Write it without.")
    if text.startswith("ModuleNotFoundError"):
        return _error(
            "exception", f"{text}{_line(error)}. This sandbox (monty) has a part of the standard library only."
        )
    return _error("exception", f"{text}{_line(error)}")


def _error(reason: str, message: str) -> dict[str, Json]:
    return {"outcome": "error", "reason": reason, "message": message[:_MESSAGE]}


def _line(error: Any) -> str:
    frames = error.traceback()
    return f" (line {frames[-1].line})" if frames else ""


def _findings(text: str) -> str:
    """One sentence for each finding in the checker's JSON."""
    found = [f"{entry['message']} (line {entry['location']['row']})" for entry in orjson.loads(text)]
    more = [f"and {len(found) - _SHOWN} more"] if len(found) > _SHOWN else []
    return "; ".join([*found[:_SHOWN], *more])
