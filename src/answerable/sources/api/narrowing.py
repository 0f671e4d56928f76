"""Which rows a statement can need at most: what it demands of the columns of each table.

Only what surely holds is used, and the statement itself runs over the rows that were fetched, so that a demand that is
not recognised costs calls and never changes the answer.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from sqlglot import exp, parse_one

from answerable.core.values import Language, Scalar


@dataclass(frozen=True, slots=True)
class NeededRows:
    """What a statement reads of one table."""

    table: str
    demands: Mapping[str, tuple[Scalar, ...]] = field(default_factory=dict)
    """Columns with the values of which one must be there."""
    joined_to: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    """Of own columns that must equal a column of another table: that table and its column."""
    bounds: Mapping[str, tuple[str | None, str | None]] = field(default_factory=dict)
    """Columns with the least and the greatest text that they may hold; None for no bound."""


def needed_rows(sql: str, dialect: Language, tables: Sequence[str]) -> dict[str, NeededRows]:
    """The rows that a statement needs, for each table of the source that it names."""
    by_name = {table.casefold(): table for table in tables}
    named: dict[str, list[exp.Table]] = {}
    for node in parse_one(sql, dialect=dialect).find_all(exp.Table):
        if node.name.casefold() in by_name:
            named.setdefault(by_name[node.name.casefold()], []).append(node)
    # A table that is named twice may need other rows at each place.
    single = {table: _read_as(nodes[0]) for table, nodes in named.items() if len(nodes) == 1}
    return {table: _needed(table, single[table], single) if table in single else NeededRows(table) for table in named}


def _read_as(node: exp.Table) -> exp.Table | exp.Subquery:
    """The table, or the sub-select around it that only leaves out columns: what is hidden is taken away so."""
    select = node.parent_select
    if not isinstance(select, exp.Select) or not isinstance(select.parent, exp.Subquery):
        return node
    clauses = {name for name, value in select.args.items() if value} - {"expressions", "from_"}
    if clauses or not all(type(column) is exp.Column for column in select.expressions):
        return node
    return select.parent


def _needed(table: str, node: exp.Table | exp.Subquery, single: Mapping[str, exp.Table | exp.Subquery]) -> NeededRows:
    select = node.parent_select
    if select is None or node.find_ancestor(exp.SetOperation) is not None:
        return NeededRows(table)
    aliases = {one.alias_or_name.casefold(): name for name, one in single.items() if one.parent_select is select}
    alone = len(select.args.get("joins") or ()) == 0
    where = select.args.get("where")
    demands: dict[str, tuple[Scalar, ...]] = {}
    bounds: dict[str, tuple[str | None, str | None]] = {}
    for condition in (
        where.this.flatten() if where and isinstance(where.this, exp.And) else [where.this] if where else []
    ):
        found = _demand(condition, node.alias_or_name, alone)
        if found is not None:
            demands.setdefault(*found)
        bound = _bound(condition, node.alias_or_name, alone)
        if bound is not None:
            column, (least, greatest) = bound
            known = bounds.get(column, (None, None))
            bounds[column] = (known[0] or least, known[1] or greatest)
    joined: dict[str, tuple[str, str]] = {}
    for join in select.args.get("joins") or ():
        on = join.args.get("on")
        for condition in on.flatten() if isinstance(on, exp.And) else [on]:
            link = _link(condition, node.alias_or_name, aliases)
            if link is not None:
                joined.setdefault(*link)
    return NeededRows(table, demands, joined, bounds)


def _demand(condition: exp.Expr, alias: str, alone: bool) -> tuple[str, tuple[Scalar, ...]] | None:
    condition = condition.unnest()
    if isinstance(condition, exp.EQ):
        sides = (condition.this, condition.expression)
        for column, literal in (sides, sides[::-1]):
            if _is_column_of(column, alias, alone) and isinstance(literal, exp.Literal):
                return column.name, (_value(literal),)
    if isinstance(condition, exp.In) and _is_column_of(condition.this, alias, alone):
        listed = condition.expressions
        if listed and all(isinstance(each, exp.Literal) for each in listed):
            return condition.this.name, tuple(map(_value, listed))
    return None


def _bound(condition: exp.Expr, alias: str, alone: bool) -> tuple[str, tuple[str | None, str | None]] | None:
    """A column with the bounds that a comparison with a text gives it."""
    condition = condition.unnest()
    if isinstance(condition, exp.Between):
        texts = [_text(condition.args[end]) for end in ("low", "high")]
        column, found = condition.this, (texts[0], texts[1])
    elif isinstance(condition, exp.GT | exp.GTE | exp.LT | exp.LTE):
        column, text = condition.this, _text(condition.expression)
        found = (text, None) if isinstance(condition, exp.GT | exp.GTE) else (None, text)
    else:
        return None
    return (column.name, found) if _is_column_of(column, alias, alone) and any(found) else None


def _text(node: exp.Expr) -> str | None:
    node = node.this if isinstance(node, exp.Cast) else node
    return str(node.this) if isinstance(node, exp.Literal) and node.is_string else None


def _link(condition: exp.Expr | None, alias: str, aliases: Mapping[str, str]) -> tuple[str, tuple[str, str]] | None:
    condition = condition.unnest() if condition is not None else None
    if not isinstance(condition, exp.EQ):
        return None
    sides = (condition.this, condition.expression)
    for own, other in (sides, sides[::-1]):
        if _is_column_of(own, alias, False) and isinstance(other, exp.Column) and other.table.casefold() in aliases:
            return own.name, (aliases[other.table.casefold()], other.name)
    return None


def _is_column_of(node: exp.Expr, alias: str, alone: bool) -> bool:
    if not isinstance(node, exp.Column):
        return False
    return node.table.casefold() == alias.casefold() if node.table else alone


def _value(literal: exp.Literal) -> Scalar:
    if literal.is_string:
        return str(literal.this)
    text = str(literal.this)
    return int(text) if text.isdecimal() else float(text)
