"""Budgets: an amount is reserved in all of its accounts or in none, then settled at what was really spent.

Every change first writes to the rows of its accounts, always in the same order, so that in PostgreSQL two of them wait
for each other instead of reading what is about to change, and never in a circle.
"""

# ruff: noqa: S608 - statements are put together from constants of this module; values are always parameters

from collections.abc import Sequence
from itertools import chain

from answerable.core.clock import Clock
from answerable.store.database import Parameter, Row, SqlDatabase, Statement, time_text
from answerable.store.leases import Leases
from answerable.store.protocols.budgets import Account, AccountLimit, Amount, Balance

_KEY = "(tenant_id, account, period)"
_TOUCH = (
    "INSERT INTO budgets (tenant_id, account, period, tokens_limit, cost_limit, tokens_spent, cost_spent,"
    " tokens_reserved, cost_reserved) VALUES {rows} ON CONFLICT (tenant_id, account, period)"
    " DO UPDATE SET tokens_limit = excluded.tokens_limit, cost_limit = excluded.cost_limit"
)
_OVER = "(tokens_spent + tokens_reserved + ? > tokens_limit OR cost_spent + cost_reserved + ? > cost_limit)"
_RESERVE = (
    "INSERT INTO reservations (reservation_id, tenant_id, account, period, owner, tokens, cost, made_at)"
    f" SELECT ?, tenant_id, account, period, ?, ?, ?, ? FROM budgets WHERE {_KEY} IN (VALUES {{keys}})"
    f" AND NOT EXISTS (SELECT 1 FROM budgets WHERE {_KEY} IN (VALUES {{keys}}) AND {_OVER})"
)
_MINE = f"{_KEY} IN (SELECT tenant_id, account, period FROM reservations WHERE reservation_id = ?)"
_HOLD = f"UPDATE budgets SET tokens_reserved = tokens_reserved + ?, cost_reserved = cost_reserved + ? WHERE {_MINE}"
_LOCK = "UPDATE budgets SET tokens_spent = tokens_spent WHERE tenant_id = ? AND account = ? AND period = ?"
_SETTLE = (
    "UPDATE budgets SET tokens_spent = tokens_spent + ?, cost_spent = cost_spent + ?,"
    f" tokens_reserved = tokens_reserved - ?, cost_reserved = cost_reserved - ? WHERE {_MINE}"
)
_DELETE = "DELETE FROM reservations WHERE reservation_id = ?"
_RESERVED = "SELECT tenant_id, account, period, tokens, cost FROM reservations WHERE reservation_id = ?"
_HELD = "SELECT DISTINCT r.reservation_id FROM reservations r"
_BALANCES = (
    "SELECT tenant_id, account, period, tokens_limit, cost_limit, tokens_spent, cost_spent, tokens_reserved,"
    f" cost_reserved FROM budgets WHERE {_KEY} IN (VALUES {{keys}})"
)


class SqlBudgets:
    def __init__(self, database: SqlDatabase, clock: Clock, leases: Leases) -> None:
        self._database = database
        self._clock = clock
        self._leases = leases

    async def reserve(self, reservation: str, limits: Sequence[AccountLimit], amount: Amount) -> bool:
        limits = sorted(limits, key=lambda limit: _key(limit.account))
        keys = _keys([limit.account for limit in limits])
        fresh = [(*_key(limit.account), limit.tokens, limit.cost, 0, 0, 0, 0) for limit in limits]
        held = (amount.tokens, amount.cost)
        row = (reservation, self._leases.owner, *held, time_text(self._clock.now()))
        _, _, reserved, _ = await self._database.write(
            self._leases.renewal(),
            (_TOUCH.format(rows=_marks(len(limits), 9)), tuple(chain.from_iterable(fresh))),
            (_RESERVE.format(keys=_marks(len(limits), 3)), (*row, *keys, *keys, *held)),
            (_HOLD, (*held, reservation)),
        )
        if reserved:
            self._leases.hold(reservation)
        return reserved > 0

    async def settle(self, reservation: str, spent: Amount | None) -> None:
        """The accounts are locked before the reservation is looked for again: of two that settle it only one does."""
        self._leases.drop(reservation)
        rows = sorted(await self._database.rows(_RESERVED, reservation))
        if not rows:
            return
        held = Amount(*rows[0][3:])
        spent = held if spent is None else spent
        locks: list[Statement] = [(_LOCK, row[:3]) for row in rows]
        change = (spent.tokens, spent.cost, held.tokens, held.cost, reservation)
        await self._database.write(*locks, (_SETTLE, change), (_DELETE, (reservation,)))

    async def reconcile(self) -> int:
        left = [row[0] for row in await self._database.rows(f"{_HELD} WHERE NOT {self._leases.lives('r.owner')}")]
        for reservation in left:
            await self.settle(reservation, None)
        return len(left)

    async def balances(self, accounts: Sequence[Account]) -> Sequence[Balance]:
        rows = await self._database.rows(_BALANCES.format(keys=_marks(len(accounts), 3)), *_keys(accounts))
        found = {balance.account: balance for balance in map(_balance, rows)}
        return [found.get(account, Balance(account)) for account in accounts]


def _key(account: Account) -> tuple[str, str, str]:
    return (account.tenant, account.name, account.period)


def _keys(accounts: Sequence[Account]) -> tuple[Parameter, ...]:
    return tuple(chain.from_iterable(map(_key, accounts)))


def _marks(rows: int, columns: int) -> str:
    row = f"({', '.join('?' * columns)})"
    return ", ".join([row] * rows)


def _balance(row: Row) -> Balance:
    tenant, name, period, tokens_limit, cost_limit, *sums = row
    return Balance(Account(tenant, name, period), tokens_limit, cost_limit, Amount(*sums[:2]), Amount(*sums[2:]))
