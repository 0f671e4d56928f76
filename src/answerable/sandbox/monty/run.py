"""One run of code in a session of Monty, from a thread of its own; the interpreter itself is another process.

The thread waits for the interpreter, and the interpreter for the answers of the host. Whoever wants the run to end says
`stop`: the process is killed, and the thread comes back at once with whatever was recorded until then.
"""

import ast
import functools
import os
import signal
import threading
from collections.abc import Callable, Hashable, Iterator, Mapping
from concurrent.futures import CancelledError, Future
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from pydantic_monty import (
    ExternalExceptionData,
    ExternalReturnValue,
    FunctionSnapshot,
    FutureSnapshot,
    Monty,
    MontyComplete,
    MontyError,
    MontyRuntimeError,
    MontySession,
    NameLookupSnapshot,
    OSPolicy,
    ResourceLimits,
)

from answerable.core.values import Json
from answerable.sandbox.base import Paused, SandboxLimits, SandboxRequest
from answerable.sandbox.exchange import record_print
from answerable.sandbox.monty.faults import fault_of, too_large
from answerable.sandbox.monty.values import CHUNK, LEAVES, Plain, Rows, ValueSize, chunks_of, write_rows
from answerable.sandbox.results import SandboxRecord, Stopped
from answerable.sandbox.runner import TooLarge, Unreturnable, plain, rows_in

State: TypeAlias = FunctionSnapshot | NameLookupSnapshot | FutureSnapshot | MontyComplete
HostCaller: TypeAlias = Callable[[Mapping[str, Json], SandboxRecord], "Future[dict[str, Json]]"]
"""Starts the call of a host function on the loop; `{"return": …}` or `{"raise": sentence}` when it is done."""

MEMORY_MB = 512
"""The most that a run may have: its result is held by the host as well."""
RECURSION = 1_000
"""The most that the interpreter can bear."""
_LOOKUPS = 200
"""Questions to the host that are no calls of its functions: names and modules that are not there, waiting."""
_ARGUMENTS = 4 << 20
_MB = 1 << 20
_PART = "answerable_part"
_POLICY: OSPolicy = {"sleep": "call_host"}
_NO_VALUES = frozenset(
    {"function", "coroutine", "type", "module", "range", "partial", "Pattern", "Match"}
    | {"dict_keys", "dict_values", "dict_items", "count", "cycle", "repeat"}
)


class WaitsForPerson(Exception):
    """A call waits for a person; raised by a `HostCaller`."""


@dataclass(frozen=True, slots=True)
class Known:
    """Code that ran before: its types were found right, and need not be checked again."""

    sets_result: bool
    """Whether a plain statement sets `result`, so that there is no need to ask for it."""


