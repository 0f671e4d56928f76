"""Ladybug in a worker: the database opened read-only, a clock in the engine, and results written row by row."""

import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import date, datetime
from decimal import Decimal
from typing import Any

import ladybug
import ladybug._lbug  # else loaded with the first database, when the walls are up and its libraries out of reach

from answerable.isolation.wire import nested_as_text
from answerable.sources.workers import failures, row_batches
from answerable.sources.workers.arrow_file import ArrowFile
from answerable.sources.workers.engine import Request, SqlEngine, unique_names
from answerable.sources.workers.failures import Failure
from answerable.sources.workers.graph_types import plain_type
from answerable.sources.workers.harden import Needs
from answerable.sources.workers.sizing import rows_next

_SMALLEST_MB = 1024
_MB = 1 << 20
_INSPECT_SECONDS = 60.0
_SAMPLE = 100_000
"""Rows that the frequent values of a column are taken from."""
_EXAMPLES = 5
_INT64 = 1 << 63
_COUNTED = frozenset({"text", "integer", "number", "boolean", "date", "datetime"})
"""Types of which distinct values are counted."""
_RANGED = frozenset({"integer", "number", "date", "datetime"})


def address_space_mb(database: str) -> int:
    """How much address space the engine reserves for a database: a power of two, with room beyond the file."""
    needed = max(_SMALLEST_MB, 2 * os.path.getsize(database) // _MB)
    return int(1 << (needed - 1).bit_length())


class GraphEngine(SqlEngine):
    def __init__(self, spec: dict[str, Any]) -> None:
        self._path: str = spec["database"]
        self._memory_mb: int = spec["memory_mb"]
        self._stopped = False
        try:
            self._database = ladybug.Database(
                self._path,
                read_only=True,
                buffer_pool_size=spec["memory_mb"] * _MB // 2,
                max_db_size=address_space_mb(self._path) * _MB,
                max_num_threads=spec["threads"],
            )
            self._connection = ladybug.Connection(self._database)
        except RuntimeError as error:
            raise self._unopened(str(error)) from error

    @staticmethod
    def needs(spec: dict[str, Any]) -> Needs:
        database = spec["database"]
        files = [database, *(f"{database}{suffix}" for suffix in (".wal", ".shadow", ".tmp", ".lock"))]
        return Needs(read=files, reserved_mb=address_space_mb(database) + spec["memory_mb"])

    def inspect(self) -> dict[str, Any]:
        with self._running(_INSPECT_SECONDS):
            tables = [row for row in self._all("CALL show_tables() RETURN name, type") if row[1] in ("NODE", "REL")]
            keys = {name: self._key(name) for name, kind in tables if kind == "NODE"}
            found = [
                self._node_table(name, keys[name]) if kind == "NODE" else self._edge_table(name, keys)
                for name, kind in sorted(tables, key=lambda table: (table[1], table[0]))
            ]
        return {"tables": found, "relationships": [], "left_out": []}

    def _key(self, name: str) -> str | None:
        info = self._all(f"CALL table_info({literal(name)}) RETURN *")
        return next((row[1] for row in info if row[4]), None)

    def _node_table(self, name: str, key: str | None) -> dict[str, Any]:
        columns = self._columns(name, f"MATCH (t:{quoted(name)})", {})
        return {**self._counted(name, f"MATCH (t:{quoted(name)})", columns), "primary_key": [key] if key else []}

    def _edge_table(self, name: str, keys: dict[str, str | None]) -> dict[str, Any]:
        pairs = self._all(f"CALL show_connection({literal(name)}) RETURN *")
        pattern = f"MATCH (a)-[t:{quoted(name)}]->(b)"
        connections: list[dict[str, Any]] = [{"from_table": row[0], "to_table": row[1]} for row in pairs]
        ends: dict[str, str] = {}
        if len(pairs) == 1 and keys.get(pairs[0][0]) and keys.get(pairs[0][1]):
            left, right = pairs[0][0], pairs[0][1]
            pattern = f"MATCH (a:{quoted(left)})-[t:{quoted(name)}]->(b:{quoted(right)})"
            names = _end_names(left, str(keys[left]), right, str(keys[right]))
            ends = {names[0]: f"a.{quoted(str(keys[left]))}", names[1]: f"b.{quoted(str(keys[right]))}"}
            connections[0] |= {"from_key": keys[left], "to_key": keys[right]}
        columns = self._columns(name, pattern, ends)
        if ends:
            connections[0] |= dict(zip(("from_column", "to_column"), columns, strict=False))
        return {**self._counted(name, pattern, columns), "primary_key": [], "connections": connections}

    def _columns(self, table: str, pattern: str, ends: dict[str, str]) -> dict[str, tuple[str, str]]:
        """The columns: how a statement names each, and its type."""
        info = self._all(f"CALL table_info({literal(table)}) RETURN *")
        own = {row[1]: (f"t.{quoted(row[1])}", plain_type(row[2])) for row in info}
        found: dict[str, tuple[str, str]] = {}
        for name, expression in ends.items():
            kinds = self._result(f"{pattern} RETURN {expression} AS x LIMIT 0").get_column_data_types()
            found[name if name not in own else f"{name}_2"] = (expression, plain_type(kinds[0]))
        return found | own

    def _counted(self, name: str, pattern: str, columns: dict[str, tuple[str, str]]) -> dict[str, Any]:
        [[count]] = self._all(f"{pattern} RETURN count(*) AS x")
        described = [self._described(pattern, column, *how, count) for column, how in columns.items()]
        return {"name": name, "row_count": int(count), "columns": described}

    def _described(self, pattern: str, name: str, expression: str, kind: str, count: int) -> dict[str, Any]:
        column: dict[str, Any] = {"name": name, "type": kind}
        if kind not in _COUNTED:
            return column
        low_high = f", min({expression}) AS low, max({expression}) AS high" if kind in _RANGED else ""
        asked = f"count({expression}) AS known, count(DISTINCT {expression}) AS different{low_high}"
        [[known, different, *ends]] = self._all(f"{pattern} RETURN {asked}")
        frequent = self._all(
            f"{pattern} WITH {expression} AS x LIMIT {_SAMPLE} WHERE x IS NOT NULL"
            f" RETURN x, count(*) AS times ORDER BY times DESC, x LIMIT {_EXAMPLES}"
        )
        return column | {
            "nullable": known < count,
            "unique": known == different and known > 0,
            "distinct_count": int(different),
            "null_count": int(count - known),
            "examples": [_shown(value) for value, _times in frequent],
            **({"minimum": _bound(ends[0]), "maximum": _bound(ends[1])} if ends else {}),
        }

    # Statements.

    def check(self, request: Request) -> None:
        with self._running(request.seconds):
            self._prepared(request.sql)

    def rows(self, request: Request) -> list[Any]:
        with self._running(request.seconds):
            result = self._only_query(request.sql)
            found = result.get_n(request.rows + 1)
        if len(found) > request.rows:
            raise failures.too_many_rows(request.rows)
        return [[_plain_value(value) for value in row] for row in found]

    def execute(self, request: Request, out: ArrowFile) -> list[tuple[str, str]]:
        with self._running(request.seconds):
            result = self._only_query(request.sql)
            names = unique_names(result.get_column_names())
            types = [plain_type(kind) for kind in result.get_column_data_types()]
            while not _write(result, names, types, out):
                result.reset_iterator()
        return [(name, "datetime" if kind == "datetime_utc" else kind) for name, kind in zip(names, types, strict=True)]

    def interrupt(self) -> None:
        self._stopped = True
        self._connection.interrupt()

    def _only_query(self, text: str) -> Any:
        """A read-only database refuses to write, and one that is prepared refuses more than one statement."""
        self._prepared(text)
        return self._result(text)

    def _prepared(self, text: str) -> None:
        prepared = self._connection.prepare(text)
        if not prepared.is_success():
            raise RuntimeError(prepared.get_error_message())

    def _all(self, text: str) -> list[list[Any]]:
        found: list[list[Any]] = self._result(text).get_all()
        return found

    def _result(self, text: str) -> Any:
        result = self._connection.execute(text)
        if isinstance(result, list):
            raise Failure("RefusedError", "cypher_refused", "More than one statement is not allowed.")
        return result

    @contextmanager
    def _running(self, seconds: float) -> Iterator[None]:
        self._stopped = False
        self._connection.set_query_timeout(max(1, int(seconds * 1000)))
        try:
            yield
        except RuntimeError as error:
            raise self._failure(str(error), seconds) from error
        except MemoryError as error:
            raise failures.too_much_memory(self._memory_mb) from error

    def _failure(self, message: str, seconds: float) -> Failure:
        if "Interrupted" in message:
            return failures.stopped() if self._stopped else failures.too_slow(seconds)
        if "Buffer manager exception" in message or "bad_alloc" in message:
            return failures.too_much_memory(self._memory_mb)
        if "read-only" in message:
            return Failure("RefusedError", "cypher_refused", "A query may only read.")
        kind, _, rest = message.partition(" exception: ")
        text = (rest or message).split("\n")[0]
        if kind in ("Parser", "Binder", "Catalog"):
            return Failure("UserError", "cypher_invalid", text, "Check the names and the types that are compared.")
        return Failure(
            "UserError", "cypher_failed", text, "The query is valid, but a value in the data cannot be handled."
        )

    def _unopened(self, message: str) -> Failure:
        if "lock" in message.lower():
            return failures.locked(self._path)
        reason = re.sub(r"^\w+ exception: ", "", message.split("\n")[0])
        return Failure(
            "FileError",
            "source_unreadable",
            f"{self._path} cannot be opened as a graph of Ladybug {ladybug.__version__}: {reason}",
            "If another version wrote it, export it there and import it with this one.",
        )


def _write(result: Any, names: list[str], types: list[str], out: ArrowFile) -> bool:
    """Writes all rows. Returns False if a column turns out to need another type, which is then in `types`."""
    out.start(row_batches.schema(names, types))
    while rows := result.get_n(rows_next(out)):
        columns = list(zip(*rows, strict=True))
        for place, kind in enumerate(types):
            if kind == "integer" and any(v is not None and not -_INT64 <= v < _INT64 for v in columns[place]):
                types[place] = "number"
                return False
        values = [_whole(column) if kind == "integer" else column for kind, column in zip(types, columns, strict=True)]
        out.add(row_batches.batch(names, types, list(zip(*values, strict=True))))
    out.finish()
    return True


def _whole(values: Sequence[Any]) -> list[int | None]:
    """The engine gives wide integers as decimals."""
    return [None if value is None else int(value) for value in values]


def _plain_value(value: Any) -> Any:
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    return nested_as_text(value)


def _bound(value: Any) -> Any:
    if isinstance(value, datetime | date):
        return value.isoformat()
    return (
        float(value)
        if isinstance(value, Decimal) and value % 1
        else int(value)
        if isinstance(value, Decimal)
        else value
    )


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return value.isoformat() if isinstance(value, datetime | date) else str(value)[:200]


def _end_names(left: str, left_key: str, right: str, right_key: str) -> tuple[str, str]:
    """What the keys of both ends are called in the table of a relationship."""
    names = f"{left.lower()}_{left_key}", f"{right.lower()}_{right_key}"
    return names if left != right else (f"from_{names[0]}", f"to_{names[1]}")


def quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def literal(value: str) -> str:
    return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"
