"""A sync of changes writes what changed, and leaves the tables and the graph as a sync of everything would."""

import asyncio
import shutil
import sqlite3
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import ladybug
import pytest

from answerable.core.clock import SystemClock
from answerable.okta.simulator.changes import change
from answerable.okta.simulator.populate import simulated_tenant
from answerable.okta.simulator.server import TOKEN, Simulator, served
from answerable.okta.simulator.tenant import Tenant, stamp
from answerable.okta.sync.client import OktaClient
from answerable.okta.sync.credentials import ApiToken
from answerable.okta.sync.database import PUBLISHED
from answerable.okta.sync.deriving import derive
from answerable.okta.sync.graph import FOLDER, GRAPH, STATE, read_state, update_graph
from answerable.okta.sync.run import sync

NOW = datetime(2026, 11, 16, 12, tzinfo=UTC)
DERIVED = ("application_access", "administrators", "sign_ins", "login_risks")


def synced(folder: Path, url: str) -> int:
    """Returns how many requests it took."""

    async def inside() -> int:
        client = OktaClient(url, ApiToken(TOKEN, "simulator"), SystemClock())
        try:
            await sync(folder, client, SystemClock(), graph=True)
        finally:
            await client.close()
        return client.requests

    return asyncio.run(inside())


def graph_content(file: Path) -> dict[str, list[Any]]:
    with ladybug.Database(str(file), read_only=True, max_db_size=1 << 30) as db, ladybug.Connection(db) as graph:

        def rows(query: str) -> list[Any]:
            result, found = graph.execute(query), []
            while result.has_next():  # type: ignore[union-attr]
                found.append(result.get_next())  # type: ignore[union-attr]
            return found

        tables = {row[1]: row[2] for row in rows("CALL show_tables() RETURN *")}
        queries = {
            "NODE": "MATCH (n:{0}) RETURN n",
            "REL": "MATCH (a)-[r:{0}]->(b) RETURN coalesce(a.id, a.name), r, coalesce(b.id, b.name)",
        }
        return {name: sorted(map(plain, rows(queries[kind].format(name)))) for name, kind in tables.items()}


def plain(row: list[Any]) -> str:
    """A row without the places in the file, which differ."""
    inner = ("_ID", "_SRC", "_DST")
    return repr([{k: v for k, v in each.items() if k not in inner} if isinstance(each, dict) else each for each in row])


def derived(path: Path) -> dict[str, list[Any]]:
    with closing(sqlite3.connect(path)) as db:
        return {name: sorted(db.execute(f"SELECT * FROM {name}").fetchall(), key=repr) for name in DERIVED}


def assert_as_if_new(folder: Path, scratch: Path) -> None:
    """Compares with what is built anew from the same tables."""
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.mkdir()
    shutil.copyfile(folder / PUBLISHED, scratch / PUBLISHED)
    expected = graph_content(update_graph(scratch, None))
    found = graph_content(folder / FOLDER / GRAPH)
    assert found == expected
    with closing(sqlite3.connect(scratch / PUBLISHED)) as db, db:
        derive(db, since=None)
    assert derived(folder / PUBLISHED) == derived(scratch / PUBLISHED)


def rename_a_group(tenant: Tenant) -> None:
    giving = {group for groups in tenant.app_groups.values() for group in groups}
    kept = ("Everyone", "dept-", "project-", "vpn-")
    group = next(
        each for each in tenant.groups if each["id"] in giving and not each["profile"]["name"].startswith(kept)
    )
    group["profile"] = {**group["profile"], "name": 'renamed, with "quotes" and ünï'}
    group["lastUpdated"] = stamp(tenant.now)


@pytest.fixture(scope="module")
def tenant() -> Tenant:
    return simulated_tenant(60, 3, NOW, groups=3)


def test_changes_lead_where_a_new_beginning_would(tmp_path: Path, tenant: Tenant) -> None:
    folder, scratch = tmp_path / "tenant", tmp_path / "scratch"
    with served(Simulator(tenant)) as url:
        everything = synced(folder, url)
        first = read_state(folder)
        assert first is not None
        for number in range(3):
            change(tenant, 40, seconds_apart=20)
            if number == 1:
                rename_a_group(tenant)
            requests = synced(folder, url)
            state = read_state(folder)
            assert state is not None
            # changed, not built anew
            assert (state.sync, state.built) == (number + 2, first.built)
            assert_as_if_new(folder, scratch)
        assert requests < everything
        quiet = synced(folder, url)
        assert_as_if_new(folder, scratch)
        assert quiet < requests


def test_a_graph_that_is_behind_is_built_anew(tmp_path: Path, tenant: Tenant) -> None:
    """As after a kill between the tables and the graph, or between the graph and the note of which one it is."""
    folder, scratch = tmp_path / "tenant", tmp_path / "scratch"
    with served(Simulator(tenant)) as url:
        synced(folder, url)
        change(tenant, 20, seconds_apart=20)
        before, state = (folder / FOLDER / GRAPH).read_bytes(), (folder / STATE).read_text()
        synced(folder, url)
        for graph in (before, None):
            if graph is not None:
                (folder / FOLDER / GRAPH).write_bytes(graph)
            (folder / STATE).write_text(state)
            change(tenant, 20, seconds_apart=20)
            synced(folder, url)
            assert_as_if_new(folder, scratch)
