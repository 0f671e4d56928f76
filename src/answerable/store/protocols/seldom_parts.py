"""The parts of a store that a question does without."""

from typing import TYPE_CHECKING, Protocol

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


class SeldomParts(Protocol):
    """What a question does without: made when it is first used."""

    @property
    def budgets(self) -> "Budgets": ...

    @property
    def edits(self) -> "Edits": ...

    @property
    def evals(self) -> "Evals": ...

    @property
    def graphs(self) -> "VersionedTexts": ...

    @property
    def agents(self) -> "VersionedTexts": ...

    @property
    def schedules(self) -> "Schedules": ...

    @property
    def retention(self) -> "Retention": ...

    @property
    def keys(self) -> "IdempotencyKeys": ...

    @property
    def identities(self) -> "Identities": ...

    @property
    def rates(self) -> "RateRequests": ...
