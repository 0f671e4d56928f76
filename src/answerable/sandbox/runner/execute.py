"""Runs the code, and says what became of it."""

import ast
import contextlib
import errno
import importlib
import io
import json
import os
import resource
import sys
import threading
import traceback
import types
from collections.abc import Callable, Mapping
from typing import Any, BinaryIO, NoReturn, Protocol

from answerable.sandbox.runner.frames import BoundedFile, as_frame, check_text, rows_in, table_of, write
from answerable.sandbox.runner.plain import VALUE_BYTES, Plain, TooLarge, Unreturnable, plain

CODE_NAME = "<code>"
_LINE = 4096
"""Printed text is passed on at the end of a line, or when this much of one is there."""
_LIBRARIES = ("numpy", "pyarrow", "pandas", "scipy", "sklearn", "statsmodels")
_OWN_FRAMES = 120
"""Calls that are ours, not the code's, when depth is counted."""


class Channel(Protocol):
    """The way to the host."""

    def send(self, message: Mapping[str, Any]) -> None: ...

    def receive(self) -> Mapping[str, Any]:
        """The answer to a call."""
        ...

    def rows(self) -> BinaryIO:
        """Where the rows of a result go, from beginning to end."""
        ...


def prepare(code: str) -> None:
    """Loads the libraries that the code names, as far as they are there, before walls and limits stand around them."""
    import polars  # noqa: F401

    for name in _LIBRARIES:
        if name in code:
            with contextlib.suppress(ImportError):
                importlib.import_module(name)


def execute(request: Mapping[str, Any], channel: Channel) -> dict[str, Any]:
    """What became of the code: the content of `done`.

    `request` has `code`, `frames` (the path or the bytes of an Arrow IPC file by name), `values`, `functions` (the
    names of the host's), `output_bytes`, `result_bytes`, `recursion` and `wants_rows`. Printing past the limit ends the
    process at once, after `done` was sent: code can catch what is raised, but not that.
    """
    began = _seconds_used()
    output = _Output(channel, request["output_bytes"], began)
    found = _outcome(request, channel, output)
    output.flush()
    return {**found, **_used(began)}


def _outcome(request: Mapping[str, Any], channel: Channel, output: "_Output") -> dict[str, Any]:
    try:
        with _Surroundings(output, request["recursion"]):
            return _returned(_result(request, channel), request, channel)
    except TooLarge as error:
        return _stopped("result_size", str(error))
    except Unreturnable as error:
        return {"outcome": "error", "reason": "result", "message": str(error)}
    except MemoryError:
        _reserve.clear()
        return _stopped("memory", "The code needed more memory than it may use" + _at_line() + ".")
    except RecursionError:
        return _stopped("recursion", "The code calls itself too deeply" + _at_line() + ".")
    except SystemExit as end:
        return _ended_by_itself(end)
    except BaseException as error:  # whatever the code raises is its result
        if _says_memory(error):
            return _stopped("memory", "The code needed more memory than it may use" + _at_line() + ".")
        return {"outcome": "error", "reason": "exception", "message": _described(error)}


def _says_memory(error: BaseException) -> bool:
    """The kernel and libraries written in Rust report that memory has run out in their own ways."""
    if isinstance(error, OSError):
        return error.errno == errno.ENOMEM
    return type(error).__name__ == "PanicException" and "memory" in str(error)


class _Surroundings:
    """What code expects around it: `sys.stdout` that the host receives, no `sys.stdin`, and a bound on depth."""

    def __init__(self, output: "_Output", recursion: int) -> None:
        self._output = output
        self._recursion = recursion

    def __enter__(self) -> None:
        self._before = sys.stdout, sys.stderr, sys.stdin, sys.getrecursionlimit()
        sys.stdout = sys.stderr = self._output
        sys.stdin = io.StringIO()
        sys.setrecursionlimit(self._recursion + _OWN_FRAMES)

    def __exit__(self, *failure: object) -> None:
        sys.stdout, sys.stderr, sys.stdin, limit = self._before
        sys.setrecursionlimit(limit)


def _result(request: Mapping[str, Any], channel: Channel) -> Any:
    module = types.ModuleType("__main__")
    names = module.__dict__
    names.update(_inputs(request, channel))
    sys.modules["__main__"] = module
    program = ast.parse(request["code"], CODE_NAME)
    last = program.body.pop() if program.body and isinstance(program.body[-1], ast.Expr) else None
    exec(compile(program, CODE_NAME, "exec", dont_inherit=True), names)  # noqa: S102 - what a sandbox is for
    value = None
    if last is not None:
        value = eval(compile(ast.Expression(last.value), CODE_NAME, "eval", dont_inherit=True), names)  # noqa: S307
    return names.get("result", value)


