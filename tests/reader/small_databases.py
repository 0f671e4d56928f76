"""Three small databases of different fields, written for these tests, each with a reader of its own."""

import asyncio
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date
from pathlib import Path
from typing import Any

from answerable.core.catalog import Catalog, ValueLookup
from answerable.reader.reader import Reader
from answerable.reader.reading import Reply
from answerable.sources.open import open_source
from answerable.sources.sql.value_build import file_name
from answerable.sources.value_index import ValueIndex

FOLDER = Path(__file__).parent / "accuracy"
TODAY = date(2024, 6, 1)


class SmallDatabase:
    def __init__(self, path: Path, catalog: Catalog, values: ValueLookup) -> None:
        self.connection = sqlite3.connect(path)
        self.reader = Reader(catalog, values, today=lambda: TODAY)

    def rows(self, sql: str) -> list[Any] | None:
        try:
            return self.connection.execute(sql).fetchall()
        except sqlite3.Error:
            return None

    def read(self, question: str, force: bool = False) -> Reply:
        return self.reader.read(question, force=force, run=lambda queries: [self.rows(query.text) for query in queries])


def described(location: str, cache: Path) -> tuple[Catalog, ValueLookup]:
    """The catalog and values of a source. The index of values is opened again: that of the source is closed with it."""

    async def catalog_of() -> Catalog:
        source = await open_source(location, cache=cache)
        try:
            await source.values()
            return await source.describe()
        finally:
            await source.close()

    catalog = asyncio.run(catalog_of())
    return catalog, ValueIndex(next(cache.rglob(file_name(catalog))), catalog)


@contextmanager
def opened_databases(folder: Path) -> Iterator[dict[str, SmallDatabase]]:
    found = {}
    for script in sorted(FOLDER.glob("*.sql")):
        path = folder / f"{script.stem}.sqlite"
        connection = sqlite3.connect(path)
        connection.executescript(script.read_text("utf-8"))
        connection.close()
        found[script.stem] = SmallDatabase(path, *described(str(path), folder))
    yield found
    for database in found.values():
        database.connection.close()
