"""Names of a plan, resolved: which table an alias stands for, how tables are joined, what type an expression has."""

import difflib
from collections.abc import Iterable, Iterator, Mapping

from answerable.core.catalog import Catalog, Column, Measure, Relationship, Table
from answerable.core.errors import UserError, not_visible
from answerable.core.records import dataclass
from answerable.core.values import ColumnType
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
    QueryPlan,
    ScalarQuery,
    SelectItem,
    TextFunction,
    TextMatch,
)

TEMPORAL: frozenset[ColumnType] = frozenset({"date", "datetime"})
NUMERIC: frozenset[ColumnType] = frozenset({"integer", "number"})


def invalid(path: str, message: str, hint: str | None = None) -> UserError:
    """The error for a plan that cannot be compiled; it names the field."""
    return UserError(f"{path}: {message}" if path else message, code="plan_invalid", hint=hint, path=path)


def nearest(name: str, known: Iterable[str]) -> str | None:
    """A hint that names what was probably meant."""
    by_folded = {candidate.casefold(): candidate for candidate in known}
    close = difflib.get_close_matches(name.casefold(), by_folded, n=3, cutoff=0.55)
    if close:
        return "Did you mean " + " or ".join(repr(by_folded[key]) for key in close) + "?"
    shown = sorted(by_folded.values())
    if not shown:
        return None
    return "Known: " + ", ".join(shown[:12]) + (", …" if len(shown) > 12 else ".")


@dataclass(frozen=True, slots=True)
class ResolvedJoin:
    alias: str
    table: Table
    pairs: tuple[tuple[ColumnRef, ColumnRef], ...]
    """The table already there on the left, the new one on the right."""
    outer: bool


@dataclass(frozen=True, slots=True)
class Scope:
    """The tables of one plan by alias. Sub-plans have scopes of their own and see nothing of the outer one."""

    catalog: Catalog
    tables: Mapping[str, Table]
    joins: tuple[ResolvedJoin, ...]

    def column(self, ref: ColumnRef, path: str = "") -> Column:
        table = self.tables.get(ref.table)
        if table is None:
            hint = nearest(ref.table, self.tables)
            raise invalid(f"{path}.table", f"{ref.table!r} is not a table of this plan.", hint)
        column = table.column(ref.column)
        if column is None:
            _refuse_hidden(self.catalog, table.name, ref.column)
            hint = nearest(ref.column, (column.name for column in table.columns))
            raise invalid(f"{path}.column", f"{table.name!r} has no column {ref.column!r}.", hint)
        return column

    def measure(self, ref: MeasureRef, path: str = "") -> tuple[Measure, str]:
        """The measure and the alias of its table in this plan."""
        measure = self.catalog.measure(ref.name)
        if measure is None:
            hint = nearest(ref.name, (measure.name for measure in self.catalog.measures))
            raise invalid(f"{path}.name", f"There is no measure {ref.name!r}.", hint)
        aliases = [alias for alias, table in self.tables.items() if table.name == measure.table]
        if ref.table is not None:
            aliases = [alias for alias in aliases if alias == ref.table]
        if not aliases:
            hint = f"Join {measure.table!r} first."
            raise invalid(f"{path}.name", f"The measure {ref.name!r} needs the table {measure.table!r}.", hint)
        if len(aliases) > 1:
            hint = "Set `table` to one of " + ", ".join(aliases) + "."
            raise invalid(f"{path}.table", f"The table of measure {ref.name!r} occurs several times.", hint)
        return measure, aliases[0]

    def nullable(self, ref: ColumnRef) -> bool:
        if any(join.alias == ref.table and join.outer for join in self.joins):
            return True
        return self.column(ref).nullable


