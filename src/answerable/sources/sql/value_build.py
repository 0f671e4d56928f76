"""Builds the file behind `ValueIndex`: reads the distinct values page by page and files their forms.

The file is never changed in place. What is new is added to a copy, and the copy is renamed over the old one: readers go
on with the file they opened, two builders at once each make a whole one, and a killed one leaves nothing half done.
"""

import asyncio
import hashlib
import os
import secrets
import shutil
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from datetime import datetime
from functools import lru_cache
from pathlib import Path
from typing import ParamSpec, TypeAlias, TypeVar

from sqlglot import exp

from answerable.core.catalog import Catalog, Column, Table
from answerable.core.errors import LimitError, OperatorError, RefusedError, SourceError, UserError
from answerable.core.progress import Progress, no_progress
from answerable.core.records import dataclass
from answerable.core.values import Language
from answerable.query.sql.dialects import DIALECTS
from answerable.sources.sql.probe import Probe
from answerable.sources.sql.statements import Template, column_hole, comparable, literal, table_hole, union_all
from answerable.sources.value_forms import PIECES, all_forms


def piece(number: int) -> str:
    """A piece of the normal form, in SQL: as `value_forms.cuts` has it. A search must say it in the very same words."""
    start, end = f"length(normal) * {number} / {PIECES}", f"length(normal) * {number + 1} / {PIECES}"
    return f"substr(normal, 1 + {start}, {end} - {start})"


_FORMAT = "3"
_TABLES = (
    "CREATE TABLE about (format TEXT NOT NULL)",
    "CREATE TABLE tables (name TEXT PRIMARY KEY, signature TEXT NOT NULL)",
    "CREATE TABLE columns (id INTEGER PRIMARY KEY, table_name TEXT NOT NULL, name TEXT NOT NULL, notice TEXT)",
    "CREATE TABLE entries (id INTEGER PRIMARY KEY, column_id INTEGER NOT NULL, value TEXT NOT NULL,"
    " normal TEXT NOT NULL, initials TEXT, size INTEGER NOT NULL)",
    # The words of values that have more than one. FTS5 stems them itself, and stores no copy of the text.
    "CREATE VIRTUAL TABLE words USING fts5 (normal, content = '', columnsize = 0, tokenize = 'porter ascii')",
)
_INDEXES = {
    "by_normal": "entries (normal)",
    "by_initials": "entries (initials) WHERE initials IS NOT NULL",
    **{f"by_piece_{n}": f"entries ({piece(n)}, size) WHERE size > 0" for n in range(PIECES)},
}
_SELECTS_A_STATEMENT = 50
_ABANDONED_AFTER = 86_400

P = ParamSpec("P")
T = TypeVar("T")
TextColumn: TypeAlias = tuple[Table, Column]
Values: TypeAlias = Sequence[tuple[TextColumn, Sequence[str]]]


@dataclass(frozen=True, slots=True)
class IndexLimits:
    """Bounds of the index. `ValueIndex.notices` lists the columns that they leave out."""

    values_a_column: int = 1_000_000
    values: int = 3_000_000
    longest_value: int = 200
    longest_average: int = 60
    """A column whose values are longer than this on average holds sentences, not names."""
    page: int = 200_000
    """Values that are read at a time."""


def file_name(catalog: Catalog) -> str:
    return f"values-{_digest(catalog.source, catalog.dialect)}.sqlite"


async def up_to_date(
    path: Path,
    catalog: Catalog,
    probe: Probe,
    limits: IndexLimits,
    progress: Progress = no_progress,
    reader: "type[ValueReader] | None" = None,
) -> None:
    """Builds what is missing from the file or has changed since. `reader`: None for a source that is asked in SQL."""
    wanted = {table.name: _signature(catalog, table, limits) for table in catalog.tables}
    current = await asyncio.to_thread(_signatures, path)
    if current == wanted:
        return
    unchanged = {name for name, signature in (current or {}).items() if wanted.get(name) == signature}
    changed = [table for table in catalog.tables if table.name not in unchanged]
    draft = path.with_name(f"{path.name}.{secrets.token_hex(4)}.new")
    try:
        writer = await _in_thread(_Writer.open, draft, path, unchanged)
        with closing(writer.connection):
            writer.add_tables({table.name: wanted[table.name] for table in changed})
            await (reader or ValueReader)(probe, catalog.dialect, limits, writer, progress).all(changed)
            await _in_thread(writer.finish)
        os.replace(draft, path)
    except (sqlite3.Error, OSError) as error:
        raise OperatorError(
            f"The index of values cannot be made in {path.parent}: {error}.",
            code="value_index_impossible",
            hint="The cache folder needs room and must be writable, and Python's sqlite3 must know FTS5.",
        ) from error
    finally:
        with suppress(OSError):
            draft.unlink()


