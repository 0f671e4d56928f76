"""How long reading a question takes, beside the bare SQLite query of its answer; and linking in a large schema."""

import asyncio
import json
import sqlite3
import statistics
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Iterator
from datetime import date
from functools import partial
from pathlib import Path
from typing import Any

from answerable.agents.dry_run import dry_run
from answerable.computing.processes import ComputingProcesses
from answerable.core.catalog import Catalog, Column, Table, ValueHit
from answerable.reader.jobs import ReadJob, today_of_job
from answerable.reader.linking.links import link
from answerable.reader.linking.schema import build_schema
from answerable.reader.linking.tokens import tokenize
from answerable.reader.reader import Reader
from answerable.sources.open import open_source
from bench.figures import Figure

CASES = Path(__file__).parents[2] / "shared" / "data" / "spider_train" / "cases.jsonl"
MEDIAN_MS, P95_MS, LARGE_MS = 40.0, 250.0, 300.0
TODAY = date(2026, 1, 1)
_WORDS = ("order", "customer", "price", "stock", "region", "ticket", "route", "batch", "sensor", "ledger", "claim")


def measure(quick: bool) -> list[Figure]:
    figures = [_large_schema(3 if quick else 9)]
    if CASES.exists():
        figures.extend(asyncio.run(_questions(100 if quick else 1098)))
    return figures


async def _questions(count: int) -> list[Figure]:
    """Of the check split, with the dry run; catalog and index of values are there already, as in a running server."""
    cases = [case for line in CASES.read_text().splitlines() if (case := json.loads(line))["split"] == "check"][:count]
    ours, floor = [], []
    for name in sorted({case["source"] for case in cases}):
        own = [case for case in cases if case["source"] == name]
        async for read, bare in _timed(CASES.parent / name, own):
            ours.append(read)
            floor.append(bare)
    ours.sort()
    bare_median = statistics.median(floor)
    p95 = ours[int(len(ours) * 0.95)]
    return [
        _figure(f"reading a question, median of {len(ours)}", statistics.median(ours), bare_median, MEDIAN_MS),
        _figure(f"reading a question, 95th percentile of {len(ours)}", p95, bare_median, P95_MS),
    ]


async def _timed(path: Path, cases: list[dict[str, Any]]) -> AsyncIterator[tuple[float, float]]:
    with tempfile.TemporaryDirectory() as folder:
        source = await open_source(str(path), cache=Path(folder))
        connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
        try:
            reader = Reader(await source.describe(), await source.values(), today=today_of_job)
            processes = ComputingProcesses()
            run = dry_run(source, reader.catalog)
            for case in cases:
                question, gold = case["question"], case["gold_sql"]
                job = ReadJob(question, TODAY, dry_run=run is not None)
                began = time.perf_counter()
                await processes.compute(job, reader, *([run] if run else []))
                yield (time.perf_counter() - began) * 1000, _milliseconds(partial(_bare, connection, gold))
        finally:
            connection.close()
            await source.close()


def _bare(connection: sqlite3.Connection, sql: str) -> None:
    connection.execute(sql).fetchall()


def _milliseconds(call: Callable[[], object]) -> float:
    began = time.perf_counter()
    call()
    return (time.perf_counter() - began) * 1000


def _figure(name: str, ours: float, floor: float, limit: float) -> Figure:
    """Against the time that is allowed; the bare query is shown beside it."""
    return Figure(f"{name} (floor: the bare query; limit {limit:.0f} ms)", ours, floor, "ms", ours / limit, 1.0)


class _NoValues:
    def find(self, phrase: str, limit: int = 8, least: float = 0.0) -> list[ValueHit]:
        return []


def _large_schema(repeats: int) -> Figure:
    """500 tables with 20 columns each: linking a question, after indexing."""
    schema = build_schema(Catalog(source="large", dialect="duckdb", tables=tuple(_tables())), _NoValues())
    question = tokenize(
        "What is the average order price of each customer region with more than 3 open tickets in batch 7?"
    )
    times = [_milliseconds(lambda: link(question, schema, _NoValues())) for _ in range(repeats)]
    indexing = _milliseconds(lambda: build_schema(schema.catalog, _NoValues()))
    ours = statistics.median(times)
    return Figure(
        "linking among 10,000 columns (floor: indexing them; limit 300 ms)", ours, indexing, "ms", ours / LARGE_MS, 1.0
    )


def _tables() -> Iterator[Table]:
    for number in range(500):
        names = [f"{_WORDS[(number + i) % 11]}_{_WORDS[(number * i + 3) % 11]}_{i}" for i in range(20)]
        columns = tuple(Column(name=name, type="integer") for name in names)
        yield Table(name=f"{_WORDS[number % 11]}_{_WORDS[number // 11 % 11]}_{number}", columns=columns)
