"""The database file of a tenant, and the copy of it that a sync works on.

    okta.sqlite          what readers see: always one whole sync
    next.sqlite          a copy that a sync changes page by page; it becomes `okta.sqlite` when the sync is complete

Each page is one transaction that holds its rows, its cursor and the jobs it gives rise to. A sync that was killed at
any moment goes on after the last page that was written.
"""

import json
import os
import shutil
import sqlite3
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Literal

from answerable.okta.sync.deriving import derive
from answerable.okta.sync.jobs import FIRST_JOBS, Since, SyncJob
from answerable.okta.sync.page_rows import ListPage, PageRows
from answerable.okta.sync.tables import CHANGES, DERIVED, HISTORY, SYNCED, moment
from answerable.okta.sync.touched import TouchedKeys, unwatch, watch

SyncKind = Literal["full", "incremental"]
VERSION = 2
"""Of the tables. A file of another version is read anew, in full."""
OVERLAP = timedelta(minutes=5)
"""How far before the last sync the next one begins to look: Okta may list a change a little after it happened."""
PUBLISHED, NEXT = "okta.sqlite", "next.sqlite"
_ATTEMPTS = 200


@dataclass(frozen=True, slots=True)
class OpenJob:
    job: SyncJob
    path: str | None
    """Path of the next page; None for the first."""


@dataclass(frozen=True, slots=True)
class Begun:
    """A sync that is under way."""

    id: int
    kind: SyncKind
    since: Since
    as_of: str
    """Time of the newest event when the sync began, as Okta writes it."""
    applied_from: str
    """Events from then on change the data; earlier ones are only recorded."""
    resumed: bool