async def _in_thread(function: Callable[P, T], *args: P.args, **named: P.kwargs) -> T:
    """Runs a function in a thread. If the caller is cancelled, waits until the function has ended: closing a connection
    of SQLite while another thread uses it ends the whole process."""
    work = asyncio.ensure_future(asyncio.to_thread(function, *args, **named))
    try:
        return await asyncio.shield(work)
    except asyncio.CancelledError:
        while not work.done():
            with suppress(asyncio.CancelledError):
                await asyncio.wait((work,))
        raise


def _digest(*parts: object) -> str:
    return hashlib.sha256("\0".join(map(str, parts)).encode()).hexdigest()[:16]


def _signature(catalog: Catalog, table: Table, limits: IndexLimits) -> str:
    """What the entries of a table depend on. Without a fingerprint it never repeats, so that the table is read each
    time."""
    fingerprint = table.fingerprint or catalog.fingerprint or secrets.token_hex(8)
    return _digest(fingerprint, table.name, *(column.name for column in _named_columns(table)), limits)


def _signatures(path: Path) -> dict[str, str] | None:
    """What each table in the file was built from, or None if there is no usable file."""
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
    # The ends of a relationship in a graph hold no names of their own: the nodes have them.
    ends = {name for each in table.connections for name in (each.from_column, each.to_column)}
    named = (c for c in table.columns if c.type == "text" and c.name not in ends)
    return [c for c in named if c.distinct_count != 0 and not _holds_dates(c)]


def _holds_dates(column: Column) -> bool:
    return bool(column.examples) and all(map(_is_date, column.examples))


def _is_date(text: str) -> bool:
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return False
    # `fromisoformat` also reads bare digits such as 20240131, which may as well be a code.
    return "-" in text


# Reading the source


