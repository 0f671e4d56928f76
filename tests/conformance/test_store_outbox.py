"""The outbox, on every database."""

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from answerable.core.context import RunContext
from answerable.core.events import RunFinished, StepStarted
from answerable.core.ids import NodeId, RunId
from answerable.service.outbox import OutboxDelivery
from answerable.store.base import Lease, LeaseLostError, Store
from answerable.store.protocols.outbox import Notice


async def end(store: Store, people: Any, run: str, *, seq: int = 1) -> Lease:
    record = await store.runs.create(RunContext(RunId(run), people.ada), None)
    begun = [StepStarted(record.run, number, 1.0, NodeId("a")) for number in range(1, seq)]
    await store.events.append([*begun, RunFinished(record.run, seq, 2.0, "done")], record.lease)
    return record.lease


@pytest.mark.parametrize("seq", [1, 30])
async def test_the_end_of_a_run_is_announced_in_the_commit_that_stores_it(store: Store, people: Any, seq: int) -> None:
    lease = await end(store, people, "run_1", seq=seq)
    with pytest.raises(LeaseLostError):
        await store.events.append([RunFinished(lease.run, seq + 1, 3.0, "done")], Lease(lease.run, 9))
    [notice] = await store.outbox.claim()
    assert (notice.stream, notice.number, notice.topic, notice.attempt) == ("run_1", seq, "run.finished", 1)
    assert (notice.principal, notice.body["status"], notice.made_at) == (people.ada, "done", 2.0)
    await store.outbox.delivered(notice)
    assert await store.outbox.claim() == []


async def test_of_two_processes_one_delivers_and_the_other_takes_over_when_it_dies(opened: Any, people: Any) -> None:
    first, second = await opened(), await opened()
    await end(first, people, "run_1")
    [notice] = await first.outbox.claim()
    assert await second.outbox.claim() == []
    await first.release()  # as if it had died before it could say that it delivered
    [again] = await second.outbox.claim()
    assert (again.stream, again.attempt) == (notice.stream, 2)
    await first.outbox.delivered(notice)
    await second.outbox.failed(again, 0.0)
    [once_more] = await second.outbox.claim()
    assert once_more.attempt == 3, "the one that lost its claim cannot mark the notice"


async def test_what_a_process_could_not_mark_it_claims_again(opened: Any, people: Any) -> None:
    first, second = await opened(), await opened()
    await end(first, people, "run_1")
    [notice] = await first.outbox.claim()  # then the store was away, and nothing could be said about it
    [again] = await first.outbox.claim()
    assert (again.stream, again.attempt) == (notice.stream, 2)
    assert await second.outbox.claim() == []


async def test_what_fails_is_tried_again_later_and_keeps_the_order_of_its_run(
    store: Store, people: Any, clock: Any
) -> None:
    lease = await end(store, people, "run_1")
    await store.events.append([RunFinished(lease.run, 2, 3.0, "partial")], lease)
    await end(store, people, "run_2")
    clock.step = timedelta(0)
    got: list[tuple[str, int]] = []

    async def handler(notice: Notice) -> None:
        got.append((notice.stream, notice.number))
        if notice.stream == "run_1" and notice.number == 1 and notice.attempt < 3:
            raise ConnectionError("the receiver is away")

    delivery = OutboxDelivery(store, {"run.finished": [handler]})
    assert await delivery.deliver() == 1
    assert got == [("run_1", 1), ("run_2", 1)]
    assert await delivery.deliver() == 0, "not due yet"
    clock.time += timedelta(seconds=10)
    assert await delivery.deliver() == 0
    clock.time += timedelta(seconds=10)
    assert await delivery.deliver() == 2
    assert got[2:] == [("run_1", 1), ("run_1", 1), ("run_1", 2)]


async def test_a_loop_delivers_by_itself(store: Store, people: Any) -> None:
    heard: asyncio.Queue[Notice] = asyncio.Queue()
    delivery = OutboxDelivery(store, {"run.finished": [heard.put]})
    delivery.keep_delivering()
    await end(store, people, "run_1")
    assert (await asyncio.wait_for(heard.get(), 10)).stream == "run_1"
    await delivery.close()
