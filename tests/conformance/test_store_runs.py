"""Runs and capsules, on every database."""

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from answerable.core.context import Principal, RunContext
from answerable.core.errors import AnswerableError, InternalError, NotFoundError
from answerable.core.events import RunFinished, RunStarted, StepStarted
from answerable.core.ids import NodeId, RunId, ThreadId, new_message_id, new_run_id
from answerable.store.base import (
    Capsule,
    Lease,
    LeaseLostError,
    Message,
    RunBeginning,
    RunEnd,
    RunFilter,
    RunRecord,
    RunResult,
    Store,
)

THREAD = ThreadId("thr_1")


async def start(store: Store, principal: Principal, **context: Any) -> RunRecord:
    return await store.runs.create(RunContext(new_run_id(), principal, **context), "how many orders?")


def code_of(caught: pytest.ExceptionInfo[AnswerableError]) -> str:
    return caught.value.stable_code


async def test_a_run_is_read_as_it_was_created(store: Store, people: Any) -> None:
    context = RunContext(RunId("run_1"), people.ada, THREAD, "req_7")
    created = await store.runs.create(context, "Wie viele Aufträge? 🤔")
    assert created == RunRecord(
        run=RunId("run_1"),
        principal=people.ada,
        thread=THREAD,
        question="Wie viele Aufträge? 🤔",
        status="running",
        created_at=created.created_at,
        request_id="req_7",
        owner=created.owner,
        token=1,
    )
    assert created.created_at.microsecond
    assert await store.runs.get(people.ada, RunId("run_1")) == created


async def test_a_run_needs_neither_question_nor_thread(store: Store, people: Any) -> None:
    created = await store.runs.create(RunContext(RunId("run_1"), people.ada), None)
    assert await store.runs.get(people.ada, RunId("run_1")) == created
    assert created.question is created.thread is created.request_id is None


async def test_a_run_is_created_once(store: Store, people: Any) -> None:
    created = await start(store, people.ada)
    for principal in (people.ada, people.eve):
        with pytest.raises(InternalError) as caught:
            await store.runs.create(RunContext(created.run, principal), "again?")
        assert code_of(caught) == "run_exists"
    assert await store.runs.get(people.ada, created.run) == created


@pytest.mark.parametrize("status", ["done", "partial", "refused", "failed", "cancelled"])
async def test_finishing_says_how_and_when(store: Store, people: Any, status: Any) -> None:
    created = await start(store, people.ada)
    await store.runs.finish(created.lease, RunEnd(status, "source_failed" if status == "failed" else None))
    record = await store.runs.get(people.ada, created.run)
    assert record.status == status
    assert record.finished_at is not None
    assert record.finished_at > created.created_at
    assert record.error_code == ("source_failed" if status == "failed" else None)


async def test_a_waiting_run_is_not_finished_and_may_run_again(store: Store, people: Any) -> None:
    created = await start(store, people.ada)
    for status in ("waiting", "running"):
        await store.runs.finish(created.lease, RunEnd(status))
        record = await store.runs.get(people.ada, created.run)
        assert (record.status, record.finished_at) == (status, None)


async def test_finishing_an_unknown_run_is_an_error(store: Store) -> None:
    with pytest.raises(NotFoundError) as caught:
        await store.runs.finish(Lease(RunId("run_none"), 1), RunEnd("done"))
    assert code_of(caught) == "run_not_found"


async def test_unfinished_runs_of_all_tenants_oldest_first(store: Store, people: Any) -> None:
    waiting, over, running = [await start(store, principal) for principal in (people.ada, people.ada, people.eve)]
    asked = await start(store, people.ada)
    await store.runs.finish(waiting.lease, RunEnd("waiting"))
    await store.runs.finish(asked.lease, RunEnd("waiting"))
    await store.runs.finish(over.lease, RunEnd("done"))
    await store.runs.request(people.ada, asked.run, "cancel", "enough")
    assert [record.run for record in await store.runs.adoptable()] == [asked.run], "the other one is ours and alive"
    await store.release()
    assert [record.run for record in await store.runs.adoptable()] == [running.run, asked.run]


async def test_recent_runs_newest_first_page_by_page(store: Store, people: Any) -> None:
    runs = [(await start(store, people.ada)).run for _ in range(7)]
    pages, before = [], None
    while page := await store.runs.recent(people.ada, limit=3, before=before):
        pages.append([record.run for record in page])
        before = page[-1].run
    assert pages == [runs[:3:-1], runs[3:0:-1], runs[:1]]


