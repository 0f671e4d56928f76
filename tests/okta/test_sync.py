"""A sync copies a tenant exactly, goes on after any interruption, and shows readers whole syncs only."""

import asyncio
import multiprocessing
import os
import signal
import sqlite3
import threading
import time
from collections.abc import Mapping
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from starlette.responses import HTMLResponse, JSONResponse, Response

from answerable.core.clock import SystemClock
from answerable.core.errors import AnswerableError
from answerable.okta.simulator.changes import change
from answerable.okta.simulator.populate import simulated_tenant
from answerable.okta.simulator.server import TOKEN, Simulator, served
from answerable.okta.simulator.tenant import Tenant
from answerable.okta.sync.client import OktaClient, tenant_url
from answerable.okta.sync.credentials import ApiToken
from answerable.okta.sync.database import NEXT, PUBLISHED, SyncKind, WorkFile
from answerable.okta.sync.jobs import SyncJob
from answerable.okta.sync.page_rows import ListPage
from answerable.okta.sync.run import SyncRecord, history, sync

NOW = datetime(2026, 11, 16, 12, tzinfo=UTC)
USERS = 14


class QuickClock(SystemClock):
    """Waits for nothing, and counts what it should have waited for."""

    def __init__(self) -> None:
        self.waited: list[float] = []

    async def sleep(self, seconds: float) -> None:
        self.waited.append(seconds)
        await asyncio.sleep(0)


@pytest.fixture
def tenant() -> Tenant:
    return simulated_tenant(USERS, 3, NOW, groups=1)


def run(
    folder: Path, url: str, kind: SyncKind | None = None, token: str = TOKEN, clock: SystemClock | None = None
) -> SyncRecord:
    async def inside() -> SyncRecord:
        client = OktaClient(url, ApiToken(token, "OKTA_API_TOKEN"), clock or QuickClock())
        try:
            return await sync(folder, client, clock or QuickClock(), kind=kind)
        finally:
            await client.close()

    return asyncio.run(inside())


def rows(folder: Path, query: str) -> list[Any]:
    with closing(sqlite3.connect(f"{(folder / PUBLISHED).as_uri()}?mode=ro", uri=True)) as db:
        return db.execute(query).fetchall()


def assert_same(folder: Path, tenant: Tenant) -> None:
    """The synced data is that of the tenant: nothing is missing, nothing is there twice."""
    assert sorted(rows(folder, "SELECT id FROM users")) == [(user["id"],) for user in tenant.users]
    departments = dict(rows(folder, "SELECT id, department FROM users"))
    assert departments == {user["id"]: user["profile"]["department"] for user in tenant.users}
    members = [(group, user) for group, users in tenant.members.items() for user in users]
    assert sorted(rows(folder, "SELECT group_id, user_id FROM group_memberships")) == sorted(members)
    direct = [(app, user) for app, users in tenant.app_users.items() for user in users]
    assert sorted(rows(folder, "SELECT application_id, user_id FROM application_users")) == sorted(direct)
    assigned = {(app["id"], user["id"]) for app in tenant.apps for user in tenant.assigned(app["id"])}
    assert set(rows(folder, "SELECT application_id, user_id FROM application_access")) == assigned
    factors = [(factor["id"], user) for user, own in tenant.factors.items() for factor in own]
    present = {user["id"] for user in tenant.users if user["status"] not in ("DEPROVISIONED",)}
    synced = [row for row in rows(folder, "SELECT id, user_id FROM factors") if row[1] in present]
    assert sorted(synced) == sorted(factor for factor in factors if factor[1] in present)
    assert sorted(rows(folder, "SELECT id FROM log_events")) == sorted((entry["uuid"],) for entry in tenant.log)
    assert len(rows(folder, "SELECT id FROM devices")) == len(tenant.devices)
    assert len(rows(folder, "SELECT id FROM policies")) == len(tenant.policies)


def test_a_full_sync_has_everything_once(tmp_path: Path, tenant: Tenant) -> None:
    with served(Simulator(tenant)) as url:
        record = run(tmp_path, url)
    assert (record.kind, record.status, record.error) == ("full", "complete", None)
    assert_same(tmp_path, tenant)
    names = "SELECT u.name FROM group_memberships m JOIN users u ON u.id = m.user_id JOIN groups g ON g.id = m.group_id"
    assert len(rows(tmp_path, f"{names} WHERE g.name = 'sso-super-admins'")) == 4
    assert rows(tmp_path, "SELECT name FROM sqlite_master WHERE name LIKE '\\_%' ESCAPE '\\'") == []


