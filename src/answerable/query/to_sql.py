"""A plan becomes SQL, by way of a syntax tree; the same plan always becomes the same text."""

from sqlglot import exp

from answerable.core.catalog import Catalog, Table
from answerable.core.values import Dialect
from answerable.query.dialects import DIALECTS, SqlDialect, call, cast, grouped
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
    ScalarQuery,
    TextFunction,
    TextMatch,
)
from answerable.query.scope import Scope, aggregates, scope_of, selected, type_of
from answerable.query.validate import validate

_COMPARISONS = {"=": exp.EQ, "!=": exp.NEQ, "<": exp.LT, "<=": exp.LTE, ">": exp.GT, ">=": exp.GTE}
_ARITHMETIC = {"+": exp.Add, "-": exp.Sub, "*": exp.Mul}
_SET_OPERATIONS = {"union": exp.Union, "union_all": exp.Union, "intersect": exp.Intersect, "except": exp.Except}
_ASSOCIATIVE = ("union", "union_all", "intersect")


def to_sql(plan: QueryPlan, catalog: Catalog, dialect: Dialect | None = None) -> str:
    """The plan as one SELECT statement. A plan that cannot run is a `UserError` that names the field."""
    validate(plan, catalog)
    name = dialect or catalog.dialect
    return _Compiler(plan, catalog, DIALECTS[name]).query().sql(dialect=name, pretty=True)


