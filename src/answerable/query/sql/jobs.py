"""The check of SQL as a job that any process can compute: a parser takes its time, and others wait meanwhile."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from answerable.core.catalog import Catalog
from answerable.core.records import dataclass
from answerable.query.plan import QueryPlan

if TYPE_CHECKING:
    from answerable.query.sql.check import CheckedSql


@dataclass(frozen=True, slots=True)
class CheckSqlJob:
    """Checks written SQL, or the SQL of a plan, against the catalog that is the job's subject."""

    query: str | QueryPlan

    def compute(self, subject: Catalog, ask: Callable[[Any], Any]) -> "CheckedSql":
        from answerable.query.sql.check import checked
        from answerable.query.sql.to_sql import to_sql

        # SQL compiled from a plan is checked as well: the check is the one wall, and a compiler may have bugs.
        return checked(self.query if isinstance(self.query, str) else to_sql(self.query, subject), subject)
