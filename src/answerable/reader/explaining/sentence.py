"""A plan as one plain English sentence.

The sentence is built from the plan alone, so it is always true of the query that runs. People check it before they
trust an answer, so plans that could return different rows have different sentences.
"""

from functools import cached_property

from answerable.core.catalog import Catalog
from answerable.query.nouns import Nouns, plural
from answerable.query.plan import Aggregate, ColumnRef, DatePart, Expr, MeasureRef, OrderItem, QueryPlan
from answerable.query.row_source import JoinStep, mentioned, relationships_between, rows_of
from answerable.query.scope import aggregates, scope_of
from answerable.query.validate import validate
from answerable.reader.explaining.phrases import EXTREMES, Phrases, listed

_COUNT_ROWS = Aggregate(function="count")
_COMBINED = {
    "union": "and also ({})",
    "union_all": "and also, keeping repeats, ({})",
    "intersect": "but only what is also in ({})",
    "except": "leaving out what is in ({})",
}
_DIRECTIONS = {
    "number": ("lowest first", "highest first"),
    "time": ("earliest first", "latest first"),
    "text": ("", "from Z to A"),
}


def sentence(plan: QueryPlan, catalog: Catalog) -> str:
    """What the plan asks for. A plan that does not fit the catalog is a `UserError`."""
    validate(plan, catalog)
    return sentence_with(plan, catalog, Nouns(catalog))


def sentence_with(plan: QueryPlan, catalog: Catalog, names: Nouns) -> str:
    """The sentence of a plan that is valid already. Callers with many plans of one catalog share `names`."""
    text = _SentenceBuilder(plan, catalog, names).statement()
    return text[0].upper() + text[1:] + "."


def phrases_of(plan: QueryPlan, catalog: Catalog, names: Nouns) -> Phrases:
    """The phrases for the parts of a plan that is valid already."""
    return _SentenceBuilder(plan, catalog, names).say


