"""One sync: reads the lists of a tenant, several at once, and writes each page as it comes."""

import asyncio
import fcntl
import os
import sqlite3
import time
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from answerable.core.clock import Clock
from answerable.core.errors import AnswerableError, OperatorError, UserError
from answerable.core.progress import Progress, no_progress
from answerable.okta.sync.client import FeatureMissingError, GoneError, OktaClient, StaleCursorError
from answerable.okta.sync.database import NEXT, PUBLISHED, Begun, OpenJob, SyncKind, WorkFile
from answerable.okta.sync.graph import update_graph
from answerable.okta.sync.jobs import JOB_KINDS, SyncJob
from answerable.okta.sync.page_rows import ListPage, unexpected
from answerable.okta.sync.page_writer import PageWriter

LOG_DAYS = 30
LOCK = "sync.lock"
"""Locked by the process that syncs."""
_A_LOOK = 0.05
_RESTARTS = 3
"""How often one list is read from its beginning because the tenant forgot a cursor."""
_AS_OF = "/api/v1/logs?limit=1&sortOrder=DESCENDING&since=1970-01-01T00:00:00.000Z"


@dataclass(frozen=True, slots=True)
class SyncRecord:
    """A row of `sync_history`."""

    id: int
    kind: str
    status: str
    data_as_of: str | None
    started: str
    finished: str | None
    seconds: float | None
    pages: int | None
    rows: int | None
    added: int | None
    changed: int | None
    removed: int | None
    error: str | None


async def sync(
    folder: Path,
    client: OktaClient,
    clock: Clock,
    *,
    kind: SyncKind | None = None,
    log_days: float = LOG_DAYS,
    graph: bool = False,
    progress: Progress = no_progress,
) -> SyncRecord:
    """Syncs a tenant into the database file of a folder, and with `graph` into a graph too. A sync that was interrupted
    goes on. Without `kind`, only what is new is read if there is a complete sync, else everything."""
    with _alone(folder):
        work = WorkFile(folder)
        try:
            begun = work.resume(kind) or await _begun(work, client, clock, kind, log_days)
            await _Reading(work, client, clock, progress).read_all(begun)
            touched = await asyncio.to_thread(work.publish, clock.now())
            if graph:
                progress("Writing the graph", None, None)
                await asyncio.to_thread(update_graph, folder, touched)
        except AnswerableError as error:
            if work.is_open:
                work.fail(f"{error.message} [{error.stable_code}]")
            raise
        except sqlite3.Error as error:
            raise OperatorError(f"The synced data cannot be written: {error}.", code="okta_store_failed") from error
        finally:
            work.close()
    return history(folder)[-1]


async def _begun(work: WorkFile, client: OktaClient, clock: Clock, kind: SyncKind | None, log_days: float) -> Begun:
    now = clock.now().strftime("%Y-%m-%dT%H:%M:%S.000Z")
    wanted = kind or ("incremental" if work.last_complete() else "full")
    try:
        newest = _items("log", (await client.page(_AS_OF, JOB_KINDS["log"].scope)).items)
    except (GoneError, FeatureMissingError):
        newest, wanted = [], "full"  # what changed is told by the log alone
    # the tenant's own time, because clocks differ
    as_of = str(newest[0].get("published") or now) if newest else now
    return work.begin(wanted, as_of, now, log_days)


def _items(kind: str, body: Any) -> Sequence[Mapping[str, Any]]:
    """What is on a page. Raises `SourceError` if it is no list of things."""
    try:
        items = JOB_KINDS[kind].items(body)
    except (KeyError, TypeError):
        raise unexpected(kind) from None
    if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
        raise unexpected(kind)
    return items


class _Reading:
    def __init__(self, work: WorkFile, client: OktaClient, clock: Clock, progress: Progress) -> None:
        self._work = work
        self._client = client
        self._clock = clock
        self._progress = progress
        self._writer = PageWriter(work.write_pages)
        self._rows = 0

    async def read_all(self, begun: Begun) -> None:
        self._report("Going on with an interrupted sync" if begun.resumed else f"Beginning a sync ({begun.kind})")
        try:
            while jobs := deque(self._work.open_jobs()):
                await self._read(jobs)
        finally:
            await self._writer.close()

    async def _read(self, waiting: deque[OpenJob]) -> None:
        under_way: set[asyncio.Task[list[SyncJob]]] = set()
        try:
            while waiting or under_way:
                while waiting and len(under_way) < self._client.at_once + 2:
                    under_way.add(asyncio.create_task(self._read_list(waiting.popleft())))
                ended, under_way = await asyncio.wait(under_way, return_when=asyncio.FIRST_COMPLETED)
                for task in ended:
                    waiting.extend(OpenJob(job, None) for job in task.result())
        finally:
            for task in under_way:
                task.cancel()
            await asyncio.gather(*under_way, return_exceptions=True)

    async def _read_list(self, open_job: OpenJob) -> list[SyncJob]:
        """Reads one list to its end, and returns the lists that it gives rise to."""
        job, kind = open_job.job, JOB_KINDS[open_job.job.kind]
        first = kind.first(job.key, self._work.since)
        path: str | None = open_job.path or first
        found: list[SyncJob] = []
        read: set[str] = set()
        restarts = 0
        while path is not None:
            try:
                page = await self._client.page(path, kind.scope)
            except StaleCursorError:
                if path == first or restarts == _RESTARTS:
                    raise UserError(f"Okta does not understand the request {path}.", code="okta_refused") from None
                path, restarts = first, restarts + 1
                read.clear()
                continue
            except (GoneError, FeatureMissingError) as reason:
                await asyncio.to_thread(self._work.end, job, self._now(), gone=isinstance(reason, GoneError))
                return found
            items = _items(job.kind, page.items)
            read.add(path)
            # the log can be followed for ever: its end is a page without events
            path = None if job.kind == "log" and not items else page.next_path
            circular = path in read
            path = None if circular else path
            found += await self._writer.write(ListPage(job, items, path, self._now(), circular))
            self._rows += len(items)
            self._report(f"Reading {job.kind.replace('_', ' ')}, {self._rows:,} rows so far")
        return found if job.kind != "log" else []

    def _now(self) -> str:
        return self._clock.now().strftime("%Y-%m-%dT%H:%M:%S.000Z")

    def _report(self, message: str) -> None:
        self._progress(message, *self._work.job_counts())


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Raises `UserError` if another process syncs the same tenant."""
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    lock = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        if not is_taken(lock) or not is_taken(lock, after=_A_LOOK):
            yield
            return
        raise UserError(
            "This tenant is being synced already.", code="okta_sync_running", hint="Wait until that sync has ended."
        )
    finally:
        os.close(lock)


def is_taken(lock: int, after: float = 0.0) -> bool:
    """Takes the lock, and says whether another has it. Whoever only looks holds it for less than `_A_LOOK`."""
    time.sleep(after)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    return False


def history(folder: Path) -> list[SyncRecord]:
    """Every sync of a tenant, the oldest first, with the one that is under way or was interrupted."""
    path = next((folder / name for name in (NEXT, PUBLISHED) if (folder / name).exists()), None)
    if path is None:
        return []
    columns = ", ".join(SyncRecord.__slots__)
    with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as db:
        found = db.execute(f"SELECT {columns} FROM sync_history ORDER BY id").fetchall()  # noqa: S608 - fixed names
    return [SyncRecord(*row) for row in found]
