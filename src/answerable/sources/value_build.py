"""Builds the file behind `ValueIndex`: reads the distinct values page by page and files them.

The file is never changed in place. What is new is added to a copy, and the copy is renamed over the old one: readers go
on with the file they opened, two builders at once each make a whole one, and a killed one leaves nothing half done.
Postings of values that are gone stay behind until the blocks are written anew; they lead nowhere.
"""

import asyncio
import hashlib
import os
import secrets
import shutil
import sqlite3
import time
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from sqlglot import exp

from answerable.core.catalog import Catalog, Column, Table
from answerable.core.errors import LimitError, SourceError, UserError
from answerable.core.values import Dialect
from answerable.sources import value_postings as filing
from answerable.sources.base import Probe
from answerable.sources.profile import chunked, column_ref, comparable, table_ref

_FORMAT = "1"
_SCHEMA = """
CREATE TABLE about (format TEXT NOT NULL);
CREATE TABLE tables (name TEXT PRIMARY KEY, signature TEXT NOT NULL);
CREATE TABLE columns (id INTEGER PRIMARY KEY, table_name TEXT NOT NULL, name TEXT NOT NULL, notice TEXT);
CREATE TABLE entries (id INTEGER PRIMARY KEY, column_id INTEGER NOT NULL, value TEXT NOT NULL, normal TEXT NOT NULL);
CREATE TABLE blocks (bucket INTEGER, part INTEGER, postings BLOB NOT NULL, PRIMARY KEY (bucket, part)) WITHOUT ROWID;
"""
_MOST_PARTS = 16
"""Blocks that a search has to read for one key; above, they are written anew, as few as can be."""
_ENTRIES_A_PART = 250_000
_SELECTS_A_STATEMENT = 50
_ABANDONED_AFTER = 86_400


@dataclass(frozen=True, slots=True)
class IndexLimits:
    """What is left out because of them is told by `ValueIndex.notices`."""

    values_a_column: int = 1_000_000
    values: int = 3_000_000
    longest_value: int = 200
    longest_average: int = 60
    """A column whose values are longer than this on average holds sentences, not names."""
    page: int = 100_000
    """Values that are in memory at a time."""


def file_name(catalog: Catalog) -> str:
    return f"values-{_digest(catalog.source, catalog.dialect)}.sqlite"


async def up_to_date(path: Path, catalog: Catalog, probe: Probe, limits: IndexLimits) -> None:
    """Builds what is missing from the file or has changed since."""
    wanted = {table.name: _signature(catalog, table, limits) for table in catalog.tables}
    current = await asyncio.to_thread(_signatures, path)
    if current == wanted:
        return
    kept = {name for name, signature in (current or {}).items() if wanted.get(name) == signature}
    draft = path.with_name(f"{path.name}.{secrets.token_hex(4)}.new")
    try:
        writer = await asyncio.to_thread(_Writer.open, draft, path, kept)
        with closing(writer.connection):
            changed = [table for table in catalog.tables if table.name not in writer.kept]
            writer.add_tables({table.name: wanted[table.name] for table in changed})
            await _Reading(probe, catalog.dialect, limits, writer).all(changed)
            await asyncio.to_thread(writer.finish)
        os.replace(draft, path)
    finally:
        draft.unlink(missing_ok=True)


def _digest(*parts: object) -> str:
    return hashlib.sha256("\0".join(map(str, parts)).encode()).hexdigest()[:16]


def _signature(catalog: Catalog, table: Table, limits: IndexLimits) -> str:
    """A source that cannot tell whether its data changed is read each time."""
    fingerprint = table.fingerprint or catalog.fingerprint or secrets.token_hex(8)
    return _digest(fingerprint, table.name, *(column.name for column in _named_columns(table)), limits)


def _signatures(path: Path) -> dict[str, str] | None:
    """What each table in the file was built from; nothing when there is no file that can be used."""
    if not path.is_file():
        return None
    try:
        with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as connection:
            sound = connection.execute("PRAGMA quick_check(1)").fetchone() == ("ok",)
            known = sound and connection.execute("SELECT format FROM about").fetchall() == [(_FORMAT,)]
            return dict(connection.execute("SELECT name, signature FROM tables").fetchall()) if known else None
    except sqlite3.Error:
        return None


def _named_columns(table: Table) -> list[Column]:
    """Text columns that may hold names: not those that are known to be empty or to hold dates as text."""
    return [c for c in table.columns if c.type == "text" and c.distinct_count != 0 and not _holds_dates(c)]


def _holds_dates(column: Column) -> bool:
    return bool(column.examples) and all(map(_is_date, column.examples))


def _is_date(text: str) -> bool:
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return False
    return "-" in text


# Reading the source


