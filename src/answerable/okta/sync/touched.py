"""Which rows a sync has changed, so that only what follows from them is worked out again, in SQL and in the graph.

SQLite notes them itself, by triggers on the copy that a sync works on. Rows that are written as they were before do not
count. Syncs without an earlier one note nothing: everything is new.
"""

import sqlite3
from collections.abc import Mapping

from answerable.okta.sync import tables
from answerable.okta.sync.tables import SYNCED, Row, SyncedTable

TOUCHED = "_touched"
RENAMED_GROUPS, JOINED_USERS = "renamed groups", "joined users"
"""Groups that got another name, and users whom the log tells to have joined a group."""
_BETWEEN = "\x1f"
_WATCHED = tuple(table for table in SYNCED if table is not tables.EVENTS)

TouchedKeys = Mapping[SyncedTable, list[Row]]
"""Keys of rows that are new, different or gone."""


def watch(db: sqlite3.Connection) -> None:
    db.execute(f"CREATE TABLE {TOUCHED} (name TEXT, key TEXT, PRIMARY KEY (name, key)) WITHOUT ROWID")
    for table in _WATCHED:
        for event, row in (("INSERT", "NEW"), ("UPDATE", "NEW"), ("DELETE", "OLD")):
            key = " || char(31) || ".join(f'{row}."{name}"' for name in table.key)
            _trigger(db, table.name, event, f"'{table.name}', {key}")
    renamed = "WHEN OLD.name IS NOT NEW.name"
    _trigger(db, "groups", "UPDATE", f"'{RENAMED_GROUPS}', NEW.id", renamed, suffix="_name")
    joined = "WHEN NEW.event_type = 'group.user_membership.add' AND NEW.user_id IS NOT NULL"
    _trigger(db, "log_events", "INSERT", f"'{JOINED_USERS}', NEW.user_id", joined)


def _trigger(db: sqlite3.Connection, table: str, event: str, values: str, when: str = "", suffix: str = "") -> None:
    note = f"INSERT OR IGNORE INTO {TOUCHED} VALUES ({values});"  # noqa: S608 - fixed names
    db.execute(f'CREATE TRIGGER "_{table}_{event}{suffix}" AFTER {event} ON "{table}" {when} BEGIN {note} END')


def is_watched(db: sqlite3.Connection) -> bool:
    return db.execute("SELECT 1 FROM sqlite_master WHERE name = ?", [TOUCHED]).fetchone() is not None


def unwatch(db: sqlite3.Connection) -> TouchedKeys | None:
    """Ends the noting and returns what was noted, or None if everything is new."""
    if not is_watched(db):
        return None
    found: dict[str, list[Row]] = {}
    for name, key in db.execute(f"SELECT name, key FROM {TOUCHED}"):  # noqa: S608 - fixed names
        found.setdefault(name, []).append(tuple(key.split(_BETWEEN)))
    for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
        db.execute(f'DROP TRIGGER "{name}"')
    db.execute(f"DROP TABLE {TOUCHED}")
    return {table: found[table.name] for table in _WATCHED if table.name in found}
