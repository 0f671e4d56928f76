"""Runs and capsules, on every database."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from answerable.core.context import RunContext, Scope
from answerable.core.errors import AnswerableError, InternalError, NotFoundError
from answerable.core.ids import RunId, ThreadId, new_run_id
from answerable.store.base import Capsule, RunRecord, Store

THREAD = ThreadId("thr_1")


async def start(store: Store, scope: Scope, **context: Any) -> RunRecord:
    return await store.runs.create(RunContext(new_run_id(), scope, **context), "how many orders?")


def code_of(caught: pytest.ExceptionInfo[AnswerableError]) -> str:
    return caught.value.stable_code


async def test_a_run_is_read_as_it_was_created(store: Store, people: Any) -> None:
    context = RunContext(RunId("run_1"), people.ada, THREAD, "req_7")
    created = await store.runs.create(context, "Wie viele Aufträge? 🤔")
    assert created == RunRecord(
        run=RunId("run_1"),
        scope=people.ada,
        thread=THREAD,
        question="Wie viele Aufträge? 🤔",
        status="running",
        created_at=created.created_at,
        request="req_7",
        owner=created.owner,
    )
    assert created.created_at.microsecond
    assert await store.runs.get(people.ada, RunId("run_1")) == created


async def test_a_run_needs_neither_question_nor_thread(store: Store, people: Any) -> None:
    created = await store.runs.create(RunContext(RunId("run_1"), people.ada), None)
    assert await store.runs.get(people.ada, RunId("run_1")) == created
    assert created.question is created.thread is created.request is None


async def test_a_run_is_created_once(store: Store, people: Any) -> None:
    created = await start(store, people.ada)
    for scope in (people.ada, people.eve):
        with pytest.raises(InternalError) as caught:
            await store.runs.create(RunContext(created.run, scope), "again?")
        assert code_of(caught) == "run_exists"
    assert await store.runs.get(people.ada, created.run) == created


@pytest.mark.parametrize("status", ["done", "partial", "failed", "cancelled"])
async def test_finishing_says_how_and_when(store: Store, people: Any, status: Any) -> None:
    created = await start(store, people.ada)
    await store.runs.finish(created.run, status, "source_failed" if status == "failed" else None)
    record = await store.runs.get(people.ada, created.run)
    assert record.status == status
    assert record.finished_at is not None
    assert record.finished_at > created.created_at
    assert record.error_code == ("source_failed" if status == "failed" else None)


async def test_a_waiting_run_is_not_finished_and_may_run_again(store: Store, people: Any) -> None:
    run = (await start(store, people.ada)).run
    for status in ("waiting", "running"):
        await store.runs.finish(run, status)
        record = await store.runs.get(people.ada, run)
        assert (record.status, record.finished_at) == (status, None)


async def test_finishing_an_unknown_run_is_an_error(store: Store) -> None:
    with pytest.raises(NotFoundError) as caught:
        await store.runs.finish(RunId("run_none"), "done")
    assert code_of(caught) == "run_not_found"


async def test_unfinished_runs_of_all_tenants_oldest_first(store: Store, people: Any) -> None:
    waiting, over, running = [await start(store, scope) for scope in (people.ada, people.ada, people.eve)]
    await store.runs.finish(waiting.run, "waiting")
    await store.runs.finish(over.run, "done")
    assert [record.run for record in await store.runs.unfinished()] == [waiting.run, running.run]


async def test_recent_runs_newest_first_page_by_page(store: Store, people: Any) -> None:
    runs = [(await start(store, people.ada)).run for _ in range(7)]
    pages, before = [], None
    while page := await store.runs.recent(people.ada, limit=3, before=before):
        pages.append([record.run for record in page])
        before = page[-1].run
    assert pages == [runs[:3:-1], runs[3:0:-1], runs[:1]]


async def test_runs_of_the_same_moment_are_listed_once_each(store: Store, people: Any, clock: Any) -> None:
    clock.step = timedelta(0)
    runs = {(await start(store, people.ada)).run for _ in range(5)}
    first = await store.runs.recent(people.ada, limit=2)
    rest = await store.runs.recent(people.ada, before=first[-1].run)
    assert len(rest) == 3
    assert {record.run for record in [*first, *rest]} == runs


async def test_recent_runs_of_a_thread(store: Store, people: Any) -> None:
    await start(store, people.ada)
    inside = [(await start(store, people.ada, thread=THREAD)).run for _ in range(3)]
    listed = await store.runs.recent(people.ada, thread=THREAD)
    assert [record.run for record in listed] == inside[::-1]
    assert [r.run for r in await store.runs.recent(people.ada, thread=THREAD, before=inside[1])] == inside[:1]


async def test_a_listing_cannot_continue_from_an_unknown_run(store: Store, people: Any) -> None:
    await start(store, people.ada)
    theirs = await start(store, people.eve)
    for before in (RunId("run_none"), theirs.run):
        with pytest.raises(NotFoundError):
            await store.runs.recent(people.ada, before=before)


async def test_runs_of_another_tenant_do_not_exist(store: Store, people: Any) -> None:
    mine = await start(store, people.ada, thread=THREAD)
    with pytest.raises(NotFoundError) as caught:
        await store.runs.get(people.eve, mine.run)
    assert code_of(caught) == "run_not_found"
    assert await store.runs.recent(people.eve) == []
    assert await store.runs.recent(people.eve, thread=THREAD) == []
    assert await store.runs.get(people.bob, mine.run) == mine


async def answered(store: Store, scope: Scope, thread: ThreadId | None = None, **body: Any) -> Capsule:
    record = await start(store, scope, thread=thread)
    capsule = Capsule(record.run, thread, record.created_at, {"answer": {"rows": [[1, None, "ä\0"]]}, **body})
    await store.capsules.put(scope, capsule)
    return capsule


async def test_a_capsule_is_read_as_it_was_put(store: Store, people: Any) -> None:
    capsule = await answered(store, people.ada, THREAD)
    assert await store.capsules.get(people.ada, capsule.run) == capsule


async def test_a_capsule_put_again_replaces_the_first(store: Store, people: Any) -> None:
    first = await answered(store, people.ada)
    second = Capsule(first.run, THREAD, datetime(2026, 5, 1, tzinfo=UTC), {"answer": 2})
    await store.capsules.put(people.bob, second)
    assert await store.capsules.get(people.ada, first.run) == second


async def test_the_latest_capsule_of_a_thread(store: Store, people: Any) -> None:
    assert await store.capsules.latest(people.ada, THREAD) is None
    capsules = [await answered(store, people.ada, THREAD, number=number) for number in range(3)]
    await answered(store, people.ada, ThreadId("thr_2"))
    assert await store.capsules.latest(people.ada, THREAD) == capsules[-1]


async def test_a_run_without_a_capsule(store: Store, people: Any) -> None:
    run = (await start(store, people.ada)).run
    with pytest.raises(NotFoundError) as caught:
        await store.capsules.get(people.ada, run)
    assert code_of(caught) == "capsule_not_found"


async def test_a_capsule_that_is_not_json_is_refused(store: Store, people: Any) -> None:
    run = (await start(store, people.ada)).run
    with pytest.raises(InternalError) as caught:
        await store.capsules.put(people.ada, Capsule(run, None, datetime.now(UTC), {"when": datetime.now(UTC)}))
    assert code_of(caught) == "not_json"


async def test_capsules_of_another_tenant_do_not_exist(store: Store, people: Any) -> None:
    mine = await answered(store, people.ada, THREAD)
    with pytest.raises(NotFoundError):
        await store.capsules.get(people.eve, mine.run)
    assert await store.capsules.latest(people.eve, THREAD) is None


@pytest.mark.parametrize("owned", [True, False])
async def test_a_capsule_is_not_put_to_a_run_of_another_tenant(store: Store, people: Any, owned: bool) -> None:
    mine = await answered(store, people.ada) if owned else None
    run = mine.run if mine else (await start(store, people.ada)).run
    with pytest.raises(NotFoundError):
        await store.capsules.put(people.eve, Capsule(run, None, datetime.now(UTC), "theirs"))
    if mine:
        assert await store.capsules.get(people.ada, run) == mine


async def test_runs_of_another_living_process_are_left_to_it(store: Store, opened: Any, people: Any) -> None:
    context = RunContext(run=new_run_id(), scope=people.ada)
    await store.runs.create(context, "how many?")
    other = await opened()
    assert await other.runs.unfinished() == []
    await store.close()
    [left] = await other.runs.unfinished()
    assert left.run == context.run
    third = await opened()
    assert await other.runs.claim(left)
    assert not await third.runs.claim(left)
    assert await third.runs.unfinished() == []
