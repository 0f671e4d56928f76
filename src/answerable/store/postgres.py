"""PostgreSQL for many processes and machines, in a schema of its own so that it can share a database with others."""

import select
import time
from collections.abc import AsyncIterator, Collection, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from functools import cache
from typing import Any, LiteralString, Self

import psycopg
from psycopg.conninfo import conninfo_to_dict
from psycopg_pool import AsyncConnectionPool

from answerable.core.errors import InternalError, OperatorError
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
from answerable.store.notifications import Connection, Notifications

CONNECT_SECONDS = 10
POOL_SIZE = 8
RECONNECT_SECONDS = 1.0
IDLE_SECONDS = 1.0
"""A connection that was idle for longer is tried before it is used: its server may have gone without a word."""
_CONNECT: dict[str, Any] = {"autocommit": True, "connect_timeout": CONNECT_SECONDS}


class PostgresDatabase:
    now = "extract(epoch FROM clock_timestamp())"
    """The server's clock, so that clocks of machines need not agree."""

    up_since: str | None = "extract(epoch FROM pg_postmaster_start_time())"
    skip_locked = " FOR UPDATE SKIP LOCKED"
    lock: str | None = "SELECT pg_advisory_xact_lock(hashtextextended(?, 0))"

    size = (
        "SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0) FROM pg_class c"
        " WHERE c.relnamespace = 'answerable'::regnamespace AND c.relkind = 'r'"
    )

    def __init__(self, pool: AsyncConnectionPool[Connection], url: str, name: str) -> None:
        self._pool = pool
        self._name = name
        self._news = Notifications(url, pool)

    @classmethod
    async def open(cls, url: str, synchronous: Synchronous, known: Sequence[schema.Migration]) -> Self:
        name = _name(url)
        try:
            # First a single connection: its failure names the reason, where a pool would only time out.
            async with await psycopg.AsyncConnection.connect(url, **_CONNECT) as connection:
                _check_encoding(connection, name)
                await _migrate(connection, known, name)
            pool = _pool(url, synchronous)
            await pool.open(wait=True, timeout=CONNECT_SECONDS)
        except psycopg.Error as error:
            raise typed(error, name) from error
        return cls(pool, url, name)

    async def rows(self, sql: str, *parameters: Parameter) -> Sequence[Row]:
        async with self._connection() as connection:
            return await (await connection.execute(_marked(sql), checked(parameters))).fetchall()

    async def write(self, *statements: Statement, required: Collection[int] = ()) -> Sequence[int]:
        asked = [(_marked(sql), checked(row)) for sql, row in statements]
        async with self._connection() as connection:
            if len(asked) == 1:  # a transaction of its own
                changed = [(await connection.execute(*asked[0])).rowcount]
                if required and not changed[0]:
                    raise NothingChangedError(asked[0][0])
                return changed
            # Not as a pipeline: it saves round trips and costs twice the processor time.
            async with connection.transaction():
                changed = []
                for number, each in enumerate(asked):
                    changed.append((await connection.execute(*each)).rowcount)
                    if not changed[-1] and number in required:
                        raise NothingChangedError(each[0])
                return changed

    async def written(self, *statements: Statement) -> Sequence[Row]:
        if len(statements) == 1:
            return await self.rows(statements[0][0], *statements[0][1])
        *first, (sql, row) = statements
        async with self._connection() as connection, connection.transaction():
            for each, parameters in first:
                await connection.execute(_marked(each), checked(parameters))
            return await (await connection.execute(_marked(sql), checked(row))).fetchall()

    async def insert_fenced(self, fence: Condition, *inserts: tuple[Insert, Sequence[Row]]) -> bool:
        """One statement: one round trip, and the same text for any number of rows. The fence locks the run's row until
        the commit, so that a claim by another process comes either before it or after."""
        condition, parameters = fence
        run = f"SELECT 1 FROM runs WHERE {condition} FOR SHARE"  # noqa: S608
        return await self._fenced(run, parameters, inserts)

    async def change_fenced(self, change: Statement, *inserts: tuple[Insert, Sequence[Row]]) -> bool:
        sql, parameters = change
        return await self._fenced(f"{sql} RETURNING 1", checked(parameters), inserts)

    async def _fenced(
        self, run: str, parameters: Sequence[Parameter], inserts: Sequence[tuple[Insert, Sequence[Row]]]
    ) -> bool:
        sql = _fenced(run, tuple(target for target, _ in inserts))
        columns = [list(column) for _, rows in inserts for column in zip(*rows, strict=True)]
        async with self._connection() as connection:
            row = await (await connection.execute(sql, [*parameters, *columns])).fetchone()
        return row == (True,)

    def announce(self, run: str) -> None:
        self._news.announce(run)

    async def mark(self, run: str) -> int:
        return await self._news.mark(run)

    async def beyond(self, run: str, mark: int, seconds: float) -> None:
        await self._news.beyond(run, mark, seconds)

    async def check(self) -> None:
        await self.write(writable_check())

    async def close(self) -> None:
        await self._news.close()
        await self._pool.close()

    @asynccontextmanager
    async def _connection(self) -> AsyncIterator[Connection]:
        try:
            async with self._pool.connection() as connection:
                yield connection
        except psycopg.Error as error:
            raise typed(error, self._name) from error


class _PooledConnection(psycopg.AsyncConnection[tuple[Any, ...]]):
    used_at = 0.0


async def _check_if_idle(connection: Connection) -> None:
    assert isinstance(connection, _PooledConnection)
    now = time.monotonic()
    if now - connection.used_at > IDLE_SECONDS or _server_spoke(connection):
        await AsyncConnectionPool.check_connection(connection)
    connection.used_at = now


