"""Runs one piece of code inside a sandbox: the half of the contract that lives with the code.

This file imports nothing of Answerable, so that it can be handed to a container as one text. Whoever starts it gives it
a `Channel` to the host. It guarantees nothing about safety: the code shares its process and may say anything over the
channel, so the host counts, checks and bounds again whatever it hears.

What the code sees: the frames as polars data frames, the values, the host functions, and polars as `pl`; `__name__` is
`"__main__"`. What it leaves in `result`, or else the value of its last line, is its result:

    a polars frame, lazy frame or series; a pandas or arrow table     rows, written as an Arrow stream
    a list of dictionaries with the same keys, where rows are wanted  rows too
    numbers, text, dates, lists, dictionaries of these; numpy         a value that JSON can hold
    nothing (also when `result` was never set)                        nothing

What the host hears, as dictionaries:

    {"ready": true}                                    over streams only: the code begins now
    {"print": text}                                    as it is printed, line by line
    {"call": name, "args": [...], "kwargs": {...}}     to be answered by {"return": value} or {"raise": sentence}
    {"done": {"outcome", "reason", "message", "value", "frame", "cpu_ms", "peak_mb"}}   last; `frame`: rows were written
"""

import ast
import contextlib
import errno
import importlib
import io
import json
import numbers
import os
import queue
import resource
import struct
import sys
import threading
import traceback
import types
from collections.abc import Callable, Mapping, Sequence
from typing import Any, BinaryIO, NoReturn, Protocol

CODE_NAME = "<code>"
_HEAD = struct.Struct("!cI")
_JSON, _BYTES = b"J", b"B"
_CHUNK = 1 << 20
_LINE = 4096
"""Printed text is passed on at the end of a line, or when this much of one is there."""
_LIBRARIES = ("numpy", "pyarrow", "pandas")
_OWN_FRAMES = 120
"""Calls that are ours, not the code's, when depth is counted."""
DEEPEST = 32
"""How deeply lists and dictionaries of a result may be nested. Deeper ones make polars take gigabytes."""
MOST_VALUES = 200_000
"""In a result that is not a table."""
VALUE_BYTES = 15 << 20
"""The most that a result which is not a table may have as JSON."""
_LONG_LIST = 10_000
"""A list of more plain values than this goes to the host as a table of one column, where rows are wanted."""
_MOST_NESTED = 2_000_000
"""Lists and dictionaries inside of the rows of a table."""
_CONTAINERS = (Sequence, set, frozenset, Mapping)


class Channel(Protocol):
    """The way to the host."""

    def send(self, message: Mapping[str, Any]) -> None: ...

    def receive(self) -> Mapping[str, Any]:
        """The answer to a call."""
        ...

    def rows(self) -> BinaryIO:
        """Where the rows of a result go, from beginning to end."""
        ...


class TooLarge(Exception):
    """The result is larger than it may be."""

    def __init__(self, limit: int) -> None:
        super().__init__(f"The result is larger than {limit // (1 << 20):,} MB.")


class Unreturnable(Exception):
    """The result is of a kind that cannot be returned."""


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
_asking = threading.Lock()


def _function(name: str, channel: Channel) -> Callable[..., Any]:
    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            sent = {"call": name, "args": plain(args), "kwargs": plain(kwargs)}
        except (Unreturnable, TooLarge) as error:
            raise TypeError(f"{name}: {error}") from None
        # The code may call from several threads, and answers carry no number: one call at a time.
        with _asking:
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
        _check_text(rows, request["result_bytes"])
    frame = _as_frame(result) if rows is None else table_of(rows)
    if frame is None:
        return {"outcome": "ok", "value": _value(result, min(request["result_bytes"], VALUE_BYTES))}
    if not request["wants_rows"]:
        raise Unreturnable("The result is a table; a single value is wanted here.")
    _write(frame, _Bounded(channel.rows(), request["result_bytes"]))
    return {"outcome": "ok", "frame": True}


def _value(result: Any, limit: int) -> Any:
    value = Plain(limit).of(result)
    if len(json.dumps(value)) > limit:
        raise TooLarge(limit)
    return value


