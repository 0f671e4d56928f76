"""A table looked at without a question: counted, grouped, filtered and sorted by the same parts as an answer's plan.

A look is no run: nothing of it is stored. What is seen becomes a question with `PlanService.ask_explored`.
"""

from collections.abc import Sequence

from pydantic import Field

from answerable.agents.dry_run import peeked
from answerable.core.catalog import Catalog
from answerable.core.context import Principal
from answerable.core.errors import LimitError, UserError
from answerable.core.values import ColumnType, Frozen, Json
from answerable.query.changes import Change, ColumnPlace, SetGroup, SetOrder, can_change, changed
from answerable.query.compiling import compiled
from answerable.query.headings import COUNT_ROWS, result_headers
from answerable.query.labels import labels_in
from answerable.query.plan import QueryPlan, SelectItem
from answerable.query.scope import scope_of, selected, type_of
from answerable.reader.explaining.sentence import sentence
from answerable.service.plan_parts import PlanParts, plan_parts
from answerable.sources.base import Limits
from answerable.sources.registry import SourceRegistry
from answerable.sources.statistics import plain, table_named

MOST_ROWS = 500
_LIMITS = Limits(seconds=10.0, memory_mb=1024, rows=MOST_ROWS + 1, result_mb=16)
_CATEGORIES = (2, 30)
_NO_GROUPS = {"select": (), "group_by": (), "having": None, "order_by": (), "limit": None}


class ExploredColumn(Frozen):
    name: str
    label: str
    type: ColumnType


class ExploredTable(Frozen):
    sentence: str = Field(description="What is seen, as a question could say it.")
    parts: PlanParts
    columns: list[ExploredColumn]
    rows: list[list[Json]]
    more: bool = Field(description=f"Whether there are more than these {MOST_ROWS} rows.")
    matching: int = Field(description="Rows of the table that the filters leave.")
    of: int | None = Field(description="Rows of the whole table.")


class ExploreService:
    def __init__(self, registry: SourceRegistry) -> None:
        self._registry = registry

    async def look(
        self, source: str, table: str, changes: Sequence[Change], principal: Principal, *, rows: bool = False
    ) -> ExploredTable:
        """Groups of a table, after changes to how they are made; with `rows`, the rows that the filters leave."""
        opened = await self._registry.get(source, principal)
        catalog = await opened.describe()
        plan = explored_plan(table, changes, catalog)
        shown = plan.model_copy(update=_NO_GROUPS) if rows else plan
        shown = shown if shown.limit is not None else shown.model_copy(update={"limit": MOST_ROWS + 1})
        counted = plan.model_copy(update={**_NO_GROUPS, "select": (SelectItem(expr=COUNT_ROWS),)})
        queries = [compiled(shown, catalog), compiled(counted, catalog)]
        found, count = await peeked(opened, queries, _LIMITS)
        if found is None or count is None:
            raise LimitError(
                "Looking at this took too long, or the source could not do it.",
                code="explore_failed",
                hint="Narrow it down with a filter, or ask it as a question.",
            )
        return ExploredTable(
            sentence=sentence(plan, catalog),
            parts=plan_parts(plan, catalog, source),
            columns=_columns(shown, catalog),
            rows=[[plain(value) for value in row] for row in found[:MOST_ROWS]],
            more=len(found) > MOST_ROWS,
            matching=count[0][0],
            of=table_named(catalog, table).row_count,
        )


def explored_plan(table: str, changes: Sequence[Change], catalog: Catalog) -> QueryPlan:
    """Counts the rows of a table by its first column with few values, with the changes made."""
    found = table_named(catalog, table)
    few, many = _CATEGORIES
    by = next(
        (
            column.name
            for column in found.columns
            if column.type == "text" and column.sensitivity is None and few <= (column.distinct_count or 0) <= many
        ),
        None,
    )
    plan = QueryPlan(entity=found.name, select=(SelectItem(expr=COUNT_ROWS),))
    if not can_change(plan, catalog):
        raise UserError("This table cannot be explored part by part.", code="plan_fixed", hint="Ask it a question.")
    first: list[Change] = []
    if by is not None:
        first = [SetGroup(by=ColumnPlace(column=by)), SetOrder(by="measure", descending=True)]
    return changed(plan, [*first, *changes], catalog)


def _columns(plan: QueryPlan, catalog: Catalog) -> list[ExploredColumn]:
    scope = scope_of(plan, catalog)
    heads = result_headers(plan, catalog)
    return [
        ExploredColumn(name=name, label=heads.get(name, name), type=type_of(item.expr, scope))
        for name, item in zip(labels_in(plan, scope), selected(plan, scope), strict=True)
    ]
