"""Budgets of tokens and money: accounts, their limits, and what is spent and reserved."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from answerable.core.ids import TenantId


@dataclass(frozen=True, slots=True)
class Amount:
    tokens: int = 0
    cost: int = 0
    """Billionths of a dollar: whole numbers, so that sums are exact."""


@dataclass(frozen=True, slots=True)
class Account:
    tenant: TenantId
    name: str
    """`run:…`, `thread:…`, `user:…` or `tenant`."""
    period: str = ""
    """A day (`2026-11-16`), a month (`2026-11`), or empty for all time."""


@dataclass(frozen=True, slots=True)
class AccountLimit:
    account: Account
    tokens: int | None = None
    cost: int | None = None


@dataclass(frozen=True, slots=True)
class Balance:
    account: Account
    tokens_limit: int | None = None
    cost_limit: int | None = None
    spent: Amount = Amount()
    reserved: Amount = Amount()


class Budgets(Protocol):
    """The budgets of all processes that share the store. An account never has more spent and reserved than its limit,
    unless more was spent than had been reserved."""

    async def reserve(self, reservation: str, limits: Sequence[AccountLimit], amount: Amount) -> bool:
        """Reserves an amount in all of the accounts, or in none if one of them has too little left."""
        ...

    async def settle(self, reservation: str, spent: Amount | None) -> None:
        """Replaces a reservation by what was really spent; None counts all of it as spent. Ignores an
        unknown reservation."""
        ...

    async def reconcile(self) -> int:
        """Settles what dead processes had reserved, in full: their calls may have been paid for. Tells how many."""
        ...

    async def balances(self, accounts: Sequence[Account]) -> Sequence[Balance]: ...
