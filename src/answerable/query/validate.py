"""Says no to plans that cannot run, naming the field and what was probably meant."""

from answerable.core.catalog import Catalog
from answerable.query.plan import QueryPlan
from answerable.query.scope import scope_of


def validate(plan: QueryPlan, catalog: Catalog) -> None:
    """Raises a `UserError` with code `plan_invalid` for a plan that does not fit the catalog."""
    scope_of(plan, catalog)
