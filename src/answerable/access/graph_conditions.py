"""The conditions of row rules on a graph: Cypher over the properties of one table, with a person's attributes."""

from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass, replace
from typing import Any

from answerable.access.policy import Rule
from answerable.access.predicates import PERSON, invalid_condition
from answerable.access.view import Attributes
from answerable.core.catalog import Table
from answerable.core.errors import AnswerableError
from answerable.query.cypher import tree
from answerable.query.cypher.parse import parsed_condition
from answerable.query.cypher.words import AGGREGATES
from answerable.query.scope import nearest

NO_ROW = tree.Binary("=", tree.Given(1), tree.Given(0))
_REFUSED = (tree.Matching, tree.Lambda, tree.Quantified, tree.Record)
_ONLY = "A rule about a graph compares properties of the same node or relationship with values and attributes."


def bound_graph_condition(rule: Rule, table: Table, attributes: Attributes) -> tree.Expression:
    """The condition for one person, with columns of the table as bare names. If it names an attribute that the person
    does not have, no row is shown."""
    condition = _parsed(rule, table)
    if any(not attributes.get(name) for name in needed_by(condition)):
        return NO_ROW
    return _filled(rule, condition, table, attributes)


def needed_by(condition: tree.Expression) -> set[str]:
    """The attributes that a condition names."""
    return {node.name for node in every(condition) if _is_attribute(node)}


def graph_attributes(rule: Rule, table: Table) -> set[str]:
    return needed_by(_parsed(rule, table))


def columns_in(condition: tree.Expression) -> set[str]:
    return {node.name for node in every(condition) if isinstance(node, tree.Variable)}


def _parsed(rule: Rule, table: Table) -> tree.Expression:
    assert rule.rows is not None
    try:
        condition = parsed_condition(rule.rows)
    except AnswerableError as error:
        raise invalid_condition(rule, error.message, error.hint) from error
    names = {column.name.casefold(): column.name for column in table.columns}
    for node in every(condition):
        if isinstance(node, _REFUSED) or (isinstance(node, tree.FunctionCall) and node.name in AGGREGATES):
            raise invalid_condition(rule, "it looks beyond one node or relationship", _ONLY)
        if isinstance(node, tree.Property) and not _is_attribute(node):
            raise invalid_condition(rule, f"{node.name!r} is not a property of {table.name}", _ONLY)
        is_column = isinstance(node, tree.Variable) and node.name != PERSON
        if is_column and node.name.casefold() not in names:
            raise invalid_condition(rule, f"{table.name} has no property {node.name!r}", nearest(node.name, names))

    def spelled(node: Any) -> Any:
        known = isinstance(node, tree.Variable) and node.name != PERSON
        return tree.Variable(names[node.name.casefold()]) if known else node

    done: tree.Expression = changed(condition, spelled)
    return done


def _filled(rule: Rule, condition: tree.Expression, table: Table, attributes: Attributes) -> tree.Expression:
    def filled(node: Any) -> Any:
        if not isinstance(node, tree.Binary):
            return node
        for side, other in (("right", node.left), ("left", node.right)):
            found = getattr(node, side)
            if _is_attribute(found):
                values = tuple(_typed(value, other, table) for value in attributes[found.name])
                if len(values) > 1 and (node.op not in ("=", "IN") or (side == "left" and node.op == "IN")):
                    hint = f"Compare it with = or IN {PERSON}.{found.name}."
                    raise invalid_condition(rule, f"the attribute {found.name!r} has several values", hint)
                if len(values) > 1 or (node.op == "IN" and side == "right"):
                    node = tree.Binary("IN", other, tree.ListOf(values))
                else:
                    left, right = (other, values[0]) if side == "right" else (values[0], other)
                    node = tree.Binary(node.op, left, right)
        return node

    done: tree.Expression = changed(condition, filled)
    if any(_is_attribute(node) for node in every(done)):
        raise invalid_condition(rule, "an attribute stands where nothing is compared with it", _ONLY)
    return done


def _typed(value: str, beside: tree.Expression, table: Table) -> tree.Given:
    """An attribute is text; beside a number it is the number that it spells."""
    column = table.column(beside.name) if isinstance(beside, tree.Variable) else None
    if column is not None and column.type in ("integer", "number"):
        try:
            return tree.Given(int(value) if column.type == "integer" else float(value))
        except ValueError:
            return tree.Given(None)  # it equals no number
    return tree.Given(value)


def _is_attribute(node: object) -> bool:
    return isinstance(node, tree.Property) and node.of == tree.Variable(PERSON)


def every(node: Any) -> Iterator[Any]:
    """The node and all that stands in it, but not the name of a person's record."""
    if isinstance(node, tuple):
        for part in node:
            yield from every(part)
    elif is_dataclass(node):
        yield node
        if not _is_attribute(node):
            for field in fields(node):
                yield from every(getattr(node, field.name))


def changed(node: Any, change: Callable[[Any], Any]) -> Any:
    """The tree with each of its nodes changed, from the leaves up."""
    if isinstance(node, tuple):
        return tuple(changed(part, change) for part in node)
    if not is_dataclass(node) or isinstance(node, type):
        return node
    parts = {field.name: changed(getattr(node, field.name), change) for field in fields(node)}
    return change(replace(node, **parts))