async def test_runs_are_listed_as_they_began_when_the_clock_goes_back(store: Store, people: Any, clock: Any) -> None:
    clock.step = -timedelta(hours=1)
    runs = [(await start(store, people.ada)).run for _ in range(3)]
    first = await store.runs.recent(people.ada, limit=2)
    assert [record.run for record in first] == runs[:0:-1]
    assert [record.run for record in await store.runs.recent(people.ada, before=first[-1].run)] == runs[:1]


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


async def answered(store: Store, principal: Principal, thread: ThreadId | None = None, **body: Any) -> Capsule:
    record = await start(store, principal, thread=thread)
    capsule = Capsule(record.run, thread, record.created_at, {"answer": {"rows": [[1, None, "ä\0"]]}, **body})
    await store.capsules.put(principal, capsule, record.lease)
    return capsule


async def test_a_capsule_is_read_as_it_was_put(store: Store, people: Any) -> None:
    capsule = await answered(store, people.ada, THREAD)
    assert await store.capsules.get(people.ada, capsule.run) == capsule


async def test_a_capsule_put_again_replaces_the_first(store: Store, people: Any) -> None:
    first = await answered(store, people.ada)
    second = Capsule(first.run, THREAD, datetime(2026, 5, 1, tzinfo=UTC), {"answer": 2})
    await store.capsules.put(people.bob, second, Lease(first.run, 1))
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
        await store.capsules.put(
            people.ada, Capsule(run, None, datetime.now(UTC), {"when": datetime.now(UTC)}), Lease(run, 1)
        )
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
        await store.capsules.put(people.eve, Capsule(run, None, datetime.now(UTC), "theirs"), Lease(run, 1))
    if mine:
        assert await store.capsules.get(people.ada, run) == mine


async def test_runs_of_another_living_process_are_left_to_it(store: Store, opened: Any, people: Any) -> None:
    context = RunContext(run=new_run_id(), principal=people.ada)
    await store.runs.create(context, "how many?")
    other = await opened()
    assert await other.runs.adoptable() == []
    await store.close()
    [left] = await other.runs.adoptable()
    assert left.run == context.run
    third = await opened()
    assert await other.runs.claim(left) == Lease(context.run, 2)
    assert await third.runs.claim(left) is None
    assert await third.runs.adoptable() == []


async def test_a_process_that_falls_silent_loses_its_runs_and_one_that_is_late_keeps_them(
    opened: Any, people: Any
) -> None:
    dead, other = await opened(lease_seconds=0.2), await opened(lease_seconds=0.2)
    record = await start(dead, people.ada)
    await asyncio.sleep(0.5)  # renewed meanwhile
    assert await other.runs.adoptable() == []
    dead.runs._leases._task.cancel()
    await asyncio.sleep(0.3)
    [left] = await other.runs.adoptable()
    await start(dead, people.ada)  # it was only late
    assert await other.runs.claim(left) is None
    await dead.release()
    assert await other.runs.claim(left) == Lease(record.run, 2)
    for attempt in (
        dead.runs.finish(record.lease, RunEnd("done")),
        dead.capsules.put(people.ada, Capsule(record.run, None, record.created_at, {}), record.lease),
    ):
        with pytest.raises(LeaseLostError):
            await attempt
    assert (await other.runs.get(people.ada, record.run)).status == "running"


async def test_requests_reach_whoever_carries_the_run_out(store: Store, opened: Any, people: Any) -> None:
    other = await opened()
    record = await start(store, people.ada)
    await other.runs.request(people.bob, record.run, "cancel", {"reason": "enough"})
    await other.runs.request(people.bob, record.run, "decide", {"step": "pay"})
    assert await other.runs.requests() == []
    first, second = await store.runs.requests()
    assert (first.run, first.kind, first.body, second.kind) == (record.run, "cancel", {"reason": "enough"}, "decide")
    await store.runs.take(first)
    assert await store.runs.requests() == [second]
    await store.runs.finish(record.lease, RunEnd("done"))
    assert await store.runs.requests() == []
    with pytest.raises(NotFoundError):
        await other.runs.request(people.eve, record.run, "cancel", {})


async def test_followers_hear_of_what_another_process_stores(store: Store, opened: Any, people: Any) -> None:
    other = await opened()
    record = await start(store, people.ada)
    mark = await other.news.mark(record.run)
    waiting = asyncio.create_task(other.news.beyond(record.run, mark, 30.0))
    await asyncio.sleep(0.1)
    assert not waiting.done()
    await store.events.append([StepStarted(record.run, 1, 1.0, NodeId("a"))], record.lease)
    await asyncio.wait_for(waiting, 5.0)