@dataclass(frozen=True, slots=True)
class ValueReader:
    probe: Probe
    dialect: Language
    limits: IndexLimits
    writer: "_Writer"
    progress: Progress

    async def all(self, tables: Sequence[Table]) -> None:
        """Small columns come first, so that a full index lacks few columns rather than many."""
        places = [(table, column) for table in tables for column in _named_columns(table)]
        places.sort(key=lambda place: self._expected(place[1]))
        done = 0
        for group in self.groups(places):
            self.progress("Indexing values", done, len(places))
            await self._read(group)
            done += len(group)

    def _expected(self, column: Column) -> int:
        return self.limits.page if column.distinct_count is None else column.distinct_count

    def groups(self, places: Iterable[TextColumn]) -> Iterator[list[TextColumn]]:
        """Columns that are read in one statement: many small ones, or a large one alone."""
        group: list[TextColumn] = []
        expected = 0
        for table, column in places:
            expected += self._expected(column)
            if group and (expected > self.limits.page or len(group) == _SELECTS_A_STATEMENT):
                yield group
                group, expected = [], self._expected(column)
            group.append((table, column))
        if group:
            yield group

    async def _read(self, group: Sequence[TextColumn]) -> None:
        try:
            await (self._read_pages(group[0]) if len(group) == 1 else self._read_together(group))
        except (SourceError, UserError, LimitError, RefusedError) as error:
            # One column that cannot be read must not cost the others. A notice names the column that is left out.
            if len(group) == 1:
                self.writer.leave_out(group[0], f"its values could not be read: {error.message}")
                return
            for place in group:
                await self._read([place])

    async def _read_together(self, group: Sequence[TextColumn]) -> None:
        every = _every_value(self.dialect, self.limits.longest_value)
        selects = (every(number=n, table=t.name, column=c.name) for n, (t, c) in enumerate(group))
        found: list[list[str]] = [[] for _ in group]
        for number, value in await self.probe.rows(union_all(selects)):
            found[number].append(value)
        names = [(place, values) for place, values in zip(group, found, strict=True) if self._accepts(place, values)]
        await _in_thread(self.writer.add, names)

    async def _read_pages(self, place: TextColumn) -> None:
        """The next page is read from the source while the last one is filed."""
        filed: asyncio.Task[None] | None = None
        total = 0
        last: str | None = None
        try:
            while True:
                values = await self.page(place, last)
                if filed is not None:
                    await filed
                total += len(values)
                if not self._accepts(place, values, total):
                    return
                filed = asyncio.create_task(_in_thread(self.writer.add, [(place, values)]))
                if len(values) < self.limits.page:
                    return
                last = values[-1]
        finally:
            if filed is not None:
                await filed

    async def page(self, place: TextColumn, after: str | None) -> list[str]:
        table, column = place
        page = _page(self.dialect, self.limits.longest_value, self.limits.page, first=after is None)
        statement = page(table=table.name, column=column.name, after=literal(after or "", self.dialect))
        return [value for (value,) in await self.probe.rows(statement)]

    def _accepts(self, place: TextColumn, values: Sequence[str], total: int = 0) -> bool:
        reason = self._objection(values, max(total, len(values)))
        if reason:
            self.writer.leave_out(place, reason)
        return reason is None

    def _objection(self, values: Sequence[str], total: int) -> str | None:
        if sum(map(len, values)) > self.limits.longest_average * len(values):
            return "its values are long texts"
        if total > self.limits.values_a_column:
            return f"it has more than {self.limits.values_a_column:,} distinct values"
        if self.writer.count + len(values) > self.limits.values:
            return f"the index is full with {self.limits.values:,} values"
        return None


def _value(dialect: Language) -> exp.Expr:
    """A text column, in the order of its bytes."""
    value = comparable("text", dialect)
    if collation := DIALECTS[dialect].byte_order_collation:
        return exp.Collate(this=value, expression=exp.to_identifier(collation, quoted=True))
    return exp.cast(value, exp.DType.TEXT)  # in SQLite, a UNION would make numbers of the digits of one column


def _values(dialect: Language, longest: int) -> exp.Select:
    value = _value(dialect)
    bounds = {"low": exp.Literal.number(1), "high": exp.Literal.number(longest)}
    query = exp.select(value).distinct().from_(table_hole())
    query = query.where(exp.Between(this=exp.Length(this=value.copy()), **bounds))
    if DIALECTS[dialect].columns_are_typed:
        return query
    stored = exp.Anonymous(this="typeof", expressions=[column_hole()])
    return query.where(exp.EQ(this=stored, expression=exp.Literal.string("text")))


@lru_cache(maxsize=8)
def _every_value(dialect: Language, longest: int) -> Template:
    query = _values(dialect, longest)
    query.set("expressions", [column_hole("number"), *query.expressions])
    return Template(query, dialect)


@lru_cache(maxsize=16)
def _page(dialect: Language, longest: int, size: int, *, first: bool) -> Template:
    query = _values(dialect, longest)
    # A page goes on after the last value, because OFFSET would read all earlier rows again. The order and this
    # comparison must agree, hence the order of bytes.
    if not first:
        query = query.where(exp.GT(this=_value(dialect), expression=column_hole("after")))
    return Template(query.order_by("1").limit(size), dialect)


# Writing the file


