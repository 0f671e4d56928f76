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
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Literal

from answerable.okta.sync import tables
from answerable.okta.sync.deriving import derive
from answerable.okta.sync.jobs import FIRST_JOBS, JOB_KINDS, Content, Since, SyncJob, follow_ups
from answerable.okta.sync.tables import CHANGES, DERIVED, HISTORY, SYNCED, Row, SyncedTable, moment

SyncKind = Literal["full", "incremental"]
VERSION = 2
"""Of the tables. A file of another version is read anew, in full."""
OVERLAP = timedelta(minutes=5)
"""How far before the last sync the next one begins to look: Okta may list a change a little after it happened."""
PUBLISHED, NEXT = "okta.sqlite", "next.sqlite"
_SILENT = (tables.EVENTS, tables.RULE_GROUPS, tables.DEVICE_USERS)
"""Tables whose rows are not listed among the changes: they tell themselves, or go with others."""


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
        self._first = True
        self._applied_from = ""

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
        self.db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        self.db.execute("PRAGMA journal_mode = DELETE")
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
        since = Since(state["since"], frozenset(known) if state["since"] else frozenset())
        self._first = bool(state["first"])
        self._applied_from = state["from"]
        self.since = since
        return Begun(number, state["kind"], since, state["as_of"], state["from"], bool(pages))

    # Pages

    def open_jobs(self) -> list[OpenJob]:
        """Lists that have not been read to their end. The log comes alone, after all others."""
        found = self.db.execute("SELECT kind, key, path FROM _jobs WHERE NOT done").fetchall()
        jobs = [OpenJob(SyncJob(kind, key), path) for kind, key, path in found]
        return [each for each in jobs if each.job.kind != "log"] or jobs

    def job_counts(self) -> tuple[int, int]:
        """How many lists are done, and how many there are."""
        done, total = self.db.execute("SELECT sum(done), count(*) FROM _jobs").fetchone()
        return done or 0, total

    def write_page(self, job: SyncJob, items: Sequence[Any], next_path: str | None, noticed: str) -> list[SyncJob]:
        """Writes one page and returns the jobs that it gives rise to."""
        content = JOB_KINDS[job.kind].read(items, job.key, self.since)
        with self._transaction():
            events = self._unknown(items) if job.kind == "log" else ()
            new = self._write(job, content, noticed)
            new += self._apply(events, noticed)
            self._advance(job, next_path)
            if next_path is None:
                self._sweep(job, noticed)
        return new

    def end(self, job: SyncJob, noticed: str, *, gone: bool) -> None:
        """Ends a job without a page: its owner is gone, or the tenant lacks the feature, which the history says."""
        with self._transaction():
            self._advance(job, None)
            if not gone:
                self._note_missing(job.kind.replace("_", " "))
            elif job.key:
                self._sweep(job, noticed)

    def _note_missing(self, what: str) -> None:
        note = f"Not read, because the tenant lacks the feature: {what}."
        last = "id = (SELECT max(id) FROM sync_history) AND instr(coalesce(error, ''), ?) = 0"
        update = f"UPDATE sync_history SET error = ltrim(coalesce(error, '') || ' ' || ?) WHERE {last}"  # noqa: S608
        self.db.execute(update, [note, note])

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

    def _write(self, job: SyncJob, content: Content, noticed: str) -> list[SyncJob]:
        swept = self._swept(job)
        for table, rows in content.rows.items():
            self._note_differences(table, rows, noticed)
            if table in swept:
                seen = [(job.kind, job.key, table.name, _text(table.key_of(row))) for row in rows]
                self.db.executemany("INSERT OR IGNORE INTO _seen VALUES (?, ?, ?, ?)", seen)
            self.db.executemany(table.upsert, rows)
            self._count(job, len(rows))
        self._add_jobs(content.jobs, again=False)
        return list(content.jobs)

    def _count(self, job: SyncJob, rows: int) -> None:
        count = "UPDATE _jobs SET rows = rows + ? WHERE kind = ? AND key = ?"
        self.db.execute(count, [rows, job.kind, job.key])

    def _add_jobs(self, jobs: Iterable[SyncJob], *, again: bool) -> None:
        """A list that has been read already is read again."""
        add = (
            "INSERT INTO _jobs (kind, key, again) VALUES (?, ?, ?) "
            "ON CONFLICT DO UPDATE SET done = 0, path = NULL, again = excluded.again"
        )
        self.db.executemany(add, [(job.kind, job.key, again) for job in jobs])

    def _advance(self, job: SyncJob, next_path: str | None) -> None:
        step = "UPDATE _jobs SET path = ?, done = ?, pages = pages + 1 WHERE kind = ? AND key = ?"
        self.db.execute(step, [next_path, next_path is None, job.kind, job.key])

    # What is gone

    def _swept(self, job: SyncJob) -> Mapping[SyncedTable, str | None]:
        """Tables from which the job may remove rows. The first list of the first sync finds none to remove."""
        kind = JOB_KINDS[job.kind]
        if self._first:
            again = "SELECT again FROM _jobs WHERE kind = ? AND key = ?"
            return kind.swept if self.db.execute(again, [job.kind, job.key]).fetchone()[0] else {}
        return {} if kind.part_if_since and self.since.time is not None else kind.swept

    def _sweep(self, job: SyncJob, noticed: str) -> None:
        """Removes rows that a whole list no longer has."""
        for table, column in self._swept(job).items():
            key = " || char(31) || ".join(f'"{name}"' for name in table.key)
            seen = "SELECT key FROM _seen WHERE job = ? AND job_key = ? AND name = ?"
            of_job = "" if column is None else "".join(f'"{name}" = ? AND ' for name in column.split("/"))
            query = f'SELECT * FROM "{table.name}" WHERE {of_job}{key} NOT IN ({seen})'  # noqa: S608 - fixed names
            values = ([] if column is None else job.key.split("/")) + [job.kind, job.key, table.name]
            for row in self.db.execute(query, values).fetchall():
                self._remove(table, row, noticed)
        self.db.execute("DELETE FROM _seen WHERE job = ? AND job_key = ?", [job.kind, job.key])

    def _remove(self, table: SyncedTable, row: Row, noticed: str) -> None:
        self._note(table, row, "removed", None, noticed)
        where = " AND ".join(f'"{name}" = ?' for name in table.key)
        self.db.execute(f'DELETE FROM "{table.name}" WHERE {where}', table.key_of(row))  # noqa: S608 - fixed names
        # what belonged to it goes with it; only the log still speaks of it
        for other in SYNCED if table.key == ("id",) else ():
            for column, target in other.references.items():
                if target == table.name and other is not tables.EVENTS:
                    self.db.execute(f'DELETE FROM "{other.name}" WHERE "{column}" = ?', [row[0]])  # noqa: S608

    # What changed

    def _note_differences(self, table: SyncedTable, rows: Sequence[Row], noticed: str) -> None:
        if table in _SILENT or self._first:
            return
        where = " AND ".join(f'"{name}" = ?' for name in table.key)
        query = f'SELECT * FROM "{table.name}" WHERE {where}'  # noqa: S608 - fixed names
        for row in rows:
            old = self.db.execute(query, table.key_of(row)).fetchone()
            if old is None:
                self._note(table, row, "added", None, noticed)
            elif details := _details(table, old, row):
                self._note(table, row, "changed", details, noticed)

    def _note(self, table: SyncedTable, row: Row, change: str, details: str | None, noticed: str) -> None:
        if self._first:
            return
        values = [moment(noticed), table.noun, row[0], self._name(table, row), change, details]
        self.db.execute(
            "INSERT INTO changes (noticed, entity, entity_id, name, change, details, sync_id) "
            "VALUES (?, ?, ?, ?, ?, ?, (SELECT max(id) FROM sync_history))",
            values,
        )

    def _name(self, table: SyncedTable, row: Row) -> str:
        """The name of a thing, or of the things that it connects."""
        columns = list(table.columns)
        if "name" in columns:
            return str(row[columns.index("name")])
        names = []
        for column, target in table.references.items():
            query = f'SELECT name FROM "{target}" WHERE id = ?'  # noqa: S608 - fixed names
            found = self.db.execute(query, [row[columns.index(column)]]).fetchone()
            names.append(found[0] if found else row[columns.index(column)])
        what = next((str(row[columns.index(each)]) for each in ("role", "factor_type") if each in columns), None)
        return ": ".join(filter(None, (" - ".join(map(str, reversed(names))), what)))

    # The log

    def _unknown(self, events: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
        """Those that are not recorded. An event changes the data once, however often it is read."""
        query = "SELECT 1 FROM log_events WHERE id = ?"
        return [event for event in events if self.db.execute(query, [event["uuid"]]).fetchone() is None]

    def _apply(self, events: Sequence[Mapping[str, Any]], noticed: str) -> list[SyncJob]:
        """Changes the data as the events say that it was changed."""
        jobs: dict[SyncJob, None] = {}
        for event in events:
            if event["published"] >= self._applied_from:
                self._apply_one(event, noticed)
                jobs |= dict.fromkeys(follow_ups(event))
        self._add_jobs(jobs, again=True)
        return list(jobs)

    def _apply_one(self, event: Mapping[str, Any], noticed: str) -> None:
        user, group = (tables.target_of(event, each) for each in ("User", "UserGroup"))
        succeeded = (event.get("outcome") or {}).get("result") == "SUCCESS"
        match event["eventType"]:
            case "user.session.start" if user and succeeded:
                later = "UPDATE users SET last_login = max(coalesce(last_login, ''), ?) WHERE id = ?"
                self.db.execute(later, [moment(event["published"]), user])
            case "group.user_membership.add" if user and group:
                self._put(tables.MEMBERSHIPS, (group, user), noticed)
            case "group.user_membership.remove" if user and group:
                self._take_away(tables.MEMBERSHIPS, (group, user), noticed)
            case "user.lifecycle.delete.initiated" | "user.lifecycle.delete.completed" if user:
                self._take_away(tables.USERS, (user,), noticed)
            case "group.lifecycle.delete" if group:
                self._take_away(tables.GROUPS, (group,), noticed)

    def _put(self, table: SyncedTable, row: Row, noticed: str) -> None:
        self._note_differences(table, [row], noticed)
        self.db.execute(table.upsert, row)

    def _take_away(self, table: SyncedTable, key: Row, noticed: str) -> None:
        where = " AND ".join(f'"{name}" = ?' for name in table.key)
        found = self.db.execute(f'SELECT * FROM "{table.name}" WHERE {where}', key).fetchone()  # noqa: S608 - fixed names
        if found is not None:
            self._remove(table, found, noticed)

    # The end

    def fail(self, error: str) -> None:
        """Records why a sync stopped. It goes on with the next attempt."""
        with self._transaction():
            self.db.execute("UPDATE sync_history SET error = ? WHERE id = (SELECT max(id) FROM sync_history)", [error])

    def publish(self, finished: datetime) -> None:
        """Completes the copy and puts it in the place of what readers see, in one step."""
        with self._transaction():
            self._forget_former_administrators()
            derive(self.db, access_changed=self._access_changed(), since=moment(self.since.time))
            self._complete_history(finished)
            for name in ("_jobs", "_seen", "_sync"):
                self.db.execute(f"DROP TABLE {name}")
        self._replace()

    def _access_changed(self) -> bool:
        nouns = [table.noun for table in (tables.MEMBERSHIPS, tables.APP_USERS, tables.APP_GROUPS)]
        nouns += [table.noun for table in (tables.USERS, tables.GROUPS, tables.USER_ROLES, tables.GROUP_ROLES)]
        nouns += [table.noun for table in (tables.RULES, tables.RULE_GROUPS)]
        query = "SELECT DISTINCT entity FROM changes WHERE sync_id = (SELECT max(id) FROM sync_history)"
        return self._first or any(entity in nouns for (entity,) in self.db.execute(query))

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


def _details(table: SyncedTable, old: Row, new: Row) -> str:
    changed = [
        f"{name}: {was} → {now}"
        for name, was, now in zip(table.columns, old, new, strict=True)
        if was != now and name not in ("last_updated", "membership_updated", "last_login")
    ]
    return ", ".join(changed)


def _text(key: Row) -> str:
    return "\x1f".join(map(str, key))
