"""Writes pages of lists into the tables of a tenant: rows, what is gone, what changed, and what the log tells."""

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from answerable.core.errors import SourceError
from answerable.okta.sync import tables
from answerable.okta.sync.jobs import JOB_KINDS, Content, Since, SyncJob, follow_ups, may_have_factors
from answerable.okta.sync.tables import SYNCED, Row, SyncedTable, moment

_SILENT = (tables.EVENTS, tables.RULE_GROUPS, tables.DEVICE_USERS)
"""Tables whose rows are not listed among the changes: they tell themselves, or go with others."""


@dataclass(frozen=True, slots=True)
class ListPage:
    """One page of a list."""

    job: SyncJob
    items: Sequence[Any]
    next_path: str | None
    noticed: str
    """When it came, as Okta writes times."""
    circular: bool = False
    """Whether the next page that it names was read before: the list ends here, and what it lacks may exist."""

    def content(self, db: sqlite3.Connection, since: Since) -> Content:
        """Raises `SourceError` if an item lacks what every item of its kind has."""
        if self.job.kind == "users" and since.time is not None:
            since = Since(since.time, self._with_factors(db))
        try:
            return JOB_KINDS[self.job.kind].read(self.items, self.job.key, since)
        except (KeyError, TypeError, AttributeError, ValueError):
            raise unexpected(self.job.kind) from None

    def _with_factors(self, db: sqlite3.Connection) -> frozenset[str]:
        """Users of the page whose factors were read before. The log tells if they change."""
        query = "SELECT status FROM users WHERE id = ?"
        found = ((item["id"], db.execute(query, [item["id"]]).fetchone()) for item in self.items)
        return frozenset(user for user, row in found if row is not None and may_have_factors(row[0]))


def unexpected(kind: str) -> SourceError:
    what = kind.replace("_", " ")
    return SourceError(f"Okta's list of {what} holds something unexpected.", code="okta_refused")


