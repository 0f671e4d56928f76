"""A plan becomes SQL, by way of a syntax tree; the same plan always becomes the same text."""

from collections.abc import Iterator

from sqlglot import exp

from answerable.core.catalog import Catalog
from answerable.core.records import dataclass
from answerable.core.values import Language
from answerable.query.checked import CheckedQuery
from answerable.query.grouping import completed_keys
from answerable.query.labels import labels_in
from answerable.query.plan import Aggregate, And, ColumnRef, Expr, Filter, IsNull, OrderItem, QueryPlan
from answerable.query.scope import Scope, aggregates, children, operands, scope_of, selected
from answerable.query.sql.dialects import DIALECTS, SqlDialect
from answerable.query.sql.expressions import ExpressionCompiler
from answerable.query.sql.names import address
from answerable.query.sql.syntax import call, grouped, number, or_null_if_zero
from answerable.query.sql.writing import written
from answerable.query.validate import validate

_SET_OPERATIONS = {"union": exp.Union, "union_all": exp.Union, "intersect": exp.Intersect, "except": exp.Except}
_ASSOCIATIVE = ("union", "union_all", "intersect")


def to_sql(plan: QueryPlan, catalog: Catalog, dialect: Language | None = None) -> str:
    """The plan as one SELECT statement. A plan that cannot run is a `UserError` that names the field."""
    validate(plan, catalog)
    name = dialect or catalog.dialect
    return written(_query(plan, catalog, DIALECTS[name]), name)


@dataclass(frozen=True, slots=True)
class CompiledSql(CheckedQuery):
    """The statement of a plan. The plan was validated and the compiler writes only what is allowed, so the text is not
    parsed once more: the reader compiles a dozen plans for one question."""


def compiled(plan: QueryPlan, catalog: Catalog) -> CompiledSql:
    """The plan as a query that may run."""
    return CompiledSql(catalog.dialect, to_sql(plan, catalog))


def _query(plan: QueryPlan, catalog: Catalog, dialect: SqlDialect, *, without_nulls: bool = False) -> exp.Query:
    in_stages = not dialect.has_statistics and any(_statistics(expr) for expr in _outputs(plan))
    statement = (_StagedStatement if in_stages else _Statement)(plan, catalog, dialect)
    return statement.query_without_nulls() if without_nulls else statement.query()


