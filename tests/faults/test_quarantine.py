"""A run that kills its processes is given up; one that was only beside it, or that gets on between deaths, is not."""

import asyncio
import os
import signal

from tests.faults.run_places import LEASE, Place, complete, eventually, finished, said
from tests.faults.run_process import opened

from answerable.core.context import LOCAL, RunContext
from answerable.core.events import RunFailed
from answerable.core.ids import RunId, new_run_id


async def test_a_run_that_gets_on_survives_any_number_of_deaths(place: Place) -> None:
    process = place.start()
    run = RunId(await said(process))
    for _ in range(2):
        await eventually(lambda: any(of == process.pid for of, _ in place.worked()))  # noqa: B023 - awaited at once
        os.kill(process.pid, signal.SIGKILL)
        process = place.start("ADOPT")
    await eventually(lambda: any(of == process.pid for of, _ in place.worked()))
    os.kill(process.pid, signal.SIGKILL)
    store, runs = await opened(*place.arguments, seconds=0.05)
    try:
        runs.carrier.keep_adopting()
        async with asyncio.timeout(20 * LEASE):
            assert (await runs.wait(run, LOCAL)).status == "done"
        assert complete(await store.events.read(LOCAL, run))
    finally:
        await runs.carrier.close()
        await store.close()


async def test_three_deaths_at_one_place_end_a_run_and_not_those_beside_it(place: Place) -> None:
    first = place.start("POISON")
    poison, beside = map(RunId, (await said(first)).split())
    await asyncio.to_thread(first.wait, 30)
    for _ in range(2):
        await asyncio.to_thread(place.start("ADOPT").wait, 30)
    store, runs = await opened(*place.arguments, seconds=0.05)
    try:
        assert (await store.runs.get(LOCAL, poison)).deaths == 2, "counted before the work began again"
        assert (await store.runs.get(LOCAL, beside)).deaths == 1, "not taken up beside another suspect"
        runs.carrier.keep_adopting()
        async with asyncio.timeout(20 * LEASE):
            answer = await runs.wait(poison, LOCAL)
            assert (await runs.wait(beside, LOCAL)).status == "done"
        assert answer.provenance.error is not None
        assert (answer.status, answer.provenance.error.code) == ("failed", "run_quarantined")
        record = await store.runs.get(LOCAL, poison)
        assert (record.status, record.error_code, record.deaths) == ("failed", "run_quarantined", 3)
        events = await store.events.read(LOCAL, poison)
        assert isinstance(events[-1], RunFailed)
        assert dict(finished(events)) == {"n0": 1}, "what it did is kept"
        assert complete(await store.events.read(LOCAL, beside))
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
