"""Merges the catalogs of several sources into one, for a question about more than one source.

Tables keep their names where no two are alike; else the source's name comes first. What leads from one source to
another is what a `semantic.yaml` declares, and nothing is guessed.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePath
from typing import TypeVar

from answerable.core.catalog import Catalog, Column, Link, Measure, Relationship, Table, Warning
from answerable.core.errors import SemanticError
from answerable.core.values import ColumnType, Language
from answerable.query.scope import nearest
from answerable.query.sql.dialects import FRAMES_DIALECT
from answerable.query.sql.measures import parsed_measure

Key = TypeVar("Key")

RESERVED = frozenset({"answer", "combined"})
"""Names of the steps that are no tables."""
_LONGEST = 56
_COMPARABLE: tuple[frozenset[ColumnType], ...] = (frozenset({"integer", "number"}), frozenset({"date", "datetime"}))


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a table of the merged catalog really is."""

    source: str
    table: str
    dialect: Language


@dataclass(frozen=True, slots=True)
class Merged:
    catalog: Catalog
    """In the dialect of the engine that combines rows."""
    origins: Mapping[str, Origin]
    """By the name of the table in the merged catalog."""
    original_names: Mapping[str, str]
    """Of relationships and measures that had to be renamed."""
    labels: Mapping[str, str]
    """The short name of each source; no two are equal."""


def merged(catalogs: Mapping[str, Catalog]) -> Merged:
    """One catalog from those of several sources, by the name of each source. A declared relationship that leads nowhere
    is a `SemanticError`."""
    return _Merging(catalogs).result()


def short_name(source: str) -> str:
    """What a source is called: its name, or that of the file, folder or database that it is known by."""
    return PurePath(source.partition("?")[0].rstrip("/")).stem or source


def short_names(sources: Iterable[str]) -> dict[str, str]:
    """Gives each source a short name that no other of them has."""
    return _unique({source: _identifier(short_name(source)) for source in sources})


