"""Who can sign in, their sessions, their one-time links, and attempts to sign in."""

from collections.abc import Sequence
from datetime import datetime, timedelta

import orjson

from answerable.core.clock import Clock
from answerable.core.errors import UserError
from answerable.core.ids import TenantId
from answerable.store.access_keys import SqlAccessKeys
from answerable.store.access_records import SqlAccessRecords
from answerable.store.database import NothingChangedError, Row, RowExistsError, SqlDatabase, time_of, time_text
from answerable.store.groups import SqlGroups
from answerable.store.protocols.identities import FlowRecord, Identities, InvitationRecord, SessionRecord, UserRecord

ATTEMPTS_COUNT_FOR = timedelta(days=1)
_USER = (
    "SELECT name, origin, roles, attributes, password_hash, disabled_at, created_at, subject, version, profile"
    " FROM users"
)
_INSERT_USER = (
    "INSERT INTO users (origin, roles, attributes, password_hash, disabled_at, subject, profile, version, created_at,"
    " tenant_id, name) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
)
_UPDATE_USER = (
    "UPDATE users SET origin = ?, roles = ?, attributes = ?, password_hash = ?, disabled_at = ?, subject = ?,"
    " profile = ?, version = ? WHERE tenant_id = ? AND name = ? AND version = ?"
)
_SESSION = "SELECT session_id, user_id, client, created_at, used_at, expires_at FROM sessions"
_INSERT_SESSION = (
    "INSERT INTO sessions (digest, tenant_id, session_id, user_id, client, created_at, used_at, expires_at)"
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
)
_RENEW = "UPDATE sessions SET used_at = ?, expires_at = ? WHERE tenant_id = ? AND digest = ? AND expires_at > ?"
_END = "DELETE FROM sessions WHERE tenant_id = ? AND user_id = ? AND session_id = COALESCE(?, session_id)"
_INSERT_INVITATION = "INSERT INTO invitations (digest, tenant_id, user_id, roles, expires_at) VALUES (?, ?, ?, ?, ?)"
_EARLIER = "DELETE FROM invitations WHERE tenant_id = ? AND COALESCE(user_id, '') = ?"
_FLOW = "SELECT provider, browser_digest, nonce, verifier, redirect_uri, expires_at FROM sign_in_flows"
_INSERT_FLOW = (
    "INSERT INTO sign_in_flows (state_digest, tenant_id, provider, browser_digest, nonce, verifier, redirect_uri,"
    " expires_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
)
_INSERT_ATTEMPT = (
    "INSERT INTO sign_in_attempts (tenant_id, name, failures, open_at) VALUES (?, ?, ?, ?)"
    " ON CONFLICT (tenant_id, name) DO NOTHING"
)
_UPDATE_ATTEMPT = (
    "UPDATE sign_in_attempts SET failures = ?, open_at = ? WHERE tenant_id = ? AND name = ? AND failures = ?"
)


def identities(database: SqlDatabase, clock: Clock) -> Identities:
    return Identities(
        SqlUsers(database, clock),
        SqlSessions(database, clock),
        SqlInvitations(database, clock),
        SqlSignInAttempts(database, clock),
        SqlAccessKeys(database, clock),
        SqlFlows(database, clock),
        SqlGroups(database),
        SqlAccessRecords(database),
    )


