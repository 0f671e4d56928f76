"""Random valid plans: they compile, to the same text each time, pass the check unchanged, and three databases agree."""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from answerable.core.catalog import Catalog
from answerable.core.values import Language
from answerable.query.labels import labels_in
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
    InList,
    InQuery,
    IsNull,
    Join,
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
from answerable.query.scope import scope_of
from answerable.query.sql.check import checked
from answerable.query.sql.to_sql import to_sql

Strategy = st.SearchStrategy[Any]
INTEGERS = ("items.quantity", "products.stock", "orders.customer_id", "orders.id", "employees.salary", "customers.id")
NUMBERS = ("orders.total", "items.price", "customers.rating")
TEXTS = ("orders.status", "products.name", "products.category", "customers.name", "customers.City", "employees.name")
MOMENTS = ("orders.ordered_at", "orders.shipped", "customers.joined", "employees.hired")
ASCII_TEXTS = ("orders.status", "products.name", "products.category", "employees.name")
UNITS = st.sampled_from(["day", "week", "month", "quarter", "year"])


@dataclass
class Tables:
    """An entity with some joins, and the strategies for expressions over them."""

    plan: dict[str, Any]
    names: tuple[str, ...]

    def columns(self, *pools: tuple[str, ...]) -> Strategy:
        known = [name.split(".") for pool in pools for name in pool if name.split(".")[0] in self.names]
        return st.sampled_from([ColumnRef(table=table, column=column) for table, column in known])

    def has(self, pool: tuple[str, ...]) -> bool:
        return any(name.split(".")[0] in self.names for name in pool)

    @cached_property
    def numbers(self) -> Strategy:
        simple = self.columns(INTEGERS, NUMBERS)
        options = [simple, simple]
        if self.has(MOMENTS):
            parts = st.sampled_from(["year", "quarter", "month", "week", "day", "weekday"])
            options.append(st.builds(DatePart, part=parts, of=self.columns(MOMENTS)))
            units = st.sampled_from(["hour", "day"])
            options.append(st.builds(DateDifference, unit=units, start=self.columns(MOMENTS), end=self.moments))
        if self.has(ASCII_TEXTS):
            options.append(st.builds(TextFunction, function=st.just("length"), of=self.columns(ASCII_TEXTS)))
        flat = st.one_of(options)
        whole = st.builds(Constant, value=st.integers(-20, 20))
        return st.one_of(
            flat,
            st.builds(Arithmetic, op=st.sampled_from(["+", "-", "*", "/"]), left=flat, right=st.one_of(flat, whole)),
        )

    @cached_property
    def moments(self) -> Strategy:
        days = st.sampled_from(["2022-12-31", "2023-01-03", "2024-01-01", "2024-02-29", "2024-07-02", "2025-01-06"])
        options: list[st.SearchStrategy[Any]] = [st.builds(Constant, value=days, type=st.just("date"))]
        if self.has(MOMENTS):
            options.append(self.columns(MOMENTS))
            options.append(st.builds(Bucket, unit=UNITS, of=self.columns(MOMENTS)))
        return st.one_of(options)

    @cached_property
    def texts(self) -> Strategy:
        return st.one_of(
            self.columns(TEXTS),
            st.builds(TextFunction, function=st.sampled_from(["lower", "upper", "trim"]), of=self.columns(ASCII_TEXTS))
            if self.has(ASCII_TEXTS)
            else self.columns(TEXTS),
        )

    @cached_property
    def expressions(self) -> Strategy:
        moments = [self.columns(MOMENTS), st.builds(Bucket, unit=UNITS, of=self.columns(MOMENTS))]
        return st.one_of(self.numbers, self.texts, *(moments if self.has(MOMENTS) else []))

    @cached_property
    def leaves(self) -> Strategy:
        words = st.sampled_from(["a", "O", "open", "Paris", "é", "É", "_", "%", "!", "done", "x\\y", ""])
        orders = st.sampled_from(["<", "<=", ">", ">="])
        equalities = st.sampled_from(["=", "!=", "<", "<=", ">", ">="])
        numbers = st.builds(Constant, value=st.one_of(st.integers(-5, 130), st.just(0.25), st.just(99.5)))
        plain = self.columns(INTEGERS, NUMBERS)
        found = [
            st.builds(Compare, left=self.numbers, op=orders, right=numbers),
            st.builds(Compare, left=plain, op=equalities, right=st.one_of(numbers, plain)),
            st.builds(Between, left=plain, low=numbers, high=numbers, negated=st.booleans()),
            st.builds(IsNull, left=self.expressions, negated=st.booleans()),
            st.builds(
                TextMatch,
                left=self.columns(TEXTS),
                how=st.sampled_from(["contains", "starts_with", "ends_with"]),
                pattern=words.filter(bool),
                negated=st.booleans(),
            ),
            st.builds(TextMatch, left=self.columns(TEXTS), how=st.just("equals"), pattern=words),
            st.builds(
                InList,
                left=self.columns(TEXTS),
                values=st.lists(st.builds(Constant, value=st.one_of(words, st.none())), min_size=1, max_size=3).map(
                    tuple
                ),
                negated=st.booleans(),
            ),
            st.builds(InQuery, left=plain, plan=one_column(), negated=st.booleans()),
            st.builds(Compare, left=plain, op=orders, right=st.builds(ScalarQuery, plan=one_value())),
        ]
        if self.has(MOMENTS):
            found.append(st.builds(Compare, left=self.columns(MOMENTS), op=equalities, right=self.moments))
            found.append(
                st.builds(
                    Between, left=self.columns(MOMENTS), low=self.moments, high=self.moments, negated=st.booleans()
                )
            )
        return st.one_of(found)

    @cached_property
    def filters(self) -> Strategy:
        def several(inner: Strategy) -> Strategy:
            parts = st.lists(inner, min_size=1, max_size=3).map(tuple)
            return st.one_of(st.builds(And, parts=parts), st.builds(Or, parts=parts), st.builds(Not, part=inner))

        return st.one_of(st.none(), st.recursive(self.leaves, several, max_leaves=4))

    @cached_property
    def aggregates(self) -> Strategy:
        some = st.one_of(st.none(), self.leaves)
        numeric = st.sampled_from(["sum", "avg", "min", "max", "median", "stddev"])
        return st.one_of(
            st.builds(Aggregate, function=st.just("count"), where=some),
            st.builds(Aggregate, function=numeric, of=self.columns(INTEGERS, NUMBERS), where=some),
            st.builds(
                Aggregate,
                function=st.sampled_from(["count", "sum", "avg"]),
                of=self.columns(INTEGERS),
                distinct=st.just(True),
            ),
            st.builds(Aggregate, function=st.sampled_from(["min", "max"]), of=self.columns(TEXTS)),
        )