def _as_frame(result: Any) -> Any:
    """As a polars frame, if it is a table of any kind."""
    import polars

    if isinstance(result, polars.LazyFrame):
        return result.collect()
    if isinstance(result, polars.Series):
        return result.to_frame(result.name or "value")
    if isinstance(result, polars.DataFrame):
        return result
    origin = type(result).__module__.partition(".")[0]
    if origin == "pandas" and type(result).__name__ in ("DataFrame", "Series"):
        return _from_pandas(result)
    if origin == "pyarrow" and type(result).__name__ in ("Table", "RecordBatch"):
        return polars.from_arrow(result)
    return None


def rows_in(value: Any) -> list[dict[str, Any]] | None:
    """The value, if it is a list of dictionaries that all have the same keys. A long list of plain values has one
    column."""
    if not isinstance(value, list) or not value:
        return None
    if len(value) > _LONG_LIST and not any(map(_holds_others, value)):
        return [{"value": item} for item in value]
    if not all(isinstance(row, dict) for row in value):
        return None
    keys = value[0].keys()
    fit = keys and all(isinstance(key, str) for key in keys) and all(row.keys() == keys for row in value)
    return value if fit else None


def _check_text(rows: list[dict[str, Any]], limit: int) -> None:
    """One text may stand in many rows; a table holds it once for each of them."""
    if sum(len(cell) for row in rows for cell in row.values() if isinstance(cell, str | bytes)) > limit:
        raise TooLarge(limit)


def table_of(rows: list[dict[str, Any]]) -> Any:
    """As a polars frame. Raises `Unreturnable` if a column holds things that have no type in common."""
    import polars
    from polars.exceptions import PolarsError

    # polars follows a list that contains itself until the process dies.
    _check_nesting(rows)
    for name in rows[0]:
        _check_column(name, {_kind(row[name]) for row in rows} - {type(None)})
    try:
        frame = polars.DataFrame(rows, infer_schema_length=None)
    except (PolarsError, TypeError, OverflowError, ValueError) as error:
        raise Unreturnable(f"The rows of the result do not make a table: {str(error)[:300]}") from error
    for name, dtype in frame.schema.items():
        if dtype in (polars.Object, polars.Int128, polars.UInt128):
            raise Unreturnable(f"The column `{name}` holds values that a table cannot hold; give them as text.")
    return frame


def _check_nesting(rows: list[dict[str, Any]]) -> None:
    level: list[Any] = [cell for row in rows for cell in row.values() if _holds_others(cell)]
    seen = 0
    for _ in range(DEEPEST):
        seen += len(level)
        if not level:
            return
        if seen > _MOST_NESTED:
            raise Unreturnable(f"The rows of the result hold more than {_MOST_NESTED:,} lists.")
        level = [
            child
            for each in level
            for child in (each.values() if isinstance(each, Mapping) else each)
            if _holds_others(child)
        ]
    raise Unreturnable(f"The result is nested more than {DEEPEST} deep.")


def _holds_others(value: Any) -> bool:
    return isinstance(value, _CONTAINERS) and not isinstance(value, str | bytes | bytearray | memoryview)


def _kind(value: Any) -> type:
    """Numbers of libraries are as good as Python's."""
    if isinstance(value, numbers.Integral) and not isinstance(value, bool):
        return int
    return float if isinstance(value, numbers.Real) and not isinstance(value, bool) else type(value)


def _check_column(name: str, kinds: set[type]) -> None:
    """polars would make text of a number among texts, and a number of a date among numbers, without a word."""
    if len(kinds) > 1 and kinds != {int, float}:
        both = " and ".join(sorted(kind.__name__ for kind in kinds))
        raise Unreturnable(f"The column `{name}` holds {both}; make all of its values of one kind.")


def _from_pandas(result: Any) -> Any:
    """An index that says something becomes columns."""
    import polars

    table = result.to_frame() if type(result).__name__ == "Series" else result
    if type(table.index).__name__ != "RangeIndex":
        table = table.reset_index()
    return polars.from_pandas(table.rename(columns=str))


def _write(frame: Any, file: "_Bounded") -> None:
    if not frame.width:
        raise Unreturnable("The result is a table without columns.")
    try:
        _sendable(frame).write_ipc_stream(file, compression="uncompressed", compat_level=_compat_level())
    except Exception as error:  # polars passes failures of the file on as its own
        if file.exceeded:
            raise TooLarge(file.limit) from None
        raise Unreturnable(f"The rows of the result cannot be written: {_first_line(error)}") from error


