"""Asks, forks and renames in processes of their own, and kills them, with SIGKILL, at one exact write after the other.

    python commit_sweep_process.py URL FOLDER

A point is: before or after a commit of the store, and before or after a file is renamed into its place. Each process
is a tenant of its own. When one has come to its end, a last process continues what the others left, and prints as one
JSON object, for each tenant, what was acknowledged and what is there.
"""

import asyncio
import contextlib
import json
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from answerable.answers.answer import Answer
from answerable.answers.capsule import capsule_body
from answerable.core.catalog import Catalog, Column, Table
from answerable.core.clock import SystemClock
from answerable.core.context import Principal, RunContext
from answerable.core.errors import UserError
from answerable.core.ids import RunId, TenantId, ThreadId, UserId, new_run_id, new_thread_id
from answerable.engine.graph import Graph
from answerable.engine.run import Engine
from answerable.engine.steps.base import Step
from answerable.service.run_carrier import RunCarrier, Subject
from answerable.service.runs import RunService
from answerable.service.semantic import SemanticService
from answerable.sources.editing import NameEdit
from answerable.store.base import Capsule, Store
from answerable.store.conversation import fork
from answerable.store.open import open_store
from answerable.store.postgres import PostgresDatabase
from answerable.store.sqlite import SqliteDatabase

LEASE_SECONDS = 0.2
WRITES = ("write", "insert_fenced")


class Fuse:
    """Counts points, and ends this process without a word at one of them."""

    def __init__(self, last: int) -> None:
        self._left = last

    def point(self) -> None:
        self._left -= 1
        if self._left <= 0:
            os.kill(os.getpid(), signal.SIGKILL)

    def lay(self) -> None:
        """At every write of this process."""
        for kind in (SqliteDatabase, PostgresDatabase):
            for name in WRITES:
                setattr(kind, name, self._fused(getattr(kind, name)))
        replace = Path.replace

        def fused(path: Path, target: Any) -> Path:
            self.point()
            moved = replace(path, target)
            self.point()
            return moved

        Path.replace = fused  # type: ignore[method-assign, assignment]

    def _fused(self, write: Callable[..., Any]) -> Callable[..., Any]:
        async def fused(*arguments: Any, **named: Any) -> Any:
            self.point()
            written = await write(*arguments, **named)
            self.point()
            return written

        return fused


