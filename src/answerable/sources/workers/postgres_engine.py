"""PostgreSQL through a worker: every statement in a read-only transaction of its own, fetched through a cursor."""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from decimal import Decimal
from typing import Any, TypeVar

import psycopg
from psycopg.adapt import Loader
from psycopg.types.datetime import DateLoader, TimeLoader, TimestampLoader, TimestamptzLoader
from psycopg.types.string import TextLoader

from answerable.isolation.wire import nested_as_text
from answerable.sources.sql.postgres_access import UNREACHABLE
from answerable.sources.workers import failures, row_batches
from answerable.sources.workers.arrow_file import ArrowFile
from answerable.sources.workers.engine import Request, SqlEngine, unique_names
from answerable.sources.workers.failures import Failure
from answerable.sources.workers.harden import Needs
from answerable.sources.workers.postgres_catalog import fingerprinted, inspected
from answerable.sources.workers.sizing import rows_next
from answerable.sources.workers.sqlite_types import integer_type, joined, settled

T = TypeVar("T")

_CONNECT_SECONDS = 10
_NAMES_OF_HOSTS = ("/etc/resolv.conf", "/etc/hosts", "/etc/nsswitch.conf", "/etc/host.conf", "/etc/gai.conf")
_LIBRARIES = ("/etc/ld.so.cache", "/usr/lib", "/lib", "/lib64", "/etc/ssl", "/usr/share/ca-certificates", "/etc/pki")
_SECRET_PARAMETERS = ("password", "sslpassword", "oauth_client_secret", "scram_client_key", "scram_server_key")
_FILE_PARAMETERS = ("sslrootcert", "sslcert", "sslkey", "sslcrl", "passfile", "servicefile")

_TYPES = {
    16: "boolean",
    17: "binary",
    **dict.fromkeys((20, 21, 23, 26), "integer"),
    **dict.fromkeys((700, 701), "number"),
    **dict.fromkeys((18, 19, 25, 1042, 1043, 2950), "text"),
    1082: "date",
    1114: "datetime",
    1184: "datetime_utc",
    1083: "time",
    **dict.fromkeys((114, 3802), "json"),
}
"""By the number of the server's type. Arrays are JSON, whatever else there is becomes text."""
_NUMERIC = 1700
_PLAIN_TEXT = ("json", "jsonb", "uuid", "interval", "timetz", "inet", "cidr", "macaddr", "money", "xml", "point")
_RANGED = ("int4", "int8", "num", "date", "ts", "tstz")
_AS_TEXT = (*_PLAIN_TEXT, *(f"{name}{kind}" for name in _RANGED for kind in ("range", "multirange")))

_SHORT = 15
"""Characters of a number that a 64-bit integer or a double surely holds."""
_LEAST_NEAR, _MOST_NEAR = 1e-290, 1e15
"""Computed numbers of this size may lose digits that nobody asked for: PostgreSQL gives the average of 1, 2 and 2 with
16 places. A double keeps at least 15 digits of them. Larger ones would be wrong before the point."""


class _ExactNumber(Loader):
    """An integer or a floating-point number that holds the value exactly; a `Decimal` where there is none."""

    def load(self, data: Any) -> int | float | Decimal:
        text = bytes(data)
        if len(text) <= _SHORT:
            return int(text) if text.lstrip(b"-").isdigit() else float(text)
        exact = Decimal(text.decode())
        if b"." not in text and abs(exact) < 1 << 63:
            return int(text)
        nearest = float(exact)
        return nearest if Decimal(repr(nearest)) == exact else exact


def _near(value: Decimal) -> bool:
    return _LEAST_NEAR < abs(value) < _MOST_NEAR


class _OrText(Loader):
    """`infinity`, 24:00 and years that Python does not have, as the text that PostgreSQL gives."""

    def load(self, data: Any) -> Any:
        try:
            return super().load(data)  # type: ignore[safe-super] # the loader that stands beside this in a subclass
        except psycopg.DataError:
            return bytes(data).decode()


class _DateOrText(_OrText, DateLoader): ...


class _TimeOrText(_OrText, TimeLoader): ...


class _MomentOrText(_OrText, TimestampLoader): ...


