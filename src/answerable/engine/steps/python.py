"""Kind `python`: runs a program in a sandbox over the rows of earlier steps, and stores its result as an artifact.

The rows of each step in `after` are a data frame with that step's id as its name. The program assigns its result to
`result`: a frame, rows, a value, or a chart. Printed text is shown as on a terminal.
"""

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from pydantic import Field

from answerable.answers.answer import StepRecord
from answerable.core.context import Principal
from answerable.core.errors import AnswerableError, GraphError, LimitError, RefusedError, UserError
from answerable.core.ids import ArtifactId, NodeId
from answerable.core.records import dataclass
from answerable.core.values import FrameRef, Frozen, Json
from answerable.engine.steps.base import OutputSink, Step
from answerable.engine.steps.descriptor import Repeated, StepDescriptor
from answerable.engine.steps.failed_calls import FailedCalls
from answerable.engine.steps.produced import Produced, missing_before, oldest, produced_before, rows_of
from answerable.sandbox.base import HostCalls, SandboxLimits, SandboxRequest, SandboxResult
from answerable.store.base import Artifacts

if TYPE_CHECKING:
    from answerable.answers.result_table import ResultTable
    from answerable.apis.call import BeforeWrite

_HINTS = {
    "time": "Do less, or raise `sandbox_seconds`.",
    "cpu": "Do less, or raise `sandbox_seconds`.",
    "memory": "Use fewer rows or columns, or raise `sandbox_memory_mb`.",
    "output": "Print less; give rows back as `result`.",
    "result_size": "Give back fewer rows.",
}


class CodeRunner(Protocol):
    async def run(self, request: SandboxRequest, backend: str | None = None) -> SandboxResult: ...

    async def type_errors(
        self, code: str, frames: Mapping[str, Sequence[str]], backend: str | None = None, functions: Sequence[str] = ()
    ) -> tuple[str, ...]: ...

    def libraries(self) -> str:
        """What a program may import beside the standard library, in words."""
        ...

    async def write_table(self, records: list[dict[str, Json]], into: Path) -> None:
        """Writes the rows that stand for a value as an Arrow file. Raises `UserError` if they do not fit together."""
        ...


class HostFunctions(Protocol):
    """The functions that a program may call. Each run has its own session, because limits count the calls of a run."""

    async def calls(
        self,
        api: str,
        principal: Principal,
        record: Callable[[Json], None],
        before_write: "BeforeWrite | None" = None,
    ) -> HostCalls: ...


class PythonConfig(Frozen):
    code: str = Field(min_length=1)
    backend: str | None = None
    """The name of a sandbox; None for the one that the settings choose."""
    api: str | None = None
    """The API that the program may read with `api_get`: one of the settings, or a source that is an API."""
    partial: bool = False
    """Whether a call of the API that fails gives None instead of ending the program."""
    values: Mapping[str, Json] = {}
    """Small values that the program can name."""
    frames: tuple[NodeId, ...] | None = None
    """The nodes in `after` whose rows it reads; None for all of them."""


@dataclass(frozen=True, slots=True)
class Program:
    """Code, and the stored rows that it works on, by name."""

    code: str
    inputs: Mapping[str, ArtifactId]
    backend: str | None = None
    api: str | None = None
    values: Mapping[str, Json] = field(default_factory=dict)
    """None for each name that a step would have set which gave nothing."""
    failed: FailedCalls | None = None
    """Collects calls that fail; None if a call that fails is an error of the program."""
    before_write: "BeforeWrite | None" = None