@dataclass(frozen=True, slots=True)
class _Reading:
    probe: Probe
    dialect: Dialect
    limits: IndexLimits
    writer: "_Writer"

    async def all(self, tables: Sequence[Table]) -> None:
        columns = [(table, column) for table in tables for column in _named_columns(table)]
        columns.sort(key=lambda pair: self._expected(pair[1]))
        for group in self._groups(columns):
            await self._read(group)

    def _expected(self, column: Column) -> int:
        return self.limits.page if column.distinct_count is None else column.distinct_count

    def _groups(self, columns: Iterable[tuple[Table, Column]]) -> Iterator[list[tuple[Table, Column]]]:
        """Columns that are read in one statement: many small ones, or a large one alone."""
        group: list[tuple[Table, Column]] = []
        expected = 0
        for table, column in columns:
            expected += self._expected(column)
            if group and (expected > self.limits.page or len(group) == _SELECTS_A_STATEMENT):
                yield group
                group, expected = [], self._expected(column)
            group.append((table, column))
        if group:
            yield group

    async def _read(self, group: Sequence[tuple[Table, Column]]) -> None:
        try:
            if len(group) == 1:
                await self._read_pages(*group[0])
            else:
                await self._read_together(group)
        except (SourceError, UserError, LimitError) as error:
            # One column that cannot be read must not cost the others; what is left out is told.
            if len(group) == 1:
                self._leave_out(*group[0], f"its values could not be read: {error.message}")
                return
            for pair in group:
                await self._read([pair])

    async def _read_together(self, group: Sequence[tuple[Table, Column]]) -> None:
        selects = [self._distinct(table, column, number) for number, (table, column) in enumerate(group)]
        found: list[list[str]] = [[] for _ in group]
        for number, value in await self._rows(exp.union(*selects, distinct=False)):
            found[number].append(value)
        for (table, column), values in zip(group, found, strict=True):
            if self._names(values):
                await self._file(table, column, values)
            elif values:
                self._leave_out(table, column, "its values are long texts")

    async def _read_pages(self, table: Table, column: Column) -> None:
        total = 0
        last: str | None = None
        more = True
        while more:
            values = [value for _, value in await self._rows(self._distinct(table, column, 0, last, paged=True))]
            total += len(values)
            reason = self._objection(values, total)
            if reason:
                return self._leave_out(table, column, reason)
            await self._file(table, column, values)
            more = len(values) == self.limits.page
            last = values[-1] if values else None
        return None

    def _objection(self, values: Sequence[str], total: int) -> str | None:
        if values and not self._names(values):
            return "its values are long texts"
        if total > self.limits.values_a_column:
            return f"it has more than {self.limits.values_a_column:,} distinct values"
        if self.writer.count + len(values) > self.limits.values:
            return f"the index is full with {self.limits.values:,} values"
        return None

    def _names(self, values: Sequence[str]) -> bool:
        return bool(values) and sum(map(len, values)) <= self.limits.longest_average * len(values)

    async def _file(self, table: Table, column: Column, values: Sequence[str]) -> None:
        await asyncio.to_thread(self.writer.add, table.name, column.name, values)

    def _leave_out(self, table: Table, column: Column, reason: str) -> None:
        self.writer.leave_out(table.name, column.name, reason)

    def _distinct(
        self, table: Table, column: Column, number: int, after: str | None = None, *, paged: bool = False
    ) -> exp.Select:
        value = self._value(column)
        fits = exp.Between(
            this=exp.Length(this=value.copy()),
            low=exp.Literal.number(1),
            high=exp.Literal.number(self.limits.longest_value),
        )
        query = exp.select(exp.Literal.number(number), value).distinct().from_(table_ref(table.name)).where(fits)
        if self.dialect == "sqlite":
            stored = exp.Anonymous(this="typeof", expressions=[column_ref(column.name)])
            query = query.where(exp.EQ(this=stored, expression=exp.Literal.string("text")))
        if after is not None:
            query = query.where(exp.GT(this=value.copy(), expression=exp.Literal.string(after)))
        return query.order_by("2").limit(self.limits.page) if paged else query

    def _value(self, column: Column) -> exp.Expression:
        """In PostgreSQL in the order of its bytes: the order of a language is slower, and may hold two texts equal."""
        value = comparable(column, self.dialect)
        if self.dialect == "postgres":
            return exp.Collate(this=value, expression=exp.to_identifier("C", quoted=True))
        return exp.cast(value, exp.DType.TEXT) if self.dialect == "duckdb" else value

    async def _rows(self, query: exp.Query) -> list[tuple[Any, ...]]:
        return await self.probe.rows(query.sql(self.dialect))


# Writing the file


