"""Tables that are joined without a condition multiply their rows: three of them are a bomb or a slip."""

from collections.abc import Iterator, Mapping

from sqlglot import exp

from answerable.core.errors import RefusedError
from answerable.core.values import Language
from answerable.query.sql.names import folded

MAX_UNCONNECTED = 2
"""Tables, or groups of joined tables, that one SELECT may multiply with each other."""


def refuse_multiplication(node: exp.Select, columns: Mapping[str, Mapping[str, object]], dialect: Language) -> None:
    """`columns`: of each table that may have more than one row, by the name that it has in the SELECT."""
    groups = {name: name for name in columns}

    def root(name: str) -> str:
        while groups[name] != name:
            name = groups[name]
        return name

    if len(groups) <= MAX_UNCONNECTED:
        return
    owners: dict[str, list[str]] = {}
    for name in groups:
        for key in columns[name]:
            owners.setdefault(key, []).append(name)
    for names in _connections(node, owners, dialect):
        present = [name for name in names if name in groups]
        for name in present[1:]:
            groups[root(name)] = root(present[0])
    if len({root(name) for name in groups}) > MAX_UNCONNECTED:
        raise RefusedError(
            f"{len(groups)} tables are combined without conditions between them.",
            code="sql_cross_join",
            hint="Join each table on columns that belong together.",
        )


def _connections(node: exp.Select, owners: Mapping[str, list[str]], dialect: Language) -> Iterator[list[str]]:
    """The tables whose columns one comparison of FROM or WHERE holds, for every comparison."""
    conditions = [node.args["where"]] if node.args.get("where") else []
    for join in node.args.get("joins") or ():
        # A natural join writes no condition: tables that share the name of a column count as connected.
        if join.args.get("method"):
            yield from owners.values()
        yield from (
            owners.get(folded(name if isinstance(name, exp.Identifier) else name.this, dialect), [])
            for name in join.args.get("using") or ()
        )
        if join.args.get("on") is not None:
            conditions.append(join.args["on"])
    for condition in conditions:
        for comparison in condition.find_all(exp.Binary, exp.Between):
            if not isinstance(comparison, exp.Connector):
                yield [name for column in comparison.find_all(exp.Column) for name in _owner(column, owners, dialect)]


def _owner(column: exp.Column, owners: Mapping[str, list[str]], dialect: Language) -> list[str]:
    if column.table:
        return [folded(column.args["table"], dialect)]
    return [] if column.is_star else owners.get(folded(column.this, dialect), [])[:1]
