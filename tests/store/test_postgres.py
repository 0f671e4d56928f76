"""What is particular to PostgreSQL: connections, rights, its own schema."""

import asyncio
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from answerable.core.context import LOCAL, RunContext
from answerable.core.errors import OperatorError
from answerable.core.events import StepStarted
from answerable.core.ids import NodeId, RunId
from answerable.store import schema
from answerable.store.base import Lease
from answerable.store.open import open_store
from answerable.store.postgres import typed

RUN = RunId("run_1")


def changed(url: str, **parts: str) -> str:
    """The same address with other parts, as a URL."""
    values = conninfo_to_dict(url) | parts
    secret = f":{values['password']}" if "password" in values else ""
    return f"postgresql://{values['user']}{secret}@/{values['dbname']}?host={values['host']}"


@pytest.fixture
def artifacts(tmp_path: Path) -> Path:
    return tmp_path / "artifacts"


async def test_it_shares_a_database_with_other_programs(postgres_url: str, artifacts: Path, opened: Any) -> None:
    with psycopg.connect(postgres_url, autocommit=True) as theirs:
        theirs.execute("CREATE TABLE runs (id TEXT)")
        theirs.execute("CREATE TABLE migrations (id TEXT)")
        store = await opened(postgres_url, artifacts=artifacts)
        await store.runs.create(RunContext(RUN, LOCAL), None)
        assert theirs.execute("SELECT count(*) FROM runs").fetchone() == (0,)
        assert theirs.execute("SELECT count(*) FROM answerable.runs").fetchone() == (1,)


async def test_a_folder_for_artifacts_is_needed(postgres_url: str) -> None:
    with pytest.raises(OperatorError) as caught:
        await open_store(postgres_url)
    assert caught.value.stable_code == "store_unavailable"


@pytest.mark.parametrize(
    ("parts", "reason"),
    [
        ({"dbname": "no_such_database"}, "does not exist"),
        ({"user": "nobody_here", "password": "s3cret"}, "nobody_here"),
        ({"host": "/no/such/folder"}, "No such file"),
    ],
)
async def test_a_wrong_address_is_explained_without_the_password(
    postgres_url: str, artifacts: Path, parts: dict[str, str], reason: str
) -> None:
    with pytest.raises(OperatorError, match=reason) as caught:
        await open_store(changed(postgres_url, **parts), artifacts=artifacts)
    assert caught.value.stable_code == "store_unavailable"
    assert "password" in (caught.value.hint or "")
    assert "s3cret" not in caught.value.message


async def test_a_url_that_is_none(artifacts: Path) -> None:
    with pytest.raises(OperatorError) as caught:
        await open_store("postgresql://host:port:more/x", artifacts=artifacts)
    assert caught.value.stable_code == "store_unavailable"


async def test_a_server_that_came_back_is_used_again(postgres_url: str, artifacts: Path, opened: Any) -> None:
    store = await opened(postgres_url, artifacts=artifacts)
    created = await store.runs.create(RunContext(RUN, LOCAL), None)
    with psycopg.connect(postgres_url, autocommit=True) as admin:
        admin.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
    await store.events.append([StepStarted(RUN, 1, 1.0, NodeId("a"))], Lease(RUN, 1))
    assert await store.runs.get(LOCAL, RUN) == created


async def test_a_start_waits_for_another_that_is_making_the_store(postgres_url: str, artifacts: Path) -> None:
    waiting = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"
    with psycopg.connect(postgres_url, autocommit=True) as other:
        other.execute("SELECT pg_advisory_lock(%s)", (schema.MARK,))
        start = asyncio.create_task(open_store(postgres_url, artifacts=artifacts))
        while other.execute(waiting).fetchone() == (0,):
            await asyncio.sleep(0.01)
            assert not start.done()
        other.execute("SELECT pg_advisory_unlock(%s)", (schema.MARK,))
    await (await start).close()