ORDERS = Tables({"entity": "orders"}, ("orders",))
TABLES = [
    ORDERS,
    Tables({"entity": "customers"}, ("customers",)),
    Tables({"entity": "employees"}, ("employees",)),
    Tables(
        {"entity": "orders", "joins": (Join(table="customers", relationship="customer", outer=True),)},
        ("orders", "customers"),
    ),
    Tables({"entity": "customers", "joins": (Join(table="orders", relationship="customer"),)}, ("orders", "customers")),
    Tables(
        {
            "entity": "items",
            "joins": (
                Join(table="orders", relationship="order"),
                Join(table="products", relationship="product"),
                Join(table="customers", relationship="customer", outer=True),
            ),
        },
        ("items", "orders", "products", "customers"),
    ),
]


def one_column() -> Strategy:
    column = st.sampled_from([ColumnRef(table="orders", column=name) for name in ("id", "customer_id", "total")])
    where = st.one_of(
        st.none(),
        st.builds(
            Compare,
            left=st.just(ColumnRef(table="orders", column="status")),
            op=st.just("="),
            right=st.builds(Constant, value=st.sampled_from(["open", "done", "none"])),
        ),
    )
    select = column.map(lambda ref: (SelectItem(expr=ref),))
    return st.builds(QueryPlan, entity=st.just("orders"), select=select, where=where, distinct=st.booleans())