@dataclass(slots=True)
class _Writer:
    connection: sqlite3.Connection
    kept: set[str]
    """Tables that are in the file already and unchanged."""
    next_id: int
    count: int
    part: int
    pending: int = 0
    buckets: list["array[int]"] = field(default_factory=lambda: _empty_buckets())

    @classmethod
    def open(cls, draft: Path, current: Path, kept: set[str]) -> "_Writer":
        """Starts from the current file when some of it can be kept, else from nothing."""
        draft.parent.mkdir(parents=True, exist_ok=True)
        _remove_abandoned(current)
        if kept:
            shutil.copyfile(current, draft)
        connection = sqlite3.connect(draft, check_same_thread=False, isolation_level=None)
        # A draft that is lost is made again, so nothing is paid for keeping it safe.
        for setting in ("journal_mode = OFF", "synchronous = OFF", "cache_size = -16000", "temp_store = FILE"):
            connection.execute(f"PRAGMA {setting}")
        connection.execute("BEGIN")
        if kept:
            _forget_all_but(connection, kept)
        else:
            for statement in _SCHEMA.strip().split(";\n"):
                connection.execute(statement)
            connection.execute("INSERT INTO about VALUES (?)", (_FORMAT,))
        [(last, count)] = connection.execute("SELECT coalesce(max(id), 0), count(*) FROM entries")
        [(part,)] = connection.execute("SELECT coalesce(max(part), 0) FROM blocks")
        return cls(connection, kept, last + 1, count, part + 1)

    def add_tables(self, signatures: Mapping[str, str]) -> None:
        self.connection.executemany("INSERT INTO tables VALUES (?, ?)", signatures.items())

    def add(self, table: str, column: str, values: Sequence[str]) -> None:
        place = self._column(table, column)
        if self.next_id + len(values) > filing.LAST_ID:
            self._renumber()
        entries = [
            (number, place, value, filing.normal_form(value)) for number, value in enumerate(values, self.next_id)
        ]
        self.connection.executemany("INSERT INTO entries VALUES (?, ?, ?, ?)", entries)
        self.next_id += len(entries)
        self.count += len(entries)
        self._post((number, normal) for number, _, _, normal in entries)

    def leave_out(self, table: str, column: str, reason: str) -> None:
        place = self._column(table, column)
        self.count -= self.connection.execute("DELETE FROM entries WHERE column_id = ?", (place,)).rowcount
        self.connection.execute("UPDATE columns SET notice = ? WHERE id = ?", (reason, place))

    def finish(self) -> None:
        self._write_part()
        if self.part > _MOST_PARTS + self.count // _ENTRIES_A_PART:
            self._post_anew()
        self.connection.execute("CREATE INDEX IF NOT EXISTS entries_normal ON entries (normal)")
        self.connection.execute("COMMIT")

    def _column(self, table: str, column: str) -> int:
        query = "SELECT id FROM columns WHERE table_name = ? AND name = ?"
        found = self.connection.execute(query, (table, column)).fetchone()
        if found:
            return int(found[0])
        insert = "INSERT INTO columns (table_name, name) VALUES (?, ?)"
        return int(self.connection.execute(insert, (table, column)).lastrowid or 0)

    def _post(self, entries: Iterable[tuple[int, str]]) -> None:
        for chunk in chunked(entries, _ENTRIES_A_PART):
            filing.post(chunk, self.buckets)
            self.pending += len(chunk)
            if self.pending >= _ENTRIES_A_PART:
                self._write_part()

    def _write_part(self) -> None:
        rows = ((n, self.part, array("Q", sorted(bucket)).tobytes()) for n, bucket in enumerate(self.buckets) if bucket)
        self.connection.executemany("INSERT INTO blocks VALUES (?, ?, ?)", rows)
        self.buckets = _empty_buckets()
        self.part += 1
        self.pending = 0

    def _post_anew(self) -> None:
        self.connection.execute("DELETE FROM blocks")
        self.part = 1
        self._post(self.connection.execute("SELECT id, normal FROM entries ORDER BY id"))
        self._write_part()

    def _renumber(self) -> None:
        """After very many changes the ids have run out, though most are free."""
        self.buckets, self.pending = _empty_buckets(), 0
        self.connection.execute("CREATE TABLE fresh (id INTEGER PRIMARY KEY, column_id, value, normal)")
        self.connection.execute(
            "INSERT INTO fresh (column_id, value, normal) SELECT column_id, value, normal FROM entries ORDER BY id"
        )
        self.connection.execute("DROP TABLE entries")
        self.connection.execute("ALTER TABLE fresh RENAME TO entries")
        self.next_id = self.count + 1
        self._post_anew()


def _empty_buckets() -> list["array[int]"]:
    return [array("Q") for _ in range(1 << filing.BUCKET_BITS)]


def _forget_all_but(connection: sqlite3.Connection, kept: set[str]) -> None:
    gone = [(name,) for (name,) in connection.execute("SELECT name FROM tables").fetchall() if name not in kept]
    connection.executemany("DELETE FROM entries WHERE column_id IN (SELECT id FROM columns WHERE table_name = ?)", gone)
    connection.executemany("DELETE FROM columns WHERE table_name = ?", gone)
    connection.executemany("DELETE FROM tables WHERE name = ?", gone)


def _remove_abandoned(path: Path) -> None:
    """Drafts that a killed process left behind."""
    for draft in path.parent.glob(f"{path.name}.*.new"):
        with suppress(OSError):
            if time.time() - draft.stat().st_mtime > _ABANDONED_AFTER:
                draft.unlink()
