"""The journal, on every database."""

import asyncio
from typing import Any

import pytest

from answerable.core.context import Principal, RunContext
from answerable.core.errors import InternalError, NotFoundError, OperatorError
from answerable.core.events import (
    AnswerBatch,
    AnswerMetadata,
    Event,
    PlanReady,
    RunFinished,
    RunStarted,
    StepFinished,
    StepOutput,
    StepStarted,
)
from answerable.core.ids import NodeId, RunId, new_run_id
from answerable.store.base import Lease, LeaseLostError, Store

NODE = NodeId("n1")


async def new_run(store: Store, principal: Principal) -> RunId:
    return (await store.runs.create(RunContext(new_run_id(), principal), None)).run


def started(run: RunId, *numbers: int) -> list[Event]:
    return [StepStarted(run, number, number + 0.1, NODE) for number in numbers]


async def test_events_are_read_as_they_were_appended(store: Store, people: Any) -> None:
    run = await new_run(store, people.ada)
    events: list[Event] = [
        RunStarted(run, 1, 1_700_000_000.123456, {"nodes": [{"id": "n1", "kind": "sql"}]}, "wie viele? 🤔"),
        PlanReady(run, 2, 1_700_000_000.2, [], None),
        StepStarted(run, 3, 0.1 + 0.2, NODE, 2),
        StepOutput(run, 4, 5, NODE, "tokens", {"text": "a\0b", "deep": [[{"x": None}], 1e300, -(2**63)]}),
        StepFinished(run, 5, 5.5, NODE, {"rows": 3}, 2, 0.25),
        AnswerMetadata(run, 6, 6.0, "table", [{"name": "n", "type": "integer"}], 1),
        AnswerBatch(run, 7, 7.0, 0, 1, [[1, "x", None]]),
        RunFinished(run, 8, 8.0, "done"),
    ]
    await store.events.append(events[:1], Lease(run, 1))
    await store.events.append(events[1:], Lease(run, 1))
    assert await store.events.read(people.ada, run) == events


async def test_reading_after_a_number_and_only_so_many(store: Store, people: Any) -> None:
    run = await new_run(store, people.ada)
    events = started(run, *range(1, 21))
    await store.events.append(events, Lease(run, 1))
    assert await store.events.read(people.ada, run, after=15) == events[15:]
    assert await store.events.read(people.ada, run, after=3, limit=4) == events[3:7]
    assert await store.events.read(people.ada, run, limit=0) == []
    assert await store.events.read(people.ada, run, after=20) == []


async def test_a_new_run_has_no_events(store: Store, people: Any) -> None:
    run = await new_run(store, people.ada)
    await store.events.append([], Lease(run, 1))
    assert await store.events.read(people.ada, run) == []


async def test_a_thousand_at_once(store: Store, people: Any) -> None:
    run = await new_run(store, people.ada)
    events = started(run, *range(1, 1001))
    await store.events.append(events, Lease(run, 1))
    assert await store.events.read(people.ada, run) == events


@pytest.mark.parametrize("count", [1, 2, 8, 9, 30])
async def test_a_number_that_exists_refuses_the_whole_append(store: Store, people: Any, count: int) -> None:
    run = await new_run(store, people.ada)
    await store.events.append(started(run, 1, 50), Lease(run, 1))
    with pytest.raises(InternalError) as caught:
        await store.events.append(started(run, *range(51 - count, 51)), Lease(run, 1))
    assert caught.value.stable_code == "event_exists"
    assert await store.events.read(people.ada, run) == started(run, 1, 50)
    await store.events.append(started(run, 51), Lease(run, 1))
    assert await store.events.read(people.ada, run) == started(run, 1, 50, 51)


@pytest.mark.parametrize("count", [2, 30])
async def test_a_value_that_is_not_json_refuses_the_whole_append(store: Store, people: Any, count: int) -> None:
    run = await new_run(store, people.ada)
    bad: list[Event] = [*started(run, *range(1, count)), StepFinished(run, count, 1.0, NODE, output=object())]
    with pytest.raises(InternalError) as caught:
        await store.events.append(bad, Lease(run, 1))
    assert caught.value.stable_code == "not_json"
    assert await store.events.read(people.ada, run) == []


async def test_events_of_two_runs_do_not_mix(store: Store, people: Any) -> None:
    one, two = await new_run(store, people.ada), await new_run(store, people.ada)
    with pytest.raises(InternalError) as caught:
        await store.events.append([*started(one, 1), *started(two, 1)], Lease(one, 1))
    assert caught.value.stable_code == "events_mixed"
    for run in (one, two):
        await store.events.append(started(run, 1), Lease(run, 1))
        assert await store.events.read(people.ada, run) == started(run, 1)


