"""Which runs are kept, and removing the others with all that belongs to them."""

# ruff: noqa: S608 - statements are put together from constants of this module; values are always parameters

import re
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from dataclasses import asdict
from datetime import timedelta

import orjson

from answerable.core.clock import Clock
from answerable.core.ids import ArtifactId, RunId
from answerable.store.artifacts import FolderArtifacts
from answerable.store.database import Parameter, SqlDatabase, Statement, time_of, time_text
from answerable.store.leases import Leases
from answerable.store.protocols.retention import Pruned, RetentionLimits, StoreUse

JOB = "retention"
AT_ONCE = 200
ARTIFACT_SECONDS = 86_400.0
"""An artifact younger than this may belong to a step whose end is not stored yet."""
_NAMED = re.compile(r"sha256:[0-9a-f]{64}")
_PROTECTED = (
    "(EXISTS (SELECT 1 FROM eval_cases c WHERE c.run_id = runs.run_id) OR EXISTS (SELECT 1 FROM threads t"
    " WHERE (t.pinned_at IS NOT NULL OR t.share_token IS NOT NULL) AND t.deleted_at IS NULL"
    " AND (t.thread_id = runs.thread_id"
    " OR t.thread_id IN (SELECT m.thread_id FROM messages m WHERE m.run_id = runs.run_id))))"
)
_OPEN_NOTICES = "EXISTS (SELECT 1 FROM outbox n WHERE n.stream = runs.run_id AND n.delivered_at IS NULL)"
_REMOVABLE = f"finished_at IS NOT NULL AND NOT {_PROTECTED} AND NOT {_OPEN_NOTICES}"
_BY_AGE = f"SELECT run_id FROM runs WHERE created_at < ? AND {_REMOVABLE}"
_PLACES = (
    "SELECT run_id, row_number() OVER (PARTITION BY tenant_id ORDER BY position DESC, run_id DESC) AS place FROM runs"
)
_BY_COUNT = (
    f"SELECT run_id FROM runs WHERE run_id IN (SELECT run_id FROM ({_PLACES}) p WHERE place > ?) AND {_REMOVABLE}"
)
_NEWEST_FIRST = "SELECT run_id FROM runs ORDER BY created_at DESC, run_id DESC"
_TEXT_BYTES = "SELECT run_id, sum(length(body)) FROM {table} GROUP BY run_id"
_FILES = "SELECT artifact_id, max(bytes) FROM artifacts GROUP BY artifact_id"
_OF_RUNS = (
    "DELETE FROM idempotency_keys WHERE run_id IN ({runs})",
    "DELETE FROM run_requests WHERE run_id IN ({runs})",
    "DELETE FROM events WHERE run_id IN ({runs})",
    "DELETE FROM capsules WHERE run_id IN ({runs})",
    "DELETE FROM messages WHERE run_id IN ({runs})",
    "DELETE FROM outbox WHERE stream IN ({runs})",
    "DELETE FROM runs WHERE run_id IN ({runs})",
)
_THREADS = (
    "SELECT DISTINCT thread_id FROM messages WHERE run_id IN ({runs})"
    " UNION SELECT DISTINCT thread_id FROM runs WHERE run_id IN ({runs}) AND thread_id IS NOT NULL"
)
_EMPTY = (
    "DELETE FROM threads WHERE thread_id IN ({threads})"
    " AND NOT EXISTS (SELECT 1 FROM messages m WHERE m.thread_id = threads.thread_id)"
)
_PAGES = (
    ("events", "run_id, seq", 2),
    ("capsules", "run_id", 1),
    ("eval_cases", "tenant_id, suite, case_id", 3),
)
"""Where artifacts are named: table, key, and how many columns the key has."""


