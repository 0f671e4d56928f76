"""DuckDB in a worker: over a database file, or over views of Parquet files."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, TypeVar

import duckdb
import nanoarrow

from answerable.sources.workers import failures
from answerable.sources.workers.arrow_file import ArrowFile
from answerable.sources.workers.batch_parts import parts
from answerable.sources.workers.engine import Request, SqlEngine, quoted, unique_names
from answerable.sources.workers.failures import Failure
from answerable.sources.workers.harden import Needs

T = TypeVar("T")

_INTEGERS = ("tinyint", "smallint", "integer", "utinyint", "usmallint", "uinteger")
_WIDE_INTEGERS = ("hugeint", "uhugeint", "ubigint")
_NESTED = ("list", "struct", "map", "array", "union", "variant")
_DOUBLE_DIGITS = 15
"""Decimal digits that a double always keeps."""

_TYPES: dict[str, tuple[str, str | None]] = {
    "boolean": ("boolean", None),
    "float": ("number", "DOUBLE"),
    "double": ("number", None),
    "varchar": ("text", None),
    "date": ("date", None),
    "time": ("time", None),
    "time_ns": ("time", "TIME"),
    "timestamp": ("datetime", None),
    "timestamp with time zone": ("datetime", None),
    "timestamp_s": ("datetime", "TIMESTAMP"),
    "timestamp_ms": ("datetime", "TIMESTAMP"),
    "timestamp_ns": ("datetime", "TIMESTAMP"),
    "blob": ("binary", None),
    "bigint": ("integer", None),
    **dict.fromkeys(_INTEGERS, ("integer", "BIGINT")),
    **dict.fromkeys(_WIDE_INTEGERS, ("integer", "BIGINT")),
    "bignum": ("integer", "VARCHAR::BIGINT"),  # DuckDB 2.0 breaks down when one that is too large is cast directly
}
"""Our type, and the cast that a result column needs. Whatever is not here becomes text."""

_FITS_INTEGER = "TRY_CAST({c} AS BIGINT) IS NOT NULL"
_MOMENTS = "TIMESTAMP '0001-01-01 00:00:00' AND TIMESTAMP '9999-12-31 23:59:59.999999'"
_FITS_MOMENT = f"{{c}}::TIMESTAMP BETWEEN {_MOMENTS}"
_FITS: dict[str, str] = {
    "date": "{c} BETWEEN DATE '0001-01-01' AND DATE '9999-12-31'",
    "time": "{c} < TIME '24:00:00'",
    "time_ns": "{c}::TIME::TIME_NS = {c} AND {c}::TIME < TIME '24:00:00'",
    "timestamp": f"{{c}} BETWEEN {_MOMENTS}",
    "timestamp with time zone": _FITS_MOMENT,
    "timestamp_s": _FITS_MOMENT,
    "timestamp_ms": _FITS_MOMENT,
    "timestamp_ns": f"{{c}}::TIMESTAMP::TIMESTAMP_NS = {{c}} AND {_FITS_MOMENT}",
    **dict.fromkeys(_WIDE_INTEGERS, _FITS_INTEGER),
    "bignum": "TRY_CAST({c}::VARCHAR AS BIGINT) IS NOT NULL",
}
"""Which values of a type the result column can hold as they are. `infinity`, years before 1 and after 9999, 24:00 and
nanoseconds are among those that it cannot."""


@dataclass(frozen=True, slots=True)
class ResultColumn:
    """How a column of a query becomes a column of the result."""

    type: str
    """Ours."""
    cast: str | None = None
    fits: str | None = None
    """A condition in SQL on the value `{c}`. If one value does not meet it, the whole column becomes text: no value may
    turn into another one."""

    def expression(self, value: str) -> str:
        """Raises an error in DuckDB for a value that does not fit."""
        taken = f"to_json({value})::VARCHAR" if self.cast == "JSON" else f"{value}::{self.cast}" if self.cast else value
        if self.fits is None:
            return taken
        return f"CASE WHEN {value} IS NULL OR ({self.fits.format(c=value)}) THEN {taken} ELSE error('unfit') END"


_AS_TEXT = ResultColumn("text", "VARCHAR")


def result_column(kind: Any) -> ResultColumn:
    if str(kind) == "JSON":
        return ResultColumn("json", "VARCHAR")
    if kind.id in _NESTED:
        return ResultColumn("json", "JSON")
    if kind.id == "decimal":
        digits, scale = (dict(kind.children)[part] for part in ("precision", "scale"))
        if not scale:
            return ResultColumn("integer", "BIGINT", _FITS_INTEGER)
        same = f"coalesce(TRY_CAST({{c}}::DOUBLE AS DECIMAL({digits}, {scale})) = {{c}}, false)"
        return ResultColumn("number", "DOUBLE", same if digits > _DOUBLE_DIGITS else None)
    if kind.id not in _TYPES:
        return _AS_TEXT
    return ResultColumn(*_TYPES[kind.id], _FITS.get(kind.id))


def probed_column(kind: Any) -> ResultColumn:
    """The column cast for rows that become values of Python: DuckDB's own conversion would take `infinity` for a day of
    the year 9999, and a month for 30 days."""
    column = result_column(kind)
    if column.type in ("integer", "number", "boolean", "binary"):
        return ResultColumn(column.type)
    return replace(column, cast="TIMESTAMP") if column.type == "datetime" else column


class DuckDbEngine(SqlEngine):
    def __init__(self, spec: dict[str, Any]) -> None:
        self._memory_mb: int = spec["memory_mb"]
        database = spec.get("database")
        with _translated(self._memory_mb, opening=database):
            self._connection = duckdb.connect(
                database or ":memory:", read_only=bool(database), config=_config(self._memory_mb, spec["threads"])
            )
            self._lock_down(spec)
        self._cursor = self._connection

    @staticmethod
    def needs(spec: dict[str, Any]) -> Needs:
        database = spec.get("database")
        beside = [database, f"{database}.wal"] if database else []
        return Needs(read=[*beside, *spec.get("folders", []), *spec.get("files", [])])

    def _lock_down(self, spec: dict[str, Any]) -> None:
        # The order counts: once access is off no more paths can be allowed, and once locked no setting can change.
        run = self._connection.execute
        run("SET GLOBAL TimeZone = 'UTC'")
        run("SET GLOBAL temp_directory = ''")
        run(f"SET GLOBAL allowed_directories = {_list(spec.get('folders', []))}")
        run(f"SET GLOBAL allowed_paths = {_list(spec.get('files', []))}")
        run("SET GLOBAL enable_external_access = false")
        run("SET GLOBAL parquet_metadata_cache = true")
        self._fill(spec)
        run("SET GLOBAL lock_configuration = true")

    def _fill(self, spec: dict[str, Any]) -> None:
        """Gives a database in memory its tables."""
        for view in spec.get("views", []):
            self._connection.execute(
                f"CREATE VIEW {quoted(view['name'])} AS SELECT * FROM read_parquet({_list(view['files'])})"
            )

    def inspect(self) -> dict[str, Any]:
        with self._running():
            return inspected(self._cursor)

    def check(self, request: Request) -> None:
        with self._running():
            self._only_select(request.sql)
            self._cursor.execute(f"EXPLAIN {request.sql}").fetchall()

    def rows(self, request: Request) -> list[Any]:
        with self._running():
            relation = self._cursor.sql(self._only_select(request.sql))
            names = unique_names(relation.columns)
            columns = list(map(probed_column, relation.types))

            def fetch(columns: list[ResultColumn]) -> list[Any]:
                statement = _projected(request.sql, names, columns)
                return self._cursor.execute(statement).fetchmany(request.rows + 1)

            _columns, fetched = self._fitting(request.sql, columns, fetch)
        if len(fetched) > request.rows:
            raise failures.too_many_rows(request.rows)
        return fetched

    def execute(self, request: Request, out: ArrowFile) -> list[tuple[str, str]]:
        with self._running():
            relation = self._cursor.sql(self._only_select(request.sql))
            names = unique_names(relation.columns)
            are_unique = names == relation.columns
            columns = list(map(result_column, relation.types))

            def write(columns: list[ResultColumn]) -> None:
                # Planning is much of the time of a small query, so a result that is right as it is is not planned anew.
                as_it_is = are_unique and not any(each.cast or each.fits for each in columns)
                _write(relation if as_it_is else self._cursor.sql(_projected(request.sql, names, columns)), out)

            columns, _ = self._fitting(request.sql, columns, write)
        return [(name, column.type) for name, column in zip(names, columns, strict=True)]

    def _fitting(
        self, sql: str, columns: list[ResultColumn], do: Callable[[list[ResultColumn]], T]
    ) -> tuple[list[ResultColumn], T]:
        """Does it once more if it fails on a value that does not fit, with such columns as text."""
        try:
            return columns, do(columns)
        # Perhaps a value did not fit; `_unfit` finds out.
        except (duckdb.ConversionException, duckdb.InvalidInputException, duckdb.OutOfRangeException, RuntimeError):
            # The error may have ended the transaction, and may have left a result open that nobody will read.
            self._cursor.close()
            self._begin()
            unfit = self._unfit(sql, columns)
            if not unfit:
                raise
            columns = [_AS_TEXT if place in unfit else column for place, column in enumerate(columns)]
            return columns, do(columns)

    def _unfit(self, sql: str, columns: list[ResultColumn]) -> set[int]:
        """Which columns hold a value that the result cannot."""
        conditions = {place: column.fits for place, column in enumerate(columns) if column.fits}
        if not conditions:
            return set()
        tests = [
            f"bool_or(c{place} IS NOT NULL AND NOT ({fits.format(c=f'c{place}')}))"
            for place, fits in conditions.items()
        ]
        places = ", ".join(f"c{place}" for place in range(len(columns)))
        [found] = self._cursor.execute(f"SELECT {', '.join(tests)} FROM ({_bare(sql)}) AS t({places})").fetchall()
        return {place for place, is_unfit in zip(conditions, found, strict=True) if is_unfit}

    def interrupt(self) -> None:
        self._cursor.interrupt()

    def _only_select(self, sql: str) -> Any:
        """The statement as DuckDB has parsed it, or its text where it is more than one statement to DuckDB."""
        statements = self._cursor.extract_statements(sql)
        kinds = [statement.type for statement in statements]
        if kinds == [duckdb.StatementType.SELECT]:
            return statements[0]
        # A PIVOT that takes its columns from the data. Only a query, of whichever kind, can stand in brackets.
        multiple = [duckdb.StatementType.MULTI]
        inside = self._cursor.extract_statements(f"SELECT * FROM ({_bare(sql)})") if kinds == multiple else ()
        if [statement.type for statement in inside] != multiple:
            raise Failure("RefusedError", "sql_refused", "Only a single SELECT statement can be run.")
        return sql

    @contextmanager
    def _running(self) -> Iterator[None]:
        """A fresh cursor for each statement, as only one result can be open on each. Its transaction only reads: DuckDB
        takes a WITH that inserts, updates or deletes for a SELECT, and a database in memory could be written to."""
        try:
            with _translated(self._memory_mb):
                self._begin()
                yield
        finally:
            self._cursor.close()

    def _begin(self) -> None:
        self._cursor = self._connection.cursor()
        self._cursor.execute(_BEGIN)


def _write(relation: Any, out: ArrowFile) -> None:
    stream = nanoarrow.c_array_stream(relation)
    out.write_all(stream.get_schema(), chain.from_iterable(map(parts, stream)))


def _config(memory_mb: int, threads: int) -> dict[str, Any]:
    return {
        "threads": threads,
        # DuckDB does not count all that it allocates; the rest is for that and for Python.
        "memory_limit": f"{memory_mb * 4 // 5}MB",
        "python_enable_replacements": False,
        "autoinstall_known_extensions": False,
        "autoload_known_extensions": False,
        "allow_community_extensions": False,
    }


def _list(texts: list[str]) -> str:
    return "[" + ", ".join("'" + text.replace("'", "''") + "'" for text in texts) + "]"


def _bare(sql: str) -> str:
    """The statement as it can stand in parentheses: without a semicolon, and on lines of its own in case it ends in a
    comment."""
    return "\n" + sql.rstrip().rstrip(";") + "\n"


def _projected(sql: str, names: list[str], columns: list[ResultColumn]) -> str:
    """The same rows under unique names, each column cast to what a result can hold."""
    places = [f"c{number}" for number in range(len(names))]
    items = [
        f"{column.expression(place)} AS {quoted(name)}"
        for place, name, column in zip(places, names, columns, strict=True)
    ]
    return f"SELECT {', '.join(items)} FROM ({_bare(sql)}) AS t({', '.join(places)})"


_BEGIN = "BEGIN TRANSACTION READ ONLY"
_TABLES = """
    SELECT schema_name, table_name, true FROM duckdb_tables() WHERE NOT internal AND NOT temporary
    UNION ALL
    SELECT schema_name, view_name, false FROM duckdb_views() WHERE NOT internal
    ORDER BY 1, 2