async def test_an_unknown_run_is_not_found(store: Store, people: Any) -> None:
    for attempt in (
        store.events.append(started(RunId("run_none"), 1), Lease(RunId("run_none"), 1)),
        store.events.read(people.ada, RunId("run_none")),
    ):
        with pytest.raises(NotFoundError) as caught:
            await attempt
        assert caught.value.stable_code == "run_not_found"


async def test_events_of_another_tenant_do_not_exist(store: Store, opened: Any, people: Any) -> None:
    run = await new_run(store, people.ada)
    await store.events.append(started(run, 1), Lease(run, 1))
    for process in (store, await opened()):  # one that knows the run, one that has never seen it
        with pytest.raises(NotFoundError):
            await process.events.read(people.eve, run)
        assert await process.events.read(people.bob, run) == started(run, 1)


async def test_what_one_process_appends_another_reads_at_once(store: Store, opened: Any, people: Any) -> None:
    other = await opened()
    run = await new_run(store, people.ada)
    await store.events.append(started(run, 1), Lease(run, 1))
    assert await other.events.read(people.ada, run) == started(run, 1)
    await other.events.append(started(run, 2), Lease(run, 1))
    assert await store.events.read(people.ada, run) == started(run, 1, 2)


async def test_many_runs_append_at_the_same_time(store: Store, people: Any) -> None:
    runs = [await new_run(store, people.ada) for _ in range(20)]

    async def work(run: RunId) -> None:
        for first in range(1, 30, 3):
            await store.events.append(started(run, first, first + 1, first + 2), Lease(run, 1))

    await asyncio.gather(*(work(run) for run in runs))
    for run in runs:
        assert await store.events.read(people.ada, run) == started(run, *range(1, 31))


async def test_more_runs_than_are_remembered(store: Store, people: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("answerable.store.run_owners._REMEMBERED", 3)
    runs = [await new_run(store, people.ada) for _ in range(10)]
    for run in [*runs, *runs]:
        await store.events.append(started(run, len(await store.events.read(people.ada, run)) + 1), Lease(run, 1))
    for run in runs:
        assert await store.events.read(people.ada, run) == started(run, 1, 2)


@pytest.mark.parametrize(
    ("type_", "body", "code"),
    [
        ("step.dreamt", "{}", "event_unknown"),
        ("step.started", '{"node": "n1", "mood": "new"}', "event_unknown"),
        ("step.started", "not JSON", "store_corrupt"),
    ],
)
async def test_an_event_that_this_version_cannot_read_is_said_so(
    store: Store, people: Any, type_: str, body: str, code: str
) -> None:
    run = await new_run(store, people.ada)
    into = "INSERT INTO events (run_id, seq, tenant_id, user_id, at, type, body) VALUES (?, ?, ?, ?, ?, ?, ?)"
    database: Any = store.database
    await database.write((into, (run, 1, "acme", "ada", 1.0, type_, body)))
    with pytest.raises(OperatorError) as caught:
        await store.events.read(people.ada, run)
    assert caught.value.stable_code == code


@pytest.mark.parametrize("count", [1, 30])
async def test_an_append_with_an_old_token_is_refused(store: Store, people: Any, count: int) -> None:
    run = await new_run(store, people.ada)
    for token in (0, 2):
        with pytest.raises(LeaseLostError) as caught:
            await store.events.append(started(run, *range(1, count + 1)), Lease(run, token))
        assert caught.value.stable_code == "lease_lost"
    assert await store.events.read(people.ada, run) == []


async def test_an_append_and_a_claim_never_pass_each_other(store: Store, opened: Any, people: Any) -> None:
    """Whoever claims a run sees every event that was accepted before, and none is accepted after."""
    for _ in range(20):
        dying, heir = await opened(), await opened()
        run = await new_run(dying, people.ada)
        await dying.release()
        [record] = [each for each in await heir.runs.adoptable() if each.run == run]

        async def write(store: Store = dying, run: RunId = run) -> int:
            for number in range(1, 50):
                try:
                    await store.events.append(started(run, number), Lease(run, 1))
                except LeaseLostError:
                    return number - 1
                await asyncio.sleep(0)
            return 49

        async def claim(store: Store = heir, record: Any = record) -> int:
            await asyncio.sleep(0.002)
            assert await store.runs.claim(record) == Lease(record.run, 2)
            return len(await store.events.read(people.ada, record.run))

        accepted, seen = await asyncio.gather(write(), claim())
        assert seen == accepted == len(await heir.events.read(people.ada, run))
        await dying.close()
        await heir.close()
