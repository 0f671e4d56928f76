"""SQLite in WAL mode, written straight from the event loop: a commit costs less than a hop to a thread and back.

While another process writes, this one tries again after a pause in which the loop does other work: SQLite's own way of
waiting would hold up everything in the process.
"""

import asyncio
import math
import os
import sqlite3
import stat
import threading
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from datetime import UTC, datetime
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Self, TypeVar

from answerable.core.errors import AnswerableError, InternalError, OperatorError
from answerable.store import schema
from answerable.store.database import (
    Condition,
    Insert,
    NothingChangedError,
    Parameter,
    Row,
    RowExistsError,
    Statement,
    Synchronous,
    checked,
    time_text,
    writable_check,
)
from answerable.store.disk import FOLDER_HINT, FULL_HINT, disk_error

MEMORY = ":memory:"
BUSY_SECONDS = 10.0
"""How long to wait for a process that holds the store before this counts as a failure."""
FIRST_PAUSE, LONGEST_PAUSE = 0.001, 0.05
POLL_SECONDS = 0.05
"""How often those who follow a run of another process look for news."""
_FEW = 8
T = TypeVar("T")

_TAKEN = {sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY, sqlite3.SQLITE_CONSTRAINT_UNIQUE, sqlite3.SQLITE_CONSTRAINT_ROWID}
_DAMAGED = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}
_NOT_WRITTEN = {
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_IOERR_WRITE,
    sqlite3.SQLITE_IOERR_FSYNC,
    sqlite3.SQLITE_IOERR_DIR_FSYNC,
    sqlite3.SQLITE_IOERR_TRUNCATE,
    sqlite3.SQLITE_IOERR_SHMSIZE,
    sqlite3.SQLITE_IOERR_SHMMAP,
}