"""
_CONSTRAINTS = """
    SELECT schema_name, table_name, constraint_type, constraint_column_names, referenced_table, referenced_column_names
    FROM duckdb_constraints() ORDER BY schema_name, table_name, constraint_index
"""


def inspected(cursor: Any) -> dict[str, Any]:
    tables, left_out = {}, []
    for schema, table, is_table in cursor.execute(_TABLES).fetchall():
        try:
            relation = cursor.sql(f"SELECT * FROM {quoted(schema)}.{quoted(table)}")
        except (duckdb.OutOfMemoryException, duckdb.InterruptException):
            raise
        except duckdb.Error as error:
            left_out.append((_name(schema, table), _first_sentence(str(error))))
            continue
        tables[_name(schema, table)] = {
            "name": _name(schema, table),
            "address": [schema, table],
            "is_view": not is_table,
            "columns": [
                {"name": column, "type": result_column(kind).type, "nullable": True, "unique": False}
                for column, kind in zip(relation.columns, relation.types, strict=True)
            ],
            "primary_key": [],
        }
    relationships = [
        relationship
        for schema, table, kind, columns, to_table, to_columns in cursor.execute(_CONSTRAINTS).fetchall()
        if _name(schema, table) in tables
        and (relationship := _noted(tables[_name(schema, table)], kind, columns, schema, to_table, to_columns))
    ]
    return {"tables": list(tables.values()), "relationships": relationships, "left_out": left_out}


def _first_sentence(text: str) -> str:
    return (text.partition(" Error: ")[2] or text).strip().splitlines()[0]


def _name(schema: str, table: str) -> str:
    return table if schema == "main" else f"{schema}.{table}"


def _noted(
    table: dict[str, Any], kind: str, columns: list[str], schema: str, to_table: str | None, to_columns: list[str]
) -> dict[str, Any] | None:
    """Writes a constraint into its table; a foreign key is returned as a relationship."""
    if kind == "FOREIGN KEY" and to_table:
        return {
            "from_table": table["name"],
            "from_columns": columns,
            "to_table": _name(schema, to_table),
            "to_columns": to_columns,
        }
    for column in table["columns"]:
        if column["name"] in columns:
            column["nullable"] = column["nullable"] and kind != "NOT NULL"
            column["unique"] = column["unique"] or (kind in ("PRIMARY KEY", "UNIQUE") and len(columns) == 1)
    if kind == "PRIMARY KEY":
        table["primary_key"] = columns
    return None


_USER_ERRORS = ("Parser", "Binder", "Catalog", "Syntax", "Not implemented", "Type", "Type Mismatch")
_VALUE_ERRORS = ("Conversion", "Out of Range", "Invalid Input", "Invalid Type")
_BREAKS_HINT = "Ask in another way. This is a defect of DuckDB; the next query gets a fresh process."
_NOISE = "ArrowArrayStream::get_next() failed (5): "


@contextmanager
def _translated(memory_mb: int, *, opening: str | None = None) -> Iterator[None]:
    try:
        yield
    except (duckdb.Error, RuntimeError) as error:
        raise _failure(str(error).removeprefix(_NOISE), memory_mb, opening) from error
    except MemoryError as error:
        raise failures.too_much_memory(memory_mb) from error


def _failure(text: str, memory_mb: int, opening: str | None) -> Failure:
    """Classifies an error by the words that it begins with, because errors of the Arrow stream come as text only."""
    kind, _, rest = text.partition(" Error: ")
    message = rest.split("\n\n")[0].strip() or text
    if kind == "Out of Memory" or "bad_alloc" in text or "failed to allocate" in text.lower():
        return failures.too_much_memory(memory_mb)
    if kind == "INTERRUPT":
        return failures.stopped()
    if kind in ("INTERNAL", "FATAL"):
        # After this DuckDB runs nothing any more.
        return Failure("SourceError", "engine_broke", f"DuckDB broke down at this query: {message}", _BREAKS_HINT)
    if kind == "Permission" or (kind == "TransactionContext" and "read-only" in message):
        return Failure("RefusedError", "sql_refused", message)
    if opening is not None:
        return _cannot_open(opening, message)
    if kind in _USER_ERRORS:
        return failures.bad_sql(message)
    if kind in _VALUE_ERRORS:
        return failures.sql_failed(message)
    if kind == "IO" and "No such file" in message:
        return Failure("TransientError", "source_changed", "The data was changed while it was read.")
    return Failure("SourceError", "source_failed", f"The data could not be read: {message}")


def _cannot_open(path: str, message: str) -> Failure:
    if "Could not set lock" in message:
        return Failure(
            "SourceError",
            "source_locked",
            f"{path} is being written by another process.",
            "DuckDB lets either one process write or many read: close the writer, or copy the file.",
        )
    return Failure("FileError", "source_unreadable", f"{path} cannot be opened as a DuckDB database: {message}")