class MontyRun:
    def __init__(self, request: SandboxRequest, answer: HostCaller, known: Known | None = None) -> None:
        self.record = SandboxRecord()
        self.known = known
        self.request = request
        self._answer = answer
        self._lock = threading.Lock()
        self._worker: int | None = None
        self._waiting: Future[dict[str, Json]] | None = None
        self._over = False
        self._sleeping: threading.Event | None = None

    # From the loop

    def stop(self, why: Stopped) -> None:
        """Ends the run at once, wherever it is; without effect on one that has ended."""
        with self._lock:
            if self.record.stopped is None:
                self.record.stopped = why
            self._over = True
            if self._sleeping is not None:
                self._sleeping.set()
            if self._waiting is not None:
                self._waiting.cancel()
            self._kill()

    # In the thread

    def begin(self, pool: Monty) -> Paused | None:
        """To the end, or to a call that pauses; what became of it is in `record`."""
        if self.known is not None:
            return self._lived(pool, {}, self._started)
        return self._lived(pool, {"type_check": True, "type_check_stubs": _stubs(self.request)}, self._started)

    def resume(self, pool: Monty, paused: Paused, reply: Mapping[str, Json]) -> Paused | None:
        """Goes on from a pause, with the reply to the call that paused: like that of a `HostCaller`."""
        self.record.output, self.record.output_bytes = paused.output, paused.output_bytes
        self.record.host_calls = paused.host_calls

        def restored(session: MontySession) -> State:
            state = session.load_snapshot(paused.snapshot, print_callback=self._printed)
            assert isinstance(state, FunctionSnapshot), "a snapshot is taken at a call only"
            return state.resume(_outcome(reply))

        return self._lived(pool, {}, restored)

    def _lived(self, pool: Monty, options: dict[str, Any], first: Callable[[MontySession], State]) -> Paused | None:
        """A session from beginning to end. While it has its process, that can be killed; never later, when the number
        of the process may be another's."""
        limits = _limits(self.request.limits)
        with pool.checkout(limits=limits, type_check_format="json", os_policy=_POLICY, **options) as session:
            with self._lock:
                self._worker = session.worker_pid
            try:
                halted = self._halted(session, first)
                # A stopped session may still hold the values of its run: its process must not serve another.
                if self.record.stopped is not None:
                    self._kill()
                return halted
            finally:
                with self._lock:
                    self._worker = None

    def _kill(self) -> None:
        if self._worker is not None:
            with suppress(ProcessLookupError):
                os.kill(self._worker, signal.SIGKILL)

    def _halted(self, session: MontySession, first: Callable[[MontySession], State]) -> Paused | None:
        try:
            if self._over:
                raise CancelledError
            return self._driven(session, first(session))
        except CancelledError:
            self._ended(Stopped("cancelled", "The run was ended from outside."))
        except MontyError as error:
            self._ended(fault_of(error, self.request.limits))
        except TooLarge:
            self._ended(too_large(self.request.limits))
        except Unreturnable as error:
            self._ended({"outcome": "error", "reason": "result", "message": str(error)})
        return None

    def _started(self, session: MontySession) -> State:
        inputs = dict(self.request.values)
        for name, path in self.request.frames.items():
            chunks = chunks_of(path)
            rows = next(chunks, [])
            if len(rows) < CHUNK:
                inputs[name] = rows
            else:
                _put_together(session, name, rows, chunks)
        code = self.request.code
        if self.known is not None and self.known.sets_result:
            code += "\nresult"
        return session.feed_start(code, inputs=inputs or None, print_callback=self._printed)

    def _driven(self, session: MontySession, state: State) -> Paused | None:
        while not isinstance(state, MontyComplete):
            following = self._next(state)
            if isinstance(following, Paused):
                return following
            state = following
        if self.known is not None and self.known.sets_result:
            self._keep(session, state.output, named=True)
        else:
            self._keep(session, *_result(session, state))
        self.known = self.known or Known(_sets_result(self.request.code))
        return None

    def _next(self, state: FunctionSnapshot | NameLookupSnapshot | FutureSnapshot) -> State | Paused:
        if isinstance(state, NameLookupSnapshot):
            known = state.object_id is None and state.variable_name in self.request.host.functions
            return state.resume(value=_named(state.variable_name)) if known else state.resume()
        if isinstance(state, FutureSnapshot):
            return state.resume(
                dict.fromkeys(state.pending_call_ids, _outcome({"raise": "There is nothing to await."}))
            )
        if not state.is_os_function:
            return self._called(state)
        if state.function_name in ("time.sleep", "asyncio.sleep"):
            self._sleep(max(0.0, float(state.args[0])))
            return state.resume({"return_value": None})
        return state.resume_not_handled()

    def _sleep(self, seconds: float) -> None:
        with self._lock:
            if self._over:
                return
            self._sleeping = threading.Event()
        self._sleeping.wait(seconds)

    def _called(self, state: FunctionSnapshot) -> State | Paused:
        call: dict[str, Json] = {"call": state.function_name, "args": [], "kwargs": {}}
        try:
            call |= {"args": _argument(list(state.args)), "kwargs": _argument(state.kwargs)}
        except (TooLarge, Unreturnable):
            return state.resume(_outcome({"raise": f"{state.function_name}() takes small JSON values only."}))
        try:
            reply = self._answered(call)
        except WaitsForPerson as held:
            return self._paused(state, call, str(held))
        if self.record.stopped is not None:
            raise CancelledError
        return state.resume(_outcome(reply))

    def _answered(self, call: Mapping[str, Json]) -> dict[str, Json]:
        with self._lock:
            if self._over:
                raise CancelledError
            self._waiting = self._answer(call, self.record)
        try:
            return self._waiting.result()
        finally:
            self._waiting = None

    def _paused(self, state: FunctionSnapshot, call: Mapping[str, Json], reason: str) -> Paused:
        return Paused(
            snapshot=state.dump(),
            function=str(state.function_name),
            args=tuple(call["args"]),
            kwargs=call["kwargs"],
            reason=reason,
            output=self.record.output,
            output_bytes=self.record.output_bytes,
            host_calls=self.record.host_calls,
        )

    def _printed(self, stream: Literal["stdout", "stderr"], text: str) -> None:
        if self.record.stopped is None:
            record_print(text, self.request.limits.output_bytes, self.record)
        if self.record.stopped is not None:
            self.stop(self.record.stopped)

    def _keep(self, session: MontySession, result: Any, named: bool) -> None:
        if type(result) in LEAVES:
            self.record.done = {"outcome": "ok", "value": plain(result)}
            return
        limit = self.request.limits.result_mb * _MB
        into = self.request.into
        size = ValueSize(limit)
        size.of(result)
        if named and size.doubtful:
            _check_texts(session)
        rows = rows_in(result) if into is not None else None
        if rows is None or into is None:
            self.record.done = {"outcome": "ok", "value": Plain().of(result)}
        else:
            self.record.frame = write_rows(rows, into, limit)
            self.record.done = {"outcome": "ok", "frame": True}

    def _ended(self, fault: Stopped | dict[str, Json]) -> None:
        """The first that ended it counts: a process that was killed also reports that it died."""
        if self.record.stopped is not None:
            return
        if isinstance(fault, Stopped):
            self.record.stopped = fault
        else:
            self.record.done = fault


