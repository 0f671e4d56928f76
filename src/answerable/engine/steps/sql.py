"""Kind `sql`: runs one query at one source and keeps its rows as an artifact.

The query is a plan or written SQL. Either way the text is parsed, checked against the catalog, and regenerated; what
the source runs is the regenerated text, and that is also what the answer shows.

What parses SQL and what reads rows is loaded when it is first needed, so that a command that asks one question is soon
under way: the latter while the source is at work.
"""

import asyncio
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Protocol

from pydantic import model_validator

from answerable.core.catalog import Catalog
from answerable.core.context import Scope
from answerable.core.values import FrameRef, Frozen, Json
from answerable.engine.steps.base import Step
from answerable.engine.steps.produced import Produced
from answerable.query.plan import QueryPlan
from answerable.sources.base import Limits, Result, Source
from answerable.store.base import Artifacts


class Sources(Protocol):
    async def get(self, name: str) -> Source: ...


class SqlConfig(Frozen):
    source: str
    sql: str | None = None
    plan: QueryPlan | None = None

    @model_validator(mode="after")
    def _one_of_both(self) -> "SqlConfig":
        if (self.sql is None) == (self.plan is None):
            raise ValueError("give either sql or plan")
        return self


class SqlStep:
    def __init__(self, sources: Sources, artifacts: Artifacts, limits: Limits) -> None:
        self._sources = sources
        self._artifacts = artifacts
        self._limits = limits

    async def run(self, step: Step) -> Json:
        config = step.config_as(SqlConfig)
        output = await self.query(config, step.context.scope, lambda code: step.output("code", code))
        return output.model_dump(mode="json")

    async def query(self, config: SqlConfig, scope: Scope, tell: Callable[[str], None] = lambda _: None) -> Produced:
        """Runs it; `tell` hears the program before it starts."""
        from answerable.query.check_sql import checked

        source = await self._sources.get(config.source)
        catalog = await source.describe()
        code = checked(_text(config, catalog), catalog).text
        tell(code)
        result, frame = await self._kept(source, code, scope)
        return Produced(
            kind="sql",
            frame=frame,
            sources=(config.source,),
            code=code,
            duration_ms=result.duration_ms,
            fingerprint=catalog.fingerprint,
            last_sync=catalog.last_sync,
            findings=tuple(f"{warning.subject}: {warning.message}" for warning in catalog.warnings),
        )

    async def _kept(self, source: Source, code: str, scope: Scope) -> tuple[Result, FrameRef]:
        staging = self._artifacts.staging()
        reading = asyncio.create_task(asyncio.to_thread(_reader_of_rows))
        try:
            result = await source.execute(code, staging, self._limits)
            sample = (await reading)(staging)
            artifact = await self._artifacts.adopt(scope, staging)
        finally:
            staging.unlink(missing_ok=True)
        frame = FrameRef(
            artifact=artifact,
            columns=result.columns,
            row_count=result.row_count,
            byte_count=result.byte_count,
            sample=sample,
        )
        return result, frame


def _reader_of_rows() -> Callable[[Path], tuple[Mapping[str, Json], ...]]:
    import answerable.answers.present  # noqa: F401 - what makes the answer is needed next
    from answerable.answers.frame import sample_records

    return sample_records


def _text(config: SqlConfig, catalog: Catalog) -> str:
    if config.plan is not None:
        from answerable.query.to_sql import to_sql

        return to_sql(config.plan, catalog)
    assert config.sql is not None
    return config.sql
