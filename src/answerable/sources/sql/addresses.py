"""Tables of other schemas: the catalog calls them by one name, and a statement needs schema and table."""

from collections.abc import Mapping, Sequence
from typing import Any

from answerable.core.values import Language
from answerable.query.sql.dialects import DIALECTS
from answerable.sources.sql.statements import Sql, literal, quoted


def addressed(sql: str, dialect: Language, addresses: Mapping[str, tuple[str, str]]) -> str:
    """The statement with schema and name of each table that needs both. The catalog calls a table of another schema
    `schema.table`, as one name. Only the names change: writing the statement anew could change its meaning."""
    if not any(name.casefold() in sql.casefold() for name in addresses):
        return sql
    if isinstance(sql, Sql):
        # The server's estimates are asked for by the name of a table as text.
        for table_name, parts in addresses.items():
            as_text = literal(quoted(table_name, dialect), dialect)
            sql = Sql(sql.replace(as_text, literal(".".join(quoted(part, dialect) for part in parts), dialect)))
    import sqlglot
    from sqlglot import exp

    from answerable.query.sql.names import folded

    try:
        statement = sqlglot.parse_one(sql, dialect=dialect)
    except sqlglot.ParseError:
        return sql  # an operator's own text; the engine says what is wrong with it
    defined = {cte.alias for cte in statement.find_all(exp.CTE)}
    places: list[tuple[int, int, str]] = []
    for table in statement.find_all(exp.Table):
        name = folded(table.this, dialect) if isinstance(table.this, exp.Identifier) else table.name
        address = None if table.db or table.name in defined else addresses.get(name) or addresses.get(table.name)
        if address:
            written = ".".join(quoted(part, dialect) for part in address)
            if name != address[-1] and not table.alias:
                written += f" AS {quoted('.'.join(address), dialect)}"
            places.append((table.this.meta["start"], table.this.meta["end"] + 1, written))
    # From the end to the start, so that no change moves a place that is still to come.
    for start, end, written in sorted(places, reverse=True):
        sql = sql[:start] + written + sql[end:]
    return sql


def addresses_of(tables: Sequence[Mapping[str, Any]], dialect: Language) -> dict[str, tuple[str, str]]:
    """Schema and table of those names that need both."""
    needs_all = DIALECTS[dialect].needs_schema
    return {
        table["name"]: tuple(table["address"]) for table in tables if needs_all or table["name"] != table["address"][-1]
    }