class _Compiler:
    """Of one plan; sub-plans get compilers of their own."""

    def __init__(self, plan: QueryPlan, catalog: Catalog, dialect: SqlDialect) -> None:
        self.plan = plan
        self.catalog = catalog
        self.dialect = dialect
        self.scope: Scope = scope_of(plan, catalog)
        self.labels = labels_in(plan, self.scope)
        self.items = selected(plan, self.scope)
        self.qualified = self._must_qualify()

    # The statement.

    def query(self) -> exp.Query:
        query: exp.Query = self._select()
        if self.plan.set_operation is not None:
            query = self._combined(query)
        if self.plan.order_by:
            query.set("order", exp.Order(expressions=[self._ordered(item) for item in self.plan.order_by]))
        if self.plan.limit is not None:
            query.set("limit", exp.Limit(expression=exp.Literal.number(self.plan.limit)))
        if self.plan.offset:
            self._offset(query, self.plan.offset)
        return query

    def _offset(self, query: exp.Query, offset: int) -> None:
        if self.plan.limit is None and self.dialect.name == "sqlite":
            query.set("limit", exp.Limit(expression=exp.Neg(this=exp.Literal.number(1))))
        query.set("offset", exp.Offset(expression=exp.Literal.number(offset)))

    def _select(self) -> exp.Select:
        select = exp.Select(expressions=[self._output(number) for number in range(len(self.items))])
        alias = self.plan.alias or self.plan.entity
        select.set("from_", exp.From(this=_table(self.scope.tables[alias], alias)))
        select.set("joins", [self._join(number) for number in range(len(self.scope.joins))])
        if self.plan.distinct:
            select.set("distinct", exp.Distinct())
        if self.plan.where is not None:
            select.set("where", exp.Where(this=self.condition(self.plan.where)))
        if self.plan.group_by:
            select.set("group", exp.Group(expressions=[self.expression(expr) for expr in self._group_keys()]))
        if self.plan.having is not None:
            select.set("having", exp.Having(this=self.condition(self.plan.having)))
        return select

    def _group_keys(self) -> list[Expr]:
        """The plan's keys, and what they determine: the other columns of a table that is grouped by its key."""
        keys = list(self.plan.group_by)
        wanted = [item.expr for item in self.items] + [item.expr for item in self.plan.order_by]
        for expr in wanted:
            if isinstance(expr, ColumnRef) and expr not in keys:
                keys.append(expr)
        return keys

    def _output(self, number: int) -> exp.Expression:
        expr = self.items[number].expr
        node = self.expression(expr)
        label = self.labels[number]
        if isinstance(expr, ColumnRef) and expr.column == label:
            return node
        return exp.Alias(this=node, alias=_identifier(label))

    def _join(self, number: int) -> exp.Join:
        join = self.scope.joins[number]
        pairs = [exp.EQ(this=self.column(left), expression=self.column(right)) for left, right in join.pairs]
        side = {"side": "LEFT"} if join.outer else {}
        return exp.Join(this=_table(join.table, join.alias), on=exp.and_(*pairs), **side)

    def _ordered(self, item: OrderItem) -> exp.Ordered:
        node = self._label_for(item.expr) or self.expression(item.expr)
        nulls_first = None if self._never_null(item.expr) else False
        if nulls_first is None:
            nulls_first = self._default_nulls_first(item.descending)
        return exp.Ordered(this=node, desc=item.descending or None, nulls_first=nulls_first)

    def _default_nulls_first(self, descending: bool) -> bool:
        if self.dialect.name == "duckdb":
            return False
        return descending == (self.dialect.name == "postgres")

    def _never_null(self, expr: Expr) -> bool:
        if isinstance(expr, ColumnRef):
            return not self.scope.nullable(expr)
        return isinstance(expr, Aggregate) and expr.function == "count"

    def _label_for(self, expr: Expr) -> exp.Expression | None:
        """The name of the result column that holds this expression, if it was given one."""
        for item, label in zip(self.items, self.labels, strict=True):
            plain = isinstance(expr, ColumnRef) and expr.column == label
            if item.expr == expr and (not plain or self.plan.set_operation is not None):
                return exp.Column(this=_identifier(label))
        return None

    def _combined(self, left: exp.Query) -> exp.Query:
        operation = self.plan.set_operation
        if operation is None:
            return left
        right = _Compiler(operation.right, self.catalog, self.dialect).query()
        while isinstance(right, exp.SetOperation) and self._flattens(operation.op, operation.right):
            break
        nested = operation.right.set_operation is not None
        flat = nested and self._flattens(operation.op, operation.right)
        trimmed = any(right.args.get(key) is not None for key in ("order", "limit", "offset"))
        if (nested and not flat) or trimmed:
            right = self._enclosed(right)
        kind = _SET_OPERATIONS[operation.op]
        return kind(this=left, expression=right, distinct=operation.op != "union_all")

    def _flattens(self, op: str, right: QueryPlan) -> bool:
        inner = right.set_operation
        return op in _ASSOCIATIVE and inner is not None and inner.op == op

    def _enclosed(self, query: exp.Query) -> exp.Query:
        """SQLite has no brackets around the sides of a set operation; a derived table does the same everywhere."""
        derived = exp.Subquery(this=query, alias=exp.TableAlias(this=_identifier("part")))
        return exp.Select(expressions=[exp.Star()], from_=exp.From(this=derived))

    # Expressions.

    def expression(self, expr: Expr) -> exp.Expression:
        match expr:
            case ColumnRef():
                return self.column(expr)
            case Constant():
                return self.dialect.constant(expr.value, expr.type)
            case Aggregate():
                return self._aggregate(expr)
            case Arithmetic():
                return self._arithmetic(expr)
            case Bucket():
                return self.dialect.bucket(expr.unit, self.expression(expr.of))
            case DatePart():
                return self.dialect.part(expr.part, self.expression(expr.of))
            case DateDifference():
                return self.dialect.difference(expr.unit, self.expression(expr.start), self.expression(expr.end))
            case TextFunction():
                return call(expr.function.upper(), self.expression(expr.of))
            case MeasureRef():
                return self._measure(expr)
            case ScalarQuery():
                return exp.Subquery(this=_Compiler(expr.plan, self.catalog, self.dialect).query())

    def column(self, ref: ColumnRef) -> exp.Expression:
        table = _identifier(ref.table) if self.qualified else None
        return exp.Column(this=_identifier(ref.column), table=table)

    def _aggregate(self, expr: Aggregate) -> exp.Expression:
        of = exp.Star() if expr.of is None else self.expression(expr.of)
        if expr.distinct:
            of = exp.Distinct(expressions=[of])
        node = self._plain_aggregate(expr.function, of)
        if expr.where is None:
            return node
        return exp.Filter(this=node, expression=exp.Where(this=self.condition(expr.where)))

    def _plain_aggregate(self, function: str, of: exp.Expression) -> exp.Expression:
        if function == "median":
            return self.dialect.median(of)
        if function == "stddev":
            return self.dialect.stddev(of)
        return call(function.upper(), of)

    def _arithmetic(self, expr: Arithmetic) -> exp.Expression:
        left, right = self.expression(expr.left), self.expression(expr.right)
        if expr.op == "/":
            whole = {type_of(expr.left, self.scope), type_of(expr.right, self.scope)} <= {"integer", None}
            return self.dialect.divide(left, right, whole)
        return _ARITHMETIC[expr.op](this=grouped(left), expression=grouped(right))

    def _measure(self, ref: MeasureRef) -> exp.Expression:
        import sqlglot

        measure, alias = self.scope.measure(ref)
        node = sqlglot.parse_one(measure.expression, read=self.catalog.dialect)
        for column in node.find_all(exp.Column):
            column.set("table", _identifier(alias) if self.qualified else None)
        return node

    # Conditions.

    def condition(self, filter: Filter) -> exp.Expression:
        match filter:
            case Compare():
                return self._compare(filter)
            case TextMatch():
                return self._negated(self._match(filter), filter.negated)
            case InList():
                return self._in_list(filter)
            case InQuery():
                return self._in_query(filter)
            case Between():
                node = exp.Between(
                    this=grouped(self.expression(filter.left)),
                    low=grouped(self.expression(filter.low)),
                    high=grouped(self.expression(filter.high)),
                )
                return self._negated(node, filter.negated)
            case IsNull():
                node = exp.Is(this=grouped(self.expression(filter.left)), expression=exp.Null())
                return self._negated(node, filter.negated)
            case And():
                return exp.and_(*(self.condition(part) for part in filter.parts))
            case Or():
                return exp.or_(*(self.condition(part) for part in filter.parts))
            case Not():
                return exp.not_(self.condition(filter.part))

    def _negated(self, node: exp.Expression, negated: bool) -> exp.Expression:
        return exp.not_(node) if negated else node

    def _compare(self, filter: Compare) -> exp.Expression:
        left_type, right_type = type_of(filter.left, self.scope), type_of(filter.right, self.scope)
        left = self.dialect.comparable(self.expression(filter.left), left_type, right_type)
        right = self.dialect.comparable(self.expression(filter.right), right_type, left_type)
        return _COMPARISONS[filter.op](this=grouped(left), expression=grouped(right))

    def _match(self, filter: TextMatch) -> exp.Expression:
        left = self.expression(filter.left)
        if type_of(filter.left, self.scope) != "text":
            left = cast(left, "TEXT")
        return self.dialect.match(grouped(left), filter.how, filter.pattern)

    def _in_list(self, filter: InList) -> exp.Expression:
        left = grouped(self.expression(filter.left))
        values = [self.dialect.constant(value.value, value.type) for value in filter.values if value.value is not None]
        node: exp.Expression = exp.In(this=left, expressions=values)
        if len(values) < len(filter.values):
            missing = exp.Is(this=left.copy(), expression=exp.Null())
            node = exp.or_(node, missing) if values else missing
        return self._negated(node, filter.negated)

    def _in_query(self, filter: InQuery) -> exp.Expression:
        inner = _Compiler(filter.plan, self.catalog, self.dialect)
        query = inner.without_nulls() if filter.negated else inner.query()
        node = exp.In(this=grouped(self.expression(filter.left)), query=exp.Subquery(this=query))
        return self._negated(node, filter.negated)

    def without_nulls(self) -> exp.Query:
        """The query of a one-column plan, with rows that hold nothing left out."""
        plan, expr = self.plan, self.items[0].expr
        if self._never_null(expr) and plan.set_operation is None:
            return self.query()
        simple = plan.limit is None and not plan.offset and plan.set_operation is None and not plan.group_by
        if simple and not aggregates(expr):
            known: Filter = IsNull(left=expr, negated=True)
            where = known if plan.where is None else And(parts=(plan.where, known))
            return _Compiler(plan.model_copy(update={"where": where}), self.catalog, self.dialect).query()
        column = exp.Column(this=_identifier(self.labels[0]))
        query = self._enclosed(self.query())
        query.set("where", exp.Where(this=exp.not_(exp.Is(this=column, expression=exp.Null()))))
        return query

    # Names.

    def _must_qualify(self) -> bool:
        """With one table, bare column names read best, unless a result column takes another column's name."""
        if len(self.scope.tables) > 1:
            return True
        (table,) = self.scope.tables.values()
        names = {column.name.casefold() for column in table.columns}
        return any(
            label.casefold() in names and not (isinstance(item.expr, ColumnRef) and item.expr.column == label)
            for item, label in zip(self.items, self.labels, strict=True)
        )


def _identifier(name: str) -> exp.Identifier:
    return exp.to_identifier(name)


def _table(table: Table, alias: str) -> exp.Table:
    shown = exp.TableAlias(this=_identifier(alias)) if alias != table.name else None
    return exp.Table(this=_identifier(table.name), alias=shown)