class WorkFile:
    """The copy that a sync works on. One process at a time has it open.

    Pages are written in threads, and a thread goes on although the task that waits for it was cancelled. So one thread
    at a time writes, and closing waits for it: SQLite crashes if a connection is closed while a thread uses it.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._path = folder / NEXT
        self._db: sqlite3.Connection | None = None
        self._in_use = threading.RLock()
        self.since = Since(None)
        self._page_rows: PageRows | None = None

    @property
    def db(self) -> sqlite3.Connection:
        assert self._db is not None
        return self._db

    @property
    def is_open(self) -> bool:
        return self._db is not None

    def close(self) -> None:
        with self._in_use:
            if self._db is not None:
                self._db.close()
                self._db = None

    # Beginning

    def last_complete(self) -> tuple[int, str] | None:
        """The number of the last complete sync and the time of its data; None if there is none of this version."""
        path = self._folder / PUBLISHED
        if not path.exists():
            return None
        with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as db:
            if db.execute("PRAGMA user_version").fetchone()[0] != VERSION:
                return None
            query = "SELECT id, data_as_of FROM sync_history WHERE status = 'complete' ORDER BY id DESC LIMIT 1"
            found = db.execute(query).fetchone()
        return None if found is None else (found[0], found[1])

    def resume(self, wanted: SyncKind | None) -> Begun | None:
        """The sync that was interrupted, or None. One of another kind than the wanted is given up."""
        if not self._path.exists():
            return None
        self._open()
        if self._is_complete():
            self._replace()
            return None
        found = self._begun()
        if found is None or (wanted is not None and found.kind != wanted):
            self.discard()
            return None
        return found

    def _is_complete(self) -> bool:
        """Whether only the last step is missing: the sync was killed between the two steps of `publish`."""
        try:
            left = self.db.execute("SELECT count(*) FROM sqlite_master WHERE name = '_sync'").fetchone()[0]
            last = self.db.execute("SELECT status FROM sync_history ORDER BY id DESC LIMIT 1").fetchone()
        except sqlite3.Error:
            return False
        return bool(left == 0 and last == ("complete",))

    def _replace(self) -> None:
        for attempt in range(_ATTEMPTS):
            try:
                (mode,) = self.db.execute("PRAGMA journal_mode = DELETE").fetchone()
                assert mode == "delete"
                break
            except sqlite3.OperationalError:  # somebody looks at how far the sync is, for which SQLite does not wait
                if attempt == _ATTEMPTS - 1:
                    raise
                time.sleep(0.05)
        self.close()
        with self._path.open("rb") as file:
            os.fsync(file.fileno())
        self._path.replace(self._folder / PUBLISHED)

    def discard(self) -> None:
        self.close()
        for suffix in ("", "-wal", "-shm", "-journal"):
            self._path.with_name(NEXT + suffix).unlink(missing_ok=True)

    def begin(self, kind: SyncKind, as_of: str, started: str, log_days: float) -> Begun:
        """Makes the copy whole before it has its name. `as_of`: time of the newest event in Okta's log."""
        last = self.last_complete()
        known_until = None if last is None else _earlier(last[1], OVERLAP)
        since = None if kind == "full" else known_until
        self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        partial = self._folder / f".{NEXT}"
        partial.unlink(missing_ok=True)
        if last is not None:
            shutil.copyfile(self._folder / PUBLISHED, partial)
        with closing(sqlite3.connect(partial)) as db, db:
            _prepare(db, fresh=last is None)
            state = {"kind": kind, "since": since, "as_of": as_of, "first": last is None, "from": since or as_of}
            db.execute("INSERT INTO _sync VALUES (?)", [json.dumps(state)])
            head = ("incremental" if since else "full", "running", moment(as_of), moment(started))
            db.execute("INSERT INTO sync_history (kind, status, data_as_of, started) VALUES (?, ?, ?, ?)", head)
            log_from = known_until or _earlier(as_of, timedelta(days=log_days))
            jobs = [*FIRST_JOBS, SyncJob("log", log_from)]
            db.executemany("INSERT INTO _jobs (kind, key) VALUES (?, ?)", [(job.kind, job.key) for job in jobs])
        partial.replace(self._path)
        self._open()
        begun = self._begun()
        assert begun is not None
        return begun

    def _open(self) -> None:
        self._db = sqlite3.connect(self._path, check_same_thread=False, isolation_level=None)
        self._db.execute("PRAGMA journal_mode = WAL")
        self._db.execute("PRAGMA synchronous = NORMAL")
        self._db.execute("PRAGMA cache_size = -64000")

    def _begun(self) -> Begun | None:
        try:
            if self.db.execute("PRAGMA user_version").fetchone()[0] != VERSION:
                return None
            state = json.loads(self.db.execute("SELECT state FROM _sync").fetchone()[0])
            number = self.db.execute("SELECT max(id) FROM sync_history").fetchone()[0]
            pages = self.db.execute("SELECT sum(pages) FROM _jobs").fetchone()[0]
        except (sqlite3.Error, TypeError, ValueError):
            return None
        known = {row[0] for table in ("groups", "applications") for row in self.db.execute(f"SELECT id FROM {table}")}  # noqa: S608 - fixed names
        self.since = Since(state["since"], frozenset(known) if state["since"] else frozenset())
        self._page_rows = PageRows(self.db, since=self.since, first=bool(state["first"]), applied_from=state["from"])
        return Begun(number, state["kind"], self.since, state["as_of"], state["from"], bool(pages))

    @property
    def _rows(self) -> PageRows:
        assert self._page_rows is not None
        return self._page_rows

    # Pages

    def open_jobs(self) -> list[OpenJob]:
        """Lists that have not been read to their end. The log comes alone, after all others."""
        found = self.db.execute("SELECT kind, key, path FROM _jobs WHERE NOT done").fetchall()
        jobs = [OpenJob(SyncJob(kind, key), path) for kind, key, path in found]
        return [each for each in jobs if each.job.kind != "log"] or jobs

    def job_counts(self) -> tuple[int, int]:
        """How many lists are done, and how many there are."""
        return self._rows.jobs_done, self._rows.jobs

    def write_pages(self, pages: Sequence[ListPage]) -> list[list[SyncJob]]:
        """Writes pages in one transaction and returns the jobs that each of them gives rise to."""
        with self._transaction():
            return [self._rows.write(page) for page in pages]

    def end(self, job: SyncJob, noticed: str, *, gone: bool) -> None:
        """Ends a job without a page: its owner is gone, or the tenant lacks the feature, which the history says."""
        with self._transaction():
            self._rows.end(job, noticed, gone=gone)

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        with self._in_use:
            self.db.execute("BEGIN IMMEDIATE")
            try:
                yield
            except BaseException:
                self.db.execute("ROLLBACK")
                raise
            self.db.execute("COMMIT")

    # The end

    def fail(self, error: str) -> None:
        """Records why a sync stopped. It goes on with the next attempt."""
        with self._transaction():
            self.db.execute("UPDATE sync_history SET error = ? WHERE id = (SELECT max(id) FROM sync_history)", [error])

    def publish(self, finished: datetime) -> TouchedKeys | None:
        """Completes the copy and puts it in the place of what readers see, in one step. Returns which rows differ from
        what readers saw before, or None if everything is new."""
        with self._transaction():
            self._forget_former_administrators()
            derive(self.db, since=moment(self.since.time))
            self._complete_history(finished)
            touched = unwatch(self.db)
            for name in ("_jobs", "_seen", "_sync"):
                self.db.execute(f"DROP TABLE {name}")
        self._replace()
        return touched

    def _forget_former_administrators(self) -> None:
        read = "SELECT 1 FROM _jobs WHERE kind = 'admins' AND done"
        stale = f"user_id NOT IN (SELECT key FROM _jobs WHERE kind = 'user_roles') AND EXISTS ({read})"  # noqa: S608
        self.db.execute(f"DELETE FROM user_roles WHERE {stale}")  # noqa: S608 - fixed names

    def _complete_history(self, finished: datetime) -> None:
        number, started = self.db.execute("SELECT id, started FROM sync_history ORDER BY id DESC LIMIT 1").fetchone()
        seconds = (finished - datetime.fromisoformat(started).replace(tzinfo=UTC)).total_seconds()
        pages, rows = self.db.execute("SELECT sum(pages), sum(rows) FROM _jobs").fetchone()
        by_change = "SELECT change, count(*) FROM changes WHERE sync_id = ? GROUP BY change"
        counted = dict(self.db.execute(by_change, [number]).fetchall())
        changes = [counted.get(change, 0) for change in ("added", "changed", "removed")]
        self.db.execute(
            "UPDATE sync_history SET status = 'complete', finished = ?, seconds = ?, pages = ?, rows = ?, added = ?, "
            "changed = ?, removed = ? WHERE id = ?",
            [finished.strftime("%Y-%m-%d %H:%M:%S"), round(seconds, 3), pages, rows, *changes, number],
        )


