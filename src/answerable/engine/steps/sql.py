"""Kind `sql`: runs one SQL query at one source and stores its rows as an artifact.

The query is a plan or written SQL. Either way the text is parsed, checked against the catalog, and regenerated. The
source runs the regenerated text, and the answer shows it.

The SQL parser is imported when it is first needed, so that the command line starts quickly.
"""

from collections.abc import Callable, Collection, Mapping
from typing import TYPE_CHECKING

from pydantic import model_validator

from answerable.answers.answer import StepRecord
from answerable.answers.result_rows import RecentRows
from answerable.computing.processes import ComputingProcesses
from answerable.core.catalog import Catalog
from answerable.core.context import Principal
from answerable.core.ids import NodeId
from answerable.core.progress import Progress, no_progress
from answerable.core.values import Frozen, Json
from answerable.engine.steps.base import Step
from answerable.engine.steps.checked_queries import CheckedQueries
from answerable.engine.steps.cypher import CypherConfig, CypherStep
from answerable.engine.steps.descriptor import Repeated, StepDescriptor
from answerable.engine.steps.earlier_ids import statement_with_ids
from answerable.engine.steps.produced import Produced, produced_before
from answerable.engine.steps.source_query import SourceQueries, Sources, rules_met
from answerable.query.plan import QueryPlan
from answerable.query.quantities import Quantity
from answerable.sources.base import Limits
from answerable.store.base import Artifacts

if TYPE_CHECKING:
    from answerable.query.sql.check import CheckedSql


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
    descriptor = StepDescriptor(
        name="sql",
        config=SqlConfig,
        title="Query",
        label="SQL",
        produces="rows",
        rows_from="source",
        language="sql",
        code_field="sql",
        data_source_type="sql",
        repeatable=True,
    )

    def __init__(
        self,
        sources: Sources,
        artifacts: Artifacts,
        limits: Limits,
        recent: RecentRows,
        computing: ComputingProcesses | None = None,
    ) -> None:
        self._queries = SourceQueries(sources, artifacts, limits, recent)
        self._cypher = CypherStep(sources, artifacts, limits, recent)
        self._checks = CheckedQueries(computing or ComputingProcesses())

    async def run(self, step: Step) -> Json:
        config = await self.with_ids(step.config_as(SqlConfig), produced_before(step.inputs), step.context.principal)
        output = await self.query(
            config, step.context.principal, lambda code: step.output("code", code), step.reporter()
        )
        return output.model_dump(mode="json")

    async def with_ids(self, config: SqlConfig, earlier: Mapping[NodeId, Produced], principal: Principal) -> SqlConfig:
        """The query with the ids that its text takes from the rows of earlier steps."""
        if config.sql is None or not earlier:
            return config
        source = await self._queries.sources.get(config.source, principal)
        dialect = source.languages[0]
        sql = await statement_with_ids(config.sql, dialect, earlier, self._queries.artifacts, principal)
        return config.model_copy(update={"sql": sql})

    async def repeat(self, record: StepRecord, principal: Principal) -> Repeated:
        assert record.source is not None
        fresh = await self.query(SqlConfig(source=record.source, sql=record.code), principal)
        return Repeated(artifact=fresh.frame.artifact, fingerprint=fresh.fingerprint)

    async def query(
        self,
        config: SqlConfig,
        principal: Principal,
        on_code: Callable[[str], None] = lambda _: None,
        progress: Progress = no_progress,
    ) -> Produced:
        """Runs the query. `on_code` gets the regenerated SQL before it runs. A plan for a graph becomes Cypher."""
        if config.plan is not None and await self._cypher.asks(config.source, principal):
            asked = CypherConfig(source=config.source, plan=config.plan)
            return await self._cypher.query(asked, principal, on_code, progress)

        async def check(catalog: Catalog) -> "CheckedSql":
            written = config.plan if config.plan is not None else config.sql
            assert written is not None
            return await self._checks.checked(written, catalog)

        produced, query, catalog = await self._queries.ask(
            self.descriptor, config.source, check, principal, on_code, progress
        )
        known = {
            "rows_in": _rows_in(query.tables, catalog),
            "units": _units(config, catalog),
            "quantities": _quantities(config, query.text, catalog),
            "findings": (*produced.findings, *rules_met(query.tables, query.columns, catalog)),
            **_names(config, catalog),
        }
        return produced.model_copy(update=known)


def _rows_in(tables: Collection[str], catalog: Catalog) -> int | None:
    counts = [table.row_count for table in catalog.tables if table.name in tables]
    # The sum of only some tables would be a wrong number, so it is all or None.
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


def _names(config: SqlConfig, catalog: Catalog) -> dict[str, Json]:
    """What people call the columns and the rows of a plan. The columns of written SQL keep their names."""
    from answerable.query.headings import result_headers, row_noun

    if config.plan is None:
        return {}
    return {"headers": result_headers(config.plan, catalog), "noun": row_noun(config.plan, catalog)}