def _stubs(request: SandboxRequest) -> str:
    """What the code may take for granted, for the check of its types."""
    described = _described(request.host.stubs)
    functions = [f"{name}: Any" for name in request.host.functions if name not in described]
    frames = [f"{name}: list[dict[str, Any]]" for name in request.frames]
    values = [f"{name}: Any" for name in request.values]
    declared = [*filter(None, [request.host.stubs]), *functions, *frames, *values]
    return "\n".join(["from typing import Any", *declared]) if declared else ""


@functools.lru_cache(maxsize=64)
def _described(stubs: str) -> frozenset[str]:
    """The functions that have a signature."""
    return frozenset(node.name for node in ast.parse(stubs).body if isinstance(node, ast.FunctionDef))


def _sets_result(code: str) -> bool:
    try:
        statements = ast.parse(code).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    targets = [target for node in statements if isinstance(node, ast.Assign) for target in node.targets]
    return any(isinstance(target, ast.Name) and target.id == "result" for target in targets)


def identity(request: SandboxRequest) -> Hashable:
    """The same for requests whose types need to be checked only once."""
    host = request.host
    return request.code, host.stubs, tuple(host.functions), tuple(request.frames), tuple(request.values)


def _put_together(session: MontySession, name: str, rows: Rows, more: Iterator[Rows]) -> None:
    """A large frame, part by part, so that no single conversion holds up this process for long."""
    session.feed_run(f"{name} = {_PART}", inputs={_PART: rows}, skip_type_check=True)
    for part in more:
        session.feed_run(f"{name}.extend({_PART})", inputs={_PART: part}, skip_type_check=True)


def _limits(limits: SandboxLimits) -> ResourceLimits:
    return {
        "max_feed_duration_secs": limits.seconds,
        "max_memory": min(limits.memory_mb, MEMORY_MB) * _MB,
        "max_recursion_depth": min(limits.recursion, RECURSION),
        "max_suspensions": limits.host_calls + _LOOKUPS,
    }


def _result(session: MontySession, last: MontyComplete) -> tuple[Any, bool]:
    """The variable `result` and yes, or the value of the last line and no if that was never set."""
    state = session.feed_start("result", skip_type_check=True)
    return (state.output, True) if isinstance(state, MontyComplete) else (last.output, False)


def _check_texts(session: MontySession) -> None:
    """What is no value (a function, a circle) comes out as a text about it; the interpreter knows it from true text."""
    try:
        session.feed_run("import json as answerable_json\nanswerable_json.dumps(result)", skip_type_check=True)
    except MontyRuntimeError as error:
        text = error.display("type-msg")
        kind = text.removeprefix("TypeError: Object of type ").removesuffix(" is not JSON serializable")
        if kind in _NO_VALUES or kind.endswith("iterator"):
            raise Unreturnable(
                f"The result holds a {kind}, which is no value; call it, or make a list of it."
            ) from error
        if "Circular" in text:
            raise Unreturnable("The result contains itself.") from error


def _named(name: str) -> Callable[[], None]:
    """Stands for a host function that the code keeps in a variable; it is called by its name."""

    def function() -> None: ...

    function.__name__ = name
    return function


def _outcome(reply: Mapping[str, Json]) -> ExternalReturnValue | ExternalExceptionData:
    if "return" in reply:
        return {"return_value": reply["return"]}
    return {"exc_type": "RuntimeError", "message": str(reply["raise"])}


def _argument(value: Any) -> Json:
    ValueSize(_ARGUMENTS).of(value)
    return Plain().of(value)
