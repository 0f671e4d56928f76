"""Kind `sql`: runs one query at one source and keeps its rows as an artifact.

The query is a plan or written SQL. Either way the text is parsed, checked against the catalog, and regenerated; what
the source runs is the regenerated text, and that is also what the answer shows.

What parses SQL is loaded when it is first needed, so that a command that asks one question is soon under way.
"""

from collections.abc import Callable, Collection, Mapping
from typing import Protocol

from pydantic import model_validator

from answerable.core.catalog import Catalog
from answerable.core.context import Principal
from answerable.core.progress import Progress, no_progress
from answerable.core.values import Frozen, Json
from answerable.engine.steps.base import Step
from answerable.engine.steps.produced import Produced
from answerable.engine.steps.stored_frame import stored_frame
from answerable.query.plan import QueryPlan
from answerable.query.quantities import Quantity
from answerable.sources.base import Limits, Source
from answerable.store.base import Artifacts


class Sources(Protocol):
    async def get(self, name: str, principal: Principal) -> Source:
        """The source as this principal may see it."""
        ...


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
        output = await self.query(
            config, step.context.principal, lambda code: step.output("code", code), step.reporter()
        )
        return output.model_dump(mode="json")

    async def query(
        self,
        config: SqlConfig,
        principal: Principal,
        tell: Callable[[str], None] = lambda _: None,
        progress: Progress = no_progress,
    ) -> Produced:
        """Runs the query. `tell` gets the text that runs before it starts."""
        from answerable.query.sql.check import checked

        source = await self._sources.get(config.source, principal)
        catalog = await source.describe(progress)
        statement = checked(_text(config, catalog), catalog)
        code = statement.text
        tell(code)
        result, frame = await stored_frame(
            lambda into: source.execute(statement, into, self._limits, progress), self._artifacts, principal
        )
        return Produced(
            kind="sql",
            frame=frame,
            sources=(config.source,),
            code=code,
            duration_ms=result.duration_ms,
            rows_in=_rows_in(statement.tables, catalog),
            fingerprint=catalog.fingerprint,
            last_sync=catalog.last_sync,
            units=_units(config, catalog),
            quantities=_quantities(config, code, catalog),
            findings=tuple(f"{warning.subject}: {warning.message}" for warning in catalog.warnings),
        )


def _text(config: SqlConfig, catalog: Catalog) -> str:
    if config.plan is not None:
        from answerable.query.sql.to_sql import to_sql

        return to_sql(config.plan, catalog)
    assert config.sql is not None
    return config.sql


def _rows_in(tables: Collection[str], catalog: Catalog) -> int | None:
    counts = [table.row_count for table in catalog.tables if table.name in tables]
    known = [count for count in counts if count is not None]
    return sum(known) if len(known) == len(counts) else None


def _units(config: SqlConfig, catalog: Catalog) -> Mapping[str, str]:
    from answerable.query.units import result_units

    return result_units(config.plan, catalog) if config.plan is not None else {}


def _quantities(config: SqlConfig, code: str, catalog: Catalog) -> Mapping[str, Quantity]:
    from answerable.query.sql.written_quantities import written_quantities
    from answerable.query.units import result_quantities

    if config.plan is not None:
        return result_quantities(config.plan, catalog)
    return written_quantities(code, catalog.dialect)
