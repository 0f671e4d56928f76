"""SQLite in a worker: the file opened read-only, an authorizer that knows only reading, and a clock in the engine."""

import hashlib
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import quote

from answerable.query.sql.function_classes import DIGEST_FUNCTION, function_classes
from answerable.sources.workers import failures, row_batches
from answerable.sources.workers.arrow_file import ArrowFile
from answerable.sources.workers.engine import Deadline, Request, SqlEngine, quoted, unique_names
from answerable.sources.workers.failures import Failure
from answerable.sources.workers.harden import Needs
from answerable.sources.workers.sizing import rows_next
from answerable.sources.workers.sqlite_types import declared_type, settled, widened

T = TypeVar("T")

_STEPS_BETWEEN_CLOCK_READINGS = 10_000
_MAX_VALUE_BYTES = 256 * 1024 * 1024

_FUNCTIONS = function_classes("sqlite")
"""Read here, because the worker may open no other file once it is confined."""


class SqliteEngine(SqlEngine):
    def __init__(self, spec: dict[str, Any]) -> None:
        self._path = Path(spec["database"])
        self._memory_mb: int = spec["memory_mb"]
        self._deadline = Deadline(60)
        self._stopped = False
        self._trusted = True
        with self._translated(60):
            self._connection = _opened(self._path)
            self._connection.set_progress_handler(self._is_over, _STEPS_BETWEEN_CLOCK_READINGS)
            self._tables = frozenset(
                name.casefold()
                for (name,) in self._connection.execute(
                    "SELECT name FROM sqlite_master WHERE type IN ('table', 'view')"
                )
            )
            modules = self._connection.execute("SELECT name FROM pragma_module_list")
            self._modules = frozenset(name.casefold() for (name,) in modules)
            self._connection.set_authorizer(self._authorize)
        self._trusted = False

    @staticmethod
    def needs(spec: dict[str, Any]) -> Needs:
        database = spec["database"]
        return Needs(read=[database, f"{database}-wal", f"{database}-shm", f"{database}-journal"])

    def inspect(self) -> dict[str, Any]:
        self._trusted = True
        try:
            with self._running(60):
                return self._inspected()
        finally:
            self._trusted = False

    def _inspected(self) -> dict[str, Any]:
        tables, relationships, left_out = [], [], []
        for name, kind in self._connection.execute(_LISTING).fetchall():
            try:
                table, keys = _table(self._connection, name, kind), _foreign_keys(self._connection, name)
                if kind == "view":
                    self._check_view(name)
            except sqlite3.OperationalError as error:
                if _is_of_the_whole(error):
                    raise
                left_out.append((name, str(error)))
            else:
                tables.append(table)
                relationships += keys
        return {"tables": tables, "relationships": relationships, "left_out": left_out}

    def _check_view(self, name: str) -> None:
        """Plans it as a question would, which may use less than an inspection."""
        self._trusted = False
        try:
            self._connection.execute(f"EXPLAIN SELECT * FROM {quoted(name)}")
        except sqlite3.DatabaseError as error:
            raise sqlite3.OperationalError(str(error)) from error
        finally:
            self._trusted = True

    def check(self, request: Request) -> None:
        with self._running(request.seconds):
            self._only_query(request.sql)

    def rows(self, request: Request) -> list[Any]:
        with self._running(request.seconds):
            self._only_query(request.sql)
            fetched = self._decoded(lambda: self._fetched(request.sql, request.rows + 1))
        if len(fetched) > request.rows:
            raise failures.too_many_rows(request.rows)
        return fetched

    def execute(self, request: Request, out: ArrowFile) -> list[tuple[str, str]]:
        with self._running(request.seconds):
            self._only_query(request.sql)
            names, types = self._decoded(lambda: self._write(request.sql, out))
        return list(zip(names, types, strict=True))

    def interrupt(self) -> None:
        self._stopped = True
        self._connection.interrupt()

    @contextmanager
    def _cursor(self, sql: str) -> Iterator[sqlite3.Cursor]:
        """Closed at once, however it ends: as long as one statement is open, SQLite lets an interruption of another one
        hold for all that follow."""
        with closing(self._connection.execute(sql)) as cursor:
            yield cursor

    def _fetched(self, sql: str, most: int) -> list[Any]:
        with self._cursor(sql) as cursor:
            return cursor.fetchmany(most)

    def _write(self, sql: str, out: ArrowFile) -> tuple[list[str], list[str]]:
        """Types are taken from the values. When a later batch does not fit those of the first, all is written again."""
        types: list[str | None] | None = None
        while True:
            with self._cursor(sql) as cursor:
                names = unique_names([column[0] for column in cursor.description])
                written = _write_batches(cursor, names, types or [None] * len(names), out)
            if written.complete:
                return names, _settled(written.types)
            types = written.types

    def _decoded(self, fetch: Callable[[], T]) -> T:
        """Text that is not UTF-8 is shown with marks in place of what cannot be read; quicker without that care."""
        try:
            return fetch()
        except sqlite3.OperationalError as error:
            if "Could not decode" not in str(error):
                raise
        self._connection.text_factory = _lenient
        return fetch()

    def _only_query(self, sql: str) -> None:
        """Refuses all but a query, since only that can stand in parentheses. The authorizer does not see a VACUUM."""
        self._connection.execute(f"EXPLAIN SELECT * FROM (\n{sql.rstrip().rstrip(';')}\n)")

    def _is_over(self) -> bool:
        return self._stopped or self._deadline.passed()

    def _authorize(
        self, action: int, first: str | None, second: str | None, _database: str | None, _by: str | None
    ) -> int:
        if self._trusted or action in (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_RECURSIVE):
            return sqlite3.SQLITE_OK
        if action == sqlite3.SQLITE_READ:
            table = (first or "").casefold()
            allowed = not table or table in self._tables or table in _FUNCTIONS.table
            # Rows that are counted but not looked into have no column: also those of a common table expression, whose
            # name only the statement knows.
            allowed = allowed or (second == "" and not self._is_of_the_system(table))
            return sqlite3.SQLITE_OK if allowed else sqlite3.SQLITE_DENY
        name = (second or "").casefold()
        if action == sqlite3.SQLITE_FUNCTION and (_FUNCTIONS.allows(name) or name == DIGEST_FUNCTION):
            return sqlite3.SQLITE_OK
        return sqlite3.SQLITE_DENY

    def _is_of_the_system(self, table: str) -> bool:
        return table.startswith(("sqlite_", "pragma_")) or table in self._modules

    @contextmanager
    def _running(self, seconds: float) -> Iterator[None]:
        self._deadline = Deadline(seconds)
        self._stopped = False
        with self._translated(seconds):
            trusted, self._trusted = self._trusted, True
            self._connection.execute(f"PRAGMA busy_timeout = {failures.lock_milliseconds(seconds)}")
            self._trusted = trusted
            yield

    @contextmanager
    def _translated(self, seconds: float) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise self._failure(error, seconds) from error
        except MemoryError as error:
            raise failures.too_much_memory(self._memory_mb) from error

    def _failure(self, error: sqlite3.Error, seconds: float) -> Failure:
        code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF
        message = str(error)
        if code == sqlite3.SQLITE_INTERRUPT:
            return failures.too_slow(seconds)
        if code in (sqlite3.SQLITE_NOMEM, sqlite3.SQLITE_TOOBIG):
            return failures.too_much_memory(self._memory_mb)
        if code == sqlite3.SQLITE_AUTH:
            return Failure("RefusedError", "sql_refused", f"The statement may not do this: {message}.")
        if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            return failures.locked(str(self._path))
        if code in (sqlite3.SQLITE_ERROR, sqlite3.SQLITE_RANGE, sqlite3.SQLITE_MISMATCH):
            return failures.bad_sql(message)
        return Failure(
            "FileError",
            "source_unreadable",
            f"{self._path} cannot be read as a SQLite database: {message}.",
            "If a program ended while it wrote to it, open it once with one that may write, or restore a copy.",
        )


