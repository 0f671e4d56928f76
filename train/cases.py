"""The measuring data: cases, their databases as catalogs with value indexes, and when two results are equal."""

import asyncio
import json
import sqlite3
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any
from zlib import crc32

import duckdb

from answerable.core.catalog import Catalog, ValueHit, ValueLookup
from answerable.evals.compare import holds_rows
from answerable.reader.linking.schema import Schema, build_schema
from answerable.sources.sql.value_build import file_name
from answerable.sources.value_index import ValueIndex

DATA = Path(__file__).parents[2] / "shared" / "data"
OWN = Path(__file__).parent
"""Sets of this project: questions in people's own words, with the files that they are about."""
SETS = ("spider_train", "geoquery", "spider_syn", "plain", "asked")
IN_OWN_WORDS = ("plain", "asked")
UNSEEN = ("related", "strangers")
"""Questions in people's own words about databases that no model of candidates or answers is fitted on."""
MAX_ROWS = 200


@dataclass(frozen=True, slots=True)
class Case:
    id: str
    set: str
    split: str
    question: str
    database: Path
    gold_sql: str | None
    """None if the data cannot answer the question."""
    gold_rows: tuple[tuple[object, ...], ...]
    ordered: bool
    accept_rows: tuple[tuple[tuple[object, ...], ...], ...] = ()


@dataclass(frozen=True, slots=True)
class Database:
    catalog: Catalog
    values: ValueLookup
    schema: Schema


def load_cases(names: Sequence[str] = SETS, split: str | None = None) -> list[Case]:
    return [case for name in names for case in _cases_of(name) if split is None or case.split == split]


def _cases_of(name: str) -> list[Case]:
    folder = OWN / name if (OWN / name).is_dir() else DATA / name
    lines = (line for file in sorted(folder.glob("*.jsonl")) for line in file.read_text().splitlines())
    return [_case(name, folder, json.loads(line)) for line in lines]


def _case(name: str, folder: Path, row: dict[str, Any]) -> Case:
    source = str(row["source"])
    path = DATA / source.removeprefix("data/") if source.startswith("data/") else folder / source
    rows = row.get("gold_rows")
    if rows is None:
        rows = run_sql(path, row["gold_sql"]) if row["gold_sql"] else []
    return Case(
        id=str(row["id"]),
        set=name,
        split=str(row["split"]),
        question=str(row["question"]),
        database=path.resolve(),
        gold_sql=row["gold_sql"],
        gold_rows=tuple(tuple(r) for r in rows or ()),
        ordered=bool(row["ordered"]),
        accept_rows=tuple(tuple(tuple(r) for r in result) for result in row.get("accept_rows", ())),
    )


class Remembering:
    """A value index that keeps what it found; fitting asks the same phrases again and again."""

    def __init__(self, values: ValueLookup) -> None:
        self._values = values
        self._found: dict[tuple[str, int, float], Sequence[ValueHit]] = {}

    def find(self, phrase: str, limit: int = 8, least: float = 0.0) -> Sequence[ValueHit]:
        key = (phrase, limit, least)
        if key not in self._found:
            self._found[key] = self._values.find(phrase, limit, least)
        return self._found[key]


@cache
def database(path: Path) -> Database:
    catalog, values = asyncio.run(_described(path))
    remembering = Remembering(values)
    return Database(catalog, remembering, build_schema(catalog, remembering))


async def _described(path: Path) -> tuple[Catalog, ValueLookup]:
    """Read once by way of the source, then from what it left in its cache."""
    # Two databases may have the same name.
    folder = Path(tempfile.gettempdir()) / "answerable-train" / f"{path.stem}-{crc32(str(path).encode()):08x}"
    kept = folder / "catalog.json"
    folder.mkdir(parents=True, exist_ok=True)
    catalog = Catalog.model_validate_json(kept.read_text()) if kept.exists() else None
    if catalog is None or not any(folder.rglob(file_name(catalog))):
        from answerable.sources.open import open_source

        source = await open_source(str(path), cache=folder)
        try:
            catalog = await source.describe()
            kept.write_text(catalog.model_dump_json())
            await source.values()
        finally:
            await source.close()
    return catalog, ValueIndex(next(folder.rglob(file_name(catalog))), catalog)


@cache
def _connection(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    connection.text_factory = lambda raw: raw.decode("utf-8", "replace")
    return connection


@cache
def _csv_connection(path: Path) -> duckdb.DuckDBPyConnection:
    connection = duckdb.connect(config={"threads": 1})
    table = connection.read_csv(str(path), na_values=["", "NA", "N/A"])
    # Gold statements call the table like the file, the reader calls it as the catalog does.
    for name in {path.stem, database(path).catalog.tables[0].name}:
        table.create_view(name)
    return connection


def run_sql(path: Path, sql: str, limit: int = 2000) -> list[tuple[object, ...]] | None:
    """The rows, or None if the statement fails or takes too long."""
    if path.suffix == ".csv":
        try:
            return _csv_connection(path).execute(sql).fetchmany(limit)
        except duckdb.Error:
            return None
    connection = _connection(path)
    budget = [200]

    def tick() -> int:
        budget[0] -= 1
        return int(budget[0] < 0)

    connection.set_progress_handler(tick, 10_000)
    try:
        return connection.execute(sql).fetchmany(limit)
    except sqlite3.Error:
        return None


def same_rows(case: Case, rows: Sequence[Sequence[object]] | None) -> bool:
    if rows is None or case.gold_sql is None:
        return False
    if case.set in (*IN_OWN_WORDS, *UNSEEN):
        return any(holds_rows(rows, want, case.ordered) for want in (case.gold_rows, *case.accept_rows))
    got = [tuple(map(_plain, row)) for row in rows]
    gold = [tuple(map(_plain, row)) for row in case.gold_rows]
    if len(gold) >= MAX_ROWS:
        got = got[:MAX_ROWS] if case.ordered else got
        if len(got) > MAX_ROWS:
            return Counter(gold) <= Counter(got)
    return got == gold if case.ordered else Counter(got) == Counter(gold)


def _plain(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, int | float):
        return f"{round(float(value), 4):g}" if abs(float(value)) < 1e6 else f"{round(float(value), 4)}"
    return str(value)
