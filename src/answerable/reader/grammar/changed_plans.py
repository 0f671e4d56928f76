"""Plans after a change: the joins that their new parts need, and the conditions that they had."""

from answerable.query.plan import And, Compare, Filter, QueryPlan
from answerable.reader.linking.schema import Schema
from answerable.reader.plans.draft_to_plan import PlanBuilder, tables_of_expr
from answerable.reader.plans.joins import grown_tree


def with_joins(plan: QueryPlan, schema: Schema) -> QueryPlan:
    """The plan with the joins that its changed parts need."""
    inside = [schema.table_ids[plan.entity], *(schema.table_ids[join.table] for join in plan.joins)]
    exprs = [item.expr for item in plan.select] + list(plan.group_by) + [item.expr for item in plan.order_by]
    needed = {table for expr in exprs for table in tables_of_expr(expr, schema)}
    for part in conjuncts(plan.where):
        if isinstance(part, Compare):
            needed.update(tables_of_expr(part.left, schema))
    builder = PlanBuilder(schema)
    more = tuple(builder.join(edge) for edge in grown_tree(schema, inside, needed))
    return plan.model_copy(update={"joins": (*plan.joins, *more)})


def conjuncts(where: Filter | None) -> tuple[Filter, ...]:
    if where is None:
        return ()
    return where.parts if isinstance(where, And) else (where,)