class SqliteDatabase:
    """One connection. A lock keeps the transactions of different threads apart; within one event loop nobody waits for
    it."""

    now = "lease_clock()"
    """Counts from the start of the machine, the same for all its processes; nobody can set it."""

    up_since: str | None = None
    lock: str | None = None  # one writes at a time in any case
    skip_locked = ""

    size = "SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()"

    def __init__(self, connection: sqlite3.Connection, path: str) -> None:
        self._connection = connection
        self._path = path
        self._lock = threading.Lock()
        self._identity = _identity(path)
        self._endings = ExitStack()
        self._endings.callback(connection.close)
        connection.create_function("lease_clock", 0, time.monotonic)

    @classmethod
    def open(cls, path: str, synchronous: Synchronous, known: Sequence[schema.Migration]) -> Self:
        if path != MEMORY:
            _make_file(Path(path))
        try:
            connection = sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False)
        except sqlite3.Error as error:
            raise typed(error, path) from error
        try:
            database = cls(connection, path)
        except BaseException:
            connection.close()
            raise
        try:
            database._prepare(synchronous)
            database._migrate(known)
            # Only the start may block: from here on `_when_free` waits.
            connection.execute("PRAGMA busy_timeout = 0")
        except BaseException:
            database._endings.close()
            raise
        return database

    async def rows(self, sql: str, *parameters: Parameter) -> Sequence[Row]:
        values = checked(parameters)
        return await self._when_free(lambda: self._connection.execute(sql, values).fetchall())

    async def write(self, *statements: Statement, required: Collection[int] = ()) -> Sequence[int]:
        return await self._when_free(lambda: self._write(statements, required))

    def _write(self, statements: Sequence[Statement], required: Collection[int]) -> Sequence[int]:
        with self._transaction() as connection:
            changed = []
            for number, (sql, parameters) in enumerate(statements):
                changed.append(connection.execute(sql, checked(parameters)).rowcount)
                if not changed[-1] and number in required:
                    raise NothingChangedError(sql)
            return changed

    async def written(self, *statements: Statement) -> Sequence[Row]:
        return await self._when_free(lambda: self._written(statements))

    def _written(self, statements: Sequence[Statement]) -> Sequence[Row]:
        with self._transaction() as connection:
            rows: Sequence[Row] = ()
            for sql, parameters in statements:
                rows = connection.execute(sql, checked(parameters)).fetchall()
            return rows

    async def insert_fenced(self, fence: Condition, *inserts: tuple[Insert, Sequence[Row]]) -> bool:
        """A few rows go as one statement, which is a transaction of its own and saves the two around it."""
        condition, parameters = fence
        if len(inserts) == 1 and len(inserts[0][1]) <= _FEW:
            target, rows = inserts[0]
            sql, values = _fenced(target, len(rows), condition), (*chain.from_iterable(rows), *parameters)
            return await self._when_free(lambda: self._connection.execute(sql, values).rowcount > 0)
        run = f"SELECT 1 FROM runs WHERE {condition}"  # noqa: S608
        return await self._when_free(lambda: self._insert_many((run, parameters), inserts))

    async def change_fenced(self, change: Statement, *inserts: tuple[Insert, Sequence[Row]]) -> bool:
        sql, parameters = change[0], checked(change[1])
        return await self._when_free(lambda: self._insert_many((f"{sql} RETURNING 1", parameters), inserts))

    def _insert_many(self, fence: Statement, inserts: Sequence[tuple[Insert, Sequence[Row]]]) -> bool:
        with self._transaction() as connection:
            if not connection.execute(*fence).fetchall():
                return False
            for target, rows in inserts:
                connection.executemany(_insert(target), rows)
            return True

    async def _when_free(self, action: Callable[[], T]) -> T:
        """Does the action, which is one transaction, once no other process is in the way."""
        pause, patience = FIRST_PAUSE, time.monotonic() + BUSY_SECONDS
        while True:
            try:
                with self._lock:
                    return action()
            except sqlite3.Error as error:
                if not _is_busy(error) or time.monotonic() > patience:
                    raise typed(error, self._path) from error
            await asyncio.sleep(pause)
            pause = min(2 * pause, LONGEST_PAUSE)

    def announce(self, run: str) -> None:
        """Does nothing, because other processes ask SQLite whether the file has changed."""

    async def mark(self, run: str) -> int:
        """A number that changes when another connection has committed something."""
        [(version,)] = await self.rows("PRAGMA data_version")
        return int(version)

    async def beyond(self, run: str, mark: int, seconds: float) -> None:
        """The question takes microseconds, so asking often is cheaper than any signal between processes."""
        for _ in range(math.ceil(seconds / POLL_SECONDS)):
            if await self.mark(run) != mark:
                return
            await asyncio.sleep(POLL_SECONDS)

    async def check(self) -> None:
        """Reads through a connection of its own, because this one's cache would hide damage on the disk."""
        if self._path != MEMORY:
            await asyncio.to_thread(_read_tables, self._path)
        await self.write(writable_check())

    async def close(self) -> None:
        with self._lock:
            self._endings.close()

    def when_closed(self, action: Callable[[], None]) -> None:
        self._endings.callback(action)

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        connection = self._connection
        self._check_in_place()
        try:
            connection.execute("BEGIN IMMEDIATE")
            yield connection
            connection.execute("COMMIT")
        finally:
            if connection.in_transaction:
                connection.rollback()

    def _check_in_place(self) -> None:
        """Raises an error if the file was deleted or replaced: what is written to it would vanish with the process.

        The look costs a microsecond, which the few rows of a single append do without.
        """
        if _identity(self._path) != self._identity:
            raise OperatorError(
                f"The store {self._path} was removed or replaced while it was in use.",
                code="store_unavailable",
                hint="Put it back and restart, or restart to begin with the file that is there now.",
            )

    def _prepare(self, synchronous: Synchronous) -> None:
        try:
            self._check_ours()
            mode = self._turn_on_log()
            self._connection.execute(f"PRAGMA synchronous = {synchronous}")
            self._connection.execute("PRAGMA foreign_keys = ON")
            self._connection.execute("PRAGMA journal_size_limit = 67108864")
        except sqlite3.Error as error:
            raise typed(error, self._path) from error
        if mode not in ("wal", "memory"):
            raise OperatorError(
                f"The store {self._path} lies on a file system that SQLite's write-ahead log does not work on.",
                code="store_unavailable",
                hint="Keep the store on a local disk, or use PostgreSQL.",
            )

    def _turn_on_log(self) -> str:
        """Retries, because here SQLite does not wait for other processes: those that start together collide."""
        patience = time.monotonic() + BUSY_SECONDS
        while True:
            try:
                (mode,) = self._connection.execute("PRAGMA journal_mode = WAL").fetchone()
            except sqlite3.OperationalError as error:
                if not _is_busy(error) or time.monotonic() > patience:
                    raise
                time.sleep(0.01)
            else:
                return str(mode)

    def _check_ours(self) -> None:
        # In this order: another process may make its tables and mark the file between the two.
        (tables,) = self._connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        (application,) = self._connection.execute("PRAGMA application_id").fetchone()
        if application != schema.MARK and (application or tables):
            raise OperatorError(
                f"{self._path} is a SQLite database of another program, not a store of Answerable.",
                code="store_foreign",
                hint="Name another file for the store; to ask questions of this one, name it as a source.",
            )

    def _migrate(self, known: Sequence[schema.Migration]) -> None:
        """Checks again under the write lock, so that only one of the processes that start together migrates it."""
        try:
            if not self._pending(known):
                return
            with self._transaction() as connection:
                connection.execute(schema.CREATE_MIGRATIONS)
                for migration in self._pending(known):
                    for statement in migration.for_sqlite():
                        connection.execute(statement)
                    applied = (migration.number, migration.name, time_text(datetime.now(UTC)))
                    connection.execute(schema.RECORD, applied)
                connection.execute(f"PRAGMA application_id = {schema.MARK}")
        except sqlite3.Error as error:
            raise typed(error, self._path) from error

    def _pending(self, known: Sequence[schema.Migration]) -> Sequence[schema.Migration]:
        fresh = not self._connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'migrations'").fetchone()
        applied = set() if fresh else {number for (number,) in self._connection.execute(schema.APPLIED)}
        return schema.pending(applied, known, self._path)


