"""Splits a plan over several sources: one query for each source, and the query that combines their rows.

Each table gives only the columns that the whole needs, and only the rows that its own conditions leave over; the whole
query then runs over those rows. Conditions are applied there again, so what a source filters is never more than what
would fall away anyway.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import sqlglot
from sqlglot import exp

from answerable.core.values import ColumnType, Json
from answerable.query.merged import Merged, Origin
from answerable.query.plan import And, ColumnRef, Filter, QueryPlan, SelectItem
from answerable.query.sql.check import CheckedSql, checked
from answerable.query.sql.dialects import DIALECTS, FRAMES_DIALECT
from answerable.query.sql.to_sql import to_sql

_NOT_PUSHED = frozenset({"aggregate", "measure", "query", "in_query"})
_OWN_LETTERS = frozenset({"match", "text"})
"""What is upper and lower case beyond ASCII, other engines decide otherwise than the one that combines."""
_CASTS: dict[ColumnType, exp.DType] = {
    "integer": exp.DType.BIGINT,
    "number": exp.DType.DOUBLE,
    "boolean": exp.DType.BOOLEAN,
    "date": exp.DType.DATE,
    "datetime": exp.DType.TIMESTAMP,
    "time": exp.DType.TIME,
}
"""SQLite has no such types for sure: its rows say what they are only by their values."""


@dataclass(frozen=True, slots=True)
class Alone:
    """One source can answer it all."""

    source: str
    plan: QueryPlan
    """In the source's own names."""


@dataclass(frozen=True, slots=True)
class Fetch:
    """The rows of one table, under the name that the combining query knows it by."""

    name: str
    source: str
    plan: QueryPlan


@dataclass(frozen=True, slots=True)
class Together:
    fetches: tuple[Fetch, ...]
    sql: str
    """Over the rows that were fetched, in the dialect of the engine that combines."""


def split(plan: QueryPlan, merged: Merged) -> Alone | Together:
    """The plan is in the names of the merged catalog."""
    read = checked(to_sql(plan, merged.catalog), merged.catalog)
    sources = {merged.origins[name].source for name in read.tables}
    if len(sources) == 1:
        return Alone(sources.pop(), QueryPlan.model_validate(_in_own_names(plan.model_dump(mode="json"), merged)))
    names = [name for name in merged.origins if name in read.tables]
    fetches = [
        fetched(name, columns_read(name, read, merged), _pushed(plan, name, merged), merged.origins[name])
        for name in names
    ]
    return Together(tuple(fetches), typed(read, merged))


def columns_read(name: str, read: CheckedSql, merged: Merged) -> list[str]:
    """The columns of one table, in its order; at least one, so that its rows can be counted."""
    table = merged.catalog.table(name)
    assert table is not None
    wanted = read.columns.get(name, frozenset())
    return [column.name for column in table.columns if column.name in wanted] or [table.columns[0].name]


def fetched(name: str, columns: Sequence[str], where: Sequence[Filter], origin: Origin) -> Fetch:
    """These columns of a table, of the rows that the conditions leave over."""
    select = [SelectItem(expr=ColumnRef(table=origin.table, column=column), label=column) for column in columns]
    own = [_about(condition, origin.table) for condition in where]
    condition = None if not own else own[0] if len(own) == 1 else And(parts=tuple(own))
    return Fetch(name, origin.source, QueryPlan(entity=origin.table, select=tuple(select), where=condition))


# Conditions that the source itself can apply


def _pushed(plan: QueryPlan, name: str, merged: Merged) -> list[Filter]:
    """Conditions of the outermost plan that speak of this table alone, where it is used once and not as an outer join:
    there, a row that is missing is not the same as a row that is filtered."""
    if Counter(_tables(plan.model_dump(mode="json")))[name] != 1:
        return []
    aliases = [plan.alias or plan.entity] if plan.entity == name else []
    aliases += [join.alias or join.table for join in plan.joins if join.table == name and not join.outer]
    not_pushed = _NOT_PUSHED if merged.origins[name].dialect == FRAMES_DIALECT else _NOT_PUSHED | _OWN_LETTERS
    return [each for each in _conjuncts(plan.where) if aliases and _speaks_only_of(each, aliases[0], not_pushed)]


def _conjuncts(where: Filter | None) -> Iterator[Filter]:
    if isinstance(where, And):
        for part in where.parts:
            yield from _conjuncts(part)
    elif where is not None:
        yield where


