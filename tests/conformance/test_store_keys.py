"""Idempotency keys, on every database."""

from datetime import timedelta
from typing import Any

import pytest

from answerable.core.errors import UserError
from answerable.core.ids import RunId
from answerable.store.base import Store

ONE, TWO = RunId("run_1"), RunId("run_2")


async def test_a_key_stands_for_one_run_for_a_day(store: Store, opened: Any, people: Any, clock: Any) -> None:
    other = await opened()
    assert await store.keys.run_for(people.ada, "k", "f", ONE) == ONE
    assert await other.keys.run_for(people.ada, "k", "f", TWO) == ONE
    with pytest.raises(UserError):
        await store.keys.run_for(people.ada, "k", "another", TWO)
    clock.time += timedelta(days=1)
    assert await store.keys.run_for(people.ada, "k", "f", TWO) == TWO


async def test_the_keys_of_others_are_others(store: Store, people: Any) -> None:
    assert await store.keys.run_for(people.ada, "k", "f", ONE) == ONE
    assert await store.keys.run_for(people.bob, "k", "f", TWO) == TWO
    assert await store.keys.run_for(people.eve, "k", "f", TWO) == TWO
