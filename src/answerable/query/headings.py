"""What people call the columns and rows of a result, as far as plan and catalog say so: "Average bill length", "25
genres"."""

from collections import Counter

from answerable.core.catalog import Catalog
from answerable.core.values import Frozen
from answerable.query.labels import labels_in
from answerable.query.nouns import MASSES, Nouns, plural, singular, spoken, without_unit
from answerable.query.plan import Aggregate, Bucket, ColumnRef, Expr, QueryPlan
from answerable.query.row_source import RowSource, rows_of
from answerable.query.scope import TEMPORAL, Scope, scope_of, selected, type_of

_NAMES = frozenset({"name", "title", "full name", "label"})
"""Columns that say which row it is. Of another table, they are headed by the table: the name of a genre is "Genre"."""
_ADJECTIVES = {"sum": "total", "avg": "average", "median": "median", "stddev": "standard deviation of"}
_EXTREMES = {"min": ("lowest", "earliest"), "max": ("highest", "latest")}
COUNT_ROWS = Aggregate(function="count")


class RowNoun(Frozen):
    """What one row is, and several: customer, customers."""

    one: str
    many: str

    def of(self, count: int) -> str:
        return self.one if count == 1 else self.many


def result_headers(plan: QueryPlan, catalog: Catalog) -> dict[str, str]:
    """The heads by the names of the result columns. A column without a better head than its name is left out."""
    scope = scope_of(plan, catalog)
    naming = _Naming(plan, scope)
    found = [None if item.label else naming.head(item.expr) for item in selected(plan, scope)]
    times = Counter(head.casefold() for head in found if head)
    return {
        label: head[:1].upper() + head[1:]
        for label, head in zip(labels_in(plan, scope), found, strict=True)
        if head and times[head.casefold()] == 1
    }


def row_noun(plan: QueryPlan, catalog: Catalog) -> RowNoun | None:
    """What the rows of the result are; of a plain count, what it counts. None if no noun is certain to fit."""
    if plan.set_operation is not None:
        return None
    return _Naming(plan, scope_of(plan, catalog)).rows()


class _Naming:
    def __init__(self, plan: QueryPlan, scope: Scope) -> None:
        self.plan = plan
        self.scope = scope
        self.names = Nouns(scope.catalog)
        self.source: RowSource = rows_of(plan, scope)

    def head(self, expr: Expr) -> str | None:
        match expr:
            case ColumnRef():
                return self.column(expr)
            case Aggregate(where=None):
                return self.aggregate(expr)
        return None

    def column(self, ref: ColumnRef) -> str:
        name = self.noun(ref)
        if name not in _NAMES or ref.table == self.source.root:
            return name
        return self.called(ref.table)

    def called(self, alias: str) -> str:
        table = self.scope.tables[alias]
        return self.names.one(table) if alias == table.name else spoken(alias)

    def noun(self, ref: ColumnRef) -> str:
        """The column without its unit, which is shown beside the head."""
        column = self.scope.column(ref)
        name = self.names.column(self.scope.tables[ref.table], column)
        return name if name.startswith("`") else without_unit(name, column)

    def aggregate(self, expr: Aggregate) -> str | None:
        if expr == COUNT_ROWS:
            return self.names.many(self.scope.tables[self.source.root]) if self.source.exact else None
        if not isinstance(expr.of, ColumnRef):
            return None
        name = self.noun(expr.of)
        if expr.function == "count":
            return f"number of {plural(name)}" if expr.distinct and name.rpartition(" ")[2] not in MASSES else None
        if expr.function in _EXTREMES:
            kind = type_of(expr.of, self.scope)
            numeric = kind in ("integer", "number")
            return f"{_EXTREMES[expr.function][kind in TEMPORAL]} {name}" if numeric or kind in TEMPORAL else None
        adjective = _ADJECTIVES[expr.function]
        # "Total total" and "average average score" would say it twice.
        return name if adjective in name.split() else f"{adjective} {name}"

    def rows(self) -> RowNoun | None:
        plan = self.plan
        if plan.group_by:
            return self.groups()
        only = [item.expr for item in plan.select]
        if plan.distinct:
            return self.values(only[0]) if len(only) == 1 and isinstance(only[0], ColumnRef) else None
        if only == [COUNT_ROWS] or not any(isinstance(expr, Aggregate) for expr in only):
            return self.table(self.source.root) if self.source.exact else None
        return None

    def groups(self) -> RowNoun | None:
        """The table whose rows are the groups, the values of the only key, or the periods."""
        keys = self.plan.group_by
        tables = {key.table for key in keys if isinstance(key, ColumnRef)}
        if len(tables) == 1 and all(isinstance(key, ColumnRef) for key in keys):
            (alias,) = tables
            columns = {key.column for key in keys if isinstance(key, ColumnRef)}
            key = self.scope.tables[alias].primary_key
            if key and set(key) <= columns:
                return self.table(alias)
        if len(keys) != 1:
            return None
        if isinstance(keys[0], Bucket):
            return RowNoun(one=keys[0].unit, many=f"{keys[0].unit}s")
        return self.values(keys[0]) if isinstance(keys[0], ColumnRef) else None

    def values(self, ref: ColumnRef) -> RowNoun | None:
        name = self.noun(ref)
        if name in _NAMES:
            return self.table(ref.table) if self.scope.column(ref).unique else None
        last = name.rpartition(" ")[2]
        if last in MASSES or not last.isalpha() or len(last) < 3:
            return None
        return RowNoun(one=singular(name), many=plural(name))

    def table(self, alias: str) -> RowNoun | None:
        table = self.scope.tables[alias]
        many = self.names.many(table)
        return None if many.startswith("`") else RowNoun(one=self.names.one(table), many=many)