class _Statement(ExpressionCompiler):
    """One plan as a statement; sub-plans get statements of their own."""

    def __init__(self, plan: QueryPlan, catalog: Catalog, dialect: SqlDialect) -> None:
        super().__init__(scope_of(plan, catalog), dialect)
        self.plan = plan
        self.items = selected(plan, self.scope)
        self.labels = labels_in(plan, self.scope)
        self.column_names = {column.name.casefold() for table in self.scope.tables.values() for column in table.columns}
        self.shown_aliases = _shown_aliases(self.scope, dialect.name)
        self.qualifies = len(self.scope.tables) > 1 or self._a_label_hides_a_column()

    def _a_label_hides_a_column(self) -> bool:
        return any(
            label.casefold() in self.column_names and not _is_column(item.expr, label)
            for item, label in zip(self.items, self.labels, strict=True)
        )

    def query(self) -> exp.Query:
        query = self._combined(self.select())
        if self.plan.order_by:
            query.set("order", exp.Order(expressions=[self._ordered(item) for item in self.plan.order_by]))
        if self.plan.limit is not None:
            query.set("limit", exp.Limit(expression=number(self.plan.limit)))
        if self.plan.offset:
            # To SQLite, a negative limit is no limit.
            if self.plan.limit is None and self.dialect.offset_needs_limit:
                query.set("limit", exp.Limit(expression=number(-1)))
            query.set("offset", exp.Offset(expression=number(self.plan.offset)))
        return query

    def query_without_nulls(self) -> exp.Query:
        """The query of a one-column plan, less the rows that hold nothing."""
        plan, expr = self.plan, self.items[0].expr
        whole = plan.set_operation is None and plan.limit is None and not plan.offset
        if plan.set_operation is None and self._never_null(expr):
            return self.query()
        # The condition may go into WHERE only if neither groups nor a limit are formed from the rows that it removes.
        if whole and not plan.group_by and not aggregates(expr):
            known: Filter = IsNull(left=expr, negated=True)
            where = known if plan.where is None else And(parts=(plan.where, known))
            return _query(plan.model_copy(update={"where": where}), self.scope.catalog, self.dialect)
        query = self._enclosed(self.query())
        label = exp.Column(this=self.name(self.labels[0]))
        query.set("where", exp.Where(this=exp.not_(exp.Is(this=label, expression=exp.Null()))))
        return query

    def subquery(self, plan: QueryPlan, *, without_nulls: bool = False) -> exp.Subquery:
        return exp.Subquery(this=_query(plan, self.scope.catalog, self.dialect, without_nulls=without_nulls))

    # The clauses.

    def select(self) -> exp.Select:
        select = exp.Select(expressions=[self._output(number) for number in range(len(self.items))])
        if self.plan.distinct:
            select.set("distinct", exp.Distinct())
        self.read_from(select)
        if self.plan.group_by:
            select.set("group", exp.Group(expressions=[self._key(expr) for expr in self.group_keys()]))
        if self.plan.having is not None:
            select.set("having", exp.Having(this=self.condition(self.plan.having)))
        return select

    def read_from(self, select: exp.Select) -> None:
        alias = self.plan.alias or self.plan.entity
        select.set("from_", exp.From(this=self._table(alias)))
        select.set("joins", [self._join(number) for number in range(len(self.scope.joins))])
        if self.plan.where is not None:
            select.set("where", exp.Where(this=self.condition(self.plan.where)))

    def group_keys(self) -> list[Expr]:
        return completed_keys(self.plan, self.scope)

    def _output(self, number: int) -> exp.Expr:
        expr, label = self.items[number].expr, self.labels[number]
        node = self.expression(expr)
        # SQLite orders combined rows by aliases after AS, not by the last part of a qualified name.
        must_name = self.qualifies and self.plan.set_operation is not None
        return node if _is_called(node, label) and not must_name else exp.Alias(this=node, alias=self.name(label))

    def _join(self, number: int) -> exp.Join:
        join = self.scope.joins[number]
        pairs = [exp.EQ(this=self.column(left), expression=self.column(right)) for left, right in join.pairs]
        side = {"side": "LEFT"} if join.outer else {}
        return exp.Join(this=self._table(join.alias), on=exp.and_(*pairs, copy=False), **side)

    def _key(self, expr: Expr) -> exp.Expr:
        """A group key, by the name of its result column where no column of a table has that name."""
        label = None if isinstance(expr, ColumnRef) else self._label_of(expr)
        if label is None or label.casefold() in self.column_names:
            return self.expression(expr)
        return exp.Column(this=self.name(label))

    def _ordered(self, item: OrderItem) -> exp.Ordered:
        label = self._label_of(item.expr)
        if label is None or (self.plan.set_operation is None and _is_column(item.expr, label)):
            node = self.expression(item.expr)
        else:
            node = exp.Column(this=self.name(label))
        if isinstance(node, exp.Column) and node.name.casefold() == "all":
            # ORDER BY ALL orders by every column; the parser reads it so even in quotes.
            node = number(self.labels.index(label) + 1) if label else exp.Paren(this=node)
        default = self.dialect.nulls_first_descending if item.descending else self.dialect.nulls_first_ascending
        # Nulls come last in every dialect. Where there are none, the dialect's default spares the words NULLS LAST.
        nulls_first = default and self.plan.set_operation is None and self._never_null(item.expr)
        return exp.Ordered(this=node, desc=item.descending or None, nulls_first=nulls_first)

    def _label_of(self, expr: Expr) -> str | None:
        """The name of the result column that holds this expression."""
        found = (label for item, label in zip(self.items, self.labels, strict=True) if item.expr == expr)
        return next(found, None)

    def _never_null(self, expr: Expr) -> bool:
        if isinstance(expr, ColumnRef):
            return not self.scope.nullable(expr)
        return isinstance(expr, Aggregate) and expr.function == "count"

    # Set operations.

    def _combined(self, left: exp.Query) -> exp.Query:
        operation = self.plan.set_operation
        if operation is None:
            return left
        right = self.subquery(operation.right).this
        if not self._fits_flat(operation.right, operation.op):
            right = self._enclosed(right)
        kind = _SET_OPERATIONS[operation.op]
        return kind(this=left, expression=right, distinct=operation.op != "union_all")

    def _fits_flat(self, right: QueryPlan, op: str) -> bool:
        """Whether the right side can stand without brackets: SQL reads a chain of set operations from the left."""
        if right.order_by or right.limit is not None or right.offset:
            return False
        return right.set_operation is None or (right.set_operation.op == op and op in _ASSOCIATIVE)

    def _enclosed(self, query: exp.Query) -> exp.Select:
        """SQLite has no brackets around the sides of a set operation; a derived table does the same everywhere."""
        derived = exp.Subquery(this=query, alias=exp.TableAlias(this=self.name("part")))
        return exp.Select(expressions=[exp.Star()], from_=exp.From(this=derived))

    # Names.

    def column(self, ref: ColumnRef) -> exp.Expr:
        table = self.name(self.shown_aliases[ref.table]) if self.qualifies else None
        return exp.Column(this=self.name(ref.column), table=table)

    def _table(self, alias: str) -> exp.Table:
        schema, name = address(self.scope.tables[alias].name, self.dialect.name)
        shown = self.shown_aliases[alias]
        return exp.Table(
            this=self.name(name),
            db=self.name(schema) if schema else None,
            alias=exp.TableAlias(this=self.name(shown)) if shown != name else None,
        )


