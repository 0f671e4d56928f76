"""Kind `combine`: joins the rows of earlier steps by SQL, whatever sources they came from.

The rows of each step in `after` are a table with that step's id as its name. The SQL is parsed, checked against these
tables, and regenerated like any other SQL. It runs in a worker that has no access to anything but these rows.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Protocol

from pydantic import Field

from answerable.answers.answer import StepRecord
from answerable.answers.result_rows import RecentRows
from answerable.core.catalog import Catalog, Column, Table
from answerable.core.context import Principal
from answerable.core.errors import UserError
from answerable.core.ids import ArtifactId, NodeId
from answerable.core.progress import Progress, no_progress
from answerable.core.values import FrameRef, Frozen, Json, OutputColumn
from answerable.engine.steps.base import OutputSink, Step
from answerable.engine.steps.descriptor import Repeated, StepDescriptor
from answerable.engine.steps.produced import Produced, oldest, produced_before, rows_of
from answerable.engine.steps.stored_frame import stored_frame
from answerable.query.checked import CheckedQuery
from answerable.sources.base import Limits, QueryResult
from answerable.sources.fingerprints import digest
from answerable.store.base import Artifacts


class FrameQuery(Protocol):
    """Runs checked SQL over Arrow files. Each file is a table with the name it has in `frames`."""

    async def __call__(
        self, query: CheckedQuery, frames: Mapping[str, Path], into: Path, limits: Limits, progress: Progress
    ) -> QueryResult: ...


class CombineConfig(Frozen):
    sql: str = Field(min_length=1)


class CombineStep:
    descriptor = StepDescriptor(
        name="combine",
        config=CombineConfig,
        title="Combine",
        label="join",
        produces="rows",
        rows_from="steps",
        language="sql",
        code_field="sql",
        data_source_type="combine",
        repeatable=True,
    )

    def __init__(self, query: FrameQuery, artifacts: Artifacts, limits: Limits, recent: RecentRows) -> None:
        self._query = query
        self._artifacts = artifacts
        self._limits = limits
        self._recent = recent

    async def run(self, step: Step) -> Json:
        config = step.config_as(CombineConfig)
        earlier = produced_before(step.inputs)
        produced = await self.produce(config, earlier, step.context.principal, step.output, step.reporter())
        return produced.model_dump(mode="json")

    async def produce(
        self,
        config: CombineConfig,
        earlier: Mapping[NodeId, Produced],
        principal: Principal,
        output: OutputSink,
        progress: Progress = no_progress,
    ) -> Produced:
        """Runs the SQL over the rows of earlier steps. `output` gets the SQL before it runs."""
        from answerable.query.sql.written_quantities import written_quantities

        # Checked against the columns that the rows really have, which only now are known.
        query = checked_over(config.sql, {name: each.frame.columns for name, each in earlier.items()})
        output("code", query.text)
        inputs = {str(name): each.frame.artifact for name, each in earlier.items()}
        result, frame = await self._execute(query, inputs, principal, progress)
        return Produced(
            kind=self.descriptor.name,
            language=self.descriptor.language,
            data_source_type=self.descriptor.data_source_type,
            frame=frame,
            code=query.text,
            sources=_distinct(source for each in earlier.values() for source in each.sources),
            duration_ms=result.duration_ms,
            rows_in=rows_of(earlier.values()),
            fingerprint=_fingerprint([each.fingerprint for each in earlier.values()]),
            last_sync=oldest(earlier.values()),
            findings=_distinct(finding for each in earlier.values() for finding in each.findings),
            inputs=inputs,
            quantities=written_quantities(query.text, query.language),
        )

    async def repeat(self, record: StepRecord, principal: Principal) -> Repeated:
        """Runs recorded SQL again over the same stored rows."""
        from answerable.answers.frame import columns

        paths = {name: await self._artifacts.path(principal, each) for name, each in record.inputs.items()}
        # Checked again: a record may come from an older version with other rules.
        query = checked_over(record.code or "", {name: columns(path) for name, path in paths.items()})
        _result, frame = await self._execute(query, record.inputs, principal, no_progress)
        return Repeated(artifact=frame.artifact, fingerprint=record.fingerprint)

    async def _execute(
        self, query: CheckedQuery, inputs: Mapping[str, ArtifactId], principal: Principal, progress: Progress
    ) -> tuple[QueryResult, FrameRef]:
        frames = {name: await self._artifacts.path(principal, each) for name, each in inputs.items()}
        return await stored_frame(
            lambda into: self._query(query, frames, into, self._limits, progress),
            self._artifacts,
            self._recent,
            principal,
        )


def checked_over(sql: str, frames: Mapping[str, Sequence[OutputColumn]]) -> CheckedQuery:
    """Checks SQL against tables with these names and columns."""
    from answerable.query.sql.check import checked

    if not frames:
        raise UserError(
            "There are no rows to combine.", code="combine_empty", hint="Name the steps to combine under `after`."
        )
    _refuse_alike("steps", frames)
    for name, columns in frames.items():
        _refuse_alike(f"columns of step {name}", [column.name for column in columns])
    return checked(sql, _catalog(frames))


def _catalog(frames: Mapping[str, Sequence[OutputColumn]]) -> Catalog:
    from answerable.query.sql.dialects import FRAMES_DIALECT

    tables = [
        Table(name=name, columns=tuple(Column(name=each.name, type=each.type) for each in columns))
        for name, columns in frames.items()
    ]
    return Catalog(source="combine", dialect=FRAMES_DIALECT, tables=tuple(tables))


def _refuse_alike(what: str, names: Iterable[str]) -> None:
    """Raises if two names differ only in case, because SQL treats them as one name."""
    alike = next((name for name, count in Counter(map(str.casefold, names)).items() if count > 1), None)
    if alike is not None:
        raise UserError(
            f"Two {what} are named {alike!r} but for upper and lower case.",
            code="combine_names_alike",
            hint="Give one of them another name.",
        )


def _fingerprint(of_inputs: list[str | None]) -> str | None:
    """Combined fingerprint of everything read, or None if any part has no fingerprint."""
    # Sorted, because the same data in another order of steps must have the same fingerprint.
    known = sorted({each for each in of_inputs if each is not None})
    if None in of_inputs:
        return None
    return known[0] if len(known) == 1 else digest(*known)


def _distinct(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(texts))