async def test_whoever_runs_it_needs_no_right_to_change_the_schema(
    postgres_url: str, artifacts: Path, opened: Any
) -> None:
    await opened(postgres_url, artifacts=artifacts)
    with psycopg.connect(postgres_url, autocommit=True) as admin:
        admin.execute("CREATE ROLE worker LOGIN PASSWORD 'w'")
        admin.execute("GRANT USAGE ON SCHEMA answerable TO worker")
        admin.execute("GRANT SELECT, INSERT, UPDATE ON ALL TABLES IN SCHEMA answerable TO worker")
    try:
        store = await open_store(changed(postgres_url, user="worker", password="w"), artifacts=artifacts)
        created = await store.runs.create(RunContext(RUN, LOCAL), None)
        await store.events.append([StepStarted(RUN, 1, 1.0, NodeId("a"))], Lease(RUN, 1))
        assert await store.runs.get(LOCAL, RUN) == created
        await store.close()
    finally:
        with psycopg.connect(postgres_url, autocommit=True) as admin:
            admin.execute("DROP OWNED BY worker")
            admin.execute("DROP ROLE worker")


async def test_a_first_start_without_rights_says_what_is_needed(postgres_url: str, artifacts: Path) -> None:
    with psycopg.connect(postgres_url, autocommit=True) as admin:
        admin.execute("CREATE ROLE guest LOGIN PASSWORD 'g'")
    try:
        with pytest.raises(OperatorError, match="permission denied") as caught:
            await open_store(changed(postgres_url, user="guest", password="g"), artifacts=artifacts)
        assert caught.value.stable_code == "store_unavailable"
        assert "allowed to create a schema" in (caught.value.hint or "")
    finally:
        with psycopg.connect(postgres_url, autocommit=True) as admin:
            admin.execute("DROP ROLE guest")


async def test_a_database_that_cannot_hold_all_text_is_refused(postgres_server: str, artifacts: Path) -> None:
    with psycopg.connect(postgres_server, autocommit=True) as admin:
        admin.execute("CREATE DATABASE latin ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0")
        try:
            with pytest.raises(OperatorError, match="LATIN1") as caught:
                await open_store(changed(postgres_server, dbname="latin"), artifacts=artifacts)
            assert caught.value.stable_code == "store_unavailable"
        finally:
            admin.execute("DROP DATABASE latin WITH (FORCE)")


async def test_durability_is_set_per_connection(postgres_url: str, artifacts: Path, opened: Any) -> None:
    for word, setting in (("full", "on"), ("normal", "off")):
        store = await opened(postgres_url, artifacts=artifacts, synchronous=word)
        assert await store.database.rows("SHOW synchronous_commit") == [(setting,)]


async def test_a_read_only_server_cannot_be_used(postgres_url: str, artifacts: Path, opened: Any) -> None:
    await opened(postgres_url, artifacts=artifacts)
    readonly = make_conninfo(postgres_url, options="-c default_transaction_read_only=on")
    values = conninfo_to_dict(readonly)
    url = changed(postgres_url) + "&options=" + str(values["options"]).replace(" ", "%20").replace("=", "%3D")
    store = await opened(url, artifacts=artifacts)
    with pytest.raises(OperatorError) as caught:
        await store.runs.create(RunContext(RUN, LOCAL), None)
    assert caught.value.stable_code == "store_unavailable"


@pytest.mark.parametrize(
    ("failure", "code"),
    [
        (psycopg.errors.DiskFull, "store_full"),
        (psycopg.errors.DataCorrupted, "store_corrupt"),
        (psycopg.errors.IndexCorrupted, "store_corrupt"),
        (psycopg.errors.TooManyConnections, "store_unavailable"),
        (psycopg.errors.AdminShutdown, "store_unavailable"),
        (psycopg.errors.ReadOnlySqlTransaction, "store_unavailable"),
        (psycopg.errors.SyntaxError, "store_defect"),
    ],
)
def test_failures_of_the_server_by_who_must_act(failure: type[psycopg.Error], code: str) -> None:
    error: Any = typed(failure("it said so\nand more"), "postgresql://host/db")
    assert error.stable_code == code
    assert "postgresql://host/db" in error.message
    assert "and more" not in error.message
