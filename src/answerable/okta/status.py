"""What is known of a synced tenant from its files alone, whichever process syncs it."""

import os
import sqlite3
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from answerable.okta.sync.database import NEXT, PUBLISHED
from answerable.okta.sync.run import LOCK, SyncRecord, history, is_taken
from answerable.okta.sync.tables import SYNCED


@dataclass(frozen=True, slots=True)
class EntityCount:
    name: str
    rows: int


@dataclass(frozen=True, slots=True)
class SyncUnderWay:
    message: str
    done: int
    """Lists that have been read to their end."""
    total: int
    """Lists that are known so far: one list gives rise to others."""


def entity_counts(folder: Path) -> tuple[EntityCount, ...]:
    """How many rows readers see of each entity; empty before the first complete sync."""
    if not (folder / PUBLISHED).exists():
        return ()
    with closing(_read_only(folder / PUBLISHED)) as db:
        counted = [(table.name, f'SELECT count(*) FROM "{table.name}"') for table in SYNCED]  # noqa: S608 - fixed names
        return tuple(EntityCount(name, db.execute(query).fetchone()[0]) for name, query in counted)


def last_complete(folder: Path) -> SyncRecord | None:
    return next((record for record in reversed(history(folder)) if record.status == "complete"), None)


def under_way(folder: Path) -> SyncUnderWay | None:
    """The sync that a process works on right now."""
    if not _is_locked(folder / LOCK):
        return None
    try:
        with closing(_read_only(folder / NEXT)) as db:
            done, total, rows = db.execute("SELECT sum(done), count(*), sum(rows) FROM _jobs").fetchone()
    except sqlite3.Error:  # it begins, or ends
        return SyncUnderWay("Syncing", 0, 0)
    return SyncUnderWay(f"Syncing, {rows or 0:,} rows so far", done or 0, total)


def _is_locked(path: Path) -> bool:
    try:
        lock = os.open(path, os.O_RDWR)
    except FileNotFoundError:
        return False
    try:
        return is_taken(lock)
    finally:
        os.close(lock)


def _read_only(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)