class _StagedStatement(_Statement):
    """A statement for a database without median and standard deviation: rows first get their rank, or their distance
    from the mean, within their group; then the groups are formed from these rows."""

    def __init__(self, plan: QueryPlan, catalog: Catalog, dialect: SqlDialect) -> None:
        super().__init__(plan, catalog, dialect)
        self._first = _Statement(plan, catalog, dialect)
        self._rows = exp.Select()
        self._staged: dict[str, exp.Expr] = {}
        self._columns: dict[ColumnRef, str] = {}

    def query(self) -> exp.Query:
        query = super().query()
        columns = [
            node if _is_called(node, name) else exp.Alias(this=node, alias=self.name(name))
            for name, node in self._staged.items()
        ]
        self._rows.set("expressions", columns)
        return query

    def read_from(self, select: exp.Select) -> None:
        self._first.read_from(self._rows)
        derived = exp.Subquery(this=self._rows, alias=exp.TableAlias(this=self.name("ranked")))
        select.set("from_", exp.From(this=derived))

    def column(self, ref: ColumnRef) -> exp.Expr:
        if ref not in self._columns:
            self._columns[ref] = self._stage(ref.column, self._first.column(ref))
        return exp.Column(this=self.name(self._columns[ref]))

    def aggregate(self, expr: Aggregate) -> exp.Expr:
        if expr.function == "median" and expr.of is not None:
            return self._median(self._taking_part(expr.of, expr.where))
        if expr.function == "stddev" and expr.of is not None:
            return self._stddev(self._taking_part(expr.of, expr.where))
        return super().aggregate(expr)

    def _taking_part(self, of: Expr, where: Filter | None) -> exp.Expr:
        value = self._first.expression(of)
        if where is None:
            return value
        return exp.Case(ifs=[exp.If(this=self._first.condition(where), true=value)])

    def _median(self, value: exp.Expr) -> exp.Expr:
        """The mean of the one or two rows in the middle."""
        # Nulls rank last, so that the ranks from 1 to the count of values belong to values.
        order = exp.Order(expressions=[exp.Ordered(this=value.copy(), nulls_first=False)])
        values = self._stage("value", value)
        rank = self._stage("rank", self._over(call("ROW_NUMBER"), order))
        size = self._stage("size", self._over(call("COUNT", value.copy())))
        # Division cuts off: of 5 rows both are 3, of 4 rows they are 2 and 3.
        middle = [self._half_of(size, 1), self._half_of(size, 2)]
        in_the_middle = exp.In(this=exp.Column(this=self.name(rank)), expressions=middle)
        mean = call("AVG", exp.Column(this=self.name(values)))
        return exp.Filter(this=mean, expression=exp.Where(this=in_the_middle))

    def _half_of(self, size: str, more: int) -> exp.Expr:
        total = exp.Paren(this=exp.Add(this=exp.Column(this=self.name(size)), expression=number(more)))
        return self.dialect.quotient(total, number(2))

    def _stddev(self, value: exp.Expr) -> exp.Expr:
        # The mean is subtracted first, as the difference of two sums of squares would lose digits.
        mean = self._over(call("AVG", value.copy()))
        name = self.name(self._stage("deviation", exp.Sub(this=grouped(value), expression=mean)))
        squares = exp.Mul(this=exp.Column(this=name), expression=exp.Column(this=name.copy()))
        # A single value has no deviation: the result is then null, as that of STDDEV_SAMP is.
        others = exp.Sub(this=call("COUNT", exp.Column(this=name.copy())), expression=number(1))
        return call("SQRT", self.dialect.quotient(call("SUM", squares), or_null_if_zero(others)))

    def _over(self, function: exp.Expr, order: exp.Order | None = None) -> exp.Expr:
        keys = [self._first.expression(key) for key in self.group_keys()]
        return exp.Window(this=function, partition_by=keys, order=order)

    def _stage(self, wanted: str, node: exp.Expr) -> str:
        """Adds a column to the first stage, unless it is there, and says what it is called."""
        for name, known in self._staged.items():
            if known == node:
                return name
        aliases = (
            label for item, label in zip(self.items, self.labels, strict=True) if not _is_column(item.expr, label)
        )
        taken = {name.casefold() for name in (*self._staged, *aliases)}
        name, repeat = wanted, 1
        while name.casefold() in taken:
            repeat += 1
            name = f"{wanted}_{repeat}"
        self._staged[name] = node
        return name


def _is_column(expr: Expr, label: str) -> bool:
    return isinstance(expr, ColumnRef) and expr.column == label


def _is_called(node: exp.Expr, label: str) -> bool:
    return isinstance(node, exp.Column) and node.name == label


def _statistics(expr: Expr) -> bool:
    if isinstance(expr, Aggregate) and expr.function in ("median", "stddev"):
        return True
    return any(_statistics(child) for _, child in children(expr))


def _outputs(plan: QueryPlan) -> Iterator[Expr]:
    yield from (item.expr for item in plan.select)
    yield from (item.expr for item in plan.order_by)
    if plan.having is not None:
        yield from (expr for _, expr in operands(plan.having))


def _shown_aliases(scope: Scope, dialect: Language) -> dict[str, str]:
    """The alias of each table as SQL shows it: a table that goes by `schema.name` is called by its name."""
    shown: dict[str, str] = {}
    for alias, table in scope.tables.items():
        _, name = address(alias, dialect) if alias == table.name else (None, alias)
        while name.casefold() in {other.casefold() for other in shown.values()}:
            name = f"{name}_2"
        shown[alias] = name
    return shown
