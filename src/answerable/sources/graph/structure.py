"""What connects the tables of a graph: each relationship leads to the nodes at its ends."""

from collections.abc import Iterator, Sequence

from answerable.core.catalog import Catalog, HiddenName, Relationship, Table


def relationships_of(tables: Sequence[Table]) -> tuple[Relationship, ...]:
    """A row of a relationship's table points to one node at each end."""
    return tuple(_ends(tables))


def _ends(tables: Sequence[Table]) -> Iterator[Relationship]:
    for table in tables:
        for each in table.connections:
            for column, node, key in (
                (each.from_column, each.from_table, each.from_key),
                (each.to_column, each.to_table, each.to_key),
            ):
                if column is not None and key is not None:
                    yield Relationship(
                        name=f"{table.name}.{column}",
                        from_table=table.name,
                        from_columns=(column,),
                        to_table=node,
                        to_columns=(key,),
                        origin="declared",
                    )


def connected(catalog: Catalog) -> Catalog:
    """The catalog without what would show a hidden node: relationships that touch one, and columns that show a key that
    may not be seen."""
    nodes = {table.name: table for table in catalog.tables if not table.connections}
    tables = [table if not table.connections else _shown(table, nodes) for table in catalog.tables]
    shown = tuple(table for table in tables if table is not None)
    known = {(table.name, column.name) for table in shown for column in table.columns}
    relationships = tuple(
        each for each in catalog.relationships if all((each.from_table, name) in known for name in each.from_columns)
    )
    names = {table.name for table in shown}
    hidden = (*catalog.hidden, *(_hidden_with(table, catalog) for table in catalog.tables if table.name not in names))
    return catalog.model_copy(update={"tables": shown, "relationships": relationships, "hidden": hidden})


def _hidden_with(table: Table, catalog: Catalog) -> HiddenName:
    """A relationship that leads to a hidden node is hidden by the same rule."""
    ends = {end for each in table.connections for end in (each.from_table, each.to_table)}
    rule = next(name.rule for name in catalog.hidden if name.column is None and name.table in ends)
    return HiddenName(table=table.name, rule=rule)


def _shown(table: Table, nodes: dict[str, Table]) -> Table | None:
    if not all(each.from_table in nodes and each.to_table in nodes for each in table.connections):
        return None
    hidden = {
        column
        for each in table.connections
        for column, node, key in (
            (each.from_column, each.from_table, each.from_key),
            (each.to_column, each.to_table, each.to_key),
        )
        if key is None or nodes[node].column(key) is None
    }
    columns = tuple(column for column in table.columns if column.name not in hidden)
    return table.model_copy(update={"columns": columns})