def _inputs(request: Mapping[str, Any], channel: Channel) -> dict[str, Any]:
    import polars

    functions = {name: _function(name, channel) for name in request["functions"]}
    frames = {name: polars.read_ipc(source) for name, source in request["frames"].items()}
    return {"pl": polars, **functions, **request["values"], **frames}


_reserve = [bytearray(16 << 20)]
"""Let go of when memory has run out, so that there is enough to say so."""
_one_call = threading.Lock()


def _function(name: str, channel: Channel) -> Callable[..., Any]:
    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            sent = {"call": name, "args": plain(args), "kwargs": plain(kwargs)}
        except (Unreturnable, TooLarge) as error:
            raise TypeError(f"{name}: {error}") from None
        # The code may call from several threads, and answers carry no number: one call at a time.
        with _one_call:
            channel.send(sent)
            answer = channel.receive()
        if "raise" in answer:
            raise RuntimeError(answer["raise"])
        return answer["return"]

    call.__name__ = call.__qualname__ = name
    return call


class _Output(io.TextIOBase):
    """`sys.stdout` and `sys.stderr` of the code."""

    encoding = "utf-8"

    def __init__(self, channel: Channel, limit: int, began: float) -> None:
        self._channel = channel
        self._limit = limit
        self._left = limit
        self._began = began
        self._pending = ""

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        if not isinstance(text, str):
            raise TypeError(f"text is written here, not {type(text).__name__}")
        data = text.encode("utf-8", "replace")
        if len(data) > self._left:
            self._end(data[: self._left].decode("utf-8", "ignore"))
        self._left -= len(data)
        self._pending += text
        if "\n" in text or len(self._pending) > _LINE:
            self.flush()
        return len(text)

    def flush(self) -> None:
        text, self._pending = self._pending, ""
        if text:
            self._channel.send({"print": text.encode("utf-8", "replace").decode()})

    def _end(self, last: str) -> NoReturn:
        self._pending += last
        self.flush()
        found = _stopped("output", f"The code printed more than {self._limit:,} bytes.")
        self._channel.send({"done": {**found, **_used(self._began)}})
        os._exit(0)


# What the code left


def _returned(result: Any, request: Mapping[str, Any], channel: Channel) -> dict[str, Any]:
    rows = rows_in(result) if request["wants_rows"] else None
    if rows is not None:
        check_text(rows, request["result_bytes"])
    frame = as_frame(result) if rows is None else table_of(rows)
    if frame is None:
        return {"outcome": "ok", "value": _value(result, min(request["result_bytes"], VALUE_BYTES))}
    if not request["wants_rows"]:
        raise Unreturnable("The result is a table; a single value is wanted here.")
    write(frame, BoundedFile(channel.rows(), request["result_bytes"]))
    return {"outcome": "ok", "frame": True}


def _value(result: Any, limit: int) -> Any:
    value = Plain(limit).of(result)
    if len(json.dumps(value)) > limit:
        raise TooLarge(limit)
    return value


# What went wrong, in words


def _stopped(reason: str, message: str) -> dict[str, Any]:
    return {"outcome": "stopped", "reason": reason, "message": message}


def _ended_by_itself(end: SystemExit) -> dict[str, Any]:
    if end.code in (None, 0):
        return {"outcome": "ok", "value": None}
    return {
        "outcome": "error",
        "reason": "exception",
        "message": f"The code ended itself: SystemExit({repr(end.code)[:2_000]})",
    }


def _described(error: BaseException) -> str:
    return f"{type(error).__name__[:200]}: {_first_line(error)}".removesuffix(": ") + _at_line(error)


def _first_line(error: BaseException) -> str:
    try:
        text = error.msg if isinstance(error, SyntaxError) else str(error)
    except BaseException:  # the code's own exceptions may fail to describe themselves
        return ""
    return str(text).strip()[:2_000]


def _at_line(error: BaseException | None = None) -> str:
    error = error or sys.exc_info()[1]
    if isinstance(error, SyntaxError) and error.filename == CODE_NAME:
        return f" (line {error.lineno})"
    found = None
    try:
        for frame, line in traceback.walk_tb(error.__traceback__ if error else None):
            found = line if frame.f_code.co_filename == CODE_NAME else found
    except BaseException:  # memory or depth may still be short
        return ""
    return f" (line {found})" if found else ""


def _seconds_used() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def _used(began: float) -> dict[str, float]:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"cpu_ms": round((_seconds_used() - began) * 1000, 3), "peak_mb": round(peak, 1)}
