"""A plan over several sources: taken apart and put together again, it gives the rows that it gives over one."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from answerable import demo
from answerable.core.catalog import Catalog, Link
from answerable.demo.golden import opened
from answerable.evals.cases import load_cases
from answerable.evals.compare import same_rows
from answerable.query.merged import merged
from answerable.query.plan import QueryPlan
from answerable.query.split import Alone, Together, split
from answerable.query.to_sql import to_sql
from answerable.sources.open import open_source

FILE = Path(__file__).parents[1] / "fixtures" / "demo" / "plans.jsonl"
PLANS = {
    raw["group"]: QueryPlan.model_validate(raw["plan"]) for raw in map(json.loads, FILE.read_text("utf-8").splitlines())
}


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Catalog:
    async def described() -> Catalog:
        source = await open_source(str(demo.location()), name="demo", cache=tmp_path_factory.mktemp("cache"))
        try:
            return await source.describe()
        finally:
            await source.close()

    return asyncio.run(described())


def torn(catalog: Catalog, count: int) -> dict[str, Catalog]:
    """The tables dealt out to several sources; relationships that lead from one to another become links."""
    home = {table.name: f"source{number % count}" for number, table in enumerate(catalog.tables)}
    return {source: _part(catalog, source, home) for source in sorted(set(home.values()))}


def _part(catalog: Catalog, source: str, home: dict[str, str]) -> Catalog:
    within = [r for r in catalog.relationships if home[r.from_table] == home[r.to_table] == source]
    links = [
        Link(
            **r.model_dump(include={"name", "from_table", "from_columns", "to_table", "to_columns", "synonyms"}),
            to_source=home[r.to_table],
        )
        for r in catalog.relationships
        if home[r.from_table] == source != home[r.to_table]
    ]
    update = {
        "source": source,
        "tables": tuple(table for table in catalog.tables if home[table.name] == source),
        "relationships": tuple(within),
        "links": tuple(links),
        "measures": tuple(measure for measure in catalog.measures if home[measure.table] == source),
    }
    return catalog.model_copy(update=update)


def combined_rows(parts: Together, catalogs: dict[str, Catalog], connection: Any) -> list[tuple[Any, ...]]:
    """As the steps do it: each table's query, then the whole over what they gave and nothing else."""
    connection.execute("DROP SCHEMA IF EXISTS parts CASCADE; CREATE SCHEMA parts")
    for fetch in parts.fetches:
        connection.execute(f'CREATE TABLE parts."{fetch.name}" AS {to_sql(fetch.plan, catalogs[fetch.source])}')
    connection.execute("SET schema = 'parts'")
    try:
        return list(connection.execute(parts.sql).fetchall())
    finally:
        connection.execute("SET schema = 'main'")


@pytest.mark.parametrize("count", [2])
def test_golden_plans_give_the_same_rows_from_several_sources(whole: Catalog, count: int) -> None:
    golden = {case.group: case for case in load_cases("demo") if case.split == "golden"}
    catalogs = torn(whole, count)
    together = merged(catalogs)
    kinds = {Alone: 0, Together: 0}
    with opened(demo.location()) as connection:
        for group, plan in PLANS.items():
            parts = split(plan, together)
            kinds[type(parts)] += 1
            if isinstance(parts, Alone):
                rows = connection.execute(to_sql(parts.plan, catalogs[parts.source])).fetchall()
            else:
                rows = combined_rows(parts, catalogs, connection)
            assert same_rows(rows, golden[group].gold_rows or (), golden[group].ordered), (group, parts)
    assert all(kinds.values()), kinds
    print(kinds)