class SqlRetention:
    def __init__(self, database: SqlDatabase, clock: Clock, leases: Leases, artifacts: FolderArtifacts) -> None:
        self._database = database
        self._clock = clock
        self._leases = leases
        self._artifacts = artifacts

    async def begin(self, every: float) -> bool:
        now = self._clock.now()
        # A moment that is still to come was written before the clock was set back, and says nothing.
        lately = (time_text(now - timedelta(seconds=every)), time_text(now))
        if await self._database.rows("SELECT 1 FROM jobs WHERE name = ? AND ran_at > ? AND ran_at <= ?", JOB, *lately):
            return False  # the usual case, which costs no commit
        idle = f"NOT {self._leases.lives('jobs.owner')}"
        due = "ran_at IS NULL OR ran_at <= ? OR ran_at > ?"
        claim = f"UPDATE jobs SET owner = ? WHERE name = ? AND ({due}) AND {idle}"
        _, _, claimed = await self._database.write(
            self._leases.renewal(),
            ("INSERT INTO jobs (name) VALUES (?) ON CONFLICT (name) DO NOTHING", (JOB,)),
            (claim, (self._leases.owner, JOB, *lately)),
        )
        if claimed:
            self._leases.hold(self)
        return bool(claimed)

    async def end(self, pruned: Pruned) -> None:
        self._leases.drop(self)
        values = (time_text(self._clock.now()), orjson.dumps(asdict(pruned)).decode(), JOB, self._leases.owner)
        sql = "UPDATE jobs SET ran_at = ?, report = ?, owner = NULL WHERE name = ? AND owner = ?"
        await self._database.write((sql, values), self._leases.forgotten())

    async def expired(self, limits: RetentionLimits) -> Sequence[RunId]:
        found: list[RunId] = []
        if limits.keep_days:
            oldest = time_text(self._clock.now() - timedelta(days=limits.keep_days))
            found += [row[0] for row in await self._database.rows(_BY_AGE, oldest)]
        if limits.keep_runs:
            found += [row[0] for row in await self._database.rows(_BY_COUNT, limits.keep_runs)]
        if limits.keep_mb:
            found += await self._beyond(limits.keep_mb * 1_000_000)
        return list(dict.fromkeys(found))

    async def _beyond(self, most: int) -> list[RunId]:
        """Runs that do not fit, the newest counted first. An artifact counts for the newest run that names it."""
        removable = {row[0] for row in await self._database.rows(f"SELECT run_id FROM runs WHERE {_REMOVABLE}")}
        sizes: Counter[str] = Counter()
        for table in ("events", "capsules"):
            sizes.update({run: int(size) for run, size in await self._database.rows(_TEXT_BYTES.format(table=table))})
        files: dict[str, int] = dict(await self._database.rows(_FILES))
        named: dict[str, set[str]] = {}
        async for key, body in self._bodies("capsules", "run_id", 1):
            named[str(key[0])] = set(_NAMED.findall(body))
        total, beyond = 0, []
        for (run,) in await self._database.rows(_NEWEST_FIRST):
            total += sizes[run] + sum(files.pop(artifact, 0) for artifact in named.get(run, ()))
            if total > most and run in removable:
                beyond.append(RunId(run))
        return beyond

    async def remove(self, runs: Sequence[RunId]) -> int:
        emptied = 0
        for first in range(0, len(runs), AT_ONCE):
            some = tuple(runs[first : first + AT_ONCE])
            marks = ", ".join("?" * len(some))
            threads = tuple(row[0] for row in await self._database.rows(_THREADS.format(runs=marks), *some, *some))
            statements: list[Statement] = [(sql.format(runs=marks), some) for sql in _OF_RUNS]
            statements.append((_EMPTY.format(threads=", ".join("?" * len(threads)) or "NULL"), threads))
            emptied += (await self._database.write(*statements))[-1]
        return emptied

    async def remove_unreferenced(self) -> tuple[int, int]:
        named = {found for table in _PAGES async for _, body in self._bodies(*table) for found in _NAMED.findall(body)}
        before = time_text(self._clock.now() - timedelta(seconds=ARTIFACT_SECONDS))
        old = await self._database.rows("SELECT DISTINCT artifact_id FROM artifacts WHERE created_at < ?", before)
        freed = [await self._artifacts.remove(ArtifactId(row[0]), before) for row in old if row[0] not in named]
        return sum(1 for size in freed if size), sum(freed)

    async def _bodies(self, table: str, key: str, width: int) -> AsyncIterator[tuple[tuple[Parameter, ...], str]]:
        """Rows that name an artifact, page by page, so that others get their turn."""
        last: tuple[Parameter, ...] = ()
        marks = ", ".join("?" * width)
        while True:
            after = f"AND ({key}) > ({marks})" if last else ""
            sql = f"SELECT {key}, body FROM {table} WHERE body LIKE ? {after} ORDER BY {key} LIMIT {AT_ONCE}"
            rows = await self._database.rows(sql, "%sha256:%", *last)
            for row in rows:
                yield row[:width], row[width]
            if len(rows) < AT_ONCE:
                return
            last = rows[-1][:width]

    async def use(self) -> StoreUse:
        [(runs,)] = await self._database.rows("SELECT count(*) FROM runs")
        [(protected,)] = await self._database.rows(f"SELECT count(*) FROM runs WHERE {_PROTECTED}")
        [(files,)] = await self._database.rows(
            "SELECT coalesce(sum(bytes), 0) FROM (SELECT max(bytes) AS bytes FROM artifacts GROUP BY artifact_id) f"
        )
        [(size,)] = await self._database.rows(self._database.size)
        rows = await self._database.rows("SELECT ran_at, report FROM jobs WHERE name = ?", JOB)
        ran_at, report = rows[0] if rows else (None, None)
        return StoreUse(
            runs=int(runs),
            protected_runs=int(protected),
            database_bytes=int(size),
            artifact_bytes=int(files),
            pruned_at=time_of(ran_at) if ran_at else None,
            last_pruned=Pruned(**orjson.loads(report)) if report else None,
        )