def scope_of(plan: QueryPlan, catalog: Catalog, path: str = "") -> Scope:
    entity = _table(catalog, plan.entity, f"{path}entity")
    tables = {plan.alias or plan.entity: entity}
    joins: list[ResolvedJoin] = []
    for number, join in enumerate(plan.joins):
        where = f"{path}joins[{number}]"
        resolved = _resolve_join(join, tables, catalog, where)
        tables[resolved.alias] = resolved.table
        joins.append(resolved)
    return Scope(catalog, tables, tuple(joins))


def selected(plan: QueryPlan, scope: Scope) -> tuple[SelectItem, ...]:
    """What the plan selects, with "every column of the entity" spelled out."""
    if plan.select:
        return plan.select
    alias = plan.alias or plan.entity
    return tuple(SelectItem(expr=ColumnRef(table=alias, column=column.name)) for column in scope.tables[alias].columns)


def _table(catalog: Catalog, name: str, path: str) -> Table:
    table = catalog.table(name)
    if table is None:
        _refuse_hidden(catalog, name)
        hint = nearest(name, (table.name for table in catalog.tables))
        raise invalid(path, f"There is no table {name!r}.", hint)
    return table


def _refuse_hidden(catalog: Catalog, table: str, column: str | None = None) -> None:
    """Raises `RefusedError` if the name exists and may not be seen."""
    for hidden in catalog.hidden:
        if (hidden.table, hidden.column) == (table, column):
            what = f"the table {table!r}" if column is None else f"the column {column!r} of {table}"
            raise not_visible(what, hidden.rule, catalog.contact)


def _resolve_join(join: Join, tables: Mapping[str, Table], catalog: Catalog, path: str) -> ResolvedJoin:
    table = _table(catalog, join.table, f"{path}.table")
    alias = join.alias or join.table
    if alias.casefold() in {known.casefold() for known in tables}:
        raise invalid(f"{path}.alias", f"The name {alias!r} is taken.", "Give each use of a table its own alias.")
    if join.relationship is not None:
        pairs = _pairs_of_relationship(join, alias, tables, catalog, path)
    elif join.on:
        pairs = tuple(_ordered_pair(pair, alias, tables, f"{path}.on[{n}]") for n, pair in enumerate(join.on))
    else:
        raise invalid(
            path, f"Nothing says how to join {join.table!r}.", "Name a relationship or pairs of columns in `on`."
        )
    scope = Scope(catalog, {**tables, alias: table}, ())
    for number, pair in enumerate(pairs):
        for ref in pair:
            scope.column(ref, f"{path}.relationship" if join.relationship else f"{path}.on[{number}]")
    return ResolvedJoin(alias, table, pairs, join.outer)


def _pairs_of_relationship(
    join: Join, alias: str, tables: Mapping[str, Table], catalog: Catalog, path: str
) -> tuple[tuple[ColumnRef, ColumnRef], ...]:
    relationship = catalog.relationship(join.relationship or "")
    if relationship is None:
        hint = nearest(join.relationship or "", (relationship.name for relationship in catalog.relationships))
        raise invalid(f"{path}.relationship", f"There is no relationship {join.relationship!r}.", hint)
    there, here, other = _direction(relationship, join.table, f"{path}.relationship")
    candidates = [known for known, table in tables.items() if table.name == other]
    if join.via is not None:
        candidates = [known for known in candidates if known == join.via]
    if not candidates:
        message = (
            f"{other!r}, where the relationship {relationship.name!r} starts, is not in the plan before this join."
        )
        raise invalid(f"{path}.via", message, "Join it first, or correct `via`.")
    if len(candidates) > 1:
        hint = "Set `via` to one of " + ", ".join(candidates) + "."
        raise invalid(f"{path}.via", f"The relationship {relationship.name!r} could start from several tables.", hint)
    via = candidates[0]
    return tuple(
        (ColumnRef(table=via, column=left), ColumnRef(table=alias, column=right))
        for left, right in zip(there, here, strict=True)
    )


