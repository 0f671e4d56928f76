"""One run of code in a session of Monty, in the process that `host` is; the interpreter itself is another process.

This process waits for the interpreter, and the interpreter for the answers of the server. Whoever wants the run to end
kills this process.
"""

from __future__ import annotations

import ast
import functools
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

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

from answerable.sandbox.base import Paused, SandboxLimits, SandboxRequest
from answerable.sandbox.monty.faults import fault_of
from answerable.sandbox.monty.values import CHUNK, LEAVES, MontyPlain, Rows, ValueSize, chunks_of, write_rows
from answerable.sandbox.results import Stopped
from answerable.sandbox.runner.frames import rows_in
from answerable.sandbox.runner.plain import VALUE_BYTES, TooLarge, Unreturnable, plain

if TYPE_CHECKING:
    from answerable.core.values import Json  # brings pydantic, which worker processes do without

State: TypeAlias = FunctionSnapshot | NameLookupSnapshot | FutureSnapshot | MontyComplete
HostCaller: TypeAlias = "Callable[[Mapping[str, Json]], dict[str, Json]]"
"""Has the server call one of its functions: `{"return": …}` or `{"raise": sentence}`."""

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
    def __init__(
        self,
        request: SandboxRequest,
        answer: HostCaller,
        printed: Callable[[str], None],
        frames: Mapping[str, int],
        output: int | None,
        known: Known | None = None,
    ) -> None:
        """`frames`: descriptors of Arrow IPC files by name. `output`: where the rows of a result go, if they are
        wanted."""
        self.ended: dict[str, Json] = {}
        """How the run ended: the `done` or `stopped` message for the server."""
        self.known = known
        self._request = request
        self._answer = answer
        self._print = printed
        self._frames = frames
        self._output = output

    def begin(self, pool: Monty) -> Paused | None:
        """Runs to the end, or to a call that pauses, and leaves the outcome in `ended`."""
        if self.known is not None:
            return self._lived(pool, {}, self._started)
        stubs = _stubs(self._request, tuple(self._frames))
        return self._lived(pool, {"type_check": True, "type_check_stubs": stubs}, self._started)

    def resume(self, pool: Monty, snapshot: bytes, reply: Mapping[str, Json]) -> Paused | None:
        """Goes on from a pause, with the reply to the call that paused: like that of a `HostCaller`."""

        def restored(session: MontySession) -> State:
            state = session.load_snapshot(snapshot, print_callback=self._printed)
            assert isinstance(state, FunctionSnapshot), "a snapshot is taken at a call only"
            return state.resume(_outcome(reply))

        return self._lived(pool, {}, restored)

    def _lived(self, pool: Monty, options: dict[str, Any], first: Callable[[MontySession], State]) -> Paused | None:
        limits = _limits(self._request.limits)
        with pool.checkout(limits=limits, type_check_format="json", os_policy=_POLICY, **options) as session:
            return self._halted(session, first)

    def _halted(self, session: MontySession, first: Callable[[MontySession], State]) -> Paused | None:
        try:
            return self._driven(session, first(session))
        except MontyError as error:
            fault = fault_of(error, self._request.limits)
            self.ended = _stopped(fault) if isinstance(fault, Stopped) else {"done": fault}
        except TooLarge as error:
            self.ended = _stopped(Stopped("result_size", str(error)))
        except Unreturnable as error:
            self.ended = {"done": {"outcome": "error", "reason": "result", "message": str(error)}}
        return None

    def _started(self, session: MontySession) -> State:
        inputs = dict(self._request.values)
        for name, descriptor in self._frames.items():
            chunks = chunks_of(descriptor)
            rows = next(chunks, [])
            if len(rows) < CHUNK:
                inputs[name] = rows
            else:
                _put_together(session, name, rows, chunks)
        code = self._request.code
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
        self.known = self.known or Known(_sets_result(self._request.code))
        return None

    def _next(self, state: FunctionSnapshot | NameLookupSnapshot | FutureSnapshot) -> State | Paused:
        if isinstance(state, NameLookupSnapshot):
            known = state.object_id is None and state.variable_name in self._request.host.functions
            return state.resume(value=_named(state.variable_name)) if known else state.resume()
        if isinstance(state, FutureSnapshot):
            return state.resume(
                dict.fromkeys(state.pending_call_ids, _outcome({"raise": "There is nothing to await."}))
            )
        if not state.is_os_function:
            return self._called(state)
        if state.function_name in ("time.sleep", "asyncio.sleep"):
            # Whoever sleeps longer than the run may take is killed meanwhile.
            time.sleep(min(max(0.0, float(state.args[0])), self._request.limits.seconds + 1))
            return state.resume({"return_value": None})
        return state.resume_not_handled()

    def _called(self, state: FunctionSnapshot) -> State | Paused:
        call: dict[str, Json] = {"call": state.function_name, "args": [], "kwargs": {}}
        try:
            call |= {"args": _argument(list(state.args)), "kwargs": _argument(state.kwargs)}
        except (TooLarge, Unreturnable):
            return state.resume(_outcome({"raise": f"{state.function_name}() takes small JSON values only."}))
        try:
            return state.resume(_outcome(self._answer(call)))
        except WaitsForPerson as held:
            return self._paused(state, call, str(held))

    def _paused(self, state: FunctionSnapshot, call: Mapping[str, Json], reason: str) -> Paused:
        return Paused(
            snapshot=state.dump(),
            function=str(state.function_name),
            args=tuple(call["args"]),
            kwargs=call["kwargs"],
            reason=reason,
        )

    def _printed(self, stream: Literal["stdout", "stderr"], text: str) -> None:
        self._print(text)

    def _keep(self, session: MontySession, result: Any, named: bool) -> None:
        if type(result) in LEAVES:
            self.ended = {"done": {"outcome": "ok", "value": plain(result)}}
            return
        limit = self._request.limits.result_mb * _MB
        size = ValueSize(limit)
        size.of(result)
        if named and size.doubtful:
            _check_texts(session)
        rows = rows_in(result) if self._output is not None else None
        if rows is None or self._output is None:
            value = MontyPlain(min(limit, VALUE_BYTES)).of(result)
            self.ended = {"done": {"outcome": "ok", "value": value}}
        else:
            table = write_rows(rows, self._output, limit)
            self.ended = {"done": {"outcome": "ok", "frame": True}, "table": table}


def _stopped(stopped: Stopped) -> dict[str, Json]:
    return {"stopped": {"reason": stopped.reason, "message": stopped.message}}


def _stubs(request: SandboxRequest, frames: tuple[str, ...]) -> str:
    """What the code may take for granted, for the check of its types."""
    described = _described(request.host.stubs)
    functions = [f"{name}: Any" for name in request.host.functions if name not in described]
    tables = [f"{name}: list[dict[str, Any]]" for name in frames]
    values = [f"{name}: Any" for name in request.values]
    declared = [*filter(None, [request.host.stubs]), *functions, *tables, *values]
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
    return MontyPlain(_ARGUMENTS).of(value)
