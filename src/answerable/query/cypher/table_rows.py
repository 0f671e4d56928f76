"""The rows of one table of a graph as a pattern: a node, or a relationship with the nodes that it connects."""

from collections.abc import Mapping

from answerable.core.catalog import Table
from answerable.query.cypher import tree


def rows_of(table: Table, variable: str = "t", left: str = "a", right: str = "b") -> tree.Pattern:
    if not table.connections:
        return tree.Pattern((tree.NodePattern(variable, (table.name,)),))
    starts = tuple(dict.fromkeys(each.from_table for each in table.connections))
    ends = tuple(dict.fromkeys(each.to_table for each in table.connections))
    edge = tree.EdgePattern(variable, (table.name,))
    return tree.Pattern((tree.NodePattern(left, starts), tree.NodePattern(right, ends)), (edge,))


def column_of(table: Table, column: str, variable: str = "t", left: str = "a", right: str = "b") -> tree.Expression:
    """A column of the table. The ends of a relationship are the keys of its nodes."""
    for each in table.connections:
        if column == each.from_column and each.from_key is not None:
            return tree.Property(tree.Variable(left), each.from_key)
        if column == each.to_column and each.to_key is not None:
            return tree.Property(tree.Variable(right), each.to_key)
    return tree.Property(tree.Variable(variable), column)


def columns_of(table: Table) -> Mapping[str, tree.Expression]:
    return {column.name: column_of(table, column.name) for column in table.columns}
