"""Queries that were checked against a catalog, remembered: many people ask the same, and the check of the same text or
plan against the same catalog gives the same each time."""

import pickle
import weakref
from collections import OrderedDict
from typing import TYPE_CHECKING

from answerable.computing.processes import ComputingProcesses
from answerable.core.catalog import Catalog
from answerable.query.plan import QueryPlan
from answerable.query.sql.jobs import CheckSqlJob

if TYPE_CHECKING:
    from answerable.query.sql.check import CheckedSql

REMEMBERED = 512


class CheckedQueries:
    def __init__(self, computing: ComputingProcesses) -> None:
        self._computing = computing
        self._known: OrderedDict[tuple[int, bytes], tuple[weakref.ref[Catalog], CheckedSql]] = OrderedDict()

    async def checked(self, written: str | QueryPlan, catalog: Catalog) -> "CheckedSql":
        """Raises what the check raises; refusals are not remembered."""
        # Pickled, because plans compare as equal that are not the same: 1, 1.0 and True are equal in Python.
        key = (id(catalog), pickle.dumps(written))
        of_catalog, query = self._known.get(key, (None, None))
        # A new catalog may have got the id of one that is gone.
        if query is None or of_catalog is None or of_catalog() is not catalog:
            query = await self._computing.compute(CheckSqlJob(written), catalog)
            self._known[key] = (weakref.ref(catalog), query)
            if len(self._known) > REMEMBERED:
                self._known.popitem(last=False)
        self._known.move_to_end(key)
        return query
