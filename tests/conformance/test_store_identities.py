"""People who can sign in, sessions, one-time links and counted attempts, on every database."""

import asyncio
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from answerable.core.errors import UserError
from answerable.core.ids import TenantId
from answerable.store.base import Store
from answerable.store.protocols.access_keys import KeyRecord
from answerable.store.protocols.access_records import AccessRequest, AccessVersion
from answerable.store.protocols.groups import GroupRecord
from answerable.store.protocols.identities import InvitationRecord, SessionRecord, UserRecord

ACME, EVIL = TenantId("acme"), TenantId("evil")


async def test_a_user_is_stored_and_a_late_change_is_refused(store: Store) -> None:
    users = store.identities.users
    added = await users.save(ACME, UserRecord("ana", "local", ("seller",), {"region": ("West", "Öst")}))
    assert (added.version, added.attributes) == (1, {"region": ("West", "Öst")})
    changed = await users.save(ACME, replace(added, roles=("manager",)))
    assert (await users.find(ACME, "ana")) == changed
    for late in (added, UserRecord("ana", "local")):
        with pytest.raises(UserError, match="Somebody else"):
            await users.save(ACME, late)
    assert await users.list(ACME) == [changed]
    assert await users.find(EVIL, "ana") is None
    assert await users.list(EVIL) == []


async def test_sessions_expire_are_renewed_and_end_one_by_one_and_all_at_once(store: Store, clock: Any) -> None:
    sessions = store.identities.sessions
    now = clock.now()
    for number in (1, 2, 3):
        record = SessionRecord(f"s{number}", "ana", "Firefox", now, now, now + timedelta(minutes=30))
        await sessions.begin(ACME, f"digest{number}", record)
    await sessions.begin(ACME, "of-bo", SessionRecord("s4", "bo", "", now, now, now + timedelta(minutes=30)))
    assert [await sessions.find(tenant, "digest1") is None for tenant in (ACME, EVIL)] == [False, True]
    assert await sessions.end(EVIL, "ana", None) == await sessions.end(ACME, "bo", "s1") == 0
    assert await sessions.end(ACME, "ana", "s1") == 1
    assert await sessions.find(ACME, "digest1") is None
    await clock.sleep(29 * 60)
    await sessions.renew(ACME, "digest2", used_at=clock.now(), expires_at=clock.now() + timedelta(minutes=30))
    await clock.sleep(60)
    assert [each.session_id for each in await sessions.of_user(ACME, "ana")] == ["s2"]
    assert await sessions.find(ACME, "digest3") is None
    await sessions.renew(ACME, "digest3", used_at=clock.now(), expires_at=clock.now() + timedelta(minutes=30))
    assert await sessions.find(ACME, "digest3") is None
    assert await sessions.end(ACME, "ana", None) >= 1
    assert await sessions.of_user(ACME, "ana") == []


async def test_an_invitation_is_used_by_one_alone(store: Store, clock: Any) -> None:
    invitations = store.identities.invitations
    later = clock.now() + timedelta(days=1)
    await invitations.add(ACME, "first", InvitationRecord("ana", (), later))
    await invitations.add(ACME, "second", InvitationRecord("ana", ("seller",), later))
    await invitations.add(ACME, "setup", InvitationRecord(None, ("manager",), later))
    assert await invitations.find(ACME, "first") is None
    assert await invitations.find(EVIL, "second") is None
    assert await invitations.find(ACME, "second") == InvitationRecord("ana", ("seller",), later)
    used = await asyncio.gather(*(invitations.use(ACME, "second") for _ in range(8)))
    assert sorted(used) == [False] * 7 + [True]
    await clock.sleep(86_400)
    assert await invitations.find(ACME, "setup") is None
    assert not await invitations.use(ACME, "setup")


async def test_attempts_at_once_are_counted_one_by_one(store: Store, clock: Any) -> None:
    attempts = store.identities.attempts
    counted = await asyncio.gather(*(attempts.count(ACME, "ana", failures=1, open_at=clock.now()) for _ in range(8)))
    assert sum(counted) == 1
    counted = await asyncio.gather(*(attempts.count(ACME, "ana", failures=2, open_at=clock.now()) for _ in range(8)))
    assert sum(counted) == 1
    state = await attempts.state(ACME, "ana")
    assert state is not None
    assert state[0] == 2
    assert await attempts.state(EVIL, "ana") is None
    await clock.sleep(86_401)
    assert await attempts.state(ACME, "ana") is None
    assert await attempts.count(ACME, "ana", failures=1, open_at=clock.now())
    await attempts.forget(ACME, "ana")
    assert await attempts.state(ACME, "ana") is None