def _prepare(db: sqlite3.Connection, *, fresh: bool) -> None:
    if fresh:
        for table in (*SYNCED, *DERIVED, CHANGES, HISTORY):
            db.execute(table.ddl)
        for table in SYNCED:
            for column in table.references:
                db.execute(f'CREATE INDEX "{table.name}_{column}" ON "{table.name}" ("{column}")')
        db.execute(f"PRAGMA user_version = {VERSION}")
    else:
        watch(db)
    db.execute('CREATE INDEX IF NOT EXISTS "log_events_published" ON log_events (published)')
    db.execute("CREATE TABLE _sync (state TEXT)")
    db.execute(
        "CREATE TABLE _jobs (kind TEXT, key TEXT, path TEXT, done INTEGER DEFAULT 0, pages INTEGER DEFAULT 0, "
        "rows INTEGER DEFAULT 0, again INTEGER DEFAULT 0, "
        "PRIMARY KEY (kind, key))"
    )
    db.execute(
        "CREATE TABLE _seen (job TEXT, job_key TEXT, name TEXT, key TEXT, PRIMARY KEY (job, job_key, name, key)) "
        "WITHOUT ROWID"
    )


def _earlier(time: str, by: timedelta) -> str:
    """A time as Okta writes it, from one as Okta or as SQLite writes it."""
    moved = datetime.fromisoformat(time.replace("Z", "+00:00")) - by
    return moved.strftime("%Y-%m-%dT%H:%M:%S.000Z")
