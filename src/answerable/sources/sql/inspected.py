"""What a worker reports of a database's tables and keys, as parts of a catalog."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from answerable.core.catalog import Column, Connection, Relationship, Table, Warning


def reported_table(found: Mapping[str, Any], fingerprints: Mapping[str, str]) -> Table:
    return Table(
        name=found["name"],
        columns=tuple(Column(**column) for column in found["columns"]),
        primary_key=tuple(found["primary_key"]),
        fingerprint=fingerprints.get(found["name"], ""),
        description=found.get("description"),
        row_count=found.get("row_count"),
        connections=tuple(Connection(**connection) for connection in found.get("connections", ())),
    )


def tables_left_out(found: Sequence[tuple[str, str]]) -> Iterator[Warning]:
    for name, reason in found:
        yield Warning(subject=name, message=f"is left out, because the database cannot read it: {reason}")


def declared_relationships(keys: Sequence[Mapping[str, Any]], tables: Sequence[Table]) -> tuple[Relationship, ...]:
    """The foreign keys that lead to columns that exist. A key that names no column of the other table points to its
    primary key."""
    by_name = {table.name.casefold(): table for table in tables}
    found: dict[str, Relationship] = {}
    for key in keys:
        source, target = by_name.get(key["from_table"].casefold()), by_name.get(key["to_table"].casefold())
        if source is None or target is None:
            continue
        own = _real_names(source, key["from_columns"])
        other = _real_names(target, key["to_columns"] or target.primary_key)
        if own and len(own) == len(other):
            relationship = _declared(source.name, own, target.name, other)
            found[relationship.name] = relationship
    return tuple(found.values())


def _real_names(table: Table, names: Sequence[str]) -> tuple[str, ...]:
    """The columns as the source writes them; empty if one does not exist. Keys may name them in another case."""
    by_name = {column.name.casefold(): column.name for column in table.columns}
    real = [by_name[name.casefold()] for name in names if name.casefold() in by_name]
    return tuple(real) if len(real) == len(names) else ()


def _declared(from_table: str, own: tuple[str, ...], to_table: str, other: tuple[str, ...]) -> Relationship:
    from answerable.sources.sql.relationships import relationship_name

    return Relationship(
        name=relationship_name(from_table, own, to_table, other),
        from_table=from_table,
        from_columns=own,
        to_table=to_table,
        to_columns=other,
        origin="declared",
    )
