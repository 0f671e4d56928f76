"""Quantities that follow from two columns, rates, and tables that are grids of numbers."""

from datetime import date
from pathlib import Path

import pytest
from tests.reader.small_databases import described

from answerable.query.compiling import compiled
from answerable.reader.everyday.weighing import everyday_plans
from answerable.reader.reader import Reader

JOBS = """job,client,hours,rate,booked,finished,paid,crew,remark
Roof,Alder,10,80,2024-03-01,2024-03-09,yes,North,None
Wall,Birch,4,60,2024-03-05,2024-03-06,no,North,late start
Gate,Cedar,6,75,2024-04-02,2024-04-20,yes,South,None
Shed,Dogwood,30,50,2024-05-01,2024-05-30,no,South,rain
Path,Elder,8,65,2024-06-11,2024-06-14,yes,North,None
Door,Fir,3,90,2024-06-20,2024-06-21,yes,South,None
"""
POWER = "region,year,output,deaths\n" + "\n".join(
    f"{region},{year},{100 * number + year},{year - 2010 + number}"
    for number, region in enumerate(("Coast", "Hills", "Plain"))
    for year in range(2015, 2020)
)


def reader_of(folder: Path, name: str, text: str) -> Reader:
    (folder / f"{name}.csv").write_text(text, "utf-8")
    catalog, values = described(str(folder / f"{name}.csv"), folder / "cache")
    return Reader(catalog, values, today=lambda: date(2026, 1, 1))


@pytest.fixture(scope="module")
def readers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Reader]:
    return {
        "jobs": reader_of(tmp_path_factory.mktemp("jobs"), "fieldjobs", JOBS),
        "power": reader_of(tmp_path_factory.mktemp("power"), "power", POWER),
    }


def proposed(reader: Reader, question: str) -> list[str]:
    plans = everyday_plans(reader.linked(question, guessing=True))[:3]
    return [" ".join(compiled(one.plan, reader.catalog).text.split()) for one in plans]


@pytest.mark.parametrize(
    ("table", "question", "parts"),
    [
        ("jobs", "how much did we bill the north crew", ("hours * rate", "'North'")),
        ("jobs", "average wait by crew", ("AVG(finished - booked)", "GROUP BY crew")),
        ("jobs", "jobs that took longer than 10 days", ("SELECT job", "(finished - booked) > 10")),
        ("jobs", "jobs that took more than a week", ("SELECT job", "(finished - booked) > 7")),
        ("jobs", "share of paid jobs per crew", ("100 *", "'yes'", "crew")),
        ("jobs", "jobs without any remark", ("remark = 'None'",)),
        ("jobs", "jobs with a rate above average", ("> ( SELECT AVG(rate)",)),
        ("jobs", "finished in june", ("COUNT(*)", "2024-06-01")),
        ("jobs", "the cheapest north one", ("ORDER BY rate", "'North'")),
        ("power", "trend of the coast", ("AVG", "year", "ORDER BY")),
        ("power", "coast vs hills in total", ("SUM", "IN ('Coast', 'Hills')", "GROUP BY")),
        ("power", "best year for hills", ("output", "'Hills'", "LIMIT 1")),
        ("power", "deadliest region", ("deaths", "DESC", "LIMIT 1")),
        ("power", "output per province", ("output", "GROUP BY region")),
        ("power", "did we make more in 2019 than in 2018", ("IN (2018, 2019)", "GROUP BY")),
    ],
)
def test_the_words_lead_to_the_quantity(
    readers: dict[str, Reader], table: str, question: str, parts: tuple[str, ...]
) -> None:
    found = proposed(readers[table], question)
    assert any(all(part in sql for part in parts) for sql in found), found


def test_a_year_is_no_quantity_and_cells_of_a_grid_are_not_counted(readers: dict[str, Reader]) -> None:
    for question in ("average per region", "hills by year", "how has it changed over the years"):
        found = proposed(readers["power"], question)
        assert found
        assert not any("AVG(year)" in sql or "SUM(year)" in sql for sql in found), found
        assert "COUNT(*)" not in found[0]


def test_one_at_the_end_is_no_number(readers: dict[str, Reader]) -> None:
    assert not any("= 1" in sql for sql in proposed(readers["jobs"], "the priciest south one"))
