"""Follow-ups that change what is calculated: and the median? and the flipper length?"""

from answerable.query.plan import Aggregate, ColumnRef, Expr, OrderItem, QueryPlan, SelectItem
from answerable.reader.grammar.changed_plans import with_joins
from answerable.reader.grammar.clause_parts import Words
from answerable.reader.grammar.dated_scene import COLUMN_NAMED, DatedScene, Parse, places_of
from answerable.reader.linking.links import Mention
from answerable.reader.plans.draft_to_plan import column_ref

_PART = 0.4
FUNCTIONS = {
    **dict.fromkeys(("average", "avg", "mean"), "avg"),
    **dict.fromkeys(("maximum", "max"), "max"),
    **dict.fromkeys(("minimum", "min"), "min"),
    **dict.fromkeys(("total", "sum"), "sum"),
    "median": "median",
}


def change_function(question: DatedScene, plan: QueryPlan, _used: Words) -> Parse:
    """And the median? The same column, calculated in another way."""
    said = [place for place, word in enumerate(question.words) if word in FUNCTIONS]
    calculated = [item for item in plan.select if isinstance(item.expr, Aggregate) and item.expr.of is not None]
    if len(said) != 1 or len(calculated) != 1 or question.columns() or question.scene.numbers:
        return Parse(plan, frozenset())
    old = calculated[0].expr
    new = old.model_copy(update={"function": FUNCTIONS[question.words[said[0]]]})
    select = tuple(SelectItem(expr=new) if item.expr == old else item for item in plan.select)
    order = tuple(
        OrderItem(expr=new if item.expr == old else item.expr, descending=item.descending) for item in plan.order_by
    )
    return Parse(plan.model_copy(update={"select": select, "order_by": order}), frozenset(said))


def change_column(question: DatedScene, plan: QueryPlan, used: Words) -> Parse:
    """And the flipper length? Another column, calculated in the same way."""
    calculated = [
        item for item in plan.select if isinstance(item.expr, Aggregate) and _is_number(item.expr.of, question)
    ]
    named = _named_numbers(question, used)
    asks = question.cue("SORT", "ASC", "DESC", "MAX", "MIN", "GT", "LT", "GE", "LE", "BETWEEN", "BY", "EACH")
    added = {"with", "show", "add"} & set(question.words)
    if len(calculated) != 1 or not named or asks is not None or added or question.scene.numbers:
        return Parse(plan, frozenset())
    mention = max(
        named, key=lambda m: (m.score, question.schema.tables[question.schema.columns[m.id].table].name == plan.entity)
    )
    old = calculated[0].expr
    new = old.model_copy(update={"of": column_ref(question.schema, mention.id)})
    select = tuple(SelectItem(expr=new) if item.expr == old else item for item in plan.select)
    order = tuple(
        OrderItem(expr=new if item.expr == old else item.expr, descending=item.descending) for item in plan.order_by
    )
    changed = plan.model_copy(update={"select": select, "order_by": order})
    return Parse(with_joins(changed, question.schema), places_of([mention]))


def _named_numbers(question: DatedScene, used: Words) -> list[Mention]:
    """The columns that are named; or the only one of which a part is named: and the *wait*?"""
    numbers = [m for m in question.columns(_PART) if m.start not in used and question.schema.columns[m.id].numeric]
    named = [m for m in numbers if m.score >= COLUMN_NAMED]
    return named or (numbers if len({m.id for m in numbers}) == 1 else [])


def _is_number(expr: Expr | None, question: DatedScene) -> bool:
    if not isinstance(expr, ColumnRef):
        return False
    column = question.schema.column_ids.get((expr.table, expr.column))
    return column is not None and question.schema.columns[column].numeric