class PageRows:
    """What is written of pages. Every call happens inside a transaction."""

    def __init__(self, db: sqlite3.Connection, *, since: Since, first: bool, applied_from: str) -> None:
        self._db = db
        self._since = since
        self._first = first
        self._applied_from = applied_from
        done, total = db.execute("SELECT sum(done), count(*) FROM _jobs").fetchone()
        self.jobs_done: int = done or 0
        self.jobs: int = total

    def write(self, page: ListPage) -> list[SyncJob]:
        """Writes one page and returns the jobs that it gives rise to."""
        content = page.content(self._db, self._since)
        events = self._unknown(page.items) if page.job.kind == "log" else ()
        new = self._write(page.job, content, page.noticed)
        new += self._apply(events, page.noticed)
        self._advance(page.job, page.next_path)
        if page.circular:
            self._add_note(f"The pages of {page.job.kind.replace('_', ' ')} go round in a circle.")
        elif page.next_path is None:
            self._sweep(page.job, page.noticed)
        return new

    def end(self, job: SyncJob, noticed: str, *, gone: bool) -> None:
        self._advance(job, None)
        if not gone:
            self._add_note(f"Not read, because the tenant lacks the feature: {job.kind.replace('_', ' ')}.")
        elif job.key and job.kind != "log":
            self._sweep(job, noticed)
        else:
            self._add_note(f"Not read, because the tenant does not have it: {job.kind.replace('_', ' ')}.")

    def _add_note(self, note: str) -> None:
        last = "id = (SELECT max(id) FROM sync_history) AND instr(coalesce(error, ''), ?) = 0"
        update = f"UPDATE sync_history SET error = ltrim(coalesce(error, '') || ' ' || ?) WHERE {last}"  # noqa: S608
        self._db.execute(update, [note, note])

    def _write(self, job: SyncJob, content: Content, noticed: str) -> list[SyncJob]:
        swept = self._swept(job)
        for table, rows in content.rows.items():
            self._note_differences(table, rows, noticed)
            if table in swept:
                seen = [(job.kind, job.key, table.name, _text(table.key_of(row))) for row in rows]
                self._db.executemany("INSERT OR IGNORE INTO _seen VALUES (?, ?, ?, ?)", seen)
            self._db.executemany(table.upsert, rows)
            self._count(job, len(rows))
        self._add_jobs(content.jobs, again=False)
        return list(content.jobs)

    def _count(self, job: SyncJob, rows: int) -> None:
        count = "UPDATE _jobs SET rows = rows + ? WHERE kind = ? AND key = ?"
        self._db.execute(count, [rows, job.kind, job.key])

    def _add_jobs(self, jobs: Iterable[SyncJob], *, again: bool) -> None:
        """A list that has been read already is read again."""
        for job in jobs:
            key = (job.kind, job.key)
            known = self._db.execute("SELECT done FROM _jobs WHERE kind = ? AND key = ?", key).fetchone()
            if known is None:
                self._db.execute("INSERT INTO _jobs (kind, key, again) VALUES (?, ?, ?)", [*key, again])
                self.jobs += 1
            else:
                anew = "UPDATE _jobs SET done = 0, path = NULL, again = ? WHERE kind = ? AND key = ?"
                self._db.execute(anew, [again, *key])
                self.jobs_done -= known[0]

    def _advance(self, job: SyncJob, next_path: str | None) -> None:
        step = "UPDATE _jobs SET path = ?, done = ?, pages = pages + 1 WHERE kind = ? AND key = ?"
        self._db.execute(step, [next_path, next_path is None, job.kind, job.key])
        self.jobs_done += next_path is None

    # What is gone

    def _swept(self, job: SyncJob) -> Mapping[SyncedTable, str | None]:
        """Tables from which the job may remove rows. The first list of the first sync finds none to remove."""
        kind = JOB_KINDS[job.kind]
        if self._first:
            again = "SELECT again FROM _jobs WHERE kind = ? AND key = ?"
            return kind.swept if self._db.execute(again, [job.kind, job.key]).fetchone()[0] else {}
        return {} if kind.part_if_since and self._since.time is not None else kind.swept

    def _sweep(self, job: SyncJob, noticed: str) -> None:
        """Removes rows that a whole list no longer has."""
        for table, column in self._swept(job).items():
            key = " || char(31) || ".join(f'"{name}"' for name in table.key)
            seen = "SELECT key FROM _seen WHERE job = ? AND job_key = ? AND name = ?"
            of_job = "" if column is None else "".join(f'"{name}" = ? AND ' for name in column.split("/"))
            query = f'SELECT * FROM "{table.name}" WHERE {of_job}{key} NOT IN ({seen})'  # noqa: S608 - fixed names
            values = ([] if column is None else job.key.split("/")) + [job.kind, job.key, table.name]
            for row in self._db.execute(query, values).fetchall():
                self._remove(table, row, noticed)
        self._db.execute("DELETE FROM _seen WHERE job = ? AND job_key = ?", [job.kind, job.key])

    def _remove(self, table: SyncedTable, row: Row, noticed: str) -> None:
        self._note(table, row, "removed", None, noticed)
        where = " AND ".join(f'"{name}" = ?' for name in table.key)
        self._db.execute(f'DELETE FROM "{table.name}" WHERE {where}', table.key_of(row))  # noqa: S608 - fixed names
        # what belonged to it goes with it; only the log still speaks of it
        for other in SYNCED if table.key == ("id",) else ():
            for column, target in other.references.items():
                if target == table.name and other is not tables.EVENTS:
                    self._db.execute(f'DELETE FROM "{other.name}" WHERE "{column}" = ?', [row[0]])  # noqa: S608

    # What changed

    def _note_differences(self, table: SyncedTable, rows: Sequence[Row], noticed: str) -> None:
        if table in _SILENT or self._first:
            return
        where = " AND ".join(f'"{name}" = ?' for name in table.key)
        query = f'SELECT * FROM "{table.name}" WHERE {where}'  # noqa: S608 - fixed names
        for row in rows:
            old = self._db.execute(query, table.key_of(row)).fetchone()
            if old is None:
                self._note(table, row, "added", None, noticed)
            elif details := _details(table, old, row):
                self._note(table, row, "changed", details, noticed)

    def _note(self, table: SyncedTable, row: Row, change: str, details: str | None, noticed: str) -> None:
        if self._first:
            return
        values = [moment(noticed), table.noun, row[0], self._name(table, row), change, details]
        self._db.execute(
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
            found = self._db.execute(query, [row[columns.index(column)]]).fetchone()
            names.append(found[0] if found else row[columns.index(column)])
        what = next((str(row[columns.index(each)]) for each in ("role", "factor_type") if each in columns), None)
        return ": ".join(filter(None, (" - ".join(map(str, reversed(names))), what)))

    # The log

    def _unknown(self, events: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
        """Events that are not recorded yet. An event changes the data once, however often it is read."""
        query = "SELECT 1 FROM log_events WHERE id = ?"
        return [event for event in events if self._db.execute(query, [event["uuid"]]).fetchone() is None]

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
                self._db.execute(later, [moment(event["published"]), user])
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
        self._db.execute(table.upsert, row)

    def _take_away(self, table: SyncedTable, key: Row, noticed: str) -> None:
        where = " AND ".join(f'"{name}" = ?' for name in table.key)
        found = self._db.execute(f'SELECT * FROM "{table.name}" WHERE {where}', key).fetchone()  # noqa: S608 - fixed names
        if found is not None:
            self._remove(table, found, noticed)


def _details(table: SyncedTable, old: Row, new: Row) -> str:
    changed = [
        f"{name}: {was} → {now}"
        for name, was, now in zip(table.columns, old, new, strict=True)
        if was != now and name not in ("last_updated", "membership_updated", "last_login")
    ]
    return ", ".join(changed)


def _text(key: Row) -> str:
    return "\x1f".join(map(str, key))
