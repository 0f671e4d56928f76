"""New runs that wait for workers are taken in one go: each by one process, and none is lost with a lost answer."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from tests.conformance.conftest import Opener

from answerable.core.context import LOCAL, RunContext
from answerable.core.errors import OperatorError
from answerable.core.events import RunStarted
from answerable.core.ids import new_run_id
from answerable.store.base import RunBeginning, RunRecord, Store


@pytest.fixture
async def second(opened: Opener) -> Store:
    return await opened()


async def queued(store: Store, **more: Any) -> RunRecord:
    context = RunContext(new_run_id(), LOCAL)
    started = RunStarted(context.run, 1, 1.0, {"nodes": []}, "q")
    return await store.runs.create(context, "q", beginning=RunBeginning(started), queued=True, **more)


async def test_several_processes_take_different_runs(store: Store, second: Store) -> None:
    runs = [(await queued(store)).run for _ in range(7)]
    urgent = (await queued(store, priority=5)).run
    assert [each.record.run for each in await second.runs.claim_queued(1)] == [urgent]
    one, two = await asyncio.gather(store.runs.claim_queued(4), second.runs.claim_queued(4))
    taken = [each.record.run for each in (*one, *two)]
    assert sorted(taken) == sorted(runs)
    assert not await second.runs.claim_queued(4)
    assert not await second.runs.adoptable()
    for each in one:
        assert each.record == await store.runs.get(LOCAL, each.record.run)
        assert [each.started] == await store.events.read(LOCAL, each.record.run)
        resumed = replace(each.started, seq=2)
        await store.events.append([resumed], each.record.lease)


async def test_what_must_be_looked_at_first_is_left_alone(store: Store, second: Store) -> None:
    bounded = await queued(store, at_once=1)
    cancelled = await queued(store)
    await store.runs.request(LOCAL, cancelled.run, "cancel", {"reason": "no"})
    assert not await second.runs.claim_queued(4)
    assert {each.run for each in await second.runs.adoptable(queued=False)} == {bounded.run, cancelled.run}
    plain = await queued(store)
    assert plain.run not in {each.run for each in await second.runs.adoptable(queued=False)}
    assert plain.run in {each.run for each in await second.runs.adoptable()}


async def test_runs_are_found_again_when_the_answer_was_lost(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    runs = {(await queued(store)).run for _ in range(2)}
    database: Any = store.database
    written = database.written

    async def unheard(*statements: Any) -> Sequence[Any]:
        await written(*statements)
        raise OperatorError("The connection broke.", code="store_unavailable")

    monkeypatch.setattr(database, "written", unheard)
    with pytest.raises(OperatorError):
        await store.runs.claim_queued(4)
    monkeypatch.undo()
    assert {each.record.run for each in await store.runs.claim_queued(4)} == runs
    assert not await store.runs.claim_queued(4)
