"""The parts of a store that a question does without. Each is imported when it is first used: a typed question would
else wait for all of them."""

from functools import cached_property
from typing import TYPE_CHECKING

from answerable.core.clock import Clock
from answerable.store.artifacts import FolderArtifacts
from answerable.store.database import SqlDatabase
from answerable.store.leases import Leases

if TYPE_CHECKING:
    from answerable.store.protocols.budgets import Budgets
    from answerable.store.protocols.edits import Edits
    from answerable.store.protocols.evals import Evals
    from answerable.store.protocols.identities import Identities
    from answerable.store.protocols.keys import IdempotencyKeys
    from answerable.store.protocols.rates import RateRequests
    from answerable.store.protocols.retention import Retention
    from answerable.store.protocols.schedules import Schedules
    from answerable.store.protocols.versioned_texts import VersionedTexts


class SqlSeldomParts:
    def __init__(self, database: SqlDatabase, clock: Clock, leases: Leases, artifacts: FolderArtifacts) -> None:
        self._database = database
        self._clock = clock
        self._leases = leases
        self._artifacts = artifacts

    @cached_property
    def budgets(self) -> "Budgets":
        from answerable.store.budgets import SqlBudgets

        return SqlBudgets(self._database, self._clock, self._leases)

    @cached_property
    def edits(self) -> "Edits":
        from answerable.store.edits import SqlEdits

        return SqlEdits(self._database, self._clock, self._leases)

    @cached_property
    def evals(self) -> "Evals":
        from answerable.store.evals import SqlEvals

        return SqlEvals(self._database, self._clock)

    @cached_property
    def graphs(self) -> "VersionedTexts":
        from answerable.store.versioned_texts import GRAPH, SqlVersionedTexts

        return SqlVersionedTexts(self._database, self._clock, GRAPH)

    @cached_property
    def agents(self) -> "VersionedTexts":
        from answerable.store.versioned_texts import AGENT, SqlVersionedTexts

        return SqlVersionedTexts(self._database, self._clock, AGENT)

    @cached_property
    def schedules(self) -> "Schedules":
        from answerable.store.schedules import SqlSchedules

        return SqlSchedules(self._database)

    @cached_property
    def retention(self) -> "Retention":
        from answerable.store.retention import SqlRetention

        return SqlRetention(self._database, self._clock, self._leases, self._artifacts)

    @cached_property
    def keys(self) -> "IdempotencyKeys":
        from answerable.store.keys import SqlIdempotencyKeys

        return SqlIdempotencyKeys(self._database, self._clock, self._leases)

    @cached_property
    def identities(self) -> "Identities":
        from answerable.store.identities import identities

        return identities(self._database, self._clock)

    @cached_property
    def rates(self) -> "RateRequests":
        from answerable.store.rates import SqlRateRequests

        return SqlRateRequests(self._database)