@pytest.mark.parametrize("kind", ["incremental", "full"])
def test_later_syncs_follow_the_changes(kind: SyncKind, tmp_path: Path, tenant: Tenant) -> None:
    with served(Simulator(tenant)) as url:
        run(tmp_path, url)
        change(tenant, 60, seconds_apart=20)
        record = run(tmp_path, url, kind)
        assert record.kind == kind
        assert_same(tmp_path, tenant)
        again = run(tmp_path, url, kind)
    assert (again.added, again.changed, again.removed) == (0, 0, 0)
    noted = rows(tmp_path, "SELECT DISTINCT entity, change FROM changes")
    assert {("user", "added"), ("membership", "added")} <= set(noted)


def test_what_is_deleted_leaves_a_note(tmp_path: Path, tenant: Tenant) -> None:
    with served(Simulator(tenant)) as url:
        run(tmp_path, url)
        gone = tenant.remove_user(list(tenant.users)[-1]["id"])
        run(tmp_path, url, "full")
    noted = rows(tmp_path, "SELECT name FROM changes WHERE entity = 'user' AND change = 'removed'")
    assert noted == [(gone["profile"]["displayName"],)]
    assert rows(tmp_path, f"SELECT * FROM group_memberships WHERE user_id = '{gone['id']}'") == []


def test_killed_at_any_page_nothing_is_lost_or_doubled(tmp_path: Path, tenant: Tenant) -> None:
    """Each attempt is killed at its ninth request, until one needs no more than eight."""
    fork = multiprocessing.get_context("fork")
    child: list[Any] = []

    def kill(number: int, _path: str) -> Response | None:
        if number >= simulator_starts[0] + 9 and child:
            os.kill(child[0].pid, signal.SIGKILL)
        return None

    simulator = Simulator(tenant, fault=kill)
    simulator_starts = [0]
    kills = 0
    with served(simulator) as url:
        while not (tmp_path / PUBLISHED).exists():
            simulator_starts[0] = simulator.requests
            child[:] = [fork.Process(target=run, args=(tmp_path, url), daemon=True)]
            child[0].start()
            child[0].join(30)
            if child[0].exitcode != 0:
                assert child[0].exitcode == -signal.SIGKILL
                kills += 1
            assert kills < 40
    assert kills >= 5
    assert_same(tmp_path, tenant)
    assert [record.status for record in history(tmp_path)] == ["complete"]


def test_closing_waits_for_a_page_that_is_being_written(tmp_path: Path, tenant: Tenant) -> None:
    """In a process of its own: SQLite crashes if a connection is closed while another thread uses it."""

    def close_meanwhile() -> None:
        work = WorkFile(tmp_path)
        work.begin("full", "2026-11-16T12:00:00.000Z", "2026-11-16T12:00:00.000Z", 1)
        begun = threading.Event()

        def slow() -> int:
            begun.set()
            time.sleep(0.001)
            return 0

        work.db.set_progress_handler(slow, 1)
        page = ListPage(SyncJob("users", ""), list(tenant.users), None, "2026-11-16T12:00:00.000Z")
        writing = threading.Thread(target=work.write_pages, args=([page],))
        writing.start()
        begun.wait()
        work.close()
        writing.join()

    child = multiprocessing.get_context("fork").Process(target=close_meanwhile, daemon=True)
    child.start()
    child.join(60)
    assert child.exitcode == 0
    with closing(sqlite3.connect(tmp_path / NEXT)) as db:
        assert db.execute("SELECT count(*) FROM users").fetchone() == (USERS,)


@pytest.mark.parametrize(
    ("reply", "code"),
    [
        (Response("busy", 503), "okta_unreachable"),
        (HTMLResponse("<html>Sign in</html>"), "okta_not_json"),
        (Response('[{"id": ', media_type="application/json"), "okta_not_json"),
        (JSONResponse({"message": "hello"}), "okta_refused"),
        (JSONResponse(["hello"]), "okta_refused"),
        (JSONResponse({"errorCode": "E0000047"}, 429), "okta_rate_limited"),
    ],
)
def test_a_tenant_that_fails_midway_is_resumed(tmp_path: Path, tenant: Tenant, reply: Response, code: str) -> None:
    down = [True]
    simulator = Simulator(tenant, fault=lambda number, _: reply if down[0] and number > 20 else None)
    with served(simulator) as url:
        with pytest.raises(AnswerableError) as raised:
            run(tmp_path, url)
        assert raised.value.stable_code == code
        assert not (tmp_path / PUBLISHED).exists()
        assert code in str(history(tmp_path)[-1].error)
        down[0] = False
        before = simulator.requests
        whole = Simulator(tenant)
        run(tmp_path, url)
        resumed = simulator.requests - before
    with served(whole) as url:
        run(tmp_path / "other", url)
    assert resumed < whole.requests
    assert_same(tmp_path, tenant)