async def test_a_key_counts_until_it_expires_is_revoked_or_its_user_is_disabled(store: Store, clock: Any) -> None:
    keys, now = store.identities.keys, clock.now()
    for number, user in ((1, "ana"), (2, "ana"), (3, "bo")):
        record = KeyRecord(f"k{number}", user, "laptop", ("ask", "sql"), now, now + timedelta(days=number))
        await keys.add(ACME, f"digest-{number}", record)
    assert await keys.find(EVIL, "digest-1") is None
    assert await keys.get(EVIL, "k1") is None
    await keys.note_use(EVIL, "digest-1", now)
    found = await keys.find(ACME, "digest-1")
    assert found is not None
    assert (found.user, found.scopes, found.used_at) == ("ana", ("ask", "sql"), None)
    await keys.note_use(ACME, "digest-1", now)
    assert (await keys.list(ACME, "ana"))[0].used_at == now
    await clock.sleep(86_400)
    assert await keys.find(ACME, "digest-1") is None
    assert not await keys.replace(ACME, "k1", clock.now(), "late", replace(found, key_id="k9"))
    assert await keys.replace(ACME, "k2", clock.now() + timedelta(hours=1), "new", replace(found, key_id="k4"))
    assert [await keys.find(ACME, digest) is None for digest in ("digest-2", "late")] == [False, True]
    await clock.sleep(3_600)
    assert await keys.find(ACME, "digest-2") is None
    assert await keys.revoke(EVIL, None, None) == await keys.revoke(ACME, "ana", "k3") == 0
    bo = await store.identities.users.save(ACME, UserRecord("bo", "service"))
    assert await keys.find(ACME, "digest-3") is not None
    await store.identities.users.save(ACME, replace(bo, disabled_at=clock.now()))
    assert await keys.find(ACME, "digest-3") is None
    assert await keys.revoke(ACME, "bo", None) == 1
    assert {key.key_id for key in await keys.list(ACME, None)} == {"k1", "k2", "k3", "k4"}
    assert await keys.list(EVIL, None) == []


async def test_a_group_is_stored_and_a_late_change_is_refused(store: Store) -> None:
    groups = store.identities.groups
    added = await groups.save(ACME, GroupRecord("g1", "Sales", "e1", ("ana", "Åse")))
    assert await groups.find(ACME, "g1") == added
    changed = await groups.save(ACME, replace(added, members=()))
    for late in (added, GroupRecord("g1", "Sales")):
        with pytest.raises(UserError, match="Somebody else"):
            await groups.save(ACME, late)
    assert (await groups.list(EVIL), await groups.find(EVIL, "g1"), await groups.remove(EVIL, "g1")) == (
        [],
        None,
        False,
    )
    assert await groups.list(ACME) == [changed]
    assert await groups.remove(ACME, "g1")


async def test_rules_have_versions_and_requests_one_decision(store: Store, clock: Any) -> None:
    records, now = store.identities.records, clock.now()
    version = AccessVersion(1, "boss", now, "", "rules: []")
    assert [await records.add_version(ACME, version) for _ in range(2)] == [True, False]
    assert (await records.versions(ACME), await records.versions(EVIL)) == ([version], [])
    request = AccessRequest("r1", "ana", "plans", "", now)
    await records.add_request(ACME, request)
    assert (await records.request(EVIL, "r1"), await records.requests(EVIL, None)) == (None, [])
    assert await records.requests(ACME, "bo") == []
    later = now + timedelta(days=1)
    decided = replace(request, state="approved", decided_by="boss", decided_at=now, role="manager", expires_at=later)
    assert not await records.decide(EVIL, decided)
    assert [await records.decide(ACME, decided) for _ in range(2)] == [True, False]
    assert await records.requests(ACME, "ana") == [decided]
    assert (await records.given(ACME, now), await records.given(ACME, later)) == ([("ana", "manager")], [])
    assert await records.given(EVIL, now) == []
