"""What has happened and what has not, ends of a way, each side of a flag: mechanisms that many data sets share."""

import sqlite3
from collections.abc import Callable
from datetime import date
from pathlib import Path

import pytest
from tests.reader.small_databases import described

from answerable.query.sql.to_sql import to_sql
from answerable.reader.everyday.weighing import everyday_plans
from answerable.reader.reader import Reader

SCHEMA = """
create table couriers(courier_id integer primary key, name text, joined date);
create table parcels(parcel_id integer primary key, courier_id integer references couriers(courier_id), sent_on date,
  delivered_on date, from_city text, to_city text, weight_kg real, fee real, status text, insurance text, signed text);
insert into couriers values (1,'Ann Lee','2020-01-01'),(2,'Bo Dahl','2021-05-05'),(3,'Cy Marsh','2022-02-02');
"""
PARCELS = [
    (
        number,
        1 + number % 2,
        f"2025-0{1 + number % 6}-11",
        None if number % 5 == 0 else f"2025-0{1 + number % 6}-15",
        ("Oslo", "Bergen", "Molde")[number % 3],
        ("Bergen", "Oslo", "Oslo", "Molde")[number % 4],
        1.5 + number % 7,
        10.0 + number % 9,
        ("paid", "in transit", "no show")[number % 3],
        ("None", "Basic", "Full")[number % 3],
        ("yes", "no")[number % 2],
    )
    for number in range(1, 61)
]


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory) -> Reader:
    folder: Path = tmp_path_factory.mktemp("parcels")
    connection = sqlite3.connect(folder / "parcels.sqlite")
    connection.executescript(SCHEMA)
    connection.executemany(f"insert into parcels values ({','.join('?' * 11)})", PARCELS)
    connection.commit()
    connection.close()
    catalog, values = described(str(folder / "parcels.sqlite"), folder / "cache")
    return Reader(catalog, values, today=lambda: date(2026, 1, 1))


@pytest.fixture
def proposed(reader: Reader) -> Callable[[str], list[str]]:
    def statements(question: str) -> list[str]:
        plans = everyday_plans(reader.linked(question, guessing=True))
        return [to_sql(one.plan, reader.catalog, "sqlite") for one in plans]

    return statements


Proposed = Callable[[str], list[str]]


@pytest.mark.parametrize(
    ("question", "condition"),
    [
        ("undelivered parcels", "delivered_on IS NULL"),
        ("uninsured parcels", "insurance = 'None'"),
        ("unpaid parcels", "status <> 'paid'"),
        ("unsigned parcels", "signed = 'no'"),
        ("how many parcels were delivered", "delivered_on IS NOT NULL"),
        ("parcels in transit", "status = 'in transit'"),
        ("no shows", "status = 'no show'"),
        ("parcels to oslo", "to_city = 'Oslo'"),
        ("parcels from oslo", "from_city = 'Oslo'"),
    ],
)
def test_a_phrase_becomes_the_condition_that_it_means(proposed: Proposed, question: str, condition: str) -> None:
    assert condition in proposed(question)[0]


def test_a_place_that_is_in_two_columns_is_proposed_in_both(proposed: Proposed) -> None:
    found = " ".join(proposed("parcels oslo"))
    assert "to_city = 'Oslo'" in found
    assert "from_city = 'Oslo'" in found


def test_each_negation_is_a_condition(proposed: Proposed) -> None:
    found = proposed("no insurance, not signed")
    assert any("insurance = 'None'" in one and "signed = 'no'" in one for one in found)


def test_rows_are_counted_once_however_many_others_they_have(proposed: Proposed) -> None:
    first = proposed("how many couriers sent parcels in march 2025")[0]
    assert "COUNT(DISTINCT couriers.courier_id)" in first


def test_a_price_per_unit_divides_by_the_number_in_that_unit(proposed: Proposed) -> None:
    assert any("SUM(fee)" in one and "SUM(weight_kg)" in one for one in proposed("fee per kg"))


def test_an_idiom_is_read_as_what_it_means(reader: Reader) -> None:
    words = reader.linked("how many were turned down", guessing=True).words
    assert "rejected" in words
    assert "turned" not in words


def test_people_who_deal_with_each_other_are_not_the_same(tmp_path: Path) -> None:
    path = tmp_path / "school.sqlite"
    connection = sqlite3.connect(path)
    connection.executescript(
        "create table courses(course_id integer primary key, title text);"
        "create table students(student_id integer primary key, name text, course_id integer references courses);"
        "insert into courses values (1,'Art'),(2,'Law');"
        "insert into students values (1,'Ann Lee',1),(2,'Bo Dahl',1),(3,'Cy Marsh',2);"
    )
    connection.close()
    catalog, values = described(str(path), tmp_path / "cache")
    school = Reader(catalog, values, today=lambda: date(2026, 1, 1))
    plans = everyday_plans(school.linked("teachers per course", guessing=True))
    assert all(plan.left_over for plan in plans)
