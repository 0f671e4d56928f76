"""Events as rows, with the notices that are due when they are stored."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TypeAlias

from answerable.core.codec import encode_body
from answerable.core.events import Event
from answerable.store.database import Insert, Row, Statement
from answerable.store.outbox import INSERT as INSERT_NOTICES
from answerable.store.outbox import notices_of

INSERT_EVENTS = Insert(
    into="INSERT INTO events (run_id, seq, tenant_id, user_id, at, type, body)",
    types=("TEXT", "BIGINT", "TEXT", "TEXT", "DOUBLE PRECISION", "TEXT", "TEXT"),
)


def moment_of(event: Event) -> datetime:
    return datetime.fromtimestamp(event.at, UTC)


Rows: TypeAlias = tuple[Insert, Sequence[Row]]


def event_inserts(events: Sequence[Event], tenant: str, user: str) -> list[Rows]:
    rows = [(e.run, e.seq, tenant, user, float(e.at), e.type, encode_body(e)) for e in events]
    notices = notices_of(events, rows)
    return [(INSERT_EVENTS, rows), *([(INSERT_NOTICES, notices)] if notices else [])]


def insert_statements(inserts: Sequence[Rows]) -> list[Statement]:
    """The statements that store events, for a commit that stores other rows too."""
    return [
        (f"{target.into} VALUES ({', '.join('?' * len(target.types))})", row)
        for target, rows in inserts
        for row in rows
    ]