def _compat_level() -> Any:
    """The layouts that every reader of Arrow knows."""
    import polars

    return polars.CompatLevel.oldest()


def _sendable(frame: Any) -> Any:
    """In one piece, and of types that the host takes."""
    types = {name: _sendable_type(dtype) for name, dtype in frame.schema.items()}
    return frame.cast({name: dtype for name, dtype in types.items() if dtype != frame.schema[name]}).rechunk()


def _sendable_type(dtype: Any) -> Any:
    """Categories become text, and so does a column that holds nothing at all."""
    import polars

    if isinstance(dtype, polars.Categorical | polars.Enum | polars.Null):
        return polars.String()
    if isinstance(dtype, polars.Int128 | polars.UInt128):
        return polars.Decimal(38, 0)
    if isinstance(dtype, polars.List):
        return polars.List(_sendable_type(dtype.inner))
    if isinstance(dtype, polars.Array):
        return polars.Array(_sendable_type(dtype.inner), dtype.size)
    if isinstance(dtype, polars.Struct):
        return polars.Struct([polars.Field(field.name, _sendable_type(field.dtype)) for field in dtype.fields])
    return dtype


class _Bounded(io.RawIOBase):
    """A file that takes so much and no more."""

    def __init__(self, file: BinaryIO, limit: int) -> None:
        self._file = file
        self._left = limit
        self.limit = limit
        self.exceeded = False

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self._left -= len(data)
        if self._left < 0:
            self.exceeded = True
            raise OSError("the result is too large")
        self._file.write(data)
        return len(data)

    def flush(self) -> None:
        self._file.flush()


def plain(value: Any) -> Any:
    """The value as JSON holds it: dates as ISO text, numpy and tuples as numbers and lists. Raises `Unreturnable`, or
    `TooLarge`."""
    return Plain(VALUE_BYTES).of(value)


