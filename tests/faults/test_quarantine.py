"""A run that was under way when its process died twice is ended, and never continued by itself."""

import asyncio
import os
import signal

from tests.faults.run_places import LEASE, Place, eventually, finished, said
from tests.faults.run_process import opened

from answerable.core.context import LOCAL, RunContext
from answerable.core.events import RunFailed
from answerable.core.ids import RunId, new_run_id
from answerable.service.runs import RunService
from answerable.store.base import Store


async def adopted(store: Store, runs: RunService) -> None:
    async with asyncio.timeout(10 * LEASE):
        while not await runs.carrier.resume_unfinished():  # noqa: ASYNC110 - until the lease of the dead process has lapsed
            await asyncio.sleep(LEASE / 5)


async def test_two_deaths_end_a_run(place: Place) -> None:
    first = place.start()
    run = RunId(await said(first))
    await eventually(lambda: len(place.worked()) >= 1)
    os.kill(first.pid, signal.SIGKILL)
    second = place.start("ADOPT")
    await eventually(lambda: any(process == second.pid for process, _ in place.worked()))
    os.kill(second.pid, signal.SIGKILL)
    store, runs = await opened(*place.arguments, seconds=0.05)
    try:
        assert (await store.runs.get(LOCAL, run)).deaths == 1, "counted before the work began again"
        await adopted(store, runs)
        worked = place.worked()
        answer = await runs.wait(run, LOCAL)
        assert answer.provenance.error is not None
        assert (answer.status, answer.provenance.error.code) == ("failed", "run_quarantined")
        record = await store.runs.get(LOCAL, run)
        assert (record.status, record.error_code, record.deaths) == ("failed", "run_quarantined", 2)
        events = await store.events.read(LOCAL, run)
        assert isinstance(events[-1], RunFailed)
        assert len(finished(events)) >= 1, "what it did is kept"
        assert await runs.carrier.resume_unfinished() == 0
        assert place.worked() == worked, "nothing was done again"
    finally:
        await runs.carrier.close()
        await store.close()


async def test_an_end_in_good_order_is_no_death(place: Place) -> None:
    """However often a server is restarted, its runs go on."""
    first, _ = await opened(*place.arguments)
    record = await first.runs.create(RunContext(new_run_id(), LOCAL), None)
    await first.close()
    for _ in range(3):
        store, _ = await opened(*place.arguments)
        [left] = await store.runs.adoptable()
        assert await store.runs.claim(left) is not None
        assert (await store.runs.get(LOCAL, record.run)).deaths == 0
        await store.close()
