"""What is kept and what is removed, on every database."""

from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from answerable.core.context import Principal, RunContext
from answerable.core.errors import NotFoundError
from answerable.core.events import Event, RunFinished, StepFinished
from answerable.core.ids import ArtifactId, NodeId, RunId, ThreadId, new_message_id
from answerable.service.outbox import OutboxDelivery
from answerable.service.retention import RetentionService
from answerable.store.base import Capsule, Message, RunEnd, Store

DAY = timedelta(days=1)


@dataclass
class Limits:
    keep_days: int = 0
    keep_runs: int = 0
    keep_mb: int = 0


async def artifact(store: Store, principal: Principal, content: bytes) -> ArtifactId:
    path = store.artifacts.staging()
    path.write_bytes(content)
    return await store.artifacts.adopt(principal, path)


async def asked(
    store: Store, principal: Principal, clock: Any, run: str, content: bytes | None = None, thread: str | None = None
) -> ArtifactId:
    """A finished run in a thread, with an answer and a result table."""
    thread_id = ThreadId(thread or f"thr_{run}")
    rows = await artifact(store, principal, content or run.encode())
    record = await store.runs.create(RunContext(RunId(run), principal, thread_id), "?")
    await store.threads.ensure(principal, thread_id, "A thread")
    message = Message(new_message_id(), thread_id, "assistant", "7", clock.now(), record.run)
    await store.threads.add_message(principal, message)
    output = {"frame": {"artifact": rows}}
    events: list[Event] = [
        StepFinished(record.run, 1, 1.0, NodeId("a"), output),
        RunFinished(record.run, 2, 2.0, "done"),
    ]
    await store.events.append(events, record.lease)
    await store.capsules.put(principal, Capsule(record.run, thread_id, clock.now(), output), record.lease)
    await store.runs.finish(record.lease, RunEnd("done"))
    return rows


def service(store: Store, clock: Any, **limits: int) -> RetentionService:
    return RetentionService(store, Limits(**limits), OutboxDelivery(store, {}), clock)


async def left(store: Store, principal: Principal) -> list[str]:
    return sorted(record.run for record in await store.runs.recent(principal))


async def test_by_default_everything_is_kept(store: Store, people: Any, clock: Any) -> None:
    await asked(store, people.ada, clock, "run_1")
    clock.time += 1000 * DAY
    pruned = await service(store, clock).prune()
    assert pruned is not None
    assert (pruned.runs, pruned.artifacts) == (0, 0)
    assert await left(store, people.ada) == ["run_1"]


async def test_old_runs_go_with_all_that_belongs_to_them(store: Store, people: Any, clock: Any) -> None:
    gone = await asked(store, people.ada, clock, "run_old")
    shared_rows = await asked(store, people.ada, clock, "run_same", b"the same rows")
    clock.time += 40 * DAY
    await asked(store, people.ada, clock, "run_new", b"the same rows")
    path = await store.artifacts.path(people.ada, gone)
    assert (await service(store, clock, keep_days=30).prune(dry_run=True)).runs == 2  # type: ignore[union-attr]
    assert await left(store, people.ada) == ["run_new", "run_old", "run_same"]

    pruned = await service(store, clock, keep_days=30).prune()
    assert pruned is not None
    assert (pruned.runs, pruned.threads, pruned.artifacts, pruned.bytes) == (2, 2, 1, len("run_old"))
    assert await left(store, people.ada) == ["run_new"]
    assert not path.exists()
    assert (await store.artifacts.path(people.ada, shared_rows)).exists(), "a run that is kept has the same rows"
    for attempt in (
        store.events.read(people.ada, RunId("run_old")),
        store.capsules.get(people.ada, RunId("run_old")),
        store.threads.get(people.ada, ThreadId("thr_run_old")),
        store.artifacts.path(people.ada, gone),
    ):
        with pytest.raises(NotFoundError):
            await attempt
    database: Any = store.database
    for table in ("events", "capsules", "messages"):
        assert await database.rows(f"SELECT DISTINCT run_id FROM {table}") == [("run_new",)]
    report = await service(store, clock).report()
    assert (report.runs, report.last_pruned, report.artifact_bytes) == (1, pruned, len("the same rows"))
    assert report.pruned_at is not None


async def test_pinned_shared_and_golden_runs_and_unfinished_ones_stay(store: Store, people: Any, clock: Any) -> None:
    for run in ("run_pinned", "run_shared", "run_golden", "run_forked", "run_plain"):
        await asked(store, people.ada, clock, run)
    await store.threads.change(people.ada, ThreadId("thr_run_pinned"), title=None, pinned=True)
    await store.threads.share(people.ada, ThreadId("thr_run_shared"), "token")
    await store.evals.put_case(people.ada, "mine", "c1", {}, run=RunId("run_golden"))
    await store.threads.ensure(people.ada, ThreadId("thr_fork"), "A fork")
    message = Message(new_message_id(), ThreadId("thr_fork"), "assistant", "7", clock.now(), RunId("run_forked"))
    await store.threads.add_message(people.ada, message)
    await store.threads.change(people.ada, ThreadId("thr_fork"), title=None, pinned=True)
    await store.runs.create(RunContext(RunId("run_open"), people.ada), "?")
    clock.time += 400 * DAY
    assert (await service(store, clock).report()).protected_runs == 4
    pruned = await service(store, clock, keep_days=1, keep_runs=1).prune()
    assert pruned is not None
    assert pruned.runs == 1
    assert await left(store, people.ada) == ["run_forked", "run_golden", "run_open", "run_pinned", "run_shared"]


