"""Looking at the tables of a graph: some rows, and how often values occur."""

from collections.abc import Mapping
from datetime import date
from typing import Any

from answerable.core.catalog import Column, Table
from answerable.query.cypher import tree, write
from answerable.query.cypher.table_rows import column_of, columns_of, rows_of
from answerable.sources.sql.probe import Probe
from answerable.sources.sql.statements import Sql
from answerable.sources.statistics import ColumnStatistics, TableStatistics, ValueCount

TOP = 10
LOOKED_AT = 1_000_000
_VALUE, _COUNT = tree.Variable("v"), tree.Variable("times")
_EXAMPLES = 5
_COUNTED = frozenset({"text", "integer", "number", "boolean", "date", "datetime"})
_RANGED = frozenset({"integer", "number", "date", "datetime"})
_LISTED = frozenset({"text", "integer", "boolean", "date"})


def first_rows(table: Table, offset: int, limit: int) -> Sql:
    items = tuple(tree.ReturnItem(expression, name) for name, expression in columns_of(table).items())
    if not items:
        items = (tree.ReturnItem(tree.FunctionCall("label", (tree.Variable("t"),)), "label"),)
    returned = tree.Projection(items, skip=offset, limit=limit)
    return _written((tree.MatchClause((rows_of(table),)),), returned)


async def table_statistics(probe: Probe, table: Table) -> TableStatistics:
    part = table.row_count is not None and table.row_count > LOOKED_AT
    columns = [await _statistics(probe, table, column) for column in table.columns]
    return TableStatistics(
        table=table.name, row_count=table.row_count, looked_at=LOOKED_AT if part else None, columns=tuple(columns)
    )


async def _statistics(probe: Probe, table: Table, column: Column) -> ColumnStatistics:
    frequent = await probe.rows(_frequent(table, column)) if column.type in _LISTED and not column.unique else []
    return ColumnStatistics(
        name=column.name,
        type=column.type,
        unique=column.unique,
        null_count=column.null_count,
        distinct_count=column.distinct_count,
        minimum=column.minimum,
        maximum=column.maximum,
        top_values=tuple(ValueCount(value=_shown(value), count=int(count)) for value, count in frequent),
    )


def _frequent(table: Table, column: Column) -> Sql:
    value = column_of(table, column.name)
    part = tree.Projection((tree.ReturnItem(value, "v"),), limit=LOOKED_AT, where=tree.NullTest(_VALUE, negated=True))
    items = (tree.ReturnItem(_VALUE, "v"), tree.ReturnItem(tree.FunctionCall("count", (), star=True), "times"))
    order = (tree.Sorting(_COUNT, descending=True), tree.Sorting(_VALUE))
    returned = tree.Projection(items, order=order, limit=TOP)
    return _written((tree.MatchClause((rows_of(table),)), tree.With(part)), returned)


async def counted(probe: Probe, table: Table) -> Table:
    """The table with figures of the rows that the probe sees."""
    [[count]] = await probe.rows(_one_row(table, {"rows": tree.FunctionCall("count", (), star=True)}))
    columns = [await _counted(probe, table, column, int(count)) for column in table.columns]
    return table.model_copy(update={"row_count": int(count), "columns": tuple(columns)})


async def _counted(probe: Probe, table: Table, column: Column, count: int) -> Column:
    bare = Column(name=column.name, type=column.type)
    if column.type not in _COUNTED:
        return bare
    value = column_of(table, column.name)
    asked: dict[str, tree.Expression] = {
        "known": tree.FunctionCall("count", (value,)),
        "different": tree.FunctionCall("count", (value,), distinct=True),
    }
    if column.type in _RANGED:
        asked |= {name: tree.FunctionCall(name, (value,)) for name in ("min", "max")}
    [[known, different, *ends]] = await probe.rows(_one_row(table, asked))
    frequent = await probe.rows(_frequent(table, column))
    update: dict[str, Any] = {
        "nullable": known < count,
        "unique": known == different and known > 0,
        "distinct_count": int(different),
        "null_count": int(count - known),
        "examples": tuple(str(_shown(value)) for value, _times in frequent[:_EXAMPLES]),
    }
    if ends:
        update |= {"minimum": _bound(ends[0]), "maximum": _bound(ends[1])}
    return bare.model_copy(update=update)


def _one_row(table: Table, asked: Mapping[str, tree.Expression]) -> Sql:
    items = tuple(tree.ReturnItem(expression, f"{name}_") for name, expression in asked.items())
    return _written((tree.MatchClause((rows_of(table),)),), tree.Projection(items))


def _bound(value: Any) -> Any:
    return value.isoformat() if isinstance(value, date) else value


def _shown(value: Any) -> str | None:
    return None if value is None else str(value)[:200]


def _written(clauses: tuple[tree.Clause, ...], returned: tree.Projection) -> Sql:
    return Sql(write.written(tree.CypherQuery((tree.SingleQuery(clauses, returned),))))