@cache
def _insert(target: Insert) -> str:
    return f"{target.into} VALUES ({', '.join('?' * len(target.types))})"


@cache
def _fenced(target: Insert, rows: int, condition: str) -> str:
    row = f"({', '.join('?' * len(target.types))})"
    values = ", ".join([row] * rows)
    return f"{target.into} SELECT * FROM (VALUES {values}) WHERE EXISTS (SELECT 1 FROM runs WHERE {condition})"  # noqa: S608


def _identity(path: str) -> tuple[int, int] | None:
    try:
        status = os.stat(path)
    except FileNotFoundError:  # also for a store in memory
        return None
    return status.st_dev, status.st_ino


def _read_tables(path: str) -> None:
    """Reads the first row of each table, which touches the file's header, its schema and the root of every tree."""
    try:
        with closing(sqlite3.connect(f"{Path(path).as_uri()}?mode=ro", uri=True, timeout=1.0)) as connection:
            for (table,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
                connection.execute(f'SELECT * FROM "{table}" LIMIT 1').fetchone()  # noqa: S608 - a name of ours
    except sqlite3.Error as error:
        raise typed(error, path) from error


def _make_file(path: Path) -> None:
    """Readable by its owner only. SQLite gives its side files the same permissions.

    A file that exists is not even opened: closing it would drop the locks of this process's other connections to it.
    """
    try:
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, stat.S_IRUSR | stat.S_IWUSR))
    except FileExistsError:
        return
    except OSError as error:
        raise disk_error(error, f"The store {path}") from error


def _is_busy(error: sqlite3.Error) -> bool:
    return getattr(error, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_BUSY


def typed(error: sqlite3.Error, path: str) -> Exception:
    """What a failure of SQLite means for whoever runs Answerable."""
    code: int = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR)
    if code in _TAKEN:
        return RowExistsError(str(error))
    if code & 0xFF in _DAMAGED:
        return _operator_error("store_corrupt", path, "is damaged", error, f"Restore {path} from a backup. {_KEEP}")
    if code in _NOT_WRITTEN:
        return _operator_error("store_full", path, "could not be written", error, FULL_HINT)
    if code & 0xFF in _UNAVAILABLE:
        return _operator_error("store_unavailable", path, "cannot be used", error, _UNAVAILABLE[code & 0xFF])
    return InternalError(f"The store {path} refused a statement: {error}.", code="store_defect")


_KEEP = "Keep the damaged file: `sqlite3 FILE .recover` may save rows that were written after the backup."
_HELD = "Another process holds the store for long: end it, or wait and try again."
_UNAVAILABLE = {
    sqlite3.SQLITE_BUSY: _HELD,
    sqlite3.SQLITE_LOCKED: _HELD,
    sqlite3.SQLITE_PROTOCOL: _HELD,
    sqlite3.SQLITE_CANTOPEN: FOLDER_HINT,
    sqlite3.SQLITE_READONLY: FOLDER_HINT,
    sqlite3.SQLITE_PERM: FOLDER_HINT,
    sqlite3.SQLITE_IOERR: "Look into the system's log for failures of the disk.",
}


def _operator_error(code: str, path: str, what: str, error: sqlite3.Error, hint: str) -> AnswerableError:
    reason = "its file system is read-only" if _is_read_only(path) else error
    return OperatorError(f"The store {path} {what}: {reason}.", code=code, hint=hint)


def _is_read_only(path: str) -> bool:
    """SQLite itself says only that it is unable to open the file."""
    with suppress(OSError):
        return bool(os.statvfs(os.path.dirname(path) or ".").f_flag & os.ST_RDONLY)
    return False
