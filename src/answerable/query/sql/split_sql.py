"""Splits SQL that somebody wrote over the tables of several sources, as `split.py` splits a plan.

A table is named `source.table`, or by its name alone where only one source has it. A query whose tables are all of one
source goes there as it is, in that source's own dialect; else each table gives the columns that the whole needs, and
the whole, in the dialect of the engine that combines, runs over those rows.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sqlglot import exp

from answerable.core.errors import UserError
from answerable.query.merged import Merged
from answerable.query.scope import nearest
from answerable.query.sql.check import checked, parsed
from answerable.query.sql.dialects import FRAMES_DIALECT
from answerable.query.sql.names import address
from answerable.query.sql.split import Together, columns_read, fetched, stored_tables, typed


@dataclass(frozen=True, slots=True)
class AloneSql:
    """One source can answer it all."""

    source: str
    sql: str
    """In the source's own names and dialect."""


def split_sql(sql: str, merged: Merged) -> AloneSql | Together:
    """Splits a statement that nobody has checked. Every part of the result must still be checked where it runs."""
    used = {name for _, name in _used(_readable(sql, merged), merged)}
    # Any source can run a statement without tables; the first one does.
    sources = {merged.origins[name].source for name in used} or {next(iter(merged.labels))}
    if len(sources) == 1:
        return _alone(sql, sources.pop(), merged)
    tree = parsed(sql, FRAMES_DIALECT)
    _in_merged_names(tree, merged)
    read = checked(tree.sql(dialect=FRAMES_DIALECT), merged.catalog)
    fetches = [
        fetched(name, columns_read(name, read, merged), (), origin)
        for name, origin in merged.origins.items()
        if name in read.tables
    ]
    return Together(tuple(fetches), typed(read, merged))


def meant(name: str, merged: Merged) -> list[str]:
    """The tables of the merged catalog that somebody may mean by a name alone."""
    if name in merged.origins:
        return [name]
    return [known for known, origin in merged.origins.items() if origin.table.casefold() == name.casefold()]


def ambiguous(name: str, written: Sequence[str]) -> UserError:
    return UserError(
        f"Several sources have a table {name!r}.", code="table_ambiguous", hint=f"Write {' or '.join(written)}."
    )


def _readable(sql: str, merged: Merged) -> exp.Query:
    """Parses a statement in the dialect of any source, or in that of the engine that combines: nobody knows yet whose
    it is."""
    for dialect in dict.fromkeys(origin.dialect for origin in merged.origins.values()):
        try:
            return parsed(sql, dialect)
        except UserError:
            continue
    return parsed(sql, FRAMES_DIALECT)


def _used(tree: exp.Query, merged: Merged) -> Iterator[tuple[exp.Table, str]]:
    """Every use of a table of a source, with its name in the merged catalog. Others are left for the check to judge."""
    for table in stored_tables(tree):
        parts = _parts(table, "catalog", "db", "this")
        source = _labelled(parts, merged)
        if source is not None:
            yield table, _of_source(source, ".".join(parts[1:]), merged)
        else:
            found = meant(".".join(parts), merged)
            if len(found) > 1:
                raise ambiguous(table.name, [_written(name, merged) for name in found])
            yield from ((table, name) for name in found)


def _parts(node: exp.Expr, *keys: str) -> list[str]:
    """The words of a dotted name."""
    return [each.name for each in (node.args.get(key) for key in keys) if isinstance(each, exp.Identifier)]


def _labelled(parts: Sequence[str], merged: Merged) -> str | None:
    """The source that a dotted name begins with."""
    labels = {label.casefold(): source for source, label in merged.labels.items()}
    return labels.get(parts[0].casefold()) if len(parts) > 1 else None


def _of_source(source: str, table: str, merged: Merged) -> str:
    own = {origin.table.casefold(): name for name, origin in merged.origins.items() if origin.source == source}
    if table.casefold() not in own:
        hint = nearest(table, (merged.origins[name].table for name in own.values()))
        message = f"The source {merged.labels[source]!r} has no table {table!r}."
        raise UserError(message, code="sql_table_unknown", hint=hint)
    return own[table.casefold()]


def _written(name: str, merged: Merged) -> str:
    origin = merged.origins[name]
    return f"{merged.labels[origin.source]}.{origin.table}"


def _alone(sql: str, source: str, merged: Merged) -> AloneSql:
    dialects = (each.dialect for each in merged.origins.values() if each.source == source)
    dialect = next(dialects, FRAMES_DIALECT)
    tree = parsed(sql, dialect)
    for table, name in list(_used(tree, merged)):
        schema, own = address(merged.origins[name].table, dialect)
        _set_name(table, own, schema)
    for column in tree.find_all(exp.Column):
        if _labelled(_parts(column, "catalog", "db", "table"), merged) == source:
            column.set("catalog", None)
            column.set("db", None)
    return AloneSql(source, tree.sql(dialect=dialect))


def _in_merged_names(tree: exp.Query, merged: Merged) -> None:
    """Tables under the names that their rows will have; what the statement calls them stays as their alias."""
    used = list(_used(tree, merged))
    called = {name: table.name for table, name in used}
    # Tables of one name from two sources get the merged names, so that no two aliases are equal.
    alike = [name.casefold() for name in called.values()]
    called = {name: own if alike.count(own.casefold()) == 1 else name for name, own in called.items()}
    for table, name in used:
        alias = table.alias or called[name]
        _set_name(table, name)
        table.set("alias", exp.TableAlias(this=exp.to_identifier(alias, quoted=True)))
    for column in tree.find_all(exp.Column):
        parts = _parts(column, "catalog", "db", "table")
        source = _labelled(parts, merged)
        if source is not None:
            name = _of_source(source, ".".join(parts[1:]), merged)
            column.set("table", exp.to_identifier(called.get(name, parts[-1]), quoted=True))
            column.set("catalog", None)
            column.set("db", None)


def _set_name(table: exp.Table, name: str, schema: str | None = None) -> None:
    table.set("this", exp.to_identifier(name, quoted=True))
    table.set("db", exp.to_identifier(schema, quoted=True) if schema else None)
    table.set("catalog", None)
