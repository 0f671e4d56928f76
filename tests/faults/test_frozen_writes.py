"""A process that stood still while another took its run over must not write any more, also not outside of the store."""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from api_server import Answer, ApiServer
from tests.faults.frozen_process import opened
from tests.faults.run_places import said

from answerable.core.context import LOCAL
from answerable.core.events import ApprovalRequested
from answerable.core.ids import RunId
from answerable.store.leases import Renewals

LEASE = 2.0
PROCESS = Path(__file__).parent / "frozen_process.py"


@pytest.fixture
def shop() -> Iterator[ApiServer]:
    server = ApiServer()
    server.route = lambda _: Answer({"order": len(server.received)})
    yield server
    server.close()


def stands_still(pid: int) -> bool:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "T"


def started(command: list[str]) -> subprocess.Popen[str]:
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    return subprocess.Popen([sys.executable, *command], stdout=subprocess.PIPE, text=True, env=environment)


@pytest.mark.parametrize(("database", "moment"), [("sqlite", "intent"), ("postgres", "connection")])
async def test_a_frozen_process_does_not_write_after_a_person_had_it_done_again(
    request: pytest.FixtureRequest, tmp_path: Path, shop: ApiServer, database: str, moment: str
) -> None:
    url = str(tmp_path / "a.db") if database == "sqlite" else request.getfixturevalue("postgres_url")
    arguments = (url, str(tmp_path / "artifacts"), str(LEASE), shop.url)
    frozen = started([str(PROCESS), *arguments, moment])
    store, runs, apis = await opened(*arguments)
    try:
        run = RunId(await said(frozen))
        async with asyncio.timeout(60):
            while not stands_still(frozen.pid):  # noqa: ASYNC110 - another process
                await asyncio.sleep(0.02)
            while not await runs.carrier.resume_unfinished():  # noqa: ASYNC110 - until its lease has lapsed
                await asyncio.sleep(0.2)
            async for event in runs.events(run, LOCAL):
                if isinstance(event, ApprovalRequested):
                    break
        assert not shop.received
        await runs.decide(run, "pay", LOCAL, verdict="approve", note="it had not happened")
        assert (await runs.wait(run, LOCAL)).text == "paid"
        os.kill(frozen.pid, signal.SIGCONT)
        assert await said(frozen) == "done", "its waiters get what the other process recorded"
        assert len(shop.received) == 1
    finally:
        frozen.kill()
        frozen.communicate(timeout=60)
        await runs.carrier.close()
        await apis.close()
        await store.close()


def test_a_run_is_kept_only_without_a_gap_between_renewals() -> None:
    seconds = 7.0
    never = Renewals()
    assert not never.keep(known=0.0, now=0.0, seconds=seconds), "nothing is known before the first renewal"
    first = never.renewed(asked=10.0, done=10.1, seconds=seconds)
    assert not first.keep(known=10.0, now=10.2, seconds=seconds), "it may have been taken before the renewal"
    assert first.keep(known=10.1, now=13.4, seconds=seconds)
    assert not first.keep(known=10.1, now=13.5, seconds=seconds), "too near to the end of the lease"
    in_time = first.renewed(asked=12.0, done=16.9, seconds=seconds)
    assert in_time.keep(known=10.1, now=15.4, seconds=seconds)
    # Frozen after it had asked: the database may have renewed as late as the answer came, or long before.
    for asked, done in ((12.0, 17.0), (40.0, 40.1)):
        late = first.renewed(asked=asked, done=done, seconds=seconds)
        assert not late.keep(known=10.1, now=done, seconds=seconds)
    assert late.keep(known=40.2, now=40.3, seconds=seconds)
    # Two at once: the earlier one is answered last.
    assert late.renewed(asked=39.9, done=40.2, seconds=seconds) == late
