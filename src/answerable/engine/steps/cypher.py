"""Kind `cypher`: runs one Cypher query at one graph and stores its rows as an artifact.

The text is parsed, checked against the catalog, and written anew. The graph runs what was written anew, and the answer
shows it.
"""

from collections.abc import Callable, Collection
from typing import TYPE_CHECKING

from pydantic import model_validator

from answerable.answers.answer import StepRecord
from answerable.answers.result_rows import RecentRows
from answerable.core.catalog import Catalog
from answerable.core.context import Principal
from answerable.core.progress import Progress, no_progress
from answerable.core.values import Frozen, Json
from answerable.engine.steps.base import Step
from answerable.engine.steps.descriptor import Repeated, StepDescriptor
from answerable.engine.steps.produced import Produced
from answerable.engine.steps.source_query import SourceQueries, Sources, rules_met
from answerable.query.plan import QueryPlan
from answerable.sources.base import Limits
from answerable.store.base import Artifacts

if TYPE_CHECKING:
    from answerable.query.cypher.check import CheckedCypher


class CypherConfig(Frozen):
    source: str
    cypher: str | None = None
    plan: QueryPlan | None = None

    @model_validator(mode="after")
    def _one_of_both(self) -> "CypherConfig":
        if (self.cypher is None) == (self.plan is None):
            raise ValueError("give either cypher or plan")
        return self


class CypherStep:
    descriptor = StepDescriptor(
        name="cypher",
        config=CypherConfig,
        title="Query",
        label="Cypher",
        produces="rows",
        rows_from="source",
        language="cypher",
        code_field="cypher",
        data_source_type="graph",
        repeatable=True,
    )

    def __init__(self, sources: Sources, artifacts: Artifacts, limits: Limits, recent: RecentRows) -> None:
        self._queries = SourceQueries(sources, artifacts, limits, recent)

    async def asks(self, source: str, principal: Principal) -> bool:
        """Whether the source is asked in Cypher."""
        return self.descriptor.language in (await self._queries.sources.get(source, principal)).languages

    async def run(self, step: Step) -> Json:
        config = step.config_as(CypherConfig)
        output = await self.query(
            config, step.context.principal, lambda code: step.output("code", code), step.reporter()
        )
        return output.model_dump(mode="json")

    async def repeat(self, record: StepRecord, principal: Principal) -> Repeated:
        assert record.source is not None
        fresh = await self.query(CypherConfig(source=record.source, cypher=record.code), principal)
        return Repeated(artifact=fresh.frame.artifact, fingerprint=fresh.fingerprint)

    async def query(
        self,
        config: CypherConfig,
        principal: Principal,
        on_code: Callable[[str], None] = lambda _: None,
        progress: Progress = no_progress,
    ) -> Produced:
        async def check(catalog: Catalog) -> "CheckedCypher":
            # Only graphs need the parser and the compiler.
            from answerable.query.cypher.check import checked
            from answerable.query.cypher.to_cypher import compiled_cypher

            if config.plan is not None:
                return compiled_cypher(config.plan, catalog)
            assert config.cypher is not None
            return checked(config.cypher, catalog)

        produced, query, catalog = await self._queries.ask(
            self.descriptor, config.source, check, principal, on_code, progress
        )
        met = rules_met(_passed(query.tables, catalog), query.columns, catalog)
        known = {"connections": _connections(catalog), "findings": (*produced.findings, *met)}
        return produced.model_copy(update={**_names(config.plan, catalog), **known})


def _passed(tables: Collection[str], catalog: Catalog) -> set[str]:
    """The tables that a query names, and those that its relationships lead through."""
    ends = {
        end
        for table in catalog.tables
        if table.name in tables
        for each in table.connections
        for end in (each.from_table, each.to_table)
    }
    return {*tables, *ends}


def _names(plan: QueryPlan | None, catalog: Catalog) -> dict[str, Json]:
    """What people call the columns and the rows of a plan. The columns of written Cypher keep their names."""
    from answerable.query.headings import result_headers, row_noun

    return {} if plan is None else {"headers": result_headers(plan, catalog), "noun": row_noun(plan, catalog)}


def _connections(catalog: Catalog) -> dict[str, tuple[tuple[str, str], ...]]:
    return {
        table.name: tuple((each.from_table, each.to_table) for each in table.connections)
        for table in catalog.tables
        if table.connections
    }
