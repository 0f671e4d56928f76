"""Kind `combine`: joins the rows of earlier steps by SQL, whatever sources they came from.

Each step that it comes after is a table under that step's id. The SQL is parsed, checked against these tables, and
regenerated like any other; it runs in a worker that holds those rows in memory and can reach nothing else.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Protocol

from pydantic import Field

from answerable.core.catalog import Catalog, Column, Table
from answerable.core.context import Principal
from answerable.core.errors import UserError
from answerable.core.ids import ArtifactId, NodeId
from answerable.core.values import FrameRef, Frozen, Json
from answerable.engine.steps.base import Step
from answerable.engine.steps.produced import Produced, oldest, produced_before, rows_of
from answerable.engine.steps.python import Tell
from answerable.engine.steps.stored_frame import stored_frame
from answerable.sources.base import Limits, QueryResult
from answerable.sources.fingerprints import digest
from answerable.store.base import Artifacts


class FrameQuery(Protocol):
    """Runs checked SQL over Arrow files, each a table by its name."""

    async def __call__(self, sql: str, frames: Mapping[str, Path], into: Path, limits: Limits) -> QueryResult: ...


class CombineConfig(Frozen):
    sql: str = Field(min_length=1)


class CombineStep:
    def __init__(self, query: FrameQuery, artifacts: Artifacts, limits: Limits) -> None:
        self._query = query
        self._artifacts = artifacts
        self._limits = limits

    async def run(self, step: Step) -> Json:
        config = step.config_as(CombineConfig)
        earlier = produced_before(step.inputs)
        produced = await self.produce(config, earlier, step.context.principal, step.output)
        return produced.model_dump(mode="json")

    async def produce(
        self, config: CombineConfig, earlier: Mapping[NodeId, Produced], principal: Principal, tell: Tell
    ) -> Produced:
        """Runs the SQL over the rows of earlier steps; `tell` hears it, as it runs, before it starts."""
        from answerable.query.sql.written_quantities import written_quantities

        code = checked_over(config.sql, {name: each.frame for name, each in earlier.items()})
        tell("code", code)
        inputs = {str(name): each.frame.artifact for name, each in earlier.items()}
        result, frame = await self.execute(code, inputs, principal)
        return Produced(
            kind="combine",
            frame=frame,
            code=code,
            sources=_distinct(source for each in earlier.values() for source in each.sources),
            duration_ms=result.duration_ms,
            rows_in=rows_of(earlier.values()),
            fingerprint=_fingerprint([each.fingerprint for each in earlier.values()]),
            last_sync=oldest(earlier.values()),
            findings=_distinct(finding for each in earlier.values() for finding in each.findings),
            inputs=inputs,
            quantities=written_quantities(code, "duckdb"),
        )

    async def execute(
        self, code: str, inputs: Mapping[str, ArtifactId], principal: Principal
    ) -> tuple[QueryResult, FrameRef]:
        """Runs checked SQL over stored rows by name."""
        frames = {name: await self._artifacts.path(principal, each) for name, each in inputs.items()}
        return await stored_frame(
            lambda into: self._query(code, frames, into, self._limits), self._artifacts, principal
        )


def checked_over(sql: str, frames: Mapping[NodeId, FrameRef]) -> str:
    """The SQL that may run over rows of these names, written anew."""
    from answerable.query.sql.check import checked

    if not frames:
        raise UserError(
            "There are no rows to combine.", code="combine_empty", hint="Name the steps to combine under `after`."
        )
    _refuse_alike("steps", frames)
    for name, frame in frames.items():
        _refuse_alike(f"columns of step {name}", [column.name for column in frame.columns])
    return checked(sql, _catalog(frames)).text


def _catalog(frames: Mapping[NodeId, FrameRef]) -> Catalog:
    tables = [
        Table(name=name, columns=tuple(Column(name=each.name, type=each.type) for each in frame.columns))
        for name, frame in frames.items()
    ]
    return Catalog(source="combine", dialect="duckdb", tables=tuple(tables))


def _refuse_alike(what: str, names: Iterable[str]) -> None:
    """SQL does not tell names apart that differ in case alone."""
    alike = next((name for name, count in Counter(map(str.casefold, names)).items() if count > 1), None)
    if alike is not None:
        raise UserError(
            f"Two {what} are named {alike!r} but for upper and lower case.",
            code="combine_names_alike",
            hint="Give one of them another name.",
        )


def _fingerprint(of_inputs: list[str | None]) -> str | None:
    """Of all that was read in the end; nothing when it is not known of a part of it."""
    known = sorted({each for each in of_inputs if each is not None})
    if None in of_inputs:
        return None
    return known[0] if len(known) == 1 else digest(*known)


def _distinct(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(texts))