class _Merging:
    def __init__(self, catalogs: Mapping[str, Catalog]) -> None:
        self._catalogs = catalogs
        self._short = short_names(catalogs)
        self._names = self._table_names()
        self._original: dict[str, str] = {}

    def result(self) -> Merged:
        tables = {self._names[source, table.name]: (source, table) for source, table in self._tables()}
        catalog = Catalog(
            source=", ".join(self._short.values()),
            dialect=FRAMES_DIALECT,
            tables=tuple(self._renamed(name, source, table) for name, (source, table) in tables.items()),
            relationships=tuple(self._all_relationships()),
            measures=tuple(self._measures()),
            fingerprint=" ".join(each.fingerprint for each in self._catalogs.values()),
            # An answer from all sources is no fresher than the source that was synced longest ago.
            last_sync=min((c.last_sync for c in self._catalogs.values() if c.last_sync), default=None),
            as_of=max((c.as_of for c in self._catalogs.values() if c.as_of), default=None),
            warnings=tuple(self._warnings()),
        )
        origins = {
            name: Origin(source, table.name, self._catalogs[source].dialect) for name, (source, table) in tables.items()
        }
        return Merged(catalog, origins, self._original, self._short)

    # Tables

    def _tables(self) -> Iterator[tuple[str, Table]]:
        for source, catalog in self._catalogs.items():
            for table in catalog.tables:
                yield source, table

    def _table_names(self) -> dict[tuple[str, str], str]:
        plain = {(source, table.name): _identifier(table.name) for source, table in self._tables()}
        count = Counter(name.casefold() for name in plain.values())
        return _unique(
            {
                key: name
                if count[name.casefold()] == 1 and name.casefold() not in RESERVED
                else f"{self._short[key[0]]}_{name}"
                for key, name in plain.items()
            }
        )

    def _renamed(self, name: str, source: str, table: Table) -> Table:
        """Under a name with the source's in it, it is still known by its own."""
        own = table.label or table.name
        if name == table.name:
            return table
        if name == _identifier(table.name):
            return table.model_copy(update={"name": name, "label": own})
        label = f"{self._short[source].replace('_', ' ')} {own}"
        return table.model_copy(update={"name": name, "label": label, "synonyms": (own, *table.synonyms)})

    # Relationships and measures

    def _all_relationships(self) -> Iterator[Relationship]:
        """Within the sources, then between them; what both sides declare counts once."""
        within = list(self._relationships())
        between = {_ends(each): each for each in self._linked()}
        yield from within
        names = _unique({**{each: each.name for each in within}, **{each: each.name for each in between.values()}})
        for each in between.values():
            yield each.model_copy(update={"name": names[each]})

    def _relationships(self) -> Iterator[Relationship]:
        names = Counter(each.name for catalog in self._catalogs.values() for each in catalog.relationships)
        for source, catalog in self._catalogs.items():
            for each in catalog.relationships:
                ends = {
                    "from_table": self._names[source, each.from_table],
                    "to_table": self._names[source, each.to_table],
                }
                yield each.model_copy(update={**ends, "name": self._named(each.name, source, names[each.name])})

    def _measures(self) -> Iterator[Measure]:
        names = Counter(each.name for catalog in self._catalogs.values() for each in catalog.measures)
        for source, catalog in self._catalogs.items():
            for each in catalog.measures:
                name = self._named(each.name, source, names[each.name])
                update = {
                    "name": name,
                    "table": self._names[source, each.table],
                    "expression": parsed_measure(each, catalog).sql(FRAMES_DIALECT),
                    "synonyms": each.synonyms if name == each.name else (each.name, *each.synonyms),
                }
                yield each.model_copy(update=update)

    def _named(self, name: str, source: str, occurrences: int) -> str:
        if occurrences == 1:
            return name
        renamed = f"{self._short[source]} {name}"
        self._original[renamed] = name
        return renamed

    def _linked(self) -> Iterator[Relationship]:
        """What is declared between the sources that are here."""
        for source, catalog in self._catalogs.items():
            for link in catalog.links:
                other = self._called(link.from_source or link.to_source or "", link)
                if other is not None:
                    yield self._link(link, source, other)

    def _called(self, name: str, link: Link) -> str | None:
        if name in self._catalogs:
            return name
        found = [source for source in self._catalogs if short_name(source).casefold() == name.casefold()]
        if len(found) > 1:
            raise _wrong(link, f"{name!r} may be any of {', '.join(found)}", "Give the sources names in the settings.")
        return found[0] if found else None

    def _link(self, link: Link, own: str, other: str) -> Relationship:
        from_source, to_source = (other, own) if link.from_source else (own, other)
        from_table, from_columns = self._end(link, from_source, link.from_table, link.from_columns)
        to_table, to_columns = self._end(link, to_source, link.to_table, link.to_columns)
        for one, another in zip(from_columns, to_columns, strict=True):
            if not _comparable(one.type, another.type):
                raise _wrong(link, f"{one.name!r} is {one.type} and {another.name!r} is {another.type}")
        return Relationship(
            name=link.name,
            from_table=self._names[from_source, from_table.name],
            from_columns=tuple(column.name for column in from_columns),
            to_table=self._names[to_source, to_table.name],
            to_columns=tuple(column.name for column in to_columns),
            origin="semantic",
            synonyms=link.synonyms,
        )

    def _end(self, link: Link, source: str, table: str, columns: Iterable[str]) -> tuple[Table, list[Column]]:
        tables = self._catalogs[source].tables
        found = next((each for each in tables if each.name.casefold() == table.casefold()), None)
        if found is None:
            hint = nearest(table, (each.name for each in tables))
            raise _wrong(link, f"the source {short_name(source)!r} has no table {table!r}", hint)
        by_name = {column.name.casefold(): column for column in found.columns}
        missing = next((name for name in columns if name.casefold() not in by_name), None)
        if missing is not None:
            hint = nearest(missing, (column.name for column in found.columns))
            raise _wrong(link, f"table {found.name!r} of {short_name(source)!r} has no column {missing!r}", hint)
        return found, [by_name[name.casefold()] for name in columns]

    def _warnings(self) -> Iterator[Warning]:
        for catalog in self._catalogs.values():
            yield from catalog.warnings
        days = {catalog.as_of for catalog in self._catalogs.values() if catalog.as_of}
        if len(days) > 1:
            yield Warning(subject="as_of", message=f"the sources name different days; {max(days)} counts")


def _ends(relationship: Relationship) -> tuple[object, ...]:
    return relationship.from_table, relationship.from_columns, relationship.to_table, relationship.to_columns


def _identifier(name: str) -> str:
    """A name that a step can have, too."""
    plain = "".join(sign if sign.isalnum() else "_" for sign in name)[:_LONGEST]
    return plain if plain.isidentifier() else f"_{plain}"


def _unique(names: Mapping[Key, str]) -> dict[Key, str]:
    taken: set[str] = set()
    unique: dict[Key, str] = {}
    for key, name in names.items():
        candidate, number = name, 1
        while candidate.casefold() in taken:
            number += 1
            candidate = f"{name}_{number}"
        taken.add(candidate.casefold())
        unique[key] = candidate
    return unique


def _comparable(one: ColumnType, another: ColumnType) -> bool:
    return one == another or any({one, another} <= group for group in _COMPARABLE)


def _wrong(link: Link, problem: str, hint: str | None = None) -> SemanticError:
    return SemanticError(f"{link.written_at}: {problem}", hint=hint)
