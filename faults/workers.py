"""Three workers on PostgreSQL: one is killed, one is frozen past its lease, then the database goes away."""

import asyncio
import os
import secrets
import signal
import time
from collections import Counter
from collections.abc import AsyncIterator, Coroutine, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Any

import yaml

from answerable.app import open_service
from answerable.core.context import LOCAL
from answerable.core.errors import AnswerableError, UserError
from answerable.core.events import ApprovalRequested, StepFailed, StepFinished
from answerable.core.ids import RunId, new_run_id
from answerable.service import Service
from answerable.service.process_role import ProcessRole
from answerable.settings import Settings
from answerable.store.leases import LEASE_SECONDS
from faults.forked_command import ForkedCommand
from faults.graph_points import api_settings
from faults.graphs import Recorder
from faults.postgres import OwnPostgres, own_postgres
from faults.server import Room
from faults.stock import Stock

ROUNDS = 20
RUNS = 8
WORKERS = 3
AWAY_SECONDS, SHORTLY = 30.0, 3.0
"""How long PostgreSQL is away in the long form, and in the short one."""
END_SECONDS = 60.0
SETTLED_SECONDS = 2.0

TEXT = """
name: harmed
input: {type: object, properties: {n: {type: string}}, required: [n]}
nodes:
  left: {kind: wait, seconds: 0.05}
  right: {kind: api, api: plain, method: POST, path: /write, body: {name: "{{ input.n }}right"}}
  items:
    kind: map
    over: [0, 1, 2]
    concurrency: 2
    input: {n: "{{ input.n }}"}
    body:
      output: kept
      nodes:
        send: {kind: api, api: keyed, method: POST, path: /write, body: {name: "{{ input.n }}{{ input.index }}"}}
        kept: {kind: transform, value: "{{ send.data }}"}
  all: {kind: join, after: [left, right, items]}
  last: {kind: transform, template: "{{ input.n }} {{ items }}", after: [all]}
output: last
"""
"""Branches and a map, with writes to two APIs: one recognises keys, the other does not."""
WRITES: Sequence[str] = ("right", "0", "1", "2")


class Worker:
    def __init__(self, room: Room, number: int, store: str, changed_by: str | None = None) -> None:
        self._room = room
        self._number = number
        self._store = store
        self._changed_by = changed_by
        self.process = self._started()

    def _started(self) -> ForkedCommand:
        log = self._room.folder / f"worker-{self._number}.log"
        inherited = {name: value for name, value in os.environ.items() if not name.startswith("ANSWERABLE_")}
        environment = {"ANSWERABLE_HOME": str(self._room.home), "ANSWERABLE_STORE": self._store}
        return ForkedCommand(
            ("worker", "--at-once", "4"),
            cwd=self._room.folder,
            env={**inherited, **environment, "TMPDIR": str(self._room.temporary)},
            out=log,
            err=log,
            changed_by=self._changed_by,
        )

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(timeout=30)

    def restart(self) -> None:
        self.kill()
        self.process = self._started()

    def freeze(self) -> None:
        self.process.send_signal(signal.SIGSTOP)

    def thaw(self) -> None:
        self.process.send_signal(signal.SIGCONT)