@dataclass(slots=True)
class _Writer:
    connection: sqlite3.Connection
    count: int
    """Values in the file."""
    last_copied: int
    """The greatest id that came with the copy of the current file."""

    @classmethod
    def open(cls, draft: Path, current: Path, unchanged: set[str]) -> "_Writer":
        """Starts from a copy of the current file if some of its tables are unchanged, else from an empty file."""
        draft.parent.mkdir(parents=True, exist_ok=True)
        _remove_abandoned(current)
        if unchanged:
            shutil.copyfile(current, draft)
        connection = sqlite3.connect(draft, check_same_thread=False, isolation_level=None)
        # A lost draft is built again, so it needs neither a journal nor a flush to the disk.
        for setting in ("journal_mode = OFF", "synchronous = OFF", "cache_size = -32000", "temp_store = FILE"):
            connection.execute(f"PRAGMA {setting}")
        connection.execute("BEGIN")
        if unchanged:
            _forget_all_but(connection, unchanged)
        else:
            for statement in _TABLES:
                connection.execute(statement)
            connection.execute("INSERT INTO about VALUES (?)", (_FORMAT,))
        [(last, count)] = connection.execute("SELECT coalesce(max(id), 0), count(*) FROM entries")
        return cls(connection, count, last)

    def add_tables(self, signatures: Mapping[str, str]) -> None:
        self.connection.executemany("INSERT INTO tables VALUES (?, ?)", signatures.items())

    def add(self, found: Values) -> None:
        for place, values in found:
            names = "column_id, value, normal, initials, size"
            insert = f"INSERT INTO entries ({names}) VALUES ({self._column(place)}, ?, ?, ?, ?)"  # noqa: S608 a number
            self.connection.executemany(insert, all_forms(filter(_is_sound, values)))
            self.count += len(values)

    def leave_out(self, place: TextColumn, reason: str) -> None:
        column = self._column(place)
        # Earlier pages of the column may be in the file already.
        self.count -= self.connection.execute("DELETE FROM entries WHERE column_id = ?", (column,)).rowcount
        self.connection.execute("UPDATE columns SET notice = ? WHERE id = ?", (reason, column))

    def finish(self) -> None:
        self.connection.execute(
            "INSERT INTO words (rowid, normal) SELECT id, normal FROM entries WHERE id > ? AND instr(normal, ' ') > 0",
            (self.last_copied,),
        )
        # Missing indexes come last: building one over all entries is quicker than updating it with every insert.
        for name, definition in _INDEXES.items():
            self.connection.execute(f"CREATE INDEX IF NOT EXISTS {name} ON {definition}")
        self.connection.execute("COMMIT")

    def _column(self, place: TextColumn) -> int:
        names = (place[0].name, place[1].name)
        query = "SELECT id FROM columns WHERE table_name = ? AND name = ?"
        found = self.connection.execute(query, names).fetchone()
        if found:
            return int(found[0])
        insert = "INSERT INTO columns (table_name, name) VALUES (?, ?)"
        return int(self.connection.execute(insert, names).lastrowid or 0)


def _is_sound(text: str) -> bool:
    """Damaged text, with halves of characters, cannot be stored, and nobody can type it."""
    return text.isascii() or text.encode("utf-8", "ignore").decode() == text


def _forget_all_but(connection: sqlite3.Connection, unchanged: set[str]) -> None:
    gone = [(name,) for (name,) in connection.execute("SELECT name FROM tables").fetchall() if name not in unchanged]
    connection.execute("CREATE TEMP TABLE gone (id INTEGER PRIMARY KEY)")
    connection.executemany("INSERT INTO gone SELECT id FROM columns WHERE table_name = ?", gone)
    # The full-text table stores no text of its own, so a row is deleted by repeating the text that was indexed.
    connection.execute(
        "INSERT INTO words (words, rowid, normal) SELECT 'delete', id, normal FROM entries"
        " WHERE column_id IN (SELECT id FROM gone) AND instr(normal, ' ') > 0"
    )
    deleted = connection.execute("DELETE FROM entries WHERE column_id IN (SELECT id FROM gone)").rowcount
    connection.execute("DELETE FROM columns WHERE id IN (SELECT id FROM gone)")
    connection.executemany("DELETE FROM tables WHERE name = ?", gone)
    [(left,)] = connection.execute("SELECT count(*) FROM entries")
    if deleted > left / 4:
        # As much will come back: making the indexes anew is then quicker than keeping them up to date.
        for name in _INDEXES:
            connection.execute(f"DROP INDEX {name}")


def _remove_abandoned(path: Path) -> None:
    """Drafts that a killed process left behind."""
    for draft in path.parent.glob(f"{path.name}.*.new"):
        with suppress(OSError):
            if time.time() - draft.stat().st_mtime > _ABANDONED_AFTER:
                draft.unlink()
