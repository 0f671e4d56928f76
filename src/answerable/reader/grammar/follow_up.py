"""Questions that lean on the one before: and in 2024? by region, only the active ones, sorted by revenue, the top 3."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date

from answerable.query.plan import (
    Aggregate,
    And,
    Arithmetic,
    Bucket,
    ColumnRef,
    Compare,
    Constant,
    DateDifference,
    DatePart,
    Expr,
    Filter,
    InList,
    MeasureRef,
    Not,
    OrderItem,
    QueryPlan,
    SelectItem,
    TextFunction,
)
from answerable.reader.grammar.grammar import Analysis
from answerable.reader.grammar.parts import Dimension, Period
from answerable.reader.linking.links import Mention
from answerable.reader.plans.draft_to_plan import PlanBuilder
from answerable.reader.plans.joins import NoPath, grown_tree
from answerable.reader.plans.plan_builder import all_of, column_ref, tables_of_expr

_OPENER_WORDS = """
and only just now also same split sort order but then those them per by what how without with top again
instead for in show group break limit add
"""
_OPENERS = frozenset(_OPENER_WORDS.split())
_FUNCTIONS = {
    **dict.fromkeys(("average", "avg", "mean"), "avg"),
    **dict.fromkeys(("maximum", "max"), "max"),
    **dict.fromkeys(("minimum", "min"), "min"),
    **dict.fromkeys(("total", "sum"), "sum"),
    "median": "median",
}
_POINTERS = frozenset({"that", "those", "them", "it", "these", "ones", "same", "again", "this"})


@dataclass
class FollowUp:
    """Changes the plan of the question before by what this one says."""

    analysis: Analysis
    previous: QueryPlan

    def leans(self) -> bool:
        """It does not stand alone: it begins like a continuation, points back, or names no subject of its own."""
        words = [word for word in self.analysis.words if word.isalnum()]
        if not words or len(words) > 14:
            return False
        starts = words[0] in _OPENERS and (
            words[0] not in ("what", "how", "show", "in", "for") or words[1:2] == ["about"] or self._no_subject()
        )
        return starts or bool(_POINTERS & set(words)) or self._no_subject()

    def _no_subject(self) -> bool:
        analysis = self.analysis
        asked = analysis.cue("COUNT", "AVG", "SUM", "MUCH")
        return not analysis.tables() and analysis.measure is None and asked is None

    def read(self) -> QueryPlan | None:
        if not self.leans() or any(join.alias for join in self.previous.joins):
            return None
        words = self.analysis.words
        negated = {place for cue in self.analysis.cues("NEG") for place in range(cue.start, cue.end)}
        small = {place for place, word in enumerate(words) if word in _OPENERS or word in _POINTERS}
        self.analysis.used = small - negated
        plan = self.previous
        try:
            for change in (self._periods, self._groups, self._values, self._function, self._sorting, self._columns):
                plan = change(plan)
        except NoPath:
            return None
        if plan == self.previous or self.analysis.unexplained():
            return None
        return plan

    # Changes

    def _periods(self, plan: QueryPlan) -> QueryPlan:
        period = self._period()
        column = _date_column(plan) or self._own_date(plan) if period is not None else None
        if column is None or period is None:
            return plan
        number = self.analysis.schema.column_ids[(column.table, column.column)]
        kept = [part for part in _parts(plan.where) if not _is_about(part, column)]
        where = all_of([*kept, *self.analysis.period_filter(number, period)])
        return self._joined(plan.model_copy(update={"where": where}))

    def _period(self) -> Period | None:
        """The period that is named; also a year that stands alone: what about 2024?"""
        spans = self.analysis.spans("range", "point", "comparison")
        if spans:
            return self.analysis.period(spans[0])
        for place in self.analysis.scene.numbers:
            year = self.analysis.scene.tokens[place].value
            if isinstance(year, int) and 1900 <= year <= 2100:
                self.analysis.used.add(place)
                return Period(date(year, 1, 1), date(year + 1, 1, 1))
        return None

    def _own_date(self, plan: QueryPlan) -> ColumnRef | None:
        number = self.analysis.date_column(self.analysis.schema.table_ids[plan.entity])
        return None if number is None else column_ref(self.analysis.schema, number)

    def _groups(self, plan: QueryPlan) -> QueryPlan:
        base = self.analysis.schema.table_ids[plan.entity]
        dimensions = self.analysis.dimensions(base)
        bucket = self.analysis.bucket(base)
        if bucket is not None:
            dimensions.append(Dimension((bucket,), (bucket,), base))
        if not dimensions:
            return plan
        calculated = [item for item in plan.select if _is_calculated(item.expr)] or [
            SelectItem(expr=Aggregate(function="count"))
        ]
        shown = [SelectItem(expr=expr) for dimension in dimensions for expr in dimension.shown]
        keys = tuple(expr for dimension in dimensions for expr in dimension.key)
        order = tuple(item for item in plan.order_by if _is_calculated(item.expr))
        limit = plan.limit
        if bucket is not None:
            order, limit = (OrderItem(expr=bucket),), None
        update = {"select": (*shown, *calculated), "group_by": keys, "order_by": order, "limit": limit}
        return self._joined(plan.model_copy(update=update))

    def _values(self, plan: QueryPlan) -> QueryPlan:
        base = self.analysis.schema.table_ids[plan.entity]
        filters = self.analysis.value_filters(base)
        if not filters:
            return plan
        negation = self.analysis.cue("NEG")
        if negation is not None and negation.end <= self.analysis.values[0].start:
            self.analysis.take(negation)
            filters = [_negated(part) for part in filters]
        columns = [f.left for f in filters if isinstance(f, Compare)]
        kept = [
            part
            for part in _parts(plan.where)
            if not any(_is_about(part, c) for c in columns if isinstance(c, ColumnRef))
        ]
        return self._joined(plan.model_copy(update={"where": all_of([*kept, *filters])}))

    def _function(self, plan: QueryPlan) -> QueryPlan:
        """And the median? The same column, calculated in another way."""
        said = [place for place, word in enumerate(self.analysis.words) if word in _FUNCTIONS]
        calculated = [item for item in plan.select if isinstance(item.expr, Aggregate) and item.expr.of is not None]
        if len(said) != 1 or len(calculated) != 1 or self.analysis.columns() or self.analysis.scene.numbers:
            return plan
        self.analysis.used.update(said)
        old = calculated[0].expr
        new = old.model_copy(update={"function": _FUNCTIONS[self.analysis.words[said[0]]]})
        select = tuple(SelectItem(expr=new) if item.expr == old else item for item in plan.select)
        order = tuple(
            OrderItem(expr=new if item.expr == old else item.expr, descending=item.descending) for item in plan.order_by
        )
        return plan.model_copy(update={"select": select, "order_by": order})

    def _sorting(self, plan: QueryPlan) -> QueryPlan:
        analysis = self.analysis
        cues = analysis.cues("SORT", "ASC", "DESC", "MAX", "MIN")
        cue = next((cue for cue in cues if analysis.words[cue.start] not in _FUNCTIONS), None)
        if cue is None:
            return plan
        term = self._sort_term(plan)
        if term is None:
            return plan
        analysis.take(*analysis.cues("SORT", "ASC", "DESC", "MAX", "MIN", "BY"))
        down = analysis.cue("DESC", "MAX") is not None or (_is_calculated(term) and analysis.cue("ASC") is None)
        limit = analysis.limit() if cue.tag in ("MAX", "MIN") else plan.limit
        changed = plan.model_copy(update={"order_by": (OrderItem(expr=term, descending=down),), "limit": limit})
        return self._joined(changed)

    def _sort_term(self, plan: QueryPlan) -> Expr | None:
        analysis = self.analysis
        if analysis.measure is not None:
            analysis.take(analysis.measure)
            return MeasureRef(name=analysis.schema.measures[analysis.measure.id][0].name)
        mention = self._best_column(plan)
        calculated = [item.expr for item in plan.select if _is_calculated(item.expr)]
        if mention is not None:
            analysis.take(mention)
            ref = column_ref(analysis.schema, mention.id)
            return next((expr for expr in calculated if isinstance(expr, Aggregate) and expr.of == ref), ref)
        return calculated[-1] if calculated else None

    def _columns(self, plan: QueryPlan) -> QueryPlan:
        """With the product name: one more column, where rows are listed."""
        if "with" not in self.analysis.words and "show" not in self.analysis.words and "add" not in self.analysis.words:
            return plan
        mention = self._best_column(plan)
        if mention is None or mention.start in self.analysis.used:
            return plan
        self.analysis.take(mention, *[m for m in self.analysis.tables() if abs(m.end - mention.start) <= 1])
        ref = column_ref(self.analysis.schema, mention.id)
        items = plan.select or self._all_columns(plan)
        if any(item.expr == ref for item in items):
            return plan
        group = (*plan.group_by, ref) if plan.group_by else ()
        return self._joined(plan.model_copy(update={"select": (*items, SelectItem(expr=ref)), "group_by": group}))

    def _all_columns(self, plan: QueryPlan) -> tuple[SelectItem, ...]:
        table = self.analysis.schema.tables[self.analysis.schema.table_ids[plan.entity]]
        return tuple(SelectItem(expr=column_ref(self.analysis.schema, column)) for column in table.columns)

    def _best_column(self, plan: QueryPlan) -> Mention | None:
        inside = {plan.entity, *(join.table for join in plan.joins)}
        schema = self.analysis.schema
        named = {m.id for m in self.analysis.tables()}
        return max(
            self.analysis.columns(),
            key=lambda m: (
                m.score,
                schema.columns[m.id].table in named,
                schema.tables[schema.columns[m.id].table].name in inside,
                -m.id,
            ),
            default=None,
        )

    def _joined(self, plan: QueryPlan) -> QueryPlan:
        """With the joins that the changed plan needs."""
        schema = self.analysis.schema
        inside = [schema.table_ids[plan.entity], *(schema.table_ids[join.table] for join in plan.joins)]
        exprs = [item.expr for item in plan.select] + list(plan.group_by) + [item.expr for item in plan.order_by]
        needed = {table for expr in exprs for table in tables_of_expr(expr, schema)}
        for part in _parts(plan.where):
            if isinstance(part, Compare):
                needed.update(tables_of_expr(part.left, schema))
        builder = PlanBuilder(schema)
        more = tuple(builder.join(edge) for edge in grown_tree(schema, inside, needed))
        return plan.model_copy(update={"joins": (*plan.joins, *more)})


def _parts(where: Filter | None) -> tuple[Filter, ...]:
    if where is None:
        return ()
    return where.parts if isinstance(where, And) else (where,)


def _negated(part: Filter) -> Filter:
    if isinstance(part, Compare):
        return part.model_copy(update={"op": "!="})
    return part.model_copy(update={"negated": True}) if isinstance(part, InList) else Not(part=part)


def _is_about(part: Filter, column: ColumnRef) -> bool:
    return isinstance(part, Compare | InList) and part.left == column


def _date_column(plan: QueryPlan) -> ColumnRef | None:
    """The column that the plan's own period is about."""
    for part in _parts(plan.where):
        if (
            isinstance(part, Compare)
            and isinstance(part.left, ColumnRef)
            and isinstance(part.right, Constant)
            and part.right.type
        ):
            return part.left
    return next((inner for expr in plan.group_by for inner in _bucketed(expr)), None)


def _bucketed(expr: Expr) -> Iterator[ColumnRef]:
    if isinstance(expr, Bucket | DatePart) and isinstance(expr.of, ColumnRef):
        yield expr.of


def _is_calculated(expr: Expr) -> bool:
    match expr:
        case Aggregate() | MeasureRef():
            return True
        case Arithmetic():
            return _is_calculated(expr.left) or _is_calculated(expr.right)
        case TextFunction() | DateDifference() | Bucket() | DatePart():
            return False
    return False