class _Written:
    def __init__(self, types: list[str | None], complete: bool) -> None:
        self.types = types
        self.complete = complete


def _write_batches(cursor: sqlite3.Cursor, names: list[str], types: list[str | None], out: ArrowFile) -> _Written:
    started = False
    while rows := cursor.fetchmany(rows_next(out)):
        wider = widened(types, zip(*rows, strict=True))
        if started and _settled(wider) != _settled(types):
            return _Written(wider, complete=False)
        types = wider
        if not started:
            out.start(row_batches.schema(names, _settled(types)))
            started = True
        out.add(row_batches.batch(names, _settled(types), rows))
    if not started:
        out.start(row_batches.schema(names, _settled(types)))
    out.finish()
    return _Written(types, complete=True)


def _settled(types: Sequence[str | None]) -> list[str]:
    return settled(types, if_null="text")


def _opened(path: Path) -> sqlite3.Connection:
    sqlite3.register_converter("BOOL", _truth)
    sqlite3.register_converter("BOOLEAN", _truth)
    # Python's own converters fail on dates that are not ISO 8601.
    sqlite3.register_converter("DATE", _lenient)
    sqlite3.register_converter("TIMESTAMP", _lenient)
    connection = sqlite3.connect(
        f"file:{quote(str(path))}?mode=ro{_immutable(path)}",
        uri=True,
        isolation_level=None,
        detect_types=sqlite3.PARSE_DECLTYPES,
    )
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _MAX_VALUE_BYTES)
    connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
    connection.setlimit(sqlite3.SQLITE_LIMIT_WORKER_THREADS, 0)
    # `temp_store`: the worker may write no files, so it sorts in memory. `mmap_size`: a mapped file that another
    # process cuts short would crash the worker.
    # `trusted_schema`: older versions of SQLite would refuse JSON functions in views, and the whole database if a
    # generated column has one. Which functions may run is decided here instead, for views by the authorizer.
    for pragma in ("query_only = 1", "trusted_schema = 1", "cell_size_check = 1", "temp_store = 2", "mmap_size = 0"):
        connection.execute(f"PRAGMA {pragma}")
    _disarm(connection)
    connection.create_function(DIGEST_FUNCTION, 1, _digest, deterministic=True)
    return connection