class PythonStep:
    descriptor = StepDescriptor(
        name="python",
        config=PythonConfig,
        title="Compute",
        label="Python",
        produces="rows",
        rows_from="steps",
        language="python",
        code_field="code",
        data_source_type="python",
        repeatable=True,
    )

    def __init__(
        self, sandboxes: CodeRunner, artifacts: Artifacts, limits: SandboxLimits, host: HostFunctions | None = None
    ) -> None:
        self._sandboxes = sandboxes
        self._artifacts = artifacts
        self._limits = limits
        self._host = host

    def libraries(self) -> str:
        """What a program may import beside the standard library, in words."""
        return self._sandboxes.libraries()

    async def run(self, step: Step) -> Json:
        config = step.config_as(PythonConfig)
        read = step.inputs if config.frames is None else {node: step.inputs.get(node) for node in config.frames}
        earlier = produced_before(read)
        missing = missing_before(read)
        produced = await self.produce(
            config, earlier, step.context.principal, step.output, missing, before_write=step.journal.still_ours
        )
        return produced.model_dump(mode="json")

    async def repeat(self, record: StepRecord, principal: Principal) -> Repeated:
        """Runs the recorded program again over the same stored rows."""
        _ran, stored = await self.execute(
            Program(record.code or "", record.inputs, record.sandbox, values=record.values), principal
        )
        return Repeated(artifact=stored.frame.artifact, fingerprint=record.fingerprint)

    async def check(self, config: PythonConfig, earlier: Mapping[NodeId, Produced]) -> None:
        """Checks the types of a program without running it. Raises if it does not fit the rows of earlier steps."""
        frames = {_name(name): [column.name for column in each.frame.columns] for name, each in earlier.items()}
        functions = ("api_get", "api_post") if config.api is not None else ()
        errors = await self._sandboxes.type_errors(config.code, frames, config.backend, functions)
        if errors:
            raise UserError(" ".join(errors), code="python_types")

    async def produce(
        self,
        config: PythonConfig,
        earlier: Mapping[NodeId, Produced],
        principal: Principal,
        output: OutputSink,
        missing: Sequence[NodeId] = (),
        before_write: "BeforeWrite | None" = None,
    ) -> Produced:
        """Runs the program over the rows of earlier steps. `output` gets the code before it runs. `missing`: earlier
        steps without an output; the program finds None under their names. `before_write`: for what it sends."""
        output("code", config.code)
        inputs = {_name(name): each.frame.artifact for name, each in earlier.items()}
        values: dict[str, Json] = {**config.values, **dict.fromkeys(missing)}
        failed = FailedCalls()
        lenient = failed if config.partial else None
        program = Program(config.code, inputs, config.backend, config.api, values, lenient, before_write)
        ran, stored = await self.execute(program, principal, output)
        api = config.api if ran.resources.host_calls else None
        # One fingerprint cannot stand for data of several sources.
        fingerprints = {each.fingerprint for each in earlier.values()}
        return Produced(
            kind=self.descriptor.name,
            language=self.descriptor.language,
            data_source_type="api" if api else self.descriptor.data_source_type,
            frame=stored.frame,
            code=config.code,
            sources=tuple(dict.fromkeys(source for each in earlier.values() for source in each.sources)),
            duration_ms=ran.resources.wall_ms,
            rows_in=rows_of(earlier.values()) if earlier else None,
            fingerprint=fingerprints.pop() if len(fingerprints) == 1 else None,
            last_sync=oldest(earlier.values()),
            findings=(*_findings(ran, earlier.values()), *_notes(api, missing), *failed.findings),
            incomplete=bool(failed.reasons),
            inputs=inputs,
            values=program.values,
            sandbox=ran.backend,
            api=config.api,
            chart=stored.chart,
        )

    async def execute(
        self, program: Program, principal: Principal, output: OutputSink = lambda _channel, _data: None
    ) -> tuple[SandboxResult, "StoredResult"]:
        """Runs a program over stored rows and stores its result. Raises if the program fails or is stopped."""
        staging = self._artifacts.staging()
        try:
            request = SandboxRequest(
                code=program.code,
                frames={name: await self._artifacts.path(principal, each) for name, each in program.inputs.items()},
                values=program.values,
                limits=self._limits,
                host=await self._calls(program, principal, output),
                into=staging,
            )
            ran = await self._sandboxes.run(request, program.backend)
            if ran.output:  # before a failure is raised: the printed text often explains it
                output("printed", ran.output)
            if ran.outcome != "ok":
                raise _failure(ran)
            table = await self._table(ran, staging)
            return ran, await self._stored(table, principal, staging)
        finally:
            staging.unlink(missing_ok=True)  # still there only if the run failed: `adopt` moves the file

    async def _table(self, ran: SandboxResult, path: Path) -> "ResultTable":
        # Both bring polars, which a question without a program may not need.
        from answerable.answers.result_table import records_of, result_table

        chart = None
        if ran.frame is None:
            records, chart = records_of(ran.value)
            await self._sandboxes.write_table(records, path)
        return await asyncio.to_thread(result_table, path, chart)

    async def _calls(self, program: Program, principal: Principal, output: OutputSink) -> HostCalls:
        if program.api is None:
            return HostCalls()
        if self._host is None:
            raise UserError("No API is configured.", code="api_unknown", hint="Name it under `apis` in the settings.")
        calls = await self._host.calls(
            program.api, principal, lambda call: output("host_call", call), program.before_write
        )
        return calls if program.failed is None else program.failed.left_out(calls)

    async def _stored(self, table: "ResultTable", principal: Principal, staging: Path) -> "StoredResult":
        artifact = await self._artifacts.adopt(principal, staging)
        frame = FrameRef(
            artifact=artifact,
            columns=table.columns,
            row_count=table.row_count,
            byte_count=table.byte_count,
            sample=table.sample,
        )
        return StoredResult(frame, table.chart)


@dataclass(frozen=True, slots=True)
class StoredResult:
    frame: FrameRef
    chart: Json


def _notes(api: str | None, missing: Sequence[NodeId]) -> list[str]:
    notes = [f"The program read the API {api}."] if api else []
    return notes + [f"Step {node} gave nothing; the program went on with `{node} = None`." for node in missing]


def _name(node: str) -> str:
    if not node.isidentifier():
        raise GraphError(
            f"Node `{node}`: a program cannot call its rows {node!r}.",
            hint="Give steps whose rows a program uses ids of letters, digits and `_`.",
            node=node,
        )
    return node


def _failure(ran: SandboxResult) -> AnswerableError:
    """The error of a program that was refused, that has a mistake, or that reached a limit. `reason` says which rule or
    limit it was."""
    message, reason = ran.message or "The program did not end as it should.", ran.reason or "died"
    if reason in ("policy", "forbidden"):
        return RefusedError(message, code="python_refused", reason=reason)
    if reason in ("type_check", "exception", "result"):
        return UserError(message, code="python_failed", reason=reason)
    return LimitError(message, code="python_stopped", hint=_HINTS.get(reason), reason=reason)


def _findings(ran: SandboxResult, earlier: Iterable[Produced]) -> tuple[str, ...]:
    own = () if ran.isolated else ("The program ran without isolation: the settings allow it.",)
    return tuple(dict.fromkeys([*own, *(finding for each in earlier for finding in each.findings)]))
