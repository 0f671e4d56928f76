"""Drafts and expressions become query plans."""

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
    Join,
    MeasureRef,
    Not,
    Or,
    OrderItem,
    QueryPlan,
    ScalarQuery,
    SelectItem,
    SetOperation,
    TextFunction,
    TextMatch,
)
from answerable.reader.linking.schema import SHARED, Edge, Schema
from answerable.reader.plans.draft import Draft, DraftCondition, DraftRange, Point, Term, own_columns
from answerable.reader.plans.joins import join_tree
from answerable.reader.plans.ranked_values import without_unknown_ranks


def to_plan(draft: Draft, schema: Schema) -> QueryPlan:
    """Raises `NoPath` when the tables of the draft are not connected."""
    return PlanBuilder(schema).plan(draft)


def tables_of(draft: Draft, schema: Schema) -> set[int]:
    """The tables that this level of the draft names, before joins are planned."""
    found = {schema.columns[column].table for column in own_columns(draft)}
    return found | set(draft.extra) | {draft.entity}


class PlanBuilder:
    """Turns numbers of the schema into the catalog's names."""

    def __init__(self, schema: Schema) -> None:
        self.schema = schema

    def plan(self, draft: Draft) -> QueryPlan:
        schema = self.schema
        edges = join_tree(schema, draft.entity, tables_of(draft, schema), draft.avoid)
        where = tuple(self.clause(clause) for clause in draft.where)
        having = tuple(self.condition(condition) for condition in draft.having)
        plan = QueryPlan(
            entity=schema.tables[draft.entity].name,
            joins=tuple(self.join(edge) for edge in edges),
            select=tuple(SelectItem(expr=self.expr(term)) for term in draft.select),
            distinct=draft.distinct,
            where=all_of(where),
            group_by=tuple(self.expr(term) for term in draft.group),
            having=all_of(having),
            order_by=tuple(OrderItem(expr=self.expr(o.term), descending=o.descending) for o in draft.order),
            limit=draft.limit,
            offset=draft.offset,
            set_operation=self.combination(draft),
        )
        return without_unknown_ranks(plan, schema.catalog)

    def combination(self, draft: Draft) -> SetOperation | None:
        if draft.combination is None:
            return None
        return SetOperation(op=draft.combination.operator, right=self.plan(draft.combination.right))

    def join(self, edge: Edge) -> Join:
        schema = self.schema
        if edge.relationship.name == SHARED:
            pairs = tuple((self.column(here), self.column(there)) for here, there in edge.pairs)
            return Join(table=schema.tables[edge.end].name, on=pairs)
        return Join(
            table=schema.tables[edge.end].name,
            relationship=edge.relationship.name,
            via=schema.tables[edge.start].name,
        )

    def column(self, column: int) -> ColumnRef:
        view = self.schema.columns[column]
        return ColumnRef(table=self.schema.tables[view.table].name, column=view.name)

    def expr(self, term: Term) -> Expr:
        if term.measure is not None:
            return MeasureRef(name=term.measure)
        inner: Expr | None = None if term.column is None else self.column(term.column)
        if inner is not None and term.minus is not None:
            inner = Arithmetic(op="-", left=inner, right=self.column(term.minus))
        if inner is not None and term.bucket is not None:
            inner = _period(term.bucket, inner)
        if term.function is not None:
            return Aggregate(function=term.function, of=inner, distinct=term.distinct)
        if inner is None:
            raise ValueError("a term without a column must count rows")
        return inner

    def clause(self, clause: tuple[DraftCondition, ...]) -> Filter:
        parts = tuple(self.condition(condition) for condition in clause)
        return parts[0] if len(parts) == 1 else Or(parts=parts)

    def condition(self, condition: DraftCondition) -> Filter:
        left, operator, right = self.expr(condition.left), condition.operator, condition.right
        match operator:
            case "null" | "not_null":
                return IsNull(left=left, negated=operator == "not_null")
            case "contains" | "starts_with" | "ends_with":
                return TextMatch(left=left, how=operator, pattern=str(right))
            case "in" | "not_in" if isinstance(right, Draft):
                return InQuery(left=left, plan=self.plan(right), negated=operator == "not_in")
            case "between" if isinstance(right, DraftRange):
                return Between(left=left, low=_constant(right.low), high=_constant(right.high))
            case "=" | "!=" | "<" | "<=" | ">" | ">=":
                return Compare(left=left, op=operator, right=self.operand(right))
        raise ValueError(f"{operator} does not fit its right side")

    def operand(self, right: object) -> Expr:
        if isinstance(right, Term):
            return self.expr(right)
        if isinstance(right, Draft):
            return ScalarQuery(plan=self.plan(right))
        return _constant(right)


def _constant(value: object) -> Constant:
    if isinstance(value, Point):
        return Constant(value=value.value, type=value.type)
    if value is None or isinstance(value, str | int | float | bool):
        return Constant(value=value)
    raise ValueError(f"not a constant: {value!r}")


def _period(bucket: str, inner: Expr) -> Expr:
    kind, unit = bucket.split(":")
    if kind == "bucket":
        return Bucket.model_validate({"unit": unit, "of": inner})
    return DatePart.model_validate({"part": unit, "of": inner})


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
        tables.update(tables_in(condition, schema))
    builder = PlanBuilder(schema)
    plan = QueryPlan(
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
    return without_unknown_ranks(plan, schema.catalog)


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
                yield from tables_in(expr.where, schema)
        case Arithmetic():
            yield from tables_of_expr(expr.left, schema)
            yield from tables_of_expr(expr.right, schema)
        case Bucket() | DatePart() | TextFunction():
            yield from tables_of_expr(expr.of, schema)
        case DateDifference():
            yield from tables_of_expr(expr.start, schema)
            yield from tables_of_expr(expr.end, schema)


def tables_in(condition: Filter, schema: Schema) -> Iterator[int]:
    match condition:
        case And() | Or():
            for part in condition.parts:
                yield from tables_in(part, schema)
        case Not():
            yield from tables_in(condition.part, schema)
        case Compare():
            yield from tables_of_expr(condition.left, schema)
            yield from tables_of_expr(condition.right, schema)
        case TextMatch() | InList() | InQuery() | Between() | IsNull():
            yield from tables_of_expr(condition.left, schema)