class AnswerStep:
    """Answers, or fails where the question says so."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def run(self, step: Step) -> Any:
        if step.node.config.get("fails"):
            raise UserError("There is no such thing.")
        context = step.context
        answer = Answer(run_id=context.run, status="done", kind="text", text=f"answer of {context.run}")
        capsule = Capsule(context.run, context.thread, SystemClock().now(), capsule_body("?", answer))
        await self._store.capsules.put(context.principal, capsule, step.journal.lease)
        return "said"


class OneTable:
    """A source whose names stand in one file."""

    def __init__(self, folder: Path) -> None:
        self.semantic_files = [folder / "semantic.yaml"]

    async def describe_plainly(self) -> Catalog:
        table = Table(name="orders", columns=(Column(name="id", type="integer"),))
        return Catalog(source="shop", dialect="duckdb", tables=(table,))


class OneSource:
    def __init__(self, folder: Path) -> None:
        self._source = OneTable(folder)

    async def get(self, name: str, principal: Principal) -> OneTable:
        return self._source

    def location(self, name: str, principal: Principal) -> str:
        return name


class Place:
    def __init__(self, store: Store, folder: Path) -> None:
        self.store = store
        engine = Engine({"answer": AnswerStep(store)}, store.events)
        self.runs = RunService(store, RunCarrier(store, engine, SystemClock(), {}), {})
        self.semantic = SemanticService(OneSource(folder), store)  # type: ignore[arg-type]

    async def ask(self, principal: Principal, thread: ThreadId, *, fails: bool = False) -> RunId:
        nodes = [{"id": "answer", "kind": "answer", "config": {"fails": fails}}]
        context = RunContext(new_run_id(), principal, thread)
        run = await self.runs.carrier.start(Graph.parse({"nodes": nodes}), Subject("how many?", (), None), context)
        await self.runs.wait(run, principal)
        return run


async def live(url: str, folder: Path, principal: Principal, diary: Path) -> None:
    store = await opened(url, folder)
    place = Place(store, folder / principal.tenant)

    def acknowledge(**what: Any) -> None:
        with diary.open("a") as lines:
            lines.write(json.dumps(what) + "\n")

    thread = new_thread_id()
    acknowledge(run=await place.ask(principal, thread))
    acknowledge(run=await place.ask(principal, thread, fails=True))
    last = (await store.threads.messages(principal, thread))[-1]
    acknowledge(fork=await fork(store.threads, principal, thread, last.message, include=True))
    await place.semantic.edit("shop", [NameEdit(table="orders", synonyms=("sales",))], principal)
    acknowledge(synonym="sales")
    await place.semantic.edit("shop", [NameEdit(table="orders", label="Orders")], principal)
    acknowledge(label="Orders")


async def found(url: str, folder: Path, tenants: list[str]) -> dict[str, Any]:
    """What is there once a process has continued everything."""
    store = await opened(url, folder)
    runs = Place(store, folder).runs
    await asyncio.sleep(LEASE_SECONDS * 1.5)
    await runs.carrier.resume_unfinished()
    await runs.carrier.idle()
    seen = {tenant: await found_of(store, folder, principal_of(tenant)) for tenant in tenants}
    await runs.carrier.close()
    await store.close()
    return seen


async def found_of(store: Store, folder: Path, principal: Principal) -> Any:
    records = await store.runs.recent(principal, limit=500)
    threads = await store.threads.recent(principal)
    said = [message for thread in threads for message in await store.threads.messages(principal, thread.thread)]
    events = {record.run: await store.events.read(principal, record.run) for record in records}
    sql = "SELECT stream, topic FROM outbox WHERE tenant_id = ?"
    semantic = Place(store, folder / principal.tenant).semantic
    history = await semantic.history("shop", principal)
    text = (await semantic.read("shop", principal)).text
    undone = (await semantic.undo("shop", history[0].change_id, principal)).text if history else ""
    return {
        "runs": {record.run: record.status for record in records},
        "events": {run: [event.type for event in stored] for run, stored in events.items()},
        "numbers": {run: [event.seq for event in stored] for run, stored in events.items()},
        "messages": [[message.thread, message.role, message.run] for message in said],
        "notices": [list(row) for row in await store.database.rows(sql, principal.tenant)],  # type: ignore[attr-defined]
        "history": [[change.before, change.after] for change in history],
        "text": text,
        "undone": undone,
    }


def principal_of(tenant: str) -> Principal:
    return Principal(TenantId(tenant), UserId("ada"))


async def opened(url: str, folder: Path) -> Store:
    return await open_store(url, artifacts=folder / "artifacts", synchronous="normal", lease_seconds=LEASE_SECONDS)


def killed(url: str, folder: Path, tenant: str, point: int) -> bool:
    """Raises `TimeoutError` if the process could not reach the store, as on a machine that stands still for seconds."""
    (folder / tenant).mkdir()
    child = os.fork()
    if child == 0:
        try:
            Fuse(point).lay()
            asyncio.run(live(url, folder, principal_of(tenant), folder / tenant / "diary"))
        except BaseException as error:
            print(f"{type(error).__name__}: {error}", file=sys.stderr)
            os._exit(os.EX_TEMPFAIL if "couldn't get a connection" in str(error) else 1)
        os._exit(0)
    _, how = os.waitpid(child, 0)
    if os.WIFEXITED(how) and os.WEXITSTATUS(how) == os.EX_TEMPFAIL:
        raise TimeoutError
    assert os.WIFSIGNALED(how) or os.WEXITSTATUS(how) == 0
    return os.WIFSIGNALED(how)


def acknowledged(folder: Path, tenant: str) -> list[Any]:
    diary = folder / tenant / "diary"
    return [json.loads(line) for line in diary.read_text().splitlines()] if diary.exists() else []


async def prepare(url: str, folder: Path) -> None:
    await (await opened(url, folder)).close()


def main(url: str, folder: Path) -> None:
    asyncio.run(prepare(url, folder))
    tenants: list[str] = []
    point, was_killed = 1, True
    while was_killed:
        tenants.append(f"t{len(tenants)}")
        with contextlib.suppress(TimeoutError):
            was_killed = killed(url, folder, tenants[-1], point)
            point += 1
    seen = asyncio.run(found(url, folder, tenants))
    print(json.dumps({tenant: {"acknowledged": acknowledged(folder, tenant), **seen[tenant]} for tenant in tenants}))


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
