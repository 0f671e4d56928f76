"""How the values of a column are spread, on every engine."""

from typing import Any

import pytest

from answerable.core.catalog import Catalog, Relationship
from answerable.core.errors import NotFoundError
from answerable.sources.sql import browse
from answerable.sources.sql.browse import first_rows, relationship_checks, table_statistics
from answerable.sources.sql.profile import profile
from answerable.sources.statistics import table_named


@pytest.fixture
async def sales(engine: Any) -> Any:
    """A probe and its described catalog: names that need quotes, nulls, negative numbers, dates, an orphan."""
    probe = engine
    probe.run(
        'CREATE TABLE "Odd ""name" (id INTEGER, amount DOUBLE PRECISION, size INTEGER, day DATE, city TEXT)',
        "CREATE TABLE cities (city TEXT)",
        "INSERT INTO cities VALUES ('Oslo'), ('Rome')",
    )
    cities = ("'Oslo'", "'Oslo'", "'Rome'", "NULL", "NULL")
    for number in range(100):
        day = f"2025-{number % 12 + 1:02}-15"
        amount = "NULL" if number == 7 else str(number - 50 + 0.5)
        probe.run(
            f"""INSERT INTO "Odd ""name" VALUES ({number}, {amount}, {number % 4}, '{day}', {cities[number % 5]})"""
        )
    probe.run("""INSERT INTO "Odd ""name" VALUES (100, 0, 1, '2025-06-15', 'Atlantis')""")
    tables = await profile(probe, probe.dialect, probe.tables())
    ends = {"from_table": 'Odd "name', "from_columns": ("city",), "to_table": "cities", "to_columns": ("city",)}
    relationship = Relationship(name="city", origin="inferred", **ends)
    return probe, Catalog(source="sales", dialect=probe.dialect, tables=tables, relationships=(relationship,))


async def test_values_fall_into_bins(sales: Any) -> None:
    probe, catalog = sales
    found = await table_statistics(probe, probe.dialect, table_named(catalog, 'Odd "name'))
    columns = {column.name: column for column in found.columns}
    amount = columns["amount"]
    assert sum(one.count for one in amount.histogram) == 100
    assert len(amount.histogram) == browse.BINS
    assert (amount.histogram[0].low, amount.histogram[-1].high) == (-49.5, 49.5)
    assert amount.null_count == 1
    assert [(one.low, one.high, one.count) for one in columns["size"].histogram] == [
        (0.0, 1.0, 25),
        (1.0, 2.0, 26),
        (2.0, 3.0, 25),
        (3.0, 4.0, 25),
    ]
    months = columns["day"].histogram
    assert [one.low for one in months] == [f"2025-{month:02}" for month in range(1, 13)]
    assert sum(one.count for one in months) == 101
    frequent = [(one.value, one.count) for one in columns["city"].top_values]
    assert frequent == [("Oslo", 40), ("Rome", 20), ("Atlantis", 1)]
    assert columns["id"].unique
    assert columns["id"].top_values == ()


async def test_a_large_table_is_looked_at_in_part(sales: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(browse, "LOOKED_AT", 10)
    probe, catalog = sales
    found = await table_statistics(probe, probe.dialect, table_named(catalog, 'Odd "name'))
    assert (found.looked_at, found.row_count) == (10, 101)
    assert sum(one.count for one in found.columns[2].histogram) == 10


async def test_rows_and_what_points_to_nothing(sales: Any) -> None:
    probe, catalog = sales
    table = table_named(catalog, 'Odd "name')
    assert [row[0] for row in await first_rows(probe, probe.dialect, table, 0, 3)] == [0, 1, 2]
    [check] = await relationship_checks(probe, probe.dialect, catalog)
    assert check.orphan_rows == 1
    with pytest.raises(NotFoundError) as caught:
        table_named(catalog, "odd")
    assert caught.value.stable_code == "table_unknown"