class Plain:
    """Counts while it converts, because a value may be endless: a list in itself, a sequence that never stops."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._bytes_left = limit
        self._values_left = MOST_VALUES

    def of(self, value: Any, room: int = DEEPEST) -> Any:
        self._values_left -= 1
        if self._values_left < 0:
            raise Unreturnable(f"The result holds more than {MOST_VALUES:,} values; give it as a table.")
        if value is None or isinstance(value, bool):
            return value
        if isinstance(value, str):
            return self._text(value)
        if isinstance(value, int | float):
            return _number(value)
        if not _holds_others(value):
            return self._from_library(value, room)
        if room <= 0:
            raise Unreturnable(f"The result is nested more than {DEEPEST} deep.")
        if isinstance(value, Mapping):
            return self._object(value, room - 1)
        found = [self.of(item, room - 1) for item in value]
        if isinstance(value, Sequence):
            return found
        return sorted(found, key=lambda item: (type(item).__name__, str(item)))

    def _text(self, text: str) -> str:
        self._bytes_left -= len(text)
        if self._bytes_left < 0:
            raise TooLarge(self._limit)
        return str(text).encode("utf-8", "replace").decode()

    def _object(self, value: Mapping[Any, Any], room: int) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for key, item in value.items():
            name = self._key(key)
            if name in found:
                raise Unreturnable("The result holds a dictionary with two keys that are the same as text.")
            found[name] = self.of(item, room)
        return found

    def _key(self, key: Any) -> str:
        found = self.of(key)
        if isinstance(found, list | dict):
            raise Unreturnable("The result holds a dictionary whose keys are not text.")
        return found if isinstance(found, str) else json.dumps(found)

    def _from_library(self, value: Any, room: int) -> Any:
        kind = type(value)
        if kind.__module__.partition(".")[0] in ("numpy", "pandas") and hasattr(value, "tolist"):
            # An array in an array of objects nests as a list does.
            return self.of(value.tolist(), room - 1)
        return _from_library(value)


def _from_library(value: Any) -> Any:
    kind = type(value)
    if kind.__module__ == "datetime" and hasattr(value, "isoformat"):
        return value.isoformat()
    if kind.__module__ == "datetime" and hasattr(value, "total_seconds"):
        return f"PT{value.total_seconds():g}S"
    if kind.__name__ == "Decimal" and kind.__module__ in ("decimal", "_decimal"):
        return _number(int(value) if value == value.to_integral_value() else float(value))
    if kind.__module__ == "uuid":
        return str(value)
    if kind.__module__.partition(".")[0] == "pandas" and hasattr(value, "isoformat"):
        return value.isoformat()
    raise Unreturnable(
        f"The result holds {_article(kind.__name__[:200])}, which cannot be given back. "
        "Give a frame, a number, text, a date, or lists and dictionaries of these."
    )


def _number(number: float) -> float | int:
    if isinstance(number, int):
        if not -(1 << 63) <= number < 1 << 64:
            raise Unreturnable("The result holds a whole number of more than 64 bits; give it as text.")
        return int(number)
    if number != number or number in (float("inf"), float("-inf")):
        raise Unreturnable(f"The result holds {number}, which JSON has no number for; give nothing (None) or text.")
    return float(number)


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


def _article(name: str) -> str:
    return f"{'an' if name[:1].lower() in 'aeiou' else 'a'} {name}"


def _seconds_used() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def _used(began: float) -> dict[str, float]:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"cpu_ms": round((_seconds_used() - began) * 1000, 3), "peak_mb": round(peak, 1)}


# Over a pair of byte streams: how containers are spoken to


class StreamChannel:
    """Messages as a letter, a length and a body: `J` for JSON, `B` for bytes of an Arrow file."""

    def __init__(self, incoming: BinaryIO, outgoing: BinaryIO) -> None:
        self._incoming = incoming
        self._outgoing = outgoing
        self._lock = threading.Lock()
        self._waiting: queue.SimpleQueue[Any] = queue.SimpleQueue()

    def listen(self) -> None:
        """From here on the process ends when the host does. Started last: a thread that is older than a wall is free
        of it."""
        threading.Thread(target=self._keep_receiving, daemon=True).start()

    def _keep_receiving(self) -> None:
        try:
            while True:
                self._waiting.put(json.loads(self._take(_JSON)))
        finally:
            os._exit(1)

    def send(self, message: Mapping[str, Any]) -> None:
        self._put(_JSON, json.dumps(message).encode())

    def receive(self) -> Any:
        return self._waiting.get()

    def receive_request(self) -> Any:
        return json.loads(self._take(_JSON))

    def receive_file(self, size: int) -> bytes:
        parts = bytearray()
        while len(parts) < size:
            parts += self._take(_BYTES)
        return bytes(parts)

    def rows(self) -> BinaryIO:
        return _Chunks(self)  # type: ignore[return-value]

    def put_bytes(self, data: Any) -> None:
        view = memoryview(data).cast("B")
        for start in range(0, len(view), _CHUNK):
            self._put(_BYTES, view[start : start + _CHUNK])

    def _put(self, letter: bytes, body: Any) -> None:
        with self._lock:
            self._outgoing.write(_HEAD.pack(letter, len(body)))
            self._outgoing.write(body)
            self._outgoing.flush()

    def _take(self, expected: bytes) -> bytes:
        head = self._incoming.read(_HEAD.size)
        if len(head) < _HEAD.size:
            os._exit(1)  # the host is gone, and there is nobody to tell
        letter, length = _HEAD.unpack(head)
        body = self._incoming.read(length)
        if letter != expected or len(body) < length:
            os._exit(1)
        return body


class _Chunks(io.RawIOBase):
    def __init__(self, channel: StreamChannel) -> None:
        self._channel = channel

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self._channel.put_bytes(data)
        return len(data)


def serve(confine: Callable[[Mapping[str, Any]], None]) -> NoReturn:
    """One request over standard input and output, which the code then no longer has. `confine` raises the last walls,
    when everything is loaded."""
    incoming = os.fdopen(os.dup(0), "rb")
    outgoing = os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nothing, descriptor)
    channel = StreamChannel(incoming, outgoing)
    request = channel.receive_request()
    frames = {name: channel.receive_file(size) for name, size in request["frames"].items()}
    prepare(request["code"])
    confine(request)
    channel.listen()
    channel.send({"ready": True})
    channel.send({"done": execute({**request, "frames": frames}, channel)})
    os._exit(0)  # without waiting for threads that the code has left
