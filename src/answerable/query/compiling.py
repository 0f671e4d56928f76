"""A plan becomes a query in the language of its source."""

from answerable.core.catalog import Catalog
from answerable.query.checked import CheckedQuery
from answerable.query.cypher.language import LANGUAGE
from answerable.query.plan import QueryPlan


def compiled(plan: QueryPlan, catalog: Catalog) -> CheckedQuery:
    """The plan as a query that may run. A plan that cannot run is a `UserError` that names the field."""
    if catalog.dialect == LANGUAGE:
        from answerable.query.cypher.to_cypher import compiled_cypher

        return compiled_cypher(plan, catalog)
    from answerable.query.sql import to_sql

    return to_sql.compiled(plan, catalog)
