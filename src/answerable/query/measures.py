"""Measures of the catalog: SQL that a person wrote, parsed and checked like any other before it enters a query."""

from functools import lru_cache

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from answerable.core.catalog import Catalog, Measure
from answerable.core.errors import UserError
from answerable.core.values import Dialect


def parsed_measure(measure: Measure, catalog: Catalog) -> exp.Expr:
    """The expression of a measure. What it may not hold is a `UserError` with code `measure_invalid`."""
    return _parsed(measure.expression, catalog.dialect)


@lru_cache(maxsize=512)
def _parsed(expression: str, dialect: Dialect) -> exp.Expr:
    try:
        return sqlglot.parse_one(expression, read=dialect, into=exp.Condition)
    except SqlglotError as error:
        raise UserError(f"The measure {expression!r} is not SQL.", code="measure_invalid") from error