def _speaks_only_of(condition: Filter, alias: str, not_pushed: frozenset[str]) -> bool:
    parts = list(_objects(condition.model_dump(mode="json")))
    tables = {part["table"] for part in parts if part.get("kind") == "column"}
    return tables == {alias} and not any(part.get("kind") in not_pushed for part in parts)


def _about(condition: Filter, table: str) -> Filter:
    """The condition, on a table of another name."""

    def renamed(value: Json) -> Json:
        if isinstance(value, dict):
            changed = {"table": table} if value.get("kind") == "column" else {}
            return {key: renamed(item) for key, item in value.items()} | changed
        return [renamed(item) for item in value] if isinstance(value, list) else value

    return type(condition).model_validate(renamed(condition.model_dump(mode="json")))


def _tables(document: Json) -> Iterator[str]:
    """Every use of a table, in sub-plans too."""
    for each in _objects(document):
        if "entity" in each:
            yield each["entity"]
            yield from (join["table"] for join in each["joins"])


def _objects(document: Json) -> Iterator[dict[str, Json]]:
    if isinstance(document, dict):
        yield document
    items = document.values() if isinstance(document, dict) else document if isinstance(document, list) else ()
    for item in items:
        yield from _objects(item)


# Names and types


def _in_own_names(document: Json, merged: Merged) -> Json:
    """A plan with the names that its tables, relationships and measures have in their source."""
    if isinstance(document, list):
        return [_in_own_names(item, merged) for item in document]
    if not isinstance(document, dict):
        return document
    own = {key: _in_own_names(value, merged) for key, value in document.items()}
    if "entity" in own:
        own |= _own_table("entity", own, merged)
        own["joins"] = [
            join | _own_table("table", join, merged) | _own_name("relationship", join, merged) for join in own["joins"]
        ]
    return own | _own_name("name", own, merged) if own.get("kind") == "measure" else own


def _own_table(key: str, used: dict[str, Json], merged: Merged) -> dict[str, Json]:
    """What it was called so far stays its alias, by which columns name it."""
    table = merged.origins[used[key]].table
    return {key: table, "alias": used["alias"] or (used[key] if table != used[key] else None)}


def _own_name(key: str, used: dict[str, Json], merged: Merged) -> dict[str, Json]:
    return {key: merged.original_names.get(used[key], used[key])}


def typed(read: CheckedSql, merged: Merged) -> str:
    """The combining query, with what rows of SQLite are said to be."""
    tree = sqlglot.parse_one(read.text, dialect=FRAMES_DIALECT)
    for table in stored_tables(tree):
        origin = merged.origins[table.name]
        if not DIALECTS[origin.dialect].columns_are_typed:
            columns = columns_read(table.name, read, merged)
            table.replace(
                _cast(table.name, columns, merged).subquery(exp.to_identifier(table.alias_or_name, quoted=True))
            )
    return tree.sql(dialect=FRAMES_DIALECT)


def stored_tables(tree: exp.Expr, cte_names: frozenset[str] = frozenset()) -> list[exp.Table]:
    """Every use of a stored table. `cte_names`: the common table expressions that are visible in this part."""
    if isinstance(tree, exp.Table) and (tree.db or tree.name.casefold() not in cte_names):
        return [tree, *_stored_within(tree, cte_names)]
    found: list[exp.Table] = []
    with_ = tree.args.get("with_") or exp.With()
    for each in with_.expressions:
        own_name = frozenset({each.alias.casefold()})
        # Only a recursive one can read itself; without that word, its name in its body is a stored table's.
        found += stored_tables(each.this, cte_names | own_name if with_.args.get("recursive") else cte_names)
        cte_names |= own_name
    return [*found, *_stored_within(tree, cte_names)]


def _stored_within(tree: exp.Expr, cte_names: frozenset[str]) -> list[exp.Table]:
    parts = [each for each in tree.iter_expressions() if not isinstance(each, exp.With)]
    return [table for part in parts for table in stored_tables(part, cte_names)]


def _cast(name: str, columns: Sequence[str], merged: Merged) -> exp.Select:
    table = merged.catalog.table(name)
    assert table is not None
    items = []
    for column_name in columns:
        column = table.column(column_name)
        assert column is not None
        value: exp.Expr = exp.column(column_name, quoted=True)
        if column.type == "datetime":
            value = exp.cast(value, exp.DType.TIMESTAMPTZ)  # times with an offset are those of UTC, as in SQLite
        if column.type in _CASTS:
            value = exp.cast(value, _CASTS[column.type])
        items.append(exp.alias_(value, column_name, quoted=True))
    return exp.select(*items).from_(exp.table_(name, quoted=True))