class _SentenceBuilder:
    """Describes one plan. Each nested plan gets a builder of its own."""

    def __init__(self, plan: QueryPlan, catalog: Catalog, names: Nouns) -> None:
        self.plan = plan
        self.catalog = catalog
        self.names = names
        self.scope = scope_of(plan, catalog)
        self.rows = rows_of(plan, self.scope)
        self.say = Phrases(self.scope, self.rows, names, self.nested, self.nested_filter)
        self.items = [item.expr for item in plan.select]

    def nested(self, plan: QueryPlan, many: bool) -> str:
        return _SentenceBuilder(plan, self.catalog, self.names).noun(many)

    def nested_filter(self, plan: QueryPlan) -> str:
        return _SentenceBuilder(plan, self.catalog, self.names).only()

    def statement(self) -> str:
        """In the imperative: "count the orders whose status is 'returned', for each region, highest first"."""
        clauses = [self.core(), self.grouping(), self.having(), self.combination(), *self.ranking()]
        return ", ".join(clause for clause in clauses if clause)

    def noun(self, many: bool) -> str:
        """As a thing to compare with: "the average price of the products"."""
        plan = self.plan
        plain = not (plan.group_by or plan.having or plan.set_operation or plan.order_by or plan.distinct)
        if not plain or plan.limit is not None or plan.offset or not plan.select:
            return f"the result of ({self.statement()})"
        if self.items == [_COUNT_ROWS]:
            return f"the number of {self.subject(article='')}{self.only()}"
        if many and isinstance(self.items[0], ColumnRef):
            return f"the {plural(self.say.column(self.items[0]))} of {self.subject()}{self.only()}"
        return f"{self.shown(self.items)}{self.source(self.items)}{self.only()}"

    def only(self) -> str:
        where = self.plan.where
        return f" (only those {self.say.whose(where)})" if where is not None else ""

    def core(self) -> str:
        where = f" {self.say.whose(self.plan.where)}" if self.plan.where is not None else ""
        verb, what = self.asked()
        once = ", without repeats," if self.plan.distinct else ""
        return f"{verb}{once} {what}{where}"

    def asked(self) -> tuple[str, str]:
        if not self.items:
            return "list", self.subject()
        if self.lists_keys:
            what = listed([self.say.expression(key) for key in self.items])
            return "list", f"each {'combination of ' if len(self.items) > 1 else ''}{what} of {self.subject()}"
        shown = self.unsaid_keys()
        if shown == [_COUNT_ROWS]:
            return "count", self.subject()
        verb = "give" if any(aggregates(expr) for expr in shown) else "list"
        return verb, f"{self.shown(shown)}{self.source(shown)}"

    @cached_property
    def lists_keys(self) -> bool:
        """Whether the groups themselves are what is asked for, by columns of the rows."""
        return self.items == list(self.plan.group_by) and all(isinstance(item, ColumnRef) for item in self.items)

    def unsaid_keys(self) -> list[Expr]:
        """The columns that "for each …" does not name already."""
        keys = list(self.plan.group_by)
        rest = self.items[len(keys) :]
        return rest if keys and self.items[: len(keys)] == keys and rest else self.items

    def shown(self, exprs: list[Expr]) -> str:
        short = all(_belongs(expr) for expr in exprs)
        phrases = ["the number" if short and expr == _COUNT_ROWS else self.say.expression(expr) for expr in exprs]
        text = listed(phrases)
        return text if text.startswith("the ") or not short else f"the {text}"

    def source(self, exprs: list[Expr]) -> str:
        """What the shown things belong to; left out where counting has said it already."""
        if all(_belongs(expr) for expr in exprs):
            return f" of {self.subject()}"
        said = f"the number of {self.subject(article='')}"
        if self.plan.where is None and any(self.say.expression(expr).startswith(said) for expr in exprs):
            return ""
        return f", over {self.subject()}" if any(aggregates(expr) for expr in exprs) else f", for {self.subject()}"

    # The rows.

    def subject(self, article: str = "the ") -> str:
        joined = [self.joined(link) for link in self.rows.links if not self.implied(link)]
        mention = f" with their {listed(joined)}" if joined else ""
        return f"{article}{self.names.many(self.scope.tables[self.rows.root])}{mention}"

    def joined(self, link: JoinStep) -> str:
        table = self.scope.tables[link.alias]
        noun = self.say.called(link.alias)
        if not link.to_one and link.alias == table.name:
            noun = self.names.many(table)
        elif link.alias != table.name:
            noun += f" ({self.names.one(table) if link.to_one else self.names.many(table)})"
        owner = self.say.owner(link.parent)
        by = "" if self.usual(link) else f" by {self.matching(link)}"
        return f"{owner}{noun}{by}{' if any' if link.outer else ''}"

    def matching(self, link: JoinStep) -> str:
        pairs = [f"{self.say.column(left)} = {self.say.column(right)}" for left, right in link.pairs]
        return " and ".join(pairs)

    def usual(self, link: JoinStep) -> bool:
        """Whether the catalog knows only one way to join the two tables, and the plan uses it."""
        one, other = self.scope.tables[link.parent], self.scope.tables[link.alias]
        ways = list(relationships_between(self.catalog, one, other))
        return ways == [frozenset((left.column, right.column) for left, right in link.pairs)]

    def implied(self, link: JoinStep) -> bool:
        """Whether the sentence need not mention the join, because it names a column of the table or of one behind it,
        and the catalog knows only one join that leads there."""
        named = link.alias == self.scope.tables[link.alias].name and link.alias in self.on_the_way
        return named and link.to_one and not link.outer and self.usual(link)

    @cached_property
    def on_the_way(self) -> set[str]:
        """The tables whose columns are named, and those that lead to them."""
        found = mentioned(self.plan)
        for link in reversed(self.rows.links):
            if link.alias in found:
                found.add(link.parent)
        return found

    # What follows.

    def grouping(self) -> str:
        keys = self.plan.group_by
        if not keys or self.lists_keys:
            return ""
        names = [text for key in keys if (text := self.key(key))]
        shown = not self.items or any(key in self.items or self.thing(key) for key in keys)
        return f"for each {listed(names)}{'' if shown else ' (not shown)'}"

    def key(self, key: Expr) -> str:
        """The name of a group key. It is empty for a column that another key determines: a customer has only one name.
        If no noun stands for the determining key, the key follows in brackets: "region (by region id)"."""
        if not isinstance(key, ColumnRef):
            return self.say.expression(key)
        own = [ref for ref in self.plan.group_by if isinstance(ref, ColumnRef) and ref.table == key.table]
        deciding = next((ref for ref in own if self.decides(ref)), None)
        if deciding is None or len(own) == 1 or deciding in self.items:
            return self.thing(key) or self.say.expression(key)
        if self.thing(deciding):
            return self.thing(key) or ""
        name = self.names.column(self.scope.tables[key.table], self.scope.column(deciding))
        return "" if key == deciding else self.say.expression(key) + (f" (by {name})" if key == own[-1] else "")

    def decides(self, ref: ColumnRef) -> bool:
        return self.scope.tables[ref.table].primary_key == (ref.column,)

    def thing(self, key: Expr) -> str | None:
        """What a key that is not shown stands for: "for each product" says more than its number."""
        if not isinstance(key, ColumnRef) or key in self.items or not self.items:
            return None
        known = self.say.is_usual(key.table) and self.decides(key)
        noun = self.say.called(key.table)
        return noun if known and not self.say.column_names[noun] else None

    def having(self) -> str:
        return f"only where {self.say.clause(self.plan.having)}" if self.plan.having is not None else ""

    def combination(self) -> str:
        operation = self.plan.set_operation
        if operation is None:
            return ""
        return _COMBINED[operation.op].format(_SentenceBuilder(operation.right, self.catalog, self.names).statement())

    def ranking(self) -> tuple[str, ...]:
        """The order, and how many rows the plan returns."""
        plan = self.plan
        if len(plan.order_by) == 1 and plan.limit is not None and not plan.offset:
            (item,) = plan.order_by
            what = self.say.expression(item.expr).removeprefix("the ")
            if isinstance(item.expr, ColumnRef) or not self.say.column_names[what]:
                first_rows = "only the one" if plan.limit == 1 else f"the {plan.limit}"
                return (f"{first_rows} with the {EXTREMES[self.say.nature(item.expr)][item.descending]} {what}",)
        return self.order(), self.extent()

    def order(self) -> str:
        order = self.plan.order_by
        if not order:
            return ""
        if len(order) == 1 and [order[0].expr] == list(self.plan.group_by) and self.is_time(order[0].expr):
            return "in reverse order of time" if order[0].descending else "in order of time"
        if len(order) == 1 and [order[0].expr] == [expr for expr in self.items if aggregates(expr)]:
            return self.direction(order[0]) or "from A to Z"
        return "sorted by " + ", then ".join(self.sorted_by(item) for item in order)

    def is_time(self, expr: Expr) -> bool:
        """Whether its order is that of time: months of a year are not, since each stands for several."""
        return self.say.nature(expr) == "time" or (isinstance(expr, DatePart) and expr.part == "year")

    def sorted_by(self, item: OrderItem) -> str:
        direction = self.direction(item)
        return self.say.expression(item.expr) + (f" ({direction})" if direction else "")

    def direction(self, item: OrderItem) -> str:
        return _DIRECTIONS[self.say.nature(item.expr)][item.descending]

    def extent(self) -> str:
        """How many rows the plan skips and returns."""
        offset, limit = self.plan.offset, self.plan.limit
        skipped = f"skipping the first {offset}" if offset else ""
        first_rows = "" if limit is None else "only the first" if limit == 1 else f"the first {limit}"
        return ", ".join(text for text in (skipped, first_rows) if text)


def _belongs(expr: Expr) -> bool:
    """Whether one can say that it is "of the orders"."""
    match expr:
        case ColumnRef() | MeasureRef():
            return True
        case Aggregate(where=None):
            return expr.of is None or (isinstance(expr.of, ColumnRef) and (expr.function != "count" or expr.distinct))
    return False