async def test_runs_are_found_by_what_they_asked(store: Store, people: Any, clock: Any) -> None:
    async def made(run: str, question: str | None, sources: tuple[str, ...], mode: str) -> RunRecord:
        return await store.runs.create(RunContext(RunId(run), people.ada), question, sources=sources, mode=mode)

    first = await made("run_1", "Orders per day", ("shop",), "auto")
    second = await made("run_2", "orders and people", ("shop", "crm"), "react")
    third = await made("run_3", None, ("shop_2",), "sql")
    await store.runs.finish(first.lease, RunEnd("done", None, RunResult("table", 7, 120, 0.5)))
    await store.runs.finish(third.lease, RunEnd("failed", "sql_invalid"))

    async def found(**only: Any) -> list[RunId]:
        listed = [record.run for record in await store.runs.recent(people.ada, only=RunFilter(**only))]
        assert await store.runs.count(people.ada, only=RunFilter(**only)) == len(listed)
        return listed

    assert await found() == ["run_3", "run_2", "run_1"]
    assert await found(source="shop") == ["run_2", "run_1"]
    assert await found(source="crm") == ["run_2"]
    assert await found(text="ORDERS", mode="auto") == ["run_1"]
    assert await found(statuses=("failed", "running")) == ["run_3", "run_2"]
    assert await found(since=second.created_at) == ["run_3", "run_2"]
    assert await found(until=second.created_at) == ["run_1"]
    assert await found(text="%") == []
    told = await store.runs.get(people.ada, first.run)
    assert (told.sources, told.mode, told.result) == (("shop",), "auto", RunResult("table", 7, 120, 0.5))
    assert (await store.runs.get(people.ada, second.run)).result is None
    some = await store.runs.some(people.ada, [first.run, RunId("run_none")])
    assert list(some) == [first.run]
    assert await store.runs.some(people.eve, [first.run]) == await store.runs.some(people.ada, []) == {}


async def test_use_is_summed_by_day(store: Store, people: Any, clock: Any) -> None:
    for run in ("run_1", "run_2"):
        await store.runs.create(RunContext(RunId(run), people.ada), "?")
    await store.runs.finish(Lease(RunId("run_1"), 1), RunEnd("done", None, RunResult(tokens=100, cost=0.25)))
    await store.runs.finish(Lease(RunId("run_2"), 1), RunEnd("failed", None, RunResult(tokens=50, cost=None)))
    clock.time += timedelta(days=1)
    await store.runs.create(RunContext(RunId("run_3"), people.ada), "?")
    await store.runs.create(RunContext(RunId("run_4"), people.eve), "?")
    days = await store.runs.use(people.ada, clock.time - timedelta(days=7))
    assert [(day.day, day.runs, day.failed, day.tokens, day.cost) for day in days] == [
        ("2026-01-01", 2, 1, 150, 0.25),
        ("2026-01-02", 1, 0, 0, 0.0),
    ]
    assert await store.runs.use(people.ada, clock.time + timedelta(days=1)) == []


async def test_a_fork_knows_the_answer_that_it_began_with(store: Store, people: Any, clock: Any) -> None:
    run = (await start(store, people.ada, thread=THREAD)).run
    await store.capsules.put(people.ada, Capsule(run, THREAD, clock.now(), {"a": 1}), Lease(run, 1))
    fork = ThreadId("thr_fork")
    await store.threads.ensure(people.ada, fork, "Fork")
    assert await store.capsules.latest(people.ada, fork) is None
    await store.threads.add_message(people.ada, Message(new_message_id(), fork, "assistant", "7", clock.now(), run))
    latest = await store.capsules.latest(people.ada, fork)
    assert latest is not None
    assert latest.run == run
    assert await store.capsules.latest(people.eve, fork) is None


async def test_the_latest_answer_is_the_last_one_given_whatever_the_clock_says(
    store: Store, people: Any, clock: Any
) -> None:
    for number in range(3):
        record = await store.runs.create(RunContext(RunId(f"run_{9 - number}"), people.ada, THREAD), "?")
        capsule = Capsule(record.run, THREAD, clock.now(), {"number": number})
        await store.capsules.put(people.ada, capsule, record.lease)
        await store.capsules.put(people.ada, capsule, record.lease)
        clock.time -= timedelta(hours=1)
        latest = await store.capsules.latest(people.ada, THREAD)
        assert latest is not None
        assert latest.body == {"number": number}


async def test_a_run_never_ends_before_it_began(store: Store, people: Any, clock: Any) -> None:
    run = RunId("run_1")
    beginning = RunBeginning(RunStarted(run, 1, 1_000.0, {}, None))
    record = await store.runs.create(RunContext(run, people.ada), None, beginning=beginning)
    clock.time -= timedelta(days=1)
    await store.events.append([RunFinished(run, 2, 1_002.5, "done")], record.lease, RunEnd("done"))
    stored = await store.runs.get(people.ada, run)
    assert stored.finished_at is not None
    assert stored.finished_at - stored.created_at == timedelta(seconds=2.5)
