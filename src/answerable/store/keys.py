"""Idempotency keys: a client that sends a request again with the same key gets what it got first.

A key stands for one request for a day. For a request that starts a run it stands for the run's id, which is stored
before the run: of requests that come at once, or one after a crash, all get the same id, and only one run of that id
can be created. Any other request is claimed by the process that carries it out, and its reply is stored.
"""

# ruff: noqa: S608 - statements are put together from constants of this module; values are always parameters

from datetime import timedelta

from answerable.core.clock import Clock
from answerable.core.context import Principal
from answerable.core.errors import UserError
from answerable.core.ids import RunId
from answerable.store.database import SqlDatabase, time_text
from answerable.store.leases import Leases
from answerable.store.protocols.keys import KeyClaim

VALID = timedelta(days=1)
_OF_KEY = "tenant_id = ? AND user_id = ? AND client_key = ?"
_FORGET = "DELETE FROM idempotency_keys WHERE made_at < ?"
_INSERT = (
    "INSERT INTO idempotency_keys (tenant_id, user_id, client_key, fingerprint, run_id, made_at)"
    " VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (tenant_id, user_id, client_key) DO NOTHING"
)
_SELECT = f"SELECT fingerprint, run_id, note, reply, owner FROM idempotency_keys WHERE {_OF_KEY}"
_CLAIM = f"UPDATE idempotency_keys SET owner = ? WHERE {_OF_KEY} AND fingerprint = ? AND reply IS NULL"
_SET = f"WHERE {_OF_KEY} AND owner = ?"


class SqlIdempotencyKeys:
    def __init__(self, database: SqlDatabase, clock: Clock, leases: Leases) -> None:
        self._database = database
        self._clock = clock
        self._leases = leases

    async def run_for(self, principal: Principal, key: str, fingerprint: str, run: RunId) -> RunId:
        now, owner = self._clock.now(), _columns(principal, key)
        await self._database.write(
            (_FORGET, (time_text(now - VALID),)), (_INSERT, (*owner, fingerprint, run, time_text(now)))
        )
        return (await self._known(principal, key, fingerprint, mine=False)).run

    async def claim(self, principal: Principal, key: str, fingerprint: str, run: RunId) -> KeyClaim:
        now, owner = self._clock.now(), _columns(principal, key)
        free = f"(owner IS NULL OR NOT {self._leases.lives('idempotency_keys.owner')})"
        *_, claimed = await self._database.write(
            self._leases.renewal(),
            (_FORGET, (time_text(now - VALID),)),
            (_INSERT, (*owner, fingerprint, run, time_text(now))),
            (f"{_CLAIM} AND {free}", (self._leases.owner, *owner, fingerprint)),
        )
        if claimed:
            self._leases.hold(owner)
        return await self._known(principal, key, fingerprint, mine=bool(claimed))

    async def remember(self, principal: Principal, key: str, note: str) -> None:
        owner = _columns(principal, key)
        await self._database.write((f"UPDATE idempotency_keys SET note = ? {_SET}", (note, *owner, self._leases.owner)))

    async def finish(self, principal: Principal, key: str, reply: str | None) -> None:
        owner = _columns(principal, key)
        sql = f"UPDATE idempotency_keys SET owner = NULL, reply = ? {_SET}"
        await self._database.write((sql, (reply, *owner, self._leases.owner)))
        self._leases.drop(owner)

    async def _known(self, principal: Principal, key: str, fingerprint: str, *, mine: bool) -> KeyClaim:
        [(known, run, note, reply, owner)] = await self._database.rows(_SELECT, *_columns(principal, key))
        if known != fingerprint:
            raise UserError(
                "This Idempotency-Key was used for another request.",
                code="idempotency_key_reused",
                hint="Take a new key for each request; use it again only to repeat that very request.",
            )
        return KeyClaim(RunId(run), mine, owner == self._leases.owner, note, reply)


def _columns(principal: Principal, key: str) -> tuple[str, str, str]:
    return principal.tenant, principal.user, key
