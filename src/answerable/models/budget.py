"""Budgets of language models, per run, thread, user and tenant.

An amount is reserved in every account of a call before the call, and settled at what was really used after it.
Sub-agents call within the context of their run, so they draw on the same accounts.
Only accounts with a limit are written.
"""

import asyncio
import secrets
from collections.abc import Sequence
from dataclasses import dataclass

from answerable.core.clock import Clock
from answerable.core.context import RunContext
from answerable.core.errors import AnswerableError, LimitError, TransientError
from answerable.models.config import BudgetLimits, Limit
from answerable.models.prices import BILLION
from answerable.store.protocols.budgets import Account, AccountLimit, Amount, Balance, Budgets

PATIENCE = 30.0
"""Seconds to wait for calls in progress to give back what they will not need."""
_PAUSE = 0.1


@dataclass(frozen=True, slots=True)
class Reservation:
    id: str
    amount: Amount


class Budget:
    def __init__(self, budgets: Budgets, limits: BudgetLimits, clock: Clock) -> None:
        self._budgets = budgets
        self._limits = limits
        self._clock = clock

    def accounts(self, context: RunContext) -> Sequence[AccountLimit]:
        """The accounts that have a limit."""
        tenant, user = context.principal.tenant, context.principal.user
        day = self._clock.now().strftime("%Y-%m-%d")
        limits = self._limits
        every = [
            (limits.run, Account(tenant, f"run:{context.run}")),
            (limits.user_day, Account(tenant, f"user:{user}", day)),
            (limits.user_month, Account(tenant, f"user:{user}", day[:7])),
            (limits.tenant_day, Account(tenant, "tenant", day)),
            (limits.tenant_month, Account(tenant, "tenant", day[:7])),
        ]
        if context.thread is not None:
            every.append((limits.thread, Account(tenant, f"thread:{context.thread}")))
        return [_limited(account, limit) for limit, account in every if limit != Limit()]

    async def reserve(self, accounts: Sequence[AccountLimit], amount: Amount) -> Reservation:
        """Waits a while when calls in progress hold what would be enough."""
        reservation = Reservation(secrets.token_hex(8), amount)
        until = self._clock.monotonic() + PATIENCE
        try:
            while not await self._budgets.reserve(reservation.id, accounts, amount):
                await self._budgets.reconcile()
                refusal = await self._refusal(accounts, amount)
                if isinstance(refusal, LimitError) or self._clock.monotonic() >= until:
                    raise refusal
                await self._clock.sleep(_PAUSE)
        except asyncio.CancelledError:
            await self.settle(reservation, Amount())  # it may have been stored in the moment of the cancellation
            raise
        return reservation

    async def settle(self, reservation: Reservation, spent: Amount | None) -> None:
        """`None` settles the whole reservation. Carried out to the end even when the caller is cancelled meanwhile."""
        # A cancelled caller has still used tokens: without the shield they would stay reserved and never be counted.
        await asyncio.shield(self._budgets.settle(reservation.id, spent))

    async def balances(self, context: RunContext) -> Sequence[Balance]:
        accounts = self.accounts(context)
        return await self._budgets.balances([one.account for one in accounts]) if accounts else []

    async def _refusal(self, accounts: Sequence[AccountLimit], amount: Amount) -> AnswerableError:
        """Why there is too little: it was spent, or calls in progress hold it."""
        balances = await self._budgets.balances([one.account for one in accounts])
        spent = next((balance for balance in balances if _is_over(balance, balance.spent, amount)), None)
        if spent is not None:
            return _exhausted(spent, amount)
        return _held(next((balance for balance in balances if balance.reserved != Amount()), balances[0]))


def _limited(account: Account, limit: Limit) -> AccountLimit:
    return AccountLimit(account, limit.tokens, None if limit.cost is None else int(limit.cost * BILLION))


def _is_over(balance: Balance, taken: Amount, amount: Amount) -> bool:
    tokens = balance.tokens_limit is not None and taken.tokens + amount.tokens > balance.tokens_limit
    return tokens or (balance.cost_limit is not None and taken.cost + amount.cost > balance.cost_limit)


def _exhausted(balance: Balance, amount: Amount) -> LimitError:
    limit, spent = balance.tokens_limit, balance.spent
    if limit is not None and spent.tokens + amount.tokens > limit:
        left = f"{max(0, limit - spent.tokens):,} of {limit:,} tokens left; the next call may need {amount.tokens:,}"
    else:
        cost = balance.cost_limit or 0
        remaining = max(0, cost - spent.cost)
        left = f"${_money(remaining)} of ${_money(cost)} left; the next call may need ${_money(amount.cost)}"
    return LimitError(
        f"The model budget of {_called(balance.account)} has {left}.",
        code="budget_exhausted",
        hint="Ask for less, wait for the next day or month, or raise the limit in `models.budget`.",
    )


def _held(balance: Balance) -> TransientError:
    return TransientError(
        f"All that is left of the model budget of {_called(balance.account)} is reserved by calls in progress.",
        code="budget_reserved",
        hint="Try again when they have ended.",
    )


def _called(account: Account) -> str:
    kind, _, name = account.name.partition(":")
    who = f"the {kind} {name}" if name else f"the {kind}"
    return f"{who} for {account.period}" if account.period else who


def _money(cost: int) -> str:
    return f"{cost / BILLION:.4f}"
