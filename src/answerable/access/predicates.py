"""The conditions of row rules: parsed, filled with the attributes of a person, and checked like written SQL."""

from sqlglot import exp

from answerable.access.policy import Rule
from answerable.access.view import Attributes
from answerable.core.catalog import Catalog, Table
from answerable.core.errors import AnswerableError, OperatorError
from answerable.query.cypher.language import LANGUAGE as CYPHER
from answerable.query.sql.check import checked, parsed, parsed_expression
from answerable.query.sql.names import address
from answerable.query.sql.writing import written

PERSON = "user"
"""In a condition, `user.region` is the attribute `region` of whoever asks."""


def bound_condition(rule: Rule, table: Table, catalog: Catalog, attributes: Attributes) -> exp.Expr:
    """The condition for one person. If it names an attribute that the person does not have, no row is shown."""
    assert rule.rows is not None
    try:
        tree = parsed_expression(rule.rows, catalog.dialect)
        if any(not attributes.get(name) for name in needed_attributes(tree)):
            return exp.EQ(this=exp.Literal.number(1), expression=exp.Literal.number(0))
        return exp.Paren(this=_checked(_filled(rule, tree, attributes), table, catalog))
    except OperatorError:
        raise
    except AnswerableError as error:
        raise invalid_condition(rule, error.message, error.hint) from error


def condition_attributes(rule: Rule, table: Table, catalog: Catalog) -> set[str]:
    """The attributes that a condition names. Raises `OperatorError` if it does not fit the table."""
    if catalog.dialect == CYPHER:
        from answerable.access.graph_conditions import graph_attributes

        return graph_attributes(rule, table)
    assert rule.rows is not None
    try:
        needed = needed_attributes(parsed_expression(rule.rows, catalog.dialect))
    except AnswerableError as error:
        raise invalid_condition(rule, error.message, error.hint) from error
    bound_condition(rule, table, catalog, dict.fromkeys(needed, ("x",)))
    return needed


def needed_attributes(tree: exp.Expr) -> set[str]:
    return {column.name for column in tree.find_all(exp.Column) if column.table == PERSON}


def _filled(rule: Rule, tree: exp.Expr, attributes: Attributes) -> exp.Expr:
    holder = exp.Paren(this=tree)
    for column in [*holder.find_all(exp.Column)]:
        if column.table != PERSON:
            continue
        values = [exp.Literal.string(value) for value in attributes[column.name]]
        parent = column.parent
        if isinstance(parent, exp.In) and column in parent.expressions:
            others = [item for item in parent.expressions if item is not column]
            parent.set("expressions", [*others, *values])
        elif len(values) == 1:
            column.replace(values[0])
        elif isinstance(parent, exp.EQ):
            other = parent.expression if parent.this is column else parent.this
            parent.replace(exp.In(this=other.copy(), expressions=values))
        else:
            hint = f"Compare it with = or IN ({PERSON}.{column.name})."
            raise invalid_condition(rule, f"the attribute {column.name!r} has several values", hint)
    filled: exp.Expr = holder.this
    return filled


def _checked(condition: exp.Expr, table: Table, catalog: Catalog) -> exp.Expr:
    """Checked as the WHERE of a statement over the table: only its columns, only functions that queries may call."""
    schema, name = address(table.name, catalog.dialect)
    source = exp.Table(this=_quoted(name), db=_quoted(schema) if schema else None)
    statement = exp.Select(
        expressions=[exp.Literal.number(1)], from_=exp.From(this=source), where=exp.Where(this=condition)
    )
    query = checked(written(statement, catalog.dialect), catalog)
    where = parsed(query.text, catalog.dialect).args["where"]
    found: exp.Expr = where.this
    return found.copy()


def invalid_condition(rule: Rule, problem: str, hint: str | None = None) -> OperatorError:
    return OperatorError(
        f"The condition of the rule {rule.name!r} ({rule.rows}) cannot be used: {problem.removesuffix('.')}.",
        code="access_rule_invalid",
        hint=hint,
    )


def _quoted(name: str) -> exp.Identifier:
    return exp.to_identifier(name, quoted=True)
