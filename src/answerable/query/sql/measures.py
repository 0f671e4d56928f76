"""Measures of the catalog: SQL that a person wrote, parsed and checked like any other before it enters a query."""

from functools import lru_cache

from sqlglot import exp
from sqlglot.errors import SqlglotError

from answerable.core.catalog import Catalog, Measure, Table
from answerable.core.errors import AnswerableError, UserError
from answerable.core.values import Language
from answerable.query.scope import nearest
from answerable.query.sql.check import check_nodes, check_text, parsed_expression
from answerable.query.sql.names import folded, folded_name


def parsed_measure(measure: Measure, catalog: Catalog) -> exp.Expr:
    """The expression of a measure, its columns unqualified and by the catalog's names. The tree is the caller's.

    A measure that is not one aggregate over the columns of its table is a `UserError` with code `measure_invalid`.
    """
    table = catalog.table(measure.table)
    if table is None:
        hint = nearest(measure.table, (table.name for table in catalog.tables))
        raise _invalid(measure, f"there is no table {measure.table!r}", hint)
    # A copy, because the cached tree is shared and callers change theirs.
    tree = _checked(measure, catalog.dialect).copy()
    for column in list(tree.find_all(exp.Column)):
        name = _column_name(measure, column, table, catalog.dialect)
        column.replace(exp.Column(this=exp.Identifier(this=name, quoted=True)))
    return tree


def adds_up(measure: Measure, catalog: Catalog) -> bool:
    """Whether its values for some groups together are its value for all of them."""
    tree = parsed_measure(measure, catalog)
    return isinstance(tree, exp.Sum | exp.Count) and tree.find(exp.Distinct) is None


def summed_column(measure: Measure, catalog: Catalog) -> str | None:
    """The column of which a measure is the plain sum. One that cannot be used sums nothing; its use tells why."""
    try:
        tree = parsed_measure(measure, catalog)
    except UserError:
        return None
    return tree.this.name if isinstance(tree, exp.Sum) and isinstance(tree.this, exp.Column) else None


@lru_cache(maxsize=512)
def _checked(measure: Measure, dialect: Language) -> exp.Expr:
    try:
        tree = parsed_expression(measure.expression, dialect)
        check_text(measure.expression, tree, dialect)
        check_nodes(tree, dialect)
    except AnswerableError as error:
        raise _invalid(measure, error.message, error.hint) from error
    except (RecursionError, SqlglotError) as error:
        raise _invalid(measure, "it cannot be read") from error
    if tree.find(exp.Query, exp.Window) is not None:
        raise _invalid(measure, "it may not hold queries or windows")
    if not _is_aggregate(tree):
        raise _invalid(measure, "every column must stand in an aggregate such as sum(…)")
    return tree


def _is_aggregate(tree: exp.Expr) -> bool:
    found = [*tree.find_all(exp.AggFunc)]
    inside = {id(node) for aggregate in found for node in aggregate.find_all(exp.Column, exp.AggFunc)}
    nested = any(aggregate.find_ancestor(exp.AggFunc) for aggregate in found)
    conditions = {id(node) for filtered in tree.find_all(exp.Filter) for node in filtered.find_all(exp.Column)}
    return bool(found) and not nested and all(id(c) in inside | conditions for c in tree.find_all(exp.Column))


def _column_name(measure: Measure, column: exp.Column, table: Table, dialect: Language) -> str:
    qualifier = column.args.get("table")
    if qualifier is not None and folded(qualifier, dialect) != folded_name(table.name, dialect):
        raise _invalid(measure, f"it may only use columns of {table.name!r}")
    by_key = {folded_name(known.name, dialect): known.name for known in table.columns}
    if not isinstance(column.this, exp.Identifier):
        raise _invalid(measure, "it may not use *")
    name = by_key.get(folded(column.this, dialect))
    if name is None:
        hint = nearest(column.name, by_key.values())
        raise _invalid(measure, f"{table.name!r} has no column {column.name!r}", hint)
    return name


def _invalid(measure: Measure, reason: str, hint: str | None = None) -> UserError:
    message = f"The measure {measure.name!r} ({measure.expression}) cannot be used: {reason.removesuffix('.')}."
    return UserError(message, code="measure_invalid", hint=hint, name=measure.name)
