"""Threads and messages, on every database."""

import asyncio
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from answerable.core.context import Principal, RunContext
from answerable.core.errors import InternalError, NotFoundError, UserError
from answerable.core.ids import MessageId, RunId, ThreadId, new_message_id, new_run_id
from answerable.store.base import Message, Store

THREAD = ThreadId("thr_1")
NOON = datetime(2026, 1, 1, 12, 0, 0, 5, tzinfo=UTC)


def message(content: str, minutes: float = 0, thread: ThreadId = THREAD, **more: Any) -> Message:
    return Message(new_message_id(), thread, "user", content, NOON + timedelta(minutes=minutes), **more)


async def test_a_thread_is_made_once(store: Store, people: Any) -> None:
    made = await store.threads.ensure(people.ada, THREAD, "Orders")
    assert (made.thread, made.principal, made.title) == (THREAD, people.ada, "Orders")
    assert made.created_at == made.updated_at
    assert await store.threads.ensure(people.bob, THREAD, "Another title") == made


async def test_messages_come_in_the_order_in_which_they_were_added(store: Store, people: Any) -> None:
    await store.threads.ensure(people.ada, THREAD, "Orders")
    late, early = message("late", 2, run=RunId("run_1")), message("early", 1)
    for one in (late, early):
        await store.threads.add_message(people.ada, one)
    assert await store.threads.messages(people.ada, THREAD) == [late, early]


async def test_messages_of_the_same_moment_keep_the_order_they_were_added_in(store: Store, people: Any) -> None:
    await store.threads.ensure(people.ada, THREAD, "Orders")
    added = [Message(MessageId(f"msg_{9 - n}"), THREAD, "assistant", str(n), NOON) for n in range(9)]
    for one in added:
        await store.threads.add_message(people.ada, one)
    assert await store.threads.messages(people.ada, THREAD) == added


async def test_only_the_last_messages(store: Store, people: Any) -> None:
    await store.threads.ensure(people.ada, THREAD, "Orders")
    added = [message(str(n), n) for n in range(5)]
    for one in added:
        await store.threads.add_message(people.ada, one)
    assert await store.threads.messages(people.ada, THREAD, last=2) == added[-2:]
    assert await store.threads.messages(people.ada, THREAD, last=99) == added
    assert await store.threads.messages(people.ada, THREAD, last=0) == []


async def test_messages_added_at_the_same_time_are_all_kept(store: Store, opened: Any, people: Any) -> None:
    other = await opened()
    await store.threads.ensure(people.ada, THREAD, "Orders")
    added = [message(str(n), n) for n in range(20)]
    await asyncio.gather(*((store, other)[n % 2].threads.add_message(people.ada, one) for n, one in enumerate(added)))
    kept = await store.threads.messages(people.ada, THREAD)
    assert sorted(kept, key=lambda one: one.created_at) == added


async def test_a_message_is_added_once(store: Store, people: Any) -> None:
    first = await store.threads.ensure(people.ada, THREAD, "Orders")
    one = message("hello")
    await store.threads.add_message(people.ada, one)
    [before] = await store.threads.recent(people.ada)
    with pytest.raises(InternalError) as caught:
        await store.threads.add_message(people.ada, one)
    assert caught.value.stable_code == "message_exists"
    assert await store.threads.messages(people.ada, THREAD) == [one]
    assert await store.threads.recent(people.ada) == [before]
    assert before.updated_at > first.updated_at


async def test_recent_threads_by_their_last_message(store: Store, people: Any) -> None:
    names = [ThreadId(f"thr_{n}") for n in range(4)]
    for name in names:
        await store.threads.ensure(people.ada, name, name)
    await store.threads.add_message(people.ada, message("hello", thread=names[1]))
    listed = await store.threads.recent(people.ada, limit=3)
    assert [record.thread for record in listed] == [names[1], names[3], names[2]]


async def test_an_empty_thread_is_not_an_unknown_one(store: Store, people: Any) -> None:
    await store.threads.ensure(people.ada, THREAD, "Orders")
    assert await store.threads.messages(people.ada, THREAD) == []
    with pytest.raises(NotFoundError) as caught:
        await store.threads.messages(people.ada, ThreadId("thr_none"))
    assert caught.value.stable_code == "thread_not_found"
    with pytest.raises(NotFoundError):
        await store.threads.add_message(people.ada, message("lost", thread=ThreadId("thr_none")))


