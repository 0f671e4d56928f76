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


async def test_a_request_is_carried_out_by_one_process_at_a_time(store: Store, opened: Any, people: Any) -> None:
    other = await opened()
    claim = await store.keys.claim(people.ada, "k", "f", ONE)
    assert (claim.run, claim.mine, claim.note, claim.reply) == (ONE, True, None, None)
    for waiting in (store, other):
        again = await waiting.keys.claim(people.ada, "k", "f", TWO)
        assert (again.run, again.mine, again.reply, again.here) == (ONE, False, None, waiting is store)
    with pytest.raises(UserError):
        await other.keys.claim(people.ada, "k", "another", TWO)
    assert (await other.keys.claim(people.bob, "k", "f", TWO)).mine, "the key of somebody else"
    await store.keys.finish(people.ada, "k", "done")
    for later in (store, other):
        told = await later.keys.claim(people.ada, "k", "f", TWO)
        assert (told.mine, told.reply) == (False, "done")


async def test_a_request_that_failed_is_carried_out_again(store: Store, opened: Any, people: Any) -> None:
    assert (await store.keys.claim(people.ada, "k", "f", ONE)).mine
    await store.keys.finish(people.ada, "k", None)
    assert (await (await opened()).keys.claim(people.ada, "k", "f", TWO)).mine


async def test_who_takes_a_request_over_knows_what_was_remembered(store: Store, opened: Any, people: Any) -> None:
    other = await opened()
    await store.keys.claim(people.ada, "k", "f", ONE)
    await store.keys.remember(people.ada, "k", "file_2")
    await store.release()  # its process died
    claim = await other.keys.claim(people.ada, "k", "f", TWO)
    assert (claim.run, claim.mine, claim.note) == (ONE, True, "file_2")
    await store.keys.finish(people.ada, "k", "too late")
    assert (await other.keys.claim(people.ada, "k", "f", TWO)).reply is None