def one_value() -> Strategy:
    functions = st.sampled_from(["avg", "median", "max", "count"])
    value = st.builds(Aggregate, function=functions, of=st.just(ColumnRef(table="orders", column="total")))
    return value.map(lambda expr: QueryPlan(entity="orders", select=(SelectItem(expr=expr),)))


@st.composite
def row_plans(draw: Any) -> QueryPlan:
    tables = draw(st.sampled_from(TABLES))
    shown = draw(st.lists(tables.expressions, min_size=1, max_size=4))
    return _finished(draw, tables, [SelectItem(expr=expr) for expr in shown], {"distinct": draw(st.booleans())})


@st.composite
def grouped_plans(draw: Any) -> QueryPlan:
    tables = draw(st.sampled_from(TABLES))
    keys = draw(st.lists(tables.expressions, max_size=2))
    values = draw(st.lists(tables.aggregates, min_size=1, max_size=3))
    having = None
    if draw(st.booleans()):
        having = Compare(left=Aggregate(function="count"), op=">", right=Constant(value=draw(st.integers(0, 2))))
    items = [SelectItem(expr=expr) for expr in keys + values]
    return _finished(draw, tables, items, {"group_by": tuple(keys), "having": having})


@st.composite
def combined_plans(draw: Any) -> QueryPlan:
    def side() -> QueryPlan:
        tables = draw(st.sampled_from(TABLES))
        columns = [draw(tables.columns(INTEGERS)), draw(tables.columns(TEXTS))]
        return _finished(draw, tables, [SelectItem(expr=column) for column in columns], {})

    operations = st.sampled_from(["union", "union_all", "intersect", "except"])
    plan = side()
    for _ in range(draw(st.integers(1, 2))):
        plan = side().model_copy(update={"set_operation": SetOperation(op=draw(operations), right=plan)})
    return plan


def _finished(draw: Any, tables: Tables, items: list[SelectItem], more: dict[str, Any]) -> QueryPlan:
    """With an order over all that is shown, so that a limit leaves no choice."""
    limit = draw(st.one_of(st.none(), st.integers(0, 4)))
    order = draw(st.lists(st.sampled_from(items), max_size=2)) if limit is None else items
    ordered = tuple(OrderItem(expr=item.expr, descending=draw(st.booleans())) for item in order)
    where = draw(tables.filters)
    return QueryPlan(**tables.plan, **more, select=tuple(items), where=where, order_by=ordered, limit=limit)


PLANS = st.one_of(row_plans(), grouped_plans(), combined_plans())
SETTINGS = settings(
    max_examples=120,
    derandomize=True,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.data_too_large],
)


@SETTINGS
@given(plan=PLANS)
def test_random_plans(plan: QueryPlan, shop: Catalog, engines: dict[Language, Any]) -> None:
    labels = labels_in(plan, scope_of(plan, shop))
    assert len({label.casefold() for label in labels}) == len(plan.select)
    results = []
    for dialect, engine in engines.items():
        text = to_sql(plan, shop, dialect)
        assert to_sql(QueryPlan.model_validate_json(plan.model_dump_json()), shop, dialect) == text
        assert checked(text, shop, dialect=dialect).text == text
        given_labels, rows = engine.run(text)
        assert given_labels == labels
        results.append(sorted(rows, key=_sortable))
    first = results[0]
    assert all(_alike(first, other) for other in results[1:]), [to_sql(plan, shop, name) for name in engines]


def _sortable(row: tuple[Any, ...]) -> list[tuple[str, Any]]:
    return [
        (type(value).__name__.replace("int", "float"), round(value, 4) if isinstance(value, float) else value or 0)
        for value in row
    ]


def _alike(left: list[tuple[Any, ...]], right: list[tuple[Any, ...]]) -> bool:
    if len(left) != len(right):
        return False
    pairs = [pair for rows in zip(left, right, strict=True) for pair in zip(*rows, strict=True)]
    return all(
        math.isclose(a, b, rel_tol=1e-6, abs_tol=1e-6)
        if isinstance(a, int | float) and isinstance(b, int | float)
        else a == b
        for a, b in pairs
    )