def _direction(relationship: Relationship, table: str, path: str) -> tuple[tuple[str, ...], tuple[str, ...], str]:
    """Columns of the known table, columns of the new one, and the known table's name. A relationship of a table with
    itself is followed from many to one; the other way is written with `on`."""
    if relationship.to_table == table:
        return relationship.from_columns, relationship.to_columns, relationship.from_table
    if relationship.from_table == table:
        return relationship.to_columns, relationship.from_columns, relationship.to_table
    ends = f"{relationship.from_table!r} and {relationship.to_table!r}"
    raise invalid(path, f"The relationship {relationship.name!r} is between {ends}, not {table!r}.")


def _ordered_pair(
    pair: tuple[ColumnRef, ColumnRef], alias: str, tables: Mapping[str, Table], path: str
) -> tuple[ColumnRef, ColumnRef]:
    left, right = pair
    if left.table == alias:
        left, right = right, left
    if right.table != alias or left.table not in tables:
        message = f"A pair must connect {alias!r} with a table that is already in the plan."
        raise invalid(path, message, "Already there: " + ", ".join(tables) + ".")
    return left, right


def children(expr: Expr) -> Iterator[tuple[str, Expr]]:
    """Direct sub-expressions of the same plan, with their field names."""
    match expr:
        case Aggregate() if expr.of is not None:
            yield "of", expr.of
        case Bucket() | DatePart() | TextFunction():
            yield "of", expr.of
        case Arithmetic():
            yield "left", expr.left
            yield "right", expr.right
        case DateDifference():
            yield "start", expr.start
            yield "end", expr.end


def operands(filter: Filter, path: str = "") -> Iterator[tuple[str, Expr]]:
    """The expressions that a filter compares, wherever they stand in it, with their field paths."""
    match filter:
        case And() | Or():
            for number, part in enumerate(filter.parts):
                yield from operands(part, f"{path}.parts[{number}]")
        case Not():
            yield from operands(filter.part, f"{path}.part")
        case Compare():
            yield f"{path}.left", filter.left
            yield f"{path}.right", filter.right
        case Between():
            yield f"{path}.left", filter.left
            yield f"{path}.low", filter.low
            yield f"{path}.high", filter.high
        case TextMatch() | InList() | InQuery() | IsNull():
            yield f"{path}.left", filter.left


def aggregates(expr: Expr) -> bool:
    """Whether the expression is computed from groups of rows."""
    if isinstance(expr, Aggregate | MeasureRef):
        return True
    return any(aggregates(child) for _, child in children(expr))


def type_of(expr: Expr, scope: Scope) -> ColumnType | None:
    """The type of a valid expression, or None if it is not known (a null, a measure)."""
    match expr:
        case ColumnRef():
            return scope.column(expr).type
        case Constant():
            return _type_of_constant(expr)
        case Aggregate():
            return _type_of_aggregate(expr, scope)
        case Arithmetic():
            both = {type_of(expr.left, scope), type_of(expr.right, scope)}
            return "integer" if both == {"integer"} and expr.op != "/" else "number"
        case Bucket():
            return "datetime" if expr.unit in ("second", "minute", "hour") else "date"
        case DatePart():
            return "integer"
        case DateDifference():
            days = expr.unit == "day" and type_of(expr.start, scope) == type_of(expr.end, scope) == "date"
            return "integer" if days else "number"
        case TextFunction():
            return "integer" if expr.function == "length" else "text"
        case ScalarQuery():
            inner = scope_of(expr.plan, scope.catalog)
            return type_of(selected(expr.plan, inner)[0].expr, inner)
        case MeasureRef():
            return None


def _type_of_constant(constant: Constant) -> ColumnType | None:
    if constant.type is not None:
        return constant.type
    match constant.value:
        case bool():
            return "boolean"
        case int():
            return "integer"
        case float():
            return "number"
        case str():
            return "text"
    return None


def _type_of_aggregate(expr: Aggregate, scope: Scope) -> ColumnType | None:
    if expr.function == "count" or expr.of is None:
        return "integer"
    if expr.function in ("avg", "median", "stddev"):
        return "number"
    return type_of(expr.of, scope)