class SqlUsers:
    def __init__(self, database: SqlDatabase, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    async def list(self, tenant: TenantId) -> Sequence[UserRecord]:
        return [_user(row) for row in await self._database.rows(f"{_USER} WHERE tenant_id = ? ORDER BY name", tenant)]

    async def find(self, tenant: TenantId, name: str) -> UserRecord | None:
        rows = await self._database.rows(f"{_USER} WHERE tenant_id = ? AND name = ?", tenant, name)
        return _user(rows[0]) if rows else None

    async def save(self, tenant: TenantId, user: UserRecord) -> UserRecord:
        attributes = {name: list(values) for name, values in user.attributes.items()}
        values = (
            user.origin,
            orjson.dumps(list(user.roles)).decode(),
            orjson.dumps(attributes).decode(),
            user.password_hash,
            time_text(user.disabled_at) if user.disabled_at else None,
            user.subject,
            orjson.dumps(user.profile).decode() if user.profile is not None else None,
            user.version + 1,
        )
        key = (tenant, user.name)
        try:
            if user.version == 0:
                await self._database.write((_INSERT_USER, (*values, time_text(self._clock.now()), *key)))
            else:
                await self._database.write((_UPDATE_USER, (*values, *key, user.version)), required=(0,))
        except (RowExistsError, NothingChangedError) as error:
            raise UserError(
                f"Somebody else has just changed the user {user.name!r}.",
                code="user_changed",
                hint="Look at the user again, and repeat the change if it is still wanted.",
            ) from error
        stored = await self.find(tenant, user.name)
        assert stored is not None
        return stored


class SqlSessions:
    def __init__(self, database: SqlDatabase, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    async def begin(self, tenant: TenantId, digest: str, session: SessionRecord) -> None:
        times = (time_text(session.created_at), time_text(session.used_at), time_text(session.expires_at))
        await self._database.write(
            ("DELETE FROM sessions WHERE expires_at <= ?", (self._now(),)),
            (_INSERT_SESSION, (digest, tenant, session.session_id, session.user, session.client, *times)),
        )

    async def find(self, tenant: TenantId, digest: str) -> SessionRecord | None:
        where = "WHERE tenant_id = ? AND digest = ? AND expires_at > ?"
        rows = await self._database.rows(f"{_SESSION} {where}", tenant, digest, self._now())
        return _session(rows[0]) if rows else None

    async def renew(self, tenant: TenantId, digest: str, *, used_at: datetime, expires_at: datetime) -> None:
        values = (time_text(used_at), time_text(expires_at), tenant, digest, self._now())
        await self._database.write((_RENEW, values))

    async def of_user(self, tenant: TenantId, user: str) -> Sequence[SessionRecord]:
        where = "WHERE tenant_id = ? AND user_id = ? AND expires_at > ? ORDER BY created_at DESC, session_id"
        return [_session(row) for row in await self._database.rows(f"{_SESSION} {where}", tenant, user, self._now())]

    async def end(self, tenant: TenantId, user: str, session_id: str | None) -> int:
        [ended] = await self._database.write((_END, (tenant, user, session_id)))
        return ended

    def _now(self) -> str:
        return time_text(self._clock.now())


class SqlInvitations:
    def __init__(self, database: SqlDatabase, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    async def add(self, tenant: TenantId, digest: str, invitation: InvitationRecord) -> None:
        roles = orjson.dumps(list(invitation.roles)).decode()
        await self._database.write(
            (_EARLIER, (tenant, invitation.user or "")),
            (_INSERT_INVITATION, (digest, tenant, invitation.user, roles, time_text(invitation.expires_at))),
        )

    async def find(self, tenant: TenantId, digest: str) -> InvitationRecord | None:
        sql = "SELECT user_id, roles, expires_at FROM invitations WHERE tenant_id = ? AND digest = ? AND expires_at > ?"
        rows = await self._database.rows(sql, tenant, digest, time_text(self._clock.now()))
        return InvitationRecord(rows[0][0], tuple(orjson.loads(rows[0][1])), time_of(rows[0][2])) if rows else None

    async def use(self, tenant: TenantId, digest: str) -> bool:
        sql = "DELETE FROM invitations WHERE tenant_id = ? AND digest = ? AND expires_at > ?"
        [used] = await self._database.write((sql, (tenant, digest, time_text(self._clock.now()))))
        return used == 1


class SqlFlows:
    def __init__(self, database: SqlDatabase, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    async def begin(self, tenant: TenantId, state_digest: str, flow: FlowRecord) -> None:
        values = (flow.provider, flow.browser_digest, flow.nonce, flow.verifier, flow.redirect_uri)
        await self._database.write(
            ("DELETE FROM sign_in_flows WHERE expires_at <= ?", (time_text(self._clock.now()),)),
            (_INSERT_FLOW, (state_digest, tenant, *values, time_text(flow.expires_at))),
        )

    async def use(self, tenant: TenantId, state_digest: str) -> FlowRecord | None:
        rows = await self._database.rows(f"{_FLOW} WHERE tenant_id = ? AND state_digest = ?", tenant, state_digest)
        sql = "DELETE FROM sign_in_flows WHERE tenant_id = ? AND state_digest = ? AND expires_at > ?"
        [used] = await self._database.write((sql, (tenant, state_digest, time_text(self._clock.now()))))
        if not rows or not used:
            return None
        provider, browser_digest, nonce, verifier, redirect_uri, expires_at = rows[0]
        return FlowRecord(provider, browser_digest, nonce, verifier, redirect_uri, time_of(expires_at))


class SqlSignInAttempts:
    def __init__(self, database: SqlDatabase, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    async def state(self, tenant: TenantId, name: str) -> tuple[int, datetime] | None:
        sql = "SELECT failures, open_at FROM sign_in_attempts WHERE tenant_id = ? AND name = ? AND open_at > ?"
        rows = await self._database.rows(sql, tenant, name, self._oldest())
        return (int(rows[0][0]), time_of(rows[0][1])) if rows else None

    async def count(self, tenant: TenantId, name: str, *, failures: int, open_at: datetime) -> bool:
        if failures == 1:
            _, counted = await self._database.write(
                ("DELETE FROM sign_in_attempts WHERE open_at <= ?", (self._oldest(),)),
                (_INSERT_ATTEMPT, (tenant, name, failures, time_text(open_at))),
            )
        else:
            values = (failures, time_text(open_at), tenant, name, failures - 1)
            [counted] = await self._database.write((_UPDATE_ATTEMPT, values))
        return counted == 1

    async def forget(self, tenant: TenantId, name: str) -> None:
        await self._database.write(("DELETE FROM sign_in_attempts WHERE tenant_id = ? AND name = ?", (tenant, name)))

    def _oldest(self) -> str:
        return time_text(self._clock.now() - ATTEMPTS_COUNT_FOR)


def _user(row: Row) -> UserRecord:
    name, origin, roles, attributes, password_hash, disabled_at, created_at, subject, version, profile = row
    return UserRecord(
        name=name,
        origin=origin,
        roles=tuple(orjson.loads(roles)),
        attributes={key: tuple(values) for key, values in orjson.loads(attributes).items()},
        password_hash=password_hash,
        disabled_at=time_of(disabled_at) if disabled_at else None,
        created_at=time_of(created_at),
        subject=subject,
        profile=orjson.loads(profile) if profile else None,
        version=int(version),
    )


def _session(row: Row) -> SessionRecord:
    session, user, client, created_at, used_at, expires_at = row
    return SessionRecord(session, user, client, time_of(created_at), time_of(used_at), time_of(expires_at))