async def test_threads_of_another_tenant_do_not_exist(store: Store, people: Any) -> None:
    await store.threads.ensure(people.ada, THREAD, "Orders")
    one = message("secret")
    await store.threads.add_message(people.ada, one)
    for attempt in (
        store.threads.ensure(people.eve, THREAD, "Mine now"),
        store.threads.messages(people.eve, THREAD),
        store.threads.messages(people.eve, THREAD, last=1),
        store.threads.add_message(people.eve, message("intruder")),
    ):
        with pytest.raises(NotFoundError):
            await attempt
    assert await store.threads.recent(people.eve) == []
    assert await store.threads.messages(people.bob, THREAD) == [one]
    [record] = await store.threads.recent(people.ada)
    assert (record.title, record.principal) == ("Orders", people.ada)


async def add(store: Store, principal: Principal, text: str) -> None:
    await store.threads.add_message(principal, message(text))


@pytest.mark.parametrize("text", ["a\0b", "half \ud83d of a pair", "é\0"])
async def test_text_that_no_database_holds_is_the_users_error(store: Store, people: Any, text: str) -> None:
    await store.threads.ensure(people.ada, THREAD, "Orders")
    for attempt in (
        add(store, people.ada, text),
        store.threads.ensure(people.ada, ThreadId("thr_2"), text),
        store.threads.messages(people.ada, ThreadId(text)),
        store.runs.create(RunContext(new_run_id(), people.ada), text),
        store.runs.get(people.ada, RunId(text)),
        store.events.read(people.ada, RunId(text)),
    ):
        with pytest.raises(UserError) as caught:
            await attempt
        assert caught.value.stable_code == "text_unstorable"
    assert await store.threads.messages(people.ada, THREAD) == []
    await add(store, people.ada, "the store still works")


async def test_a_listing_has_no_negative_length(store: Store, people: Any) -> None:
    run = (await store.runs.create(RunContext(new_run_id(), people.ada), None)).run
    await store.threads.ensure(people.ada, THREAD, "Orders")
    for attempt in (
        store.events.read(people.ada, run, limit=-1),
        store.runs.recent(people.ada, limit=-1),
        store.threads.recent(people.ada, limit=-1),
        store.threads.messages(people.ada, THREAD, last=-1),
    ):
        with pytest.raises(UserError) as caught:
            await attempt
        assert caught.value.stable_code == "bad_limit"


async def test_a_number_that_no_database_holds_is_the_users_error(store: Store, people: Any) -> None:
    run = (await store.runs.create(RunContext(new_run_id(), people.ada), None)).run
    for attempt in (store.events.read(people.ada, run, after=10**30), store.runs.recent(people.ada, limit=2**63)):
        with pytest.raises(UserError) as caught:
            await attempt
        assert caught.value.stable_code == "number_unstorable"


async def listed(store: Store, principal: Principal, **how: Any) -> list[str]:
    return [record.thread for record in await store.threads.recent(principal, **how)]


async def test_pinned_threads_come_first_and_pages_follow_each_other(store: Store, people: Any) -> None:
    names = [ThreadId(f"thr_{n}") for n in range(5)]
    for name in names:
        await store.threads.ensure(people.ada, name, name)
    await store.threads.change(people.ada, names[1], title=None, pinned=True)
    await store.threads.change(people.bob, names[0], title="Renamed", pinned=None)
    expected = [names[1], names[4], names[3], names[2], names[0]]
    assert await listed(store, people.ada) == expected
    paged: list[str] = []
    while len(page := await listed(store, people.ada, limit=2, before=paged[-1] if paged else None)) > 0:
        paged += page
    assert paged == expected
    changed = await store.threads.get(people.ada, names[0])
    assert (changed.title, changed.pinned, changed.created_at) == ("Renamed", False, changed.updated_at)
    await store.threads.change(people.ada, names[1], title=None, pinned=False)
    assert not (await store.threads.get(people.ada, names[1])).pinned


async def test_threads_are_found_by_title_and_message(store: Store, people: Any) -> None:
    for name, title in (("thr_1", "Orders of Köln"), ("thr_2", "100% of_it"), ("thr_3", "Other")):
        await store.threads.ensure(people.ada, ThreadId(name), title)
    await store.threads.add_message(people.ada, message("What about late ORDERS?", thread=ThreadId("thr_3")))
    assert set(await listed(store, people.ada, search="orders")) == {"thr_1", "thr_3"}
    assert await listed(store, people.ada, search="Köln") == ["thr_1"]
    assert await listed(store, people.ada, search="0% of_") == ["thr_2"]
    assert await listed(store, people.ada, search="%") == ["thr_2"]
    assert await listed(store, people.ada, search="nowhere") == []
    assert await listed(store, people.eve, search="orders") == []
    [found] = [record for record in await store.threads.recent(people.ada, search="late") if record.found]
    assert found.found == "What about late ORDERS?"


