"""Opening, upgrading and closing a store, on every database."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from answerable.core.context import RunContext
from answerable.core.errors import AnswerableError, OperatorError
from answerable.core.ids import RunId
from answerable.store.base import Store
from answerable.store.open import open_store
from answerable.store.schema import Migration, migrations

NEXT = Migration(
    number=migrations()[-1].number + 1,
    name="Runs may carry a label.",
    statements=("ALTER TABLE runs ADD COLUMN label TEXT", "CREATE TABLE labels (label TEXT PRIMARY KEY)"),
)
BROKEN = Migration(NEXT.number, "Wrong.", ("CREATE TABLE half_done (id TEXT)", "CREATE TABLE runs (id TEXT)"))


async def rows(store: Store, sql: str) -> Any:
    database: Any = store.database
    return await database.rows(sql)


async def test_what_was_stored_is_there_after_reopening(opened: Any, people: Any) -> None:
    first = await opened()
    created = await first.runs.create(RunContext(RunId("run_1"), people.ada), "how many?")
    await first.close()
    assert await (await opened()).runs.get(people.ada, RunId("run_1")) == created


async def test_applied_migrations_are_rows(store: Store) -> None:
    applied = await rows(store, "SELECT number, name, applied_at FROM migrations ORDER BY number")
    assert [(number, name) for number, name, _ in applied] == [(one.number, one.name) for one in migrations()]
    assert all(time.startswith("20") for _, _, time in applied)


async def test_every_table_names_tenant_and_user(store: Store) -> None:
    for table in ("runs", "events", "capsules", "threads", "messages", "artifacts"):
        assert await rows(store, f"SELECT tenant_id, user_id FROM {table}") == []


async def test_an_older_store_is_upgraded_and_keeps_its_rows(opened: Any, people: Any) -> None:
    old = await opened()
    created = await old.runs.create(RunContext(RunId("run_1"), people.ada), "how many?")
    await old.close()
    new = await opened(known=(*migrations(), NEXT))
    assert await new.runs.get(people.ada, RunId("run_1")) == created
    assert await rows(new, "SELECT label FROM runs") == [(None,)]
    assert (NEXT.number, NEXT.name) in await rows(new, "SELECT number, name FROM migrations")


async def test_runs_of_an_older_store_keep_their_order(opened: Any, people: Any) -> None:
    before_positions = [one for one in migrations() if one.number < 13]
    old = await opened(known=before_positions)
    for run, created_at in (("run_b", "2026-01-01"), ("run_c", "2026-01-03"), ("run_a", "2026-01-02")):
        await old.database.write(
            (
                "INSERT INTO runs (run_id, tenant_id, user_id, status, created_at) VALUES (?, ?, ?, ?, ?)",
                (run, people.ada.tenant, people.ada.user, "done", f"{created_at}T12:00:00.000000+00:00"),
            )
        )
    await old.close()
    new = await opened()
    await new.runs.create(RunContext(RunId("run_0"), people.ada), "how many?")
    listed = [record.run for record in await new.runs.recent(people.ada)]
    assert listed == ["run_0", "run_c", "run_a", "run_b"]


async def test_a_newer_store_is_refused_and_left_alone(opened: Any, people: Any) -> None:
    newer = await opened(known=(*migrations(), NEXT))
    created = await newer.runs.create(RunContext(RunId("run_1"), people.ada), "how many?")
    with pytest.raises(OperatorError) as caught:
        await opened()
    assert caught.value.stable_code == "store_newer"
    assert f"schema {NEXT.number}" in caught.value.message
    assert "later" in (caught.value.hint or "")
    assert await newer.runs.get(people.ada, RunId("run_1")) == created


async def test_a_migration_that_fails_leaves_nothing_behind(opened: Any) -> None:
    await opened()
    with pytest.raises(AnswerableError):
        await opened(known=(*migrations(), BROKEN))
    store = await opened()
    assert len(await rows(store, "SELECT number FROM migrations")) == len(migrations())
    with pytest.raises(AnswerableError):
        await rows(store, "SELECT * FROM half_done")


async def test_several_openers_of_an_older_store_upgrade_it_once(opened: Any) -> None:
    await opened()
    stores = await asyncio.gather(*(opened(known=(*migrations(), NEXT)) for _ in range(5)))
    for store in stores:
        assert len(await rows(store, "SELECT number FROM migrations")) == len(migrations()) + 1


async def test_a_closed_store_says_so_and_may_be_closed_again(opened: Any, people: Any) -> None:
    store = await opened()
    await store.close()
    await store.close()
    with pytest.raises(AnswerableError):
        await store.runs.recent(people.ada)


@pytest.mark.parametrize("place", ["is-a-file", "no/such/folder"])
async def test_an_artifact_folder_that_cannot_be_made(store_url: str, tmp_path: Path, place: str) -> None:
    (tmp_path / "is-a-file").write_text("")
    with pytest.raises(OperatorError) as caught:
        await open_store(store_url, artifacts=tmp_path / place)
    assert caught.value.stable_code == "store_unavailable"
    assert str(tmp_path / place) in caught.value.message


@pytest.mark.parametrize("synchronous", ["full", "normal"])
async def test_both_degrees_of_durability(store_url: str, tmp_path: Path, people: Any, synchronous: Any) -> None:
    store = await open_store(store_url, artifacts=tmp_path / "artifacts", synchronous=synchronous)
    created = await store.runs.create(RunContext(RunId("run_1"), people.ada), "how many?")
    assert await store.runs.get(people.ada, created.run) == created
    await store.close()