async def test_the_newest_runs_of_each_tenant_are_kept(store: Store, people: Any, clock: Any) -> None:
    for number in range(5):
        await asked(store, people.ada, clock, f"run_a{number}")
        await asked(store, people.eve, clock, f"run_e{number}")
    await service(store, clock, keep_runs=2).prune()
    assert await left(store, people.ada) == ["run_a3", "run_a4"]
    assert await left(store, people.eve) == ["run_e3", "run_e4"]


async def test_the_newest_runs_that_fit_are_kept(store: Store, people: Any, clock: Any) -> None:
    for number in range(4):
        await asked(store, people.ada, clock, f"run_{number}", bytes([number]) * 400_000)
    await service(store, clock, keep_mb=1).prune()
    assert await left(store, people.ada) == ["run_2", "run_3"]


async def test_threads_that_were_deleted_long_ago_are_removed(store: Store, people: Any, clock: Any) -> None:
    for name in ("thr_long_ago", "thr_lately", "thr_kept"):
        await store.threads.ensure(people.ada, ThreadId(name), "A thread")
    await store.threads.delete(people.ada, ThreadId("thr_long_ago"))
    clock.time += 20 * DAY
    await store.threads.delete(people.ada, ThreadId("thr_lately"))
    clock.time += 11 * DAY
    pruned = await service(store, clock).prune()
    assert pruned is not None
    assert pruned.threads == 1
    await store.threads.restore(people.ada, ThreadId("thr_lately"))
    with pytest.raises(NotFoundError):
        await store.threads.restore(people.ada, ThreadId("thr_long_ago"))
    await store.threads.get(people.ada, ThreadId("thr_kept"))


async def test_an_artifact_that_a_step_has_just_made_is_left(store: Store, people: Any, clock: Any) -> None:
    fresh = await artifact(store, people.ada, b"not named by any event yet")
    old = await artifact(store, people.ada, b"left by a step that failed")
    clock.time += 2 * DAY
    assert await artifact(store, people.ada, b"not named by any event yet") == fresh, "adopted again just now"
    await service(store, clock).prune()
    assert (await store.artifacts.path(people.ada, fresh)).exists()
    with pytest.raises(NotFoundError):
        await store.artifacts.path(people.ada, old)


async def test_one_process_at_a_time_and_not_more_often_than_said(opened: Any, clock: Any) -> None:
    first, second = await opened(), await opened()
    assert await first.retention.begin(3600)
    assert not await second.retention.begin(0)
    await first.release()  # it died over it
    assert await second.retention.begin(0)
    await second.retention.end(await service(second, clock).prune(dry_run=True))
    assert await service(first, clock).prune(every=3600) is None
    clock.time += timedelta(hours=2)
    assert await service(first, clock).prune(every=3600) is not None
    clock.time -= timedelta(days=300)
    assert await service(first, clock).prune(every=3600) is not None, "the clock was set back"
    assert await service(first, clock).prune(every=3600) is None


async def test_leases_of_processes_that_ended_are_forgotten(opened: Any, clock: Any, people: Any) -> None:
    store = await opened()
    for number in range(3):
        ended = await opened()
        await ended.runs.create(RunContext(RunId(f"run_{number}"), people.ada), None)
        await ended.release()
    living = await opened()
    await living.runs.create(RunContext(RunId("run_9"), people.ada), None)
    database: Any = store.database
    assert len(await database.rows("SELECT owner FROM owners")) == 4
    await service(store, clock).prune()
    assert len(await database.rows("SELECT owner FROM owners")) == 2, "the living one, and who pruned"
    assert [record.run for record in await store.runs.adoptable()] == ["run_0", "run_1", "run_2"]


def test_no_place_is_left_for_a_run_in_the_list_of_tables() -> None:
    """Whatever table gets a `run_id` belongs to what is removed, or is looked at for what is protected."""
    folder = Path(__file__).parents[2] / "src/answerable/store"
    removed = (folder / "retention.py").read_text()
    tables = set()
    for file in (folder / "migrations").glob("*.sql"):
        for statement in file.read_text().split(";\n"):
            if "CREATE TABLE" in statement and "run_id" in statement:
                tables.add(statement.split("CREATE TABLE ")[1].split()[0])
    assert {table for table in tables if table not in removed} == set()