def test_a_feature_that_the_tenant_lacks_is_noted(tmp_path: Path, tenant: Tenant) -> None:
    lacking = JSONResponse({"errorCode": "E0000015", "errorSummary": "You do not have permission."}, 401)
    with served(Simulator(tenant, fault=lambda _number, path: lacking if "/devices" in path else None)) as url:
        run(tmp_path, url)
    last = history(tmp_path)[-1]
    assert last.status == "complete"
    assert last.error == "Not read, because the tenant lacks the feature: devices."
    assert rows(tmp_path, "SELECT * FROM devices") == []


def test_short_failures_are_passed_over(tmp_path: Path, tenant: Tenant) -> None:
    simulator = Simulator(tenant, fault=lambda number, _: Response("", 502) if number % 7 == 0 else None)
    with served(simulator) as url:
        run(tmp_path, url)
    assert_same(tmp_path, tenant)


def test_a_cursor_that_is_no_longer_known_starts_the_list_again(tmp_path: Path) -> None:
    tenant = simulated_tenant(450, 3, NOW, groups=1)
    tenant.factors.clear()
    for user in tenant.users:
        user["status"] = "STAGED"
    stale = [True]

    def fault(_number: int, path: str) -> Response | None:
        if stale[0] and path == "/api/v1/users" and simulator.requests > 4:
            stale[0] = False
            return JSONResponse({"errorCode": "E0000031", "errorCauses": [{"errorSummary": "Invalid cursor."}]}, 400)
        return None

    simulator = Simulator(tenant, fault=fault)
    with served(simulator) as url:
        run(tmp_path, url)
    assert not stale[0]
    assert_same(tmp_path, tenant)


def test_a_cursor_that_is_never_known_ends_the_sync(tmp_path: Path) -> None:
    asked = [0]

    def fault(_number: int, path: str) -> Response | None:
        asked[0] += path == "/api/v1/users"
        if path == "/api/v1/users" and asked[0] % 2 == 0:
            return JSONResponse({"errorCode": "E0000029", "errorCauses": [{"errorSummary": "Invalid cursor."}]}, 400)
        return None

    tenant = simulated_tenant(250, 3, NOW, groups=0)
    with served(Simulator(tenant, fault=fault)) as url, pytest.raises(AnswerableError) as raised:
        run(tmp_path, url)
    assert raised.value.stable_code == "okta_refused"
    assert asked[0] <= 10


def test_attributes_of_any_type_are_written_as_text(tmp_path: Path, tenant: Tenant) -> None:
    user = next(iter(tenant.users))
    user["profile"] = {"login": "ada", "city": ["Berlin", "Paris"], "title": {"en": "Chief"}, "employeeNumber": 2**63}
    with served(Simulator(tenant)) as url:
        run(tmp_path, url)
    found = rows(tmp_path, f"SELECT name, city, title, employee_number FROM users WHERE id = '{user['id']}'")
    assert found == [("ada", "Berlin, Paris", '{"en": "Chief"}', str(2**63))]


def test_readers_see_the_last_whole_sync_while_the_next_one_runs(tmp_path: Path, tenant: Tenant) -> None:
    seen: set[int] = set()

    def look(_number: int, _path: str) -> Response | None:
        if (tmp_path / PUBLISHED).exists():
            seen.add(rows(tmp_path, "SELECT count(*) FROM users")[0][0])
        return None

    with served(Simulator(tenant, fault=look)) as url:
        run(tmp_path, url)
        for _ in range(20):
            change(tenant, 3)
        run(tmp_path, url, "full")
    assert seen == {USERS}
    assert rows(tmp_path, "SELECT count(*) FROM users") == [(len(tenant.users),)]


