"""A plan under construction from expressions: it remembers which tables they need and joins them at the end."""

from collections.abc import Iterator, Sequence

from answerable.core.values import Scalar
from answerable.query.plan import (
    Aggregate,
    And,
    Arithmetic,
    Between,
    Bucket,
    ColumnRef,
    Compare,
    Constant,
    DateDifference,
    DatePart,
    Expr,
    Filter,
    InList,
    InQuery,
    IsNull,
    MeasureRef,
    Not,
    Or,
    OrderItem,
    QueryPlan,
    SelectItem,
    TextFunction,
    TextMatch,
)
from answerable.reader.linking.schema import Schema
from answerable.reader.plans.draft_to_plan import PlanBuilder
from answerable.reader.plans.joins import join_tree


def build_plan(
    schema: Schema,
    base: int,
    select: Sequence[Expr],
    *,
    where: Sequence[Filter] = (),
    group: Sequence[Expr] = (),
    having: Filter | None = None,
    order: Sequence[tuple[Expr, bool]] = (),
    limit: int | None = None,
    extra: Sequence[int] = (),
    distinct: bool = False,
) -> QueryPlan:
    """Raises `NoPath` when the tables cannot be joined."""
    tables = set(extra)
    for expr in (*select, *group, *(expr for expr, _ in order)):
        tables.update(tables_of_expr(expr, schema))
    for condition in (*where, *([having] if having else [])):
        tables.update(_tables_in(condition, schema))
    builder = PlanBuilder(schema)
    return QueryPlan(
        entity=schema.tables[base].name,
        joins=tuple(builder.join(edge) for edge in join_tree(schema, base, tables)),
        select=tuple(SelectItem(expr=expr) for expr in select),
        distinct=distinct,
        where=all_of(where),
        group_by=tuple(group),
        having=having,
        order_by=tuple(OrderItem(expr=expr, descending=down) for expr, down in order),
        limit=limit,
    )


def column_ref(schema: Schema, column: int) -> ColumnRef:
    view = schema.columns[column]
    return ColumnRef(table=schema.tables[view.table].name, column=view.name)


def equals(schema: Schema, column: int, value: Scalar) -> Compare:
    return Compare(left=column_ref(schema, column), op="=", right=Constant(value=value))


def all_of(parts: Sequence[Filter]) -> Filter | None:
    if not parts:
        return None
    return parts[0] if len(parts) == 1 else And(parts=tuple(parts))


def tables_of_expr(expr: Expr, schema: Schema) -> Iterator[int]:
    match expr:
        case ColumnRef():
            yield schema.table_ids[expr.table]
        case MeasureRef():
            measure = schema.catalog.measure(expr.name)
            if measure is not None:
                yield schema.table_ids[measure.table]
        case Aggregate():
            if expr.of is not None:
                yield from tables_of_expr(expr.of, schema)
            if expr.where is not None:
                yield from _tables_in(expr.where, schema)
        case Arithmetic():
            yield from tables_of_expr(expr.left, schema)
            yield from tables_of_expr(expr.right, schema)
        case Bucket() | DatePart() | TextFunction():
            yield from tables_of_expr(expr.of, schema)
        case DateDifference():
            yield from tables_of_expr(expr.start, schema)
            yield from tables_of_expr(expr.end, schema)


def _tables_in(condition: Filter, schema: Schema) -> Iterator[int]:
    match condition:
        case And() | Or():
            for part in condition.parts:
                yield from _tables_in(part, schema)
        case Not():
            yield from _tables_in(condition.part, schema)
        case Compare():
            yield from tables_of_expr(condition.left, schema)
            yield from tables_of_expr(condition.right, schema)
        case TextMatch() | InList() | InQuery() | Between() | IsNull():
            yield from tables_of_expr(condition.left, schema)