class _ZonedOrText(_OrText, TimestamptzLoader): ...


_TOLERANT = {"date": _DateOrText, "time": _TimeOrText, "timestamp": _MomentOrText, "timestamptz": _ZonedOrText}
_TEMPORAL = ("date", "time", "datetime", "datetime_utc")


class _NotInPython(Exception):
    """A date or a time that Python does not have."""


class PostgresEngine(SqlEngine):
    def __init__(self, spec: dict[str, Any]) -> None:
        self._memory_mb: int = spec["memory_mb"]
        self._connection = _connected(spec["parameters"], spec.get("uniform_seconds"))
        self._role: str | None = None
        self._schema: str | None = None
        self._stopped = False
        self._tolerant = False
        with self._transaction(60) as cursor:
            self._arrays = {number for (number,) in cursor.execute("SELECT oid FROM pg_type WHERE typcategory = 'A'")}
            self._schema = _main_schema(cursor)
            self._role = _lesser_role(cursor)

    @staticmethod
    def needs(spec: dict[str, Any]) -> Needs:
        parameters = spec["parameters"]
        files = [parameters[name] for name in _FILE_PARAMETERS if name in parameters]
        by_socket = parameters.get("host", "").startswith("/")
        ports = parameters.get("port", "5432")
        port = int(ports) if ports.isdigit() and not by_socket else None  # a list of hosts may have a list of ports
        return Needs(read=[*_NAMES_OF_HOSTS, *_LIBRARIES, *files], network=True, port=port)

    def inspect(self) -> dict[str, Any]:
        with self._transaction(60) as cursor:
            return inspected(cursor, self._schema, _type_name(self._arrays))

    def answer(self, do: str, request: dict[str, Any], output: int | None) -> Any:
        return self._fingerprint() if do == "fingerprint" else super().answer(do, request, output)

    def _fingerprint(self) -> dict[str, Any]:
        """A text for each table that changes when its rows do: PostgreSQL has no file whose date would show it."""
        with self._transaction(60) as cursor:
            return fingerprinted(cursor, self._schema)

    def check(self, request: Request) -> None:
        with self._transaction(request.seconds) as cursor:
            _declare(cursor, request.sql)

    def rows(self, request: Request) -> list[Any]:
        return self._tolerantly(lambda: self._rows(request))

    def _rows(self, request: Request) -> list[Any]:
        with self._transaction(request.seconds) as cursor:
            _declare(cursor, request.sql)
            fetched = cursor.execute(f"FETCH FORWARD {request.rows + 1} FROM result").fetchall()
            declared = [column.scale is not None for column in cursor.description]
        if len(fetched) > request.rows:
            raise failures.too_many_rows(request.rows)
        return [tuple(map(_sendable, row, declared)) for row in fetched]

    def execute(self, request: Request, out: ArrowFile) -> list[tuple[str, str]]:
        return self._tolerantly(lambda: self._executed_into(request, out))

    def _tolerantly(self, read: Callable[[], T]) -> T:
        """Reads again if a date or a time is none of Python's. The loaders that take such are slower."""
        try:
            return read()
        except _NotInPython:
            self._tolerant = True
            for name, loader in _TOLERANT.items():
                self._connection.adapters.register_loader(name, loader)
            return read()

    def _executed_into(self, request: Request, out: ArrowFile) -> list[tuple[str, str]]:
        """`numeric` may be whole or not; when a later batch shows that it is not, all is written again."""
        known: list[str | None] = []
        with self._transaction(request.seconds) as cursor:
            while True:
                _declare(cursor, request.sql)
                complete, names, known = self._write(cursor, known, out)
                if complete:
                    break
                cursor.execute("CLOSE result")
        return [(name, _ours(kind)) for name, kind in zip(names, _settled(known), strict=True)]

    def interrupt(self) -> None:
        self._stopped = True
        self._connection.cancel_safe(timeout=_CONNECT_SECONDS)

    def _write(self, cursor: Any, known: list[str | None], out: ArrowFile) -> tuple[bool, list[str], list[str | None]]:
        started = False
        names: list[str] = []
        while True:
            if self._stopped:
                raise failures.stopped()
            rows = cursor.execute(f"FETCH FORWARD {rows_next(out)} FROM result").fetchall()
            names = names or unique_names([column.name for column in cursor.description])
            wider = self._types(cursor.description, rows, known)
            if started and _settled(wider) != _settled(known):
                return False, names, wider
            known = wider
            if not started:
                out.start(row_batches.schema(names, _settled(known)))
                started = True
            if not rows:
                out.finish()
                return True, names, known
            out.add(row_batches.batch(names, _settled(known), rows))

    def _types(self, columns: Any, rows: Sequence[Any], known: Sequence[str | None]) -> list[str | None]:
        types: list[str | None] = []
        for place, column in enumerate(columns):
            kind = "json" if column.type_code in self._arrays else _TYPES.get(column.type_code, "text")
            seen = known[place] if known else None
            if column.type_code == _NUMERIC:
                types.append(joined(seen, _numeric_type([row[place] for row in rows], column.scale is not None)))
            elif self._tolerant and kind in _TEMPORAL and (seen == "text" or any(type(r[place]) is str for r in rows)):
                types.append("text")
            else:
                types.append(kind)
        return types

    @contextmanager
    def _transaction(self, seconds: float) -> Iterator[Any]:
        self._stopped = False
        try:
            with self._connection.cursor() as cursor:
                cursor.execute("BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
                try:
                    cursor.execute(f"SET LOCAL statement_timeout = {int(seconds * 1000)}")
                    cursor.execute(f"SET LOCAL lock_timeout = {failures.lock_milliseconds(seconds)}")
                    if self._role:
                        cursor.execute(f"SET LOCAL ROLE {self._role}")
                    # Functions, operators, types and collations come from the system alone. Tables are named with
                    # their schema. `pg_temp` stands last, because it would otherwise come first.
                    cursor.execute("SET LOCAL search_path = pg_catalog, pg_temp")
                    yield cursor
                finally:
                    if not self._connection.closed:
                        self._connection.rollback()
        except psycopg.Error as error:
            if isinstance(error, psycopg.DataError) and not error.sqlstate and not self._tolerant:
                raise _NotInPython from error
            if not error.sqlstate and "out of memory" in str(error):
                raise failures.too_much_memory(self._memory_mb) from error
            raise _failure(error, seconds) from error
        except MemoryError as error:
            raise failures.too_much_memory(self._memory_mb) from error


def _connected(parameters: dict[str, str], uniform_seconds: float | None) -> Any:
    """Connects to the server. With `uniform_seconds`, somebody other than the operator named the address: every failure
    then reads the same, and takes a multiple of these seconds."""
    started = time.monotonic()
    try:
        seconds = _CONNECT_SECONDS if uniform_seconds is None else max(2, int(uniform_seconds) - 1)
        defaults: dict[str, Any] = {"connect_timeout": seconds, "application_name": "answerable"}
        connection = psycopg.connect(**{**defaults, **parameters}, autocommit=True)
    except psycopg.Error as error:
        if uniform_seconds is None:
            raise _cannot_connect(error, parameters) from error
        time.sleep(uniform_seconds - (time.monotonic() - started) % uniform_seconds)
        raise Failure("SourceError", *UNREACHABLE) from None
    connection.execute("SET default_transaction_read_only = on")
    connection.execute("SET TIME ZONE 'UTC'")
    connection.adapters.register_loader("numeric", _ExactNumber)
    for name in _AS_TEXT:
        connection.adapters.register_loader(name, TextLoader)
    return connection


def _declare(cursor: Any, sql: str) -> None:
    """A cursor can only be declared for a query; prepared, there can be only one statement."""
    cursor.execute(f"DECLARE result NO SCROLL CURSOR FOR {sql.rstrip().rstrip(';')}", prepare=True)


def _main_schema(cursor: Any) -> str:
    """The schema whose tables need no prefix: `public`, unless that is empty and there is just one other."""
    schemas = [
        name
        for (name,) in cursor.execute(
            "SELECT DISTINCT table_schema FROM information_schema.tables"
            " WHERE table_schema NOT IN ('pg_catalog', 'information_schema') ORDER BY 1"
        )
    ]
    return schemas[0] if len(schemas) == 1 else "public"


def _lesser_role(cursor: Any) -> str | None:
    """A superuser reads as a role that may read all tables but no files, unless some rows would then be hidden."""
    cursor.execute(
        "SELECT rolsuper AND EXISTS (SELECT FROM pg_roles WHERE rolname = 'pg_read_all_data')"
        " AND NOT EXISTS (SELECT FROM pg_class WHERE relrowsecurity) FROM pg_roles WHERE rolname = current_user"
    )
    return "pg_read_all_data" if (found := cursor.fetchone()) and found[0] else None


def _numeric_type(values: Sequence[Any], declared: bool) -> str | None:
    """`declared`: the column has a scale of its own, so that each of its digits was meant."""
    kinds = {type(value) for value in values} - {type(None)}
    if Decimal in kinds and (declared or not all(_near(value) for value in values if type(value) is Decimal)):
        return "text"
    found = integer_type(values) if int in kinds else None
    return joined(found, "number") if kinds - {int} else found


def _sendable(value: Any, declared: bool) -> Any:
    if isinstance(value, Decimal):
        return format(value, "f") if declared or not _near(value) else float(value)
    return nested_as_text(value)


def _settled(types: Sequence[str | None]) -> list[str]:
    return settled(types, if_null="number")


def _ours(kind: str) -> str:
    return "datetime" if kind == "datetime_utc" else kind


def _type_name(arrays: set[int]) -> Any:
    def name(number: int, modifier: int) -> str:
        if number == _NUMERIC:
            # The modifier of numeric(p, s) is (p << 16 | s) + 4; with a scale of 0, only whole numbers fit.
            return "integer" if modifier >= 4 and (modifier - 4) & 0xFFFF == 0 else "number"
        return "json" if number in arrays else _ours(_TYPES.get(number, "text"))

    return name


def _failure(error: psycopg.Error, seconds: float) -> Failure:
    state = error.sqlstate or ""
    message = (error.diag.message_primary or str(error)).strip()
    if state == "57014":
        return failures.too_slow(seconds)
    if state == "55P03":
        return failures.locked("A table that the query reads")
    if state in ("42501", "25006"):
        return Failure("RefusedError", "sql_refused", f"The database refuses this: {message}.")
    if state.startswith("42"):
        return failures.bad_sql(message)
    if state.startswith(("21", "22", "23", "0A", "54")) or isinstance(error, psycopg.DataError):
        return failures.sql_failed(message)
    if state.startswith("53"):
        return Failure("TransientError", "source_busy", f"The database is short of resources: {message}.")
    # An error that the server itself reported came over a connection that works, unless the state says otherwise.
    if state.startswith(("08", "57P")) or (not state and isinstance(error, psycopg.OperationalError)):
        return Failure("TransientError", "source_unreachable", f"The connection to the database was lost: {message}")
    return Failure("SourceError", "source_failed", f"The database failed: {message}.")


def _cannot_connect(error: psycopg.Error, parameters: dict[str, str]) -> Failure:
    where = f"{parameters.get('host', 'localhost')}:{parameters.get('port', 5432)}"
    secrets = (parameters.get(name, "") for name in _SECRET_PARAMETERS)
    text = _without(secrets, str(error))
    if "authentication failed" in text or "no password supplied" in text or "pg_hba" in text:
        return Failure(
            "SourceError",
            "source_login",
            f"The database at {where} does not accept this user or password.",
            "Check user and password of the URL.",
        )
    if "does not exist" in text:
        return Failure(
            "SourceError",
            "source_missing",
            f"The database at {where} says: {_plain(text)}",
            "Check the names of the database and the user in the URL.",
        )
    return Failure(
        "SourceError",
        "source_unreachable",
        f"The database at {where} cannot be reached: {_plain(text)}",
        "Check host and port of the URL, and that the server is running and lets you in.",
    )


def _without(secrets: Iterable[str], text: str) -> str:
    """Servers and libraries may repeat in a complaint what was sent to them."""
    for secret in filter(None, secrets):
        text = text.replace(secret, "…")
    return text


def _plain(text: str) -> str:
    return text.strip().splitlines()[0].removeprefix("connection failed: ").strip()
