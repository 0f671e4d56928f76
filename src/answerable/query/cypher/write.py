"""Writes a tree as Cypher: one way for each tree, every name and text quoted, every operand in brackets of its own."""

import re

from answerable.query.cypher import tree
from answerable.query.cypher.words import FUNCTIONS, REFUSED_CLAUSES, RESERVED

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_QUOTED_WORDS = RESERVED | REFUSED_CLAUSES
_SIMPLE = (tree.Variable, tree.Property, tree.ListOf, tree.FunctionCall, tree.Cast, tree.Quantified)
_CONTROL = re.compile(r"[\x00-\x1f\x7f\u2028\u2029]")


def written(query: tree.CypherQuery) -> str:
    return f"\nUNION{' ALL' if query.union_all else ''}\n".join(map(_single, query.parts))


def _single(query: tree.SingleQuery) -> str:
    return "\n".join([*map(_clause, query.clauses), f"RETURN {_projection(query.returned)}"])


def _clause(clause: tree.Clause) -> str:
    match clause:
        case tree.MatchClause():
            kind = "OPTIONAL MATCH" if clause.optional else "MATCH"
            return f"{kind} {_patterns(clause.patterns)}{_where(clause.where)}"
        case tree.Unwind():
            return f"UNWIND {expression(clause.items)} AS {name(clause.alias)}"
        case tree.With():
            return f"WITH {_projection(clause.projection)}"


def _where(condition: tree.Expression | None) -> str:
    return "" if condition is None else f"\nWHERE {expression(condition)}"


def _projection(shown: tree.Projection) -> str:
    items = (["*"] if shown.star else []) + [_item(item) for item in shown.items]
    text = ("DISTINCT " if shown.distinct else "") + ", ".join(items)
    if shown.order:
        text += "\nORDER BY " + ", ".join(map(_sorting, shown.order))
    if shown.skip is not None:
        text += f"\nSKIP {shown.skip}"
    if shown.limit is not None:
        text += f"\nLIMIT {shown.limit}"
    return text + _where(shown.where)


def _item(item: tree.ReturnItem) -> str:
    text = expression(item.expression)
    return text if item.alias is None else f"{text} AS {name(item.alias)}"


def _sorting(sorting: tree.Sorting) -> str:
    return expression(sorting.expression) + (" DESC" if sorting.descending else "")


# Patterns.


def _patterns(patterns: tuple[tree.Pattern, ...]) -> str:
    return ", ".join(map(_pattern, patterns))


def _pattern(pattern: tree.Pattern) -> str:
    text = f"{name(pattern.variable)} = " if pattern.variable else ""
    text += _node(pattern.nodes[0])
    for edge, node in zip(pattern.edges, pattern.nodes[1:], strict=True):
        text += _edge(edge) + _node(node)
    return text


def _node(node: tree.NodePattern) -> str:
    return f"({_named(node.variable, node.labels)}{_fields(node.properties)})"


def _edge(edge: tree.EdgePattern) -> str:
    inner = _named(edge.variable, edge.types)
    if edge.length is not None:
        mode = f" {edge.length.mode} " if edge.length.mode else ""
        inner += f"*{mode}{edge.length.low}..{edge.length.high}"
    if edge.along is not None:
        along = edge.along
        inner += f" ({name(along.edge)}, {name(along.node)} | WHERE {expression(along.where)})"
    left, right = {"right": ("-", "->"), "left": ("<-", "-"), "both": ("-", "-")}[edge.direction]
    return f"{left}[{inner}{_fields(edge.properties)}]{right}"


def _named(variable: str | None, labels: tuple[str, ...]) -> str:
    return (name(variable) if variable else "") + (":" + "|".join(map(name, labels)) if labels else "")


def _fields(fields: tuple[tuple[str, tree.Expression], ...]) -> str:
    if not fields:
        return ""
    return " {" + ", ".join(f"{name(key)}: {expression(value)}" for key, value in fields) + "}"


# Expressions.


def expression(node: tree.Expression) -> str:
    match node:
        case tree.Given():
            return _literal(node)
        case tree.Variable():
            return name(node.name)
        case tree.Property():
            return f"{_operand(node.of)}.{name(node.name)}"
        case tree.ListOf():
            return f"[{', '.join(map(expression, node.items))}]"
        case tree.Record():
            return _fields(node.fields).strip() or "{}"
        case tree.ListElement():
            return f"{_operand(node.of)}[{expression(node.index)}]"
        case tree.Unary():
            return f"{node.op}{' ' if node.op == 'NOT' else ''}{_operand(node.operand)}"
        case tree.Binary():
            return f"{_operand(node.left)} {node.op} {_operand(node.right)}"
        case tree.NullTest():
            return f"{_operand(node.operand)} IS {'NOT ' if node.negated else ''}NULL"
        case _:
            return _compound(node)


def _compound(node: tree.Expression) -> str:
    match node:
        case tree.FunctionCall():
            arguments = "*" if node.star else ", ".join(map(expression, node.arguments))
            return f"{node.name}({'DISTINCT ' if node.distinct else ''}{arguments})"
        case tree.Lambda():
            return f"{name(node.variable)} -> {expression(node.body)}"
        case tree.Cast():
            return f"CAST({expression(node.operand)} AS {node.type})"
        case tree.CaseExpression():
            return _case(node)
        case tree.Quantified():
            where = expression(node.where)
            return f"{node.quantifier}({name(node.variable)} IN {expression(node.items)} WHERE {where})"
        case tree.Matching():
            where = _where(node.where).replace("\n", " ")
            return f"{node.kind} {{ MATCH {_patterns(node.patterns)}{where} }}"
    raise AssertionError(f"no such expression: {node!r}")


def _operand(node: tree.Expression) -> str:
    """The operand in brackets, unless it can be read in only one way."""
    text = expression(node)
    simple = isinstance(
        node, tree.Variable | tree.Property | tree.ListOf | tree.FunctionCall | tree.Cast | tree.Quantified
    )
    if simple or (isinstance(node, tree.Given) and not text.startswith("-")):
        return text
    return f"({text})"


def _case(node: tree.CaseExpression) -> str:
    operand = "" if node.operand is None else f" {expression(node.operand)}"
    branches = "".join(f" WHEN {expression(when)} THEN {expression(then)}" for when, then in node.branches)
    otherwise = "" if node.otherwise is None else f" ELSE {expression(node.otherwise)}"
    return f"CASE{operand}{branches}{otherwise} END"


def _literal(node: tree.Given) -> str:
    value = node.value
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return text(value)
    return repr(value)


def text(value: str) -> str:
    escaped = value.replace("\\", "\\\\").replace("'", "\\'")
    return "'" + _CONTROL.sub(lambda found: f"\\u{ord(found[0]):04x}", escaped) + "'"


def name(value: str) -> str:
    if _PLAIN.fullmatch(value) and value.upper() not in _QUOTED_WORDS and value.lower() not in FUNCTIONS:
        return value
    return "`" + value.replace("`", "``") + "`"