def test_a_token_that_is_refused_is_named_by_its_variable_only(tmp_path: Path, tenant: Tenant) -> None:
    with served(Simulator(tenant)) as url, pytest.raises(AnswerableError) as raised:
        run(tmp_path, url, token="an-expired-secret")
    assert raised.value.stable_code == "okta_token_invalid"
    assert "OKTA_API_TOKEN" in raised.value.message
    assert "an-expired-secret" not in f"{raised.value} {raised.value.hint}"


@pytest.mark.parametrize("missing", ["okta.apps.read", "okta.logs.read", "okta.roles.read", "okta.devices.read"])
def test_a_missing_scope_is_named(missing: str, tmp_path: Path, tenant: Tenant) -> None:
    from answerable.okta.sync.scopes import SCOPES

    class Bearer(ApiToken):
        async def headers(self, _client: Any, _path: str) -> Mapping[str, str]:
            return {"Authorization": "Bearer granted"}

    async def inside(url: str) -> None:
        client = OktaClient(url, Bearer("", "the application"), QuickClock())
        try:
            await sync(tmp_path, client, QuickClock())
        finally:
            await client.close()

    simulator = Simulator(tenant, scopes={"granted": frozenset(SCOPES) - {missing}})
    with served(simulator) as url, pytest.raises(AnswerableError) as raised:
        asyncio.run(inside(url))
    assert raised.value.stable_code == "okta_scope_missing"
    assert missing in raised.value.message


def test_limits_are_waited_for_without_being_refused(tmp_path: Path, tenant: Tenant) -> None:
    """Each minute of the simulator passes as fast as the sync says that it waits."""

    class SharedClock(QuickClock):
        passed = 0.0

        def monotonic(self) -> float:
            return self.passed

        async def sleep(self, seconds: float) -> None:
            type(self).passed += seconds + 1
            await asyncio.sleep(0)

    clock = SharedClock()
    start = datetime.now(UTC).timestamp()
    simulator = Simulator(tenant, rate=0.02, now=lambda: start + SharedClock.passed)
    with served(simulator) as url:
        run(tmp_path, url, clock=clock)
    assert SharedClock.passed > 30
    assert simulator.refused <= 2  # the clock of this test jumps, for all who wait at once
    assert_same(tmp_path, tenant)


def test_two_syncs_of_one_tenant_do_not_mix(tmp_path: Path, tenant: Tenant) -> None:
    with served(Simulator(tenant)) as url:

        async def both() -> list[Any]:
            clients = [OktaClient(url, ApiToken(TOKEN, "T"), QuickClock()) for _ in range(2)]
            ended = await asyncio.gather(
                *(sync(tmp_path, client, QuickClock()) for client in clients), return_exceptions=True
            )
            for client in clients:
                await client.close()
            return ended

        first, second = asyncio.run(both())
    assert first.status == "complete"
    assert second.stable_code == "okta_sync_running"


def test_a_link_to_another_host_is_not_followed(tmp_path: Path, tenant: Tenant) -> None:
    away = JSONResponse([], headers={"Link": '<http://127.0.0.2/api/v1/users?after=1>; rel="next"'})
    simulator = Simulator(tenant, fault=lambda _, path: away if path == "/api/v1/users" else None)
    with served(simulator) as url, pytest.raises(AnswerableError) as raised:
        run(tmp_path, url)
    assert raised.value.stable_code == "okta_link_refused"


@pytest.mark.parametrize(
    "address", ["", "http://acme.okta.com", "https://u:p@acme.okta.com", "https://a.okta.com/x?y=1"]
)
def test_addresses_that_are_refused(address: str) -> None:
    with pytest.raises(AnswerableError) as raised:
        tenant_url(address)
    assert raised.value.stable_code == "okta_address_invalid"


@pytest.mark.parametrize("address", ["acme.okta.com", "https://acme.okta.com/", "okta://acme.okta.com"])
def test_addresses_that_mean_the_same(address: str) -> None:
    assert tenant_url(address) == "https://acme.okta.com"


def test_somebody_who_looks_at_a_sync_does_not_make_it_fail(tmp_path: Path) -> None:
    work = WorkFile(tmp_path)
    work.begin("full", "2026-11-16T12:00:00.000Z", "2026-11-16T12:00:00.000Z", 1)
    looking = sqlite3.connect(f"{(tmp_path / NEXT).as_uri()}?mode=ro", uri=True, check_same_thread=False)
    looking.execute("BEGIN")
    looking.execute("SELECT count(*) FROM _jobs").fetchone()
    threading.Timer(0.2, looking.close).start()
    work.publish(NOW)
    assert [record.status for record in history(tmp_path)] == ["complete"]