def _digest(text: object) -> str | None:
    return None if text is None else hashlib.sha256(str(text).encode("utf-8", "replace")).hexdigest()


def _disarm(connection: sqlite3.Connection) -> None:
    """Puts functions that fail in the place of those that reach outside: the authorizer does not see the expressions of
    generated columns and indexes, which are read with the schema."""
    # Asked of a connection without a schema, because this one must not have read its own yet.
    with closing(sqlite3.connect(":memory:")) as other:
        found = other.execute("SELECT DISTINCT name, narg FROM pragma_function_list").fetchall()
    for name, arguments in found:
        if name.casefold() in _FUNCTIONS.outside:
            connection.create_function(name, arguments, _refuse)


def _refuse(*_arguments: object) -> None:
    raise PermissionError("not authorized")


_LISTING = r"""
    SELECT name, type FROM sqlite_master
    WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite\_%' ESCAPE '\' ORDER BY name
"""


def _immutable(path: Path) -> str:
    """A database in WAL mode that nobody has open has no index file, and a reader may not make one."""
    with path.open("rb") as file:
        is_wal = file.read(20)[18:20] == b"\2\2"
    index, log = Path(f"{path}-shm"), Path(f"{path}-wal")
    return "&immutable=1" if is_wal and not index.exists() and not log.exists() else ""


def _lenient(stored: bytes) -> str:
    return stored.decode("utf-8", "replace")


def _truth(stored: bytes) -> bool | int | str:
    """What a column declared as BOOLEAN holds: 0 and 1, or whatever else was put there."""
    if stored in (b"0", b"1"):
        return stored == b"1"
    text = _lenient(stored)
    return int(text) if text.lstrip("-").isdigit() else text


def _is_of_the_whole(error: sqlite3.Error) -> bool:
    """Whether it is about the database, and not about the one table or view that was looked at."""
    return getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF != sqlite3.SQLITE_ERROR


def _table(connection: sqlite3.Connection, name: str, kind: str) -> dict[str, Any]:
    columns = connection.execute(f"PRAGMA table_info({quoted(name)})").fetchall()
    key = [column[1] for column in sorted(columns, key=lambda column: column[5]) if column[5]]
    alone = {tuple(key)} | set(_unique_indexes(connection, name))
    return {
        "name": name,
        "address": [name],
        "is_view": kind == "view",
        "columns": [
            {
                "name": column[1],
                "type": declared_type(column[2]),
                "nullable": not (column[3] or column[5]),
                "unique": (column[1],) in alone,
            }
            for column in columns
        ],
        "primary_key": key,
    }


def _unique_indexes(connection: sqlite3.Connection, table: str) -> Iterator[tuple[str, ...]]:
    for _number, index, is_unique, _origin, is_partial in connection.execute(
        f"PRAGMA index_list({quoted(table)})"
    ).fetchall():
        if is_unique and not is_partial:
            yield tuple(row[2] for row in connection.execute(f"PRAGMA index_info({quoted(index)})"))


def _foreign_keys(connection: sqlite3.Connection, table: str) -> list[dict[str, Any]]:
    """A key that names no column of the other table points to its primary key; its `to_columns` stay empty."""
    found: dict[int, dict[str, Any]] = {}
    for number, _place, to_table, own, other, *_ in connection.execute(f"PRAGMA foreign_key_list({quoted(table)})"):
        entry = found.setdefault(
            number, {"from_table": table, "from_columns": [], "to_table": to_table, "to_columns": []}
        )
        entry["from_columns"].append(own)
        entry["to_columns"] += [other] if other else []
    return list(found.values())
