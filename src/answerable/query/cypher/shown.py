"""What is returned in place of whole nodes, relationships and paths: the properties that the catalog shows of them."""

from collections.abc import Iterator

from answerable.query.cypher import tree, write
from answerable.query.cypher.graph import GraphSchema
from answerable.query.cypher.types import NameKind

PATH_NODES, PATH_EDGES = "nodes", "relationships"
"""The columns that show a path: its nodes and its relationships, both in order."""


NAME = "name"


def expanded(item: tree.ReturnItem, kind: NameKind, schema: GraphSchema) -> Iterator[tree.ReturnItem]:
    if kind.name == "value":
        yield item
        return
    name = item.alias or write.expression(item.expression)
    match kind.name:
        case "node" | "edge":
            every = [column.name for table in kind.tables for column in schema.properties(table)]
            if kind.name == "edge" or len(kind.tables) > 1 or not every:
                yield tree.ReturnItem(tree.FunctionCall("label", (item.expression,)), f"{name} label")
            for column in dict.fromkeys(every):
                yield tree.ReturnItem(tree.Property(item.expression, column), f"{name}.{column}")
        case "path":
            yield tree.ReturnItem(
                node_list(tree.FunctionCall("nodes", (item.expression,)), schema), f"{name} {PATH_NODES}"
            )
            yield tree.ReturnItem(edge_list(tree.FunctionCall("rels", (item.expression,))), f"{name} {PATH_EDGES}")
        case "nodes":
            yield tree.ReturnItem(node_list(item.expression, schema), name)
        case "edges":
            yield tree.ReturnItem(edge_list(item.expression), name)


def node_list(nodes: tree.Expression, schema: GraphSchema) -> tree.Expression:
    """Each node as its label, its key, and its name where nodes have one."""
    node = tree.Variable("n")
    fields: list[tuple[str, tree.Expression]] = [("label", tree.FunctionCall("label", (node,)))]
    if keys := shown_keys(schema):
        texts = tuple(tree.FunctionCall("string", (tree.Property(node, key),)) for key in keys)
        fields.append(("key", texts[0] if len(texts) == 1 else tree.FunctionCall("coalesce", texts)))
    if shows_names(schema):
        fields.append((NAME, tree.Property(node, NAME)))
    return tree.FunctionCall("list_transform", (nodes, tree.Lambda("n", tree.Record(tuple(fields)))))


def edge_list(edges: tree.Expression) -> tree.Expression:
    """Each relationship as its type."""
    return tree.FunctionCall(
        "list_transform", (edges, tree.Lambda("r", tree.FunctionCall("label", (tree.Variable("r"),))))
    )


def shown_keys(schema: GraphSchema) -> list[str]:
    """The names of keys, each of which no table hides: a path may pass through any table."""
    hidden = {column for _table, column, _rule in schema.hidden_properties()}
    keys = [key for table in schema.node_names if (key := schema.key(table)) is not None]
    return [key for key in dict.fromkeys(keys) if key not in hidden]


def shows_names(schema: GraphSchema) -> bool:
    """Whether nodes have names that are not their keys, and that no table hides."""
    if any(column == NAME for _table, column, _rule in schema.hidden_properties()):
        return False
    named = [table for table in schema.node_names if any(each.name == NAME for each in schema.properties(table))]
    return any(schema.key(table) != NAME for table in named)