class Runs:
    """Runs of one graph that a server leaves to the workers, and what became of them."""

    text, writes = TEXT, WRITES

    def __init__(self, service: Service, recorder: Recorder) -> None:
        self._service = service
        self._recorder = recorder
        self.begun: dict[RunId, str] = {}

    async def begin(self, count: int) -> None:
        for _ in range(count):
            await self.begin_one(new_run_id())

    async def begin_one(self, run: RunId) -> None:
        self.begun[run] = f"run-{len(self.begun)}"
        given = {"n": f"{self.begun[run]}/", "word": "hi"}
        await self._service.graphs.begin(self.text, given, LOCAL, run=run)

    async def ended(self, runs: Sequence[RunId], seconds: float = END_SECONDS) -> list[RunId]:
        """Waits until these runs have ended, and answers what they ask about writes in doubt. Returns those that have
        not ended in time."""
        until, left = time.monotonic() + seconds, list(runs)
        while left and time.monotonic() < until:
            with suppress(AnswerableError):  # the store is away
                left = [run for run in left if not await self._is_over(run)]
            await asyncio.sleep(0.1)
        return left

    async def _is_over(self, run: RunId) -> bool:
        status = (await self._service.runs.get(run, LOCAL)).status
        if status == "waiting":
            await self._decide(run)
        return status not in ("running", "waiting")

    async def _decide(self, run: RunId) -> None:
        """What a person does who looks at the target: it happened, or it is done again."""
        for event in await self._service.runs.journal(run, LOCAL):
            if not isinstance(event, ApprovalRequested):
                continue
            name = f"{self.begun[run]}/{event.node}"
            happened = await self._happened(name)
            answer: dict[str, Any] = (
                {"verdict": "respond", "data": {"data": name}} if happened else {"verdict": "approve"}
            )
            try:
                await self._service.runs.decide(run, event.node, LOCAL, **answer)
            except UserError:  # it was decided before
                continue

    async def _happened(self, name: str) -> bool:
        """Whether a write has arrived. One that was under way when its worker was harmed may still be on its way, so a
        person looks once more before it is done again."""
        if not self._recorder.writes[name]:
            await asyncio.sleep(SETTLED_SECONDS)
        return self._recorder.writes[name] > 0

    async def judged(self, stock: Stock, runs: Sequence[RunId]) -> None:
        for run in runs:
            name = self.begun[run]
            record = await self._service.runs.get(run, LOCAL)
            if record.status != "done":
                stock.stuck.append(f"{run}: {record.status} {record.error_code or ''}")
                continue
            events = await self._service.runs.journal(run, LOCAL)
            ends = Counter(each.node for each in events if isinstance(each, StepFinished | StepFailed))
            stock.doubled += [f"{run}: {node} ended {times} times" for node, times in ends.items() if times > 1]
            if [each.seq for each in events] != list(range(1, len(events) + 1)):
                stock.lost.append(f"{run}: its events have gaps")
            for write in (f"{name}/{each}" for each in self.writes):
                times = self._recorder.writes[write]
                stock.lost += [f"{run}: {write} never written"] if not times else []
                stock.doubled += [f"{run}: {write} written {times} times"] if times > 1 else []


async def harmed(room: Room, rounds: int) -> Stock:
    stock, away = Stock(), AWAY_SECONDS if rounds >= ROUNDS else SHORTLY
    with own_postgres() as postgres:
        async with workers_on(room, postgres.url) as (runs, workers):
            for _ in range(rounds):
                await _under_way(runs, stock, _kill(workers))
                await _under_way(runs, stock, _freeze(workers))
                await _under_way(runs, stock, _stop_store(postgres, away))
    return stock


@asynccontextmanager
async def workers_on(room: Room, store: str, changed_by: str | None = None) -> AsyncIterator[tuple[Runs, list[Worker]]]:
    """A server that leaves runs to three workers, and the API that they write to. `changed_by`: a module that changes
    the workers."""
    recorder, workers = Recorder(), list[Worker]()
    apis = api_settings(recorder.url)
    room.home.mkdir(exist_ok=True)
    (room.home / "settings.yaml").write_text(yaml.safe_dump({"apis": apis}))
    settings = Settings(home=room.home, store=store, apis=apis)
    try:
        async with open_service(
            settings, any_location=False, role=ProcessRole(patient=True, leaves_runs=True)
        ) as service:
            workers += [Worker(room, number, store, changed_by) for number in range(WORKERS)]
            yield Runs(service, recorder), workers
    finally:
        for each in workers:
            each.thaw()
            each.kill()
        recorder.close()


async def _under_way(runs: Runs, stock: Stock, harm: Coroutine[Any, Any, None]) -> None:
    """Begins runs, harms while they are carried out, and looks at them when they have ended."""
    before = set(runs.begun)
    await runs.begin(RUNS)
    await harm
    new = [run for run in runs.begun if run not in before]
    stock.requests += len(new)
    await runs.ended(new)
    await runs.judged(stock, new)


async def _kill(workers: list[Worker]) -> None:
    await asyncio.sleep(secrets.randbelow(200) / 1000)
    await asyncio.to_thread(secrets.choice(workers).restart)


async def _freeze(workers: list[Worker]) -> None:
    await asyncio.sleep(secrets.randbelow(200) / 1000)
    frozen = secrets.choice(workers)
    frozen.freeze()
    await asyncio.sleep(LEASE_SECONDS + 3)
    frozen.thaw()  # what it then writes comes with an old token


async def _stop_store(postgres: OwnPostgres, away: float) -> None:
    await asyncio.sleep(secrets.randbelow(200) / 1000)
    await postgres.stop()
    await asyncio.sleep(away)
    await postgres.start()
