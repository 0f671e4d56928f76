"""Idempotency keys: a client that asks again with the same key gets the run that it asked for first."""

from datetime import timedelta

from answerable.core.clock import Clock
from answerable.core.context import Principal
from answerable.core.errors import UserError
from answerable.core.ids import RunId
from answerable.store.database import SqlDatabase, time_text

VALID = timedelta(days=1)
_FORGET = "DELETE FROM idempotency_keys WHERE made_at < ?"
_INSERT = (
    "INSERT INTO idempotency_keys (tenant_id, user_id, client_key, fingerprint, run_id, made_at)"
    " VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (tenant_id, user_id, client_key) DO NOTHING"
)
_SELECT = "SELECT fingerprint, run_id FROM idempotency_keys WHERE tenant_id = ? AND user_id = ? AND client_key = ?"


class SqlIdempotencyKeys:
    def __init__(self, database: SqlDatabase, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    async def run_for(self, principal: Principal, key: str, fingerprint: str, run: RunId) -> RunId:
        # The id of the run is stored before the run: of requests that come at once, or one after a crash, all get the
        # same id, and only one run of that id can be created.
        now = self._clock.now()
        owner = (principal.tenant, principal.user, key)
        await self._database.write(
            (_FORGET, (time_text(now - VALID),)), (_INSERT, (*owner, fingerprint, run, time_text(now)))
        )
        [(known, stored)] = await self._database.rows(_SELECT, *owner)
        if known != fingerprint:
            raise UserError(
                "This Idempotency-Key was used for another request.",
                code="idempotency_key_reused",
                hint="Take a new key for each request; use it again only to repeat that very request.",
            )
        return RunId(stored)