async def test_a_thread_tells_its_last_run(store: Store, people: Any) -> None:
    await store.threads.ensure(people.ada, THREAD, "Orders")
    for one in (message("a", 1, run=RunId("run_1")), message("b", 3, run=RunId("run_2")), message("c", 4)):
        await store.threads.add_message(people.ada, one)
    assert (await store.threads.get(people.ada, THREAD)).last_run == "run_2"


async def test_a_deleted_thread_is_gone_until_it_is_restored(store: Store, people: Any) -> None:
    await store.threads.ensure(people.ada, THREAD, "Orders")
    one = message("hello")
    await store.threads.add_message(people.ada, one)
    await store.threads.share(people.ada, THREAD, "token")
    await store.threads.delete(people.ada, THREAD)
    for attempt in (
        store.threads.get(people.ada, THREAD),
        store.threads.ensure(people.ada, THREAD, "Again"),
        store.threads.messages(people.ada, THREAD),
        store.threads.add_message(people.ada, message("more")),
        store.threads.delete(people.ada, THREAD),
        store.threads.shared(people.ada, "token"),
        store.threads.restore(people.eve, THREAD),
    ):
        with pytest.raises(NotFoundError):
            await attempt
    assert await listed(store, people.ada, search="hello") == []
    await store.threads.restore(people.ada, THREAD)
    assert await store.threads.messages(people.ada, THREAD) == [one]


async def test_what_was_deleted_long_ago_is_removed(store: Store, people: Any, clock: Any) -> None:
    for name in ("thr_1", "thr_2"):
        await store.threads.ensure(people.ada, ThreadId(name), name)
        await store.threads.add_message(people.ada, message("hello", thread=ThreadId(name)))
    await store.threads.delete(people.ada, THREAD)
    assert await store.threads.purge(clock.time - timedelta(minutes=1)) == 0
    assert await store.threads.purge(clock.time + timedelta(minutes=1)) == 1
    with pytest.raises(NotFoundError):
        await store.threads.restore(people.ada, THREAD)
    assert await listed(store, people.ada) == ["thr_2"]


async def test_a_shared_thread_is_found_by_its_token_within_the_tenant(store: Store, people: Any) -> None:
    await store.threads.ensure(people.ada, THREAD, "Orders")
    await store.threads.share(people.ada, THREAD, "token")
    assert (await store.threads.shared(people.bob, "token")).thread == THREAD
    with pytest.raises(NotFoundError) as caught:
        await store.threads.shared(people.eve, "token")
    assert caught.value.stable_code == "share_unknown"
    await store.threads.share(people.ada, THREAD, None)
    with pytest.raises(NotFoundError):
        await store.threads.shared(people.bob, "token")


async def test_threads_of_another_tenant_cannot_be_changed(store: Store, people: Any) -> None:
    await store.threads.ensure(people.ada, THREAD, "Orders")
    for attempt in (
        store.threads.get(people.eve, THREAD),
        store.threads.change(people.eve, THREAD, title="Mine", pinned=True),
        store.threads.share(people.eve, THREAD, "token"),
        store.threads.delete(people.eve, THREAD),
    ):
        with pytest.raises(NotFoundError):
            await attempt
    record = await store.threads.get(people.ada, THREAD)
    assert (record.title, record.pinned, record.share_token) == ("Orders", False, None)


async def test_a_clock_that_goes_back_reorders_nothing(store: Store, people: Any, clock: Any) -> None:
    await store.threads.ensure(people.ada, ThreadId("thr_other"), "Other")
    await store.threads.ensure(people.ada, THREAD, "Orders")
    for text in ("first", "second", "third"):
        await store.threads.add_message(people.ada, replace(message(text), created_at=clock.now()))
        clock.time -= timedelta(hours=1)
    assert [one.content for one in await store.threads.messages(people.ada, THREAD)] == ["first", "second", "third"]
    assert [one.content for one in await store.threads.messages(people.ada, THREAD, last=1)] == ["third"]
    assert [one.thread for one in await store.threads.recent(people.ada)] == [THREAD, ThreadId("thr_other")]