def _server_spoke(connection: Connection) -> bool:
    """Whether something can be read although nothing was asked: the server says goodbye, or has closed."""
    socket = select.poll()
    socket.register(connection.fileno(), select.POLLIN)
    return bool(socket.poll(0))


def _pool(url: str, synchronous: Synchronous) -> AsyncConnectionPool[Connection]:
    async def configure(connection: Connection) -> None:
        await connection.execute("SET search_path TO answerable")
        if synchronous == "normal":
            await connection.execute("SET synchronous_commit TO off")

    return AsyncConnectionPool(
        url,
        connection_class=_PooledConnection,
        kwargs=_CONNECT,
        configure=configure,
        check=_check_if_idle,
        min_size=1,
        max_size=POOL_SIZE,
        timeout=CONNECT_SECONDS,
        # By default the pool waits longer and longer before it tries a server that was away again; a lease would lapse.
        reconnect_timeout=RECONNECT_SECONDS,
        open=False,
    )


def _check_encoding(connection: Connection, name: str) -> None:
    encoding = connection.info.parameter_status("server_encoding")
    if encoding != "UTF8":
        raise OperatorError(
            f"The store {name} has the encoding {encoding}, which cannot hold all text.",
            code="store_unavailable",
            hint="Create the database with ENCODING 'UTF8'.",
        )


async def _migrate(connection: Connection, known: Sequence[schema.Migration], name: str) -> None:
    """Checks again under the lock, so that only one of the processes that start together migrates the store.

    A store that is up to date is only read: who runs it need not be allowed to change the schema.
    """
    if not schema.pending(await _applied(connection), known, name):
        return
    # Takes the lock before the transaction begins: a transaction that began earlier might not see what another process
    # created while this one waited. The lock ends with the connection.
    await connection.execute("SELECT pg_advisory_lock(%s)", (schema.MARK,))
    async with connection.transaction():
        applied = await _applied(connection)
        if not await _exists(connection, "SELECT to_regnamespace('answerable')"):
            await connection.execute("CREATE SCHEMA answerable")
        await connection.execute("SET LOCAL search_path TO answerable")
        await connection.execute(schema.CREATE_MIGRATIONS)
        for migration in schema.pending(applied, known, name):
            for statement in migration.statements:
                await connection.execute(_marked(statement))
            row = (migration.number, migration.name, time_text(datetime.now(UTC)))
            await connection.execute(_marked(schema.RECORD), row)


async def _applied(connection: Connection) -> set[int]:
    if not await _exists(connection, "SELECT to_regclass('answerable.migrations')"):
        return set()
    rows = await connection.execute("SELECT number FROM answerable.migrations")
    return {number for (number,) in await rows.fetchall()}


async def _exists(connection: Connection, sql: LiteralString) -> bool:
    return await (await connection.execute(sql)).fetchone() != (None,)


@cache
def _fenced(run: str, targets: tuple[Insert, ...]) -> str:
    """Rows come as an array for each column."""
    parts = [f"fence AS MATERIALIZED ({_marked(run)})"]
    for number, target in enumerate(targets):
        arrays = ", ".join(f"%s::{type_}[]" for type_ in target.types)
        rows = f"SELECT * FROM unnest({arrays}) WHERE EXISTS (SELECT 1 FROM fence)"  # noqa: S608
        parts.append(f"insert_{number} AS ({target.into} {rows})")
    return f"WITH {', '.join(parts)} SELECT EXISTS (SELECT 1 FROM fence)"  # noqa: S608


@cache
def _marked(sql: str) -> str:
    """The shared SQL marks parameters as SQLite does; it holds no other question or percent marks."""
    return sql.replace("?", "%s")


def _name(url: str) -> str:
    """Where the store is, without its password."""
    try:
        parts = conninfo_to_dict(url)
    except psycopg.ProgrammingError as error:
        raise OperatorError(
            "The address of the store is not a PostgreSQL URL.",
            code="store_unavailable",
            hint="It looks like postgresql://user:password@host:5432/database.",
        ) from error
    return f"postgresql://{parts.get('host') or 'localhost'}/{parts.get('dbname') or ''}"


def typed(error: Exception, name: str) -> Exception:
    """What a failure of PostgreSQL means for whoever runs Answerable."""
    state = getattr(error, "sqlstate", None) or ""
    if isinstance(error, psycopg.errors.UniqueViolation):
        return RowExistsError(str(error))
    if state == "53100":
        return _operator_error("store_full", name, "has no space left", error, _FULL)
    if state in ("XX001", "XX002"):
        return _operator_error("store_corrupt", name, "is damaged", error, "Restore the database from a backup.")
    if isinstance(error, psycopg.OperationalError | psycopg.InterfaceError) or state in _NOT_ALLOWED:
        return _operator_error("store_unavailable", name, "cannot be used", error, _UNAVAILABLE)
    return InternalError(f"The store {name} refused a statement: {_first_line(error)}", code="store_defect")


_NOT_ALLOWED = ("42501", "25006", "3D000", "28000", "28P01")
_FULL = "Nothing was half-written. Make space on the server's disk; the store then works again as it is."
_UNAVAILABLE = (
    "Check that the server runs, and the host, database, user and password in the store's URL; "
    "the user must be allowed to create a schema."
)


def _operator_error(code: str, name: str, what: str, error: Exception, hint: str) -> OperatorError:
    return OperatorError(f"The store {name} {what}: {_first_line(error)}", code=code, hint=hint)


def _first_line(error: Exception) -> str:
    return str(error).split("\n", 1)[0]
