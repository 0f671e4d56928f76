"""Ids of earlier steps in a statement: `WHERE id IN (SELECT user_id FROM members)`, where `members` is a step.

A source cannot read the rows of a step, so the values are written into the statement, which is then checked like any
other. Only this plain form is replaced: one column of one step, without a condition.
"""

from collections.abc import Collection, Mapping, Sequence

from sqlglot import exp

from answerable.core.values import Language, Scalar
from answerable.query.sql.check import parsed
from answerable.query.sql.writing import written

Id = tuple[str, str]
"""A step and one of its columns."""


def named_ids(sql: str, dialect: Language, steps: Collection[str]) -> list[Id]:
    """The columns of steps that the statement takes ids from. Raises a `UserError` if it cannot be parsed."""
    return list(dict.fromkeys(found for _, found in _places(parsed(sql, dialect), steps)))


def with_ids(sql: str, dialect: Language, values: Mapping[Id, Sequence[Scalar]]) -> str:
    """The statement with these values in place of the steps that it names."""
    if not values:
        return sql
    tree = parsed(sql, dialect)
    for node, found in _places(tree, {step for step, _ in values}):
        literals = [_literal(value) for value in values.get(found, ()) if value is not None]
        node.replace(exp.In(this=node.this, expressions=literals or [exp.Null()]))
    return written(tree, dialect)


def _places(tree: exp.Expr, steps: Collection[str]) -> list[tuple[exp.In, Id]]:
    found = []
    for node in list(tree.find_all(exp.In)):
        query = node.args.get("query")
        select = query.this if isinstance(query, exp.Subquery) else query
        if isinstance(select, exp.Select) and (one := _column_of_step(select, steps)) is not None:
            found.append((node, one))
    return found


def _column_of_step(select: exp.Select, steps: Collection[str]) -> Id | None:
    plain = {"expressions", "from_", "from", "distinct", "kind", "hint"}
    if any(value for name, value in select.args.items() if name not in plain):
        return None
    source = select.args.get("from_") or select.args.get("from")
    columns = select.expressions
    if source is None or not isinstance(source.this, exp.Table) or len(columns) != 1:
        return None
    step, column = source.this.name, columns[0].unalias()
    return (step, column.name) if step in steps and isinstance(column, exp.Column) else None


def _literal(value: Scalar) -> exp.Expr:
    if isinstance(value, bool):
        return exp.Boolean(this=value)
    if isinstance(value, int | float):
        return exp.Literal.number(value)
    return exp.Literal.string(str(value))
