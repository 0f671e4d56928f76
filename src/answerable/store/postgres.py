"""PostgreSQL for many processes and machines, in a schema of its own so that it can share a database with others."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from functools import cache
from typing import Any, Self, TypeAlias

import psycopg
from psycopg.conninfo import conninfo_to_dict
from psycopg_pool import AsyncConnectionPool, PoolTimeout

from answerable.core.errors import InternalError, OperatorError
from answerable.store import schema
from answerable.store.database import Parameter, Row, RowExistsError, Statement, time_text

Connection: TypeAlias = psycopg.AsyncConnection[tuple[Any, ...]]

CONNECT_SECONDS = 10
POOL_SIZE = 8
_MIGRATION_LOCK = 0x416E7372


class PostgresDatabase:
    def __init__(self, pool: AsyncConnectionPool[Connection], name: str) -> None:
        self._pool = pool
        self._name = name

    @classmethod
    async def open(cls, url: str, migrations: Sequence[schema.Migration] | None = None) -> Self:
        name = _name(url)
        try:
            # First a single connection: its failure names the reason, where a pool would only time out.
            async with await psycopg.AsyncConnection.connect(
                url, autocommit=True, connect_timeout=CONNECT_SECONDS
            ) as connection:
                await _migrate(connection, migrations or schema.migrations(), name)
            pool = AsyncConnectionPool(
                url,
                connection_class=psycopg.AsyncConnection[tuple[Any, ...]],
                kwargs={"autocommit": True, "connect_timeout": CONNECT_SECONDS},
                configure=_use_schema,
                check=AsyncConnectionPool.check_connection,
                min_size=1,
                max_size=POOL_SIZE,
                timeout=CONNECT_SECONDS,
                open=False,
            )
            await pool.open(wait=True, timeout=CONNECT_SECONDS)
        except (psycopg.Error, PoolTimeout) as error:
            raise typed(error, name) from error
        return cls(pool, name)

    async def rows(self, sql: str, *parameters: Parameter) -> Sequence[Row]:
        async with self._connection() as connection:
            return await (await connection.execute(_marked(sql), parameters)).fetchall()

    async def write(self, *statements: Statement) -> Sequence[int]:
        async with self._connection() as connection, connection.transaction():
            return [(await connection.execute(_marked(sql), parameters)).rowcount for sql, parameters in statements]

    async def write_many(self, sql: str, rows: Sequence[Row]) -> None:
        async with self._connection() as connection, connection.transaction(), connection.cursor() as cursor:
            await cursor.executemany(_marked(sql), rows)

    async def close(self) -> None:
        await self._pool.close()

    @asynccontextmanager
    async def _connection(self) -> AsyncIterator[Connection]:
        try:
            async with self._pool.connection() as connection:
                yield connection
        except (psycopg.Error, PoolTimeout) as error:
            raise typed(error, self._name) from error


async def _use_schema(connection: Connection) -> None:
    await connection.execute("SET search_path TO answerable")


async def _migrate(connection: Connection, known: Sequence[schema.Migration], name: str) -> None:
    """Under a lock that ends with the transaction: of several processes that start at once only one does the work."""
    async with connection.transaction():
        await connection.execute("SELECT pg_advisory_xact_lock(%s)", (_MIGRATION_LOCK,))
        exists = await (await connection.execute("SELECT to_regnamespace('answerable')")).fetchone()
        if exists == (None,):
            await connection.execute("CREATE SCHEMA answerable")
        await connection.execute("SET LOCAL search_path TO answerable")
        await connection.execute(_marked(schema.CREATE_MIGRATIONS))
        applied = {number for (number,) in await (await connection.execute(schema.APPLIED)).fetchall()}
        for migration in schema.pending(applied, known, name):
            for statement in migration.statements:
                await connection.execute(_marked(statement))
            row = (migration.number, migration.name, time_text(datetime.now(UTC)))
            await connection.execute(_marked(schema.RECORD), row)


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
    if isinstance(error, psycopg.OperationalError | psycopg.InterfaceError | PoolTimeout) or state in _NOT_ALLOWED:
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
