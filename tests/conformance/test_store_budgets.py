"""Budgets, on every database."""

import asyncio
from typing import Any

import pytest

from answerable.core.ids import TenantId
from answerable.store.base import Store
from answerable.store.protocols.budgets import Account, AccountLimit, Amount

RUN = Account(TenantId("acme"), "run:run_1")
DAY = Account(TenantId("acme"), "tenant", "2026-01-01")


def limits(tokens: int | None = 100, cost: int | None = None) -> list[AccountLimit]:
    return [AccountLimit(RUN, 10**9), AccountLimit(DAY, tokens, cost)]


async def test_what_is_reserved_counts_until_it_is_settled(store: Store) -> None:
    assert await store.budgets.reserve("a", limits(), Amount(60, 5))
    run, day = await store.budgets.balances([RUN, DAY])
    assert (run.reserved, day.reserved, day.tokens_limit, run.tokens_limit) == (
        Amount(60, 5),
        Amount(60, 5),
        100,
        10**9,
    )
    await store.budgets.settle("a", Amount(10, 1))
    run, day = await store.budgets.balances([RUN, DAY])
    assert [(one.spent, one.reserved) for one in (run, day)] == [(Amount(10, 1), Amount())] * 2


async def test_all_accounts_or_none(store: Store) -> None:
    assert await store.budgets.reserve("a", limits(), Amount(60))
    assert not await store.budgets.reserve("b", limits(), Amount(41))
    run, day = await store.budgets.balances([RUN, DAY])
    assert run.reserved == day.reserved == Amount(60)
    assert await store.budgets.reserve("c", limits(), Amount(40))


async def test_cost_has_a_limit_of_its_own(store: Store) -> None:
    assert await store.budgets.reserve("a", limits(None, 10), Amount(10**9, 10))
    assert not await store.budgets.reserve("b", limits(None, 10), Amount(0, 1))


async def test_the_limit_of_today_counts_not_that_of_yesterday(store: Store) -> None:
    assert await store.budgets.reserve("a", limits(100), Amount(90))
    await store.budgets.settle("a", Amount(90))
    assert not await store.budgets.reserve("b", limits(80), Amount(1))
    assert await store.budgets.reserve("c", limits(200), Amount(110))


async def test_a_period_begins_empty(store: Store) -> None:
    tomorrow = Account(DAY.tenant, DAY.name, "2026-01-02")
    assert await store.budgets.reserve("a", [AccountLimit(DAY, 10)], Amount(10))
    assert await store.budgets.reserve("b", [AccountLimit(tomorrow, 10)], Amount(10))


async def test_tenants_have_accounts_of_their_own(store: Store) -> None:
    assert await store.budgets.reserve("a", [AccountLimit(DAY, 10)], Amount(10))
    other = Account(TenantId("evil"), DAY.name, DAY.period)
    assert await store.budgets.reserve("b", [AccountLimit(other, 10)], Amount(10))


async def test_settling_touches_no_other_account(store: Store) -> None:
    other = Account(TenantId("evil"), DAY.name, DAY.period)
    await store.budgets.reserve("a", [AccountLimit(DAY, 10)], Amount(10, 5))
    await store.budgets.reserve("b", [AccountLimit(other, 10), AccountLimit(RUN, 10)], Amount(4, 2))
    await store.budgets.settle("a", Amount(3, 1))
    balances = await store.budgets.balances([other, RUN])
    assert [(one.spent, one.reserved) for one in balances] == [(Amount(), Amount(4, 2))] * 2


async def test_settling_twice_counts_once(store: Store) -> None:
    await store.budgets.reserve("a", limits(), Amount(60))
    await asyncio.gather(*(store.budgets.settle("a", Amount(7)) for _ in range(5)))
    await store.budgets.settle("never reserved", Amount(7))
    (day,) = await store.budgets.balances([DAY])
    assert (day.spent, day.reserved) == (Amount(7), Amount())


async def test_more_than_was_reserved_is_recorded_as_it_is(store: Store) -> None:
    await store.budgets.reserve("a", limits(), Amount(60))
    await store.budgets.settle("a", Amount(150))
    (day,) = await store.budgets.balances([DAY])
    assert day.spent == Amount(150)
    assert not await store.budgets.reserve("b", limits(), Amount(0))


async def test_hundreds_at_once_from_several_processes_never_pass_the_limit(store: Store, opened: Any) -> None:
    stores = [store, await opened()]
    room = asyncio.Semaphore(50)  # those behind in a longer queue would give up waiting for a connection

    async def call(number: int) -> bool:
        budgets = stores[number % 2].budgets
        async with room:
            if not await budgets.reserve(f"r{number}", limits(1000), Amount(10)):
                return False
            await asyncio.sleep(0)
            await budgets.settle(f"r{number}", Amount(7 + number % 4))
            return True

    done = await asyncio.gather(*(call(number) for number in range(200)))
    run, day = await store.budgets.balances([RUN, DAY])
    assert day.reserved == run.reserved == Amount()
    assert day.spent.tokens == sum(7 + number % 4 for number, went in enumerate(done) if went) <= 1000


async def test_what_a_dead_process_reserved_counts_as_spent(store: Store, opened: Any) -> None:
    dying = await opened()
    await dying.budgets.reserve("a", limits(), Amount(60, 3))
    await store.budgets.reserve("b", limits(), Amount(5))
    await dying.close()
    assert await store.budgets.reconcile() == 1
    (day,) = await store.budgets.balances([DAY])
    assert (day.spent, day.reserved) == (Amount(60, 3), Amount(5))
    assert await store.budgets.reconcile() == 0


@pytest.mark.parametrize("account", ["user:ada o'hara", "user:björn", "run:?%s"])
async def test_names_are_data(store: Store, account: str) -> None:
    named = Account(TenantId("acme"), account)
    assert await store.budgets.reserve("a", [AccountLimit(named, 1)], Amount(1))
    assert not await store.budgets.reserve("b", [AccountLimit(named, 1)], Amount(1))
