"""The outbox: notices that are written in the commit of what they tell of, and delivered at least once afterwards.

A process claims a notice under its lease. If it dies before it has marked the notice as delivered, another claims it
again. The notices of one stream (of one run) are delivered in their order: a later one waits until the one before it
is delivered.
"""

from collections.abc import Sequence
from datetime import timedelta

import orjson

from answerable.core.clock import Clock
from answerable.core.context import Principal
from answerable.core.events import TERMINAL, Event
from answerable.core.ids import TenantId, UserId
from answerable.store.database import Insert, Row, SqlDatabase, Statement, time_text
from answerable.store.leases import Leases
from answerable.store.protocols.outbox import Notice

TOPICS = frozenset(event.type for event in TERMINAL)
"""Events that are announced: the ends of runs."""
AT_ONCE = 50
INSERT = Insert(
    into="INSERT INTO outbox (stream, number, tenant_id, user_id, topic, body, made_at)",
    types=("TEXT", "BIGINT", "TEXT", "TEXT", "TEXT", "TEXT", "DOUBLE PRECISION"),
)
_OPEN = (
    "SELECT stream, number, tenant_id, user_id, topic, body, made_at, attempts FROM outbox WHERE delivered_at IS NULL"
    " AND (due_at IS NULL OR due_at <= ?) AND NOT EXISTS (SELECT 1 FROM outbox e WHERE e.stream = outbox.stream"
    " AND e.number < outbox.number AND e.delivered_at IS NULL)"
)
_CLAIM = "UPDATE outbox SET owner = ?, attempts = attempts + 1 WHERE stream = ? AND number = ? AND delivered_at IS NULL"
_DELIVERED = "UPDATE outbox SET delivered_at = ?, owner = NULL WHERE stream = ? AND number = ? AND owner = ?"
_FAILED = "UPDATE outbox SET due_at = ?, owner = NULL WHERE stream = ? AND number = ? AND owner = ?"


def notices_of(events: Sequence[Event], rows: Sequence[Row]) -> list[Row]:
    """The notices of events that are about to be stored as these rows of the table `events`."""
    return [
        (run, seq, tenant, user, topic, body, at)
        for event, (run, seq, tenant, user, at, topic, body) in zip(events, rows, strict=True)
        if event.type in TOPICS
    ]


class SqlOutbox:
    def __init__(self, database: SqlDatabase, clock: Clock, leases: Leases) -> None:
        self._database = database
        self._clock = clock
        self._leases = leases

    async def claim(self) -> Sequence[Notice]:
        # Its own claims are free too: it holds them from an earlier attempt whose end could not be stored.
        free = f"(outbox.owner = ? OR NOT {self._leases.lives('outbox.owner')})"
        owner = self._leases.owner
        order = "ORDER BY made_at, stream, number LIMIT ?"
        rows = await self._database.rows(f"{_OPEN} AND {free} {order}", time_text(self._clock.now()), owner, AT_ONCE)
        if not rows:
            return []
        self._leases.hold(self)
        claims: list[Statement] = [(f"{_CLAIM} AND {free}", (owner, *row[:2], owner)) for row in rows]
        _, *claimed = await self._database.write(self._leases.renewal(), *claims)
        return [_notice(row) for row, changed in zip(rows, claimed, strict=True) if changed]

    async def delivered(self, notice: Notice) -> None:
        await self._end(_DELIVERED, time_text(self._clock.now()), notice)

    async def failed(self, notice: Notice, again_in: float) -> None:
        await self._end(_FAILED, time_text(self._clock.now() + timedelta(seconds=again_in)), notice)

    async def _end(self, sql: str, moment: str, notice: Notice) -> None:
        await self._database.write((sql, (moment, notice.stream, notice.number, self._leases.owner)))

    def rest(self) -> None:
        self._leases.drop(self)


def _notice(row: Row) -> Notice:
    stream, number, tenant, user, topic, body, made_at, attempts = row
    principal = Principal(TenantId(tenant), UserId(user))
    return Notice(stream, number, principal, topic, orjson.loads(body), made_at, attempts + 1)
