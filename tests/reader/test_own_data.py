"""Files as strangers bring them: flags, years and weekdays in columns of their own, abbreviated headers, codes, long
values. What a question in everyday words is taken for."""

from datetime import date
from pathlib import Path

import pytest
from tests.reader.small_databases import described

from answerable.query.sql.to_sql import to_sql
from answerable.reader.everyday.calendar_columns import calendar_part
from answerable.reader.everyday.weighing import everyday_plans
from answerable.reader.grammar.dated_scene import DatedScene
from answerable.reader.linking.column_kinds import adds_up, flag_values, is_whole
from answerable.reader.linking.scene import link_question
from answerable.reader.linking.tokens import tokenize
from answerable.reader.reader import Reader
from answerable.reader.time.date_phrases import find_dates

CRUISE = """Id,Pclass,Name,Age,Survived,smoker,Fare,children,Weekday,YrBooked,EU_Sales,JP_Sales,Global_Sales,Party,Crew
1,1,Ann Lee,34,1,yes,80.5,0,Sat,2019,1,2,4,Rep,Red Team North
2,3,Bo Dahl,12,0,no,9.25,2,Sun,2019,2,0,3,Dem,Blue Team South
3,2,Cy Marsh,45,1,no,21,1,Sat,2020,3,1,9,Dem,Red Team South
4,3,Di Novak,47,0,yes,8.5,0,Fri,2020,0,4,5,Rep,Green Deck Watch
5,1,Ed Park,61,1,no,120,3,Fri,2021,5,1,8,Rep,Blue Team South
6,3,Flo Quinn,29,0,no,7.75,0,Thur,2021,1,3,6,Dem,Green Deck Watch
"""
ORDERS = """order_no,customer,region,qty,unit_price,placed
1,Acme,North,2,10,2023-01-05
2,Acme,South,1,30,2023-02-07
3,Bolt,North,9,12,2023-02-11
4,Crown,West,4,11,2023-06-20
5,Bolt,West,1,99,2023-06-21
6,Acme,North,3,14,2023-07-02
"""


def _reader(text: str, name: str, folder: Path) -> Reader:
    (folder / name).write_text(text, "utf-8")
    catalog, values = described(str(folder / name), folder / "cache")
    return Reader(catalog, values, today=lambda: date(2026, 1, 1))


@pytest.fixture(scope="module")
def cruise(tmp_path_factory: pytest.TempPathFactory) -> Reader:
    return _reader(CRUISE, "cruise.csv", tmp_path_factory.mktemp("cruise"))


@pytest.fixture(scope="module")
def orders(tmp_path_factory: pytest.TempPathFactory) -> Reader:
    return _reader(ORDERS, "orders.csv", tmp_path_factory.mktemp("orders"))


def proposed(reader: Reader, question: str) -> list[str]:
    scene = link_question(tokenize(question), reader.schema, reader.values, guessing=True)
    plans = everyday_plans(DatedScene(scene, find_dates(scene.question.text, date(2026, 1, 1))))
    return [" ".join(to_sql(one.plan, reader.catalog).split()) for one in plans[:3]]


@pytest.mark.parametrize(
    ("question", "parts"),
    [
        ("how many people drowned", ("COUNT(*)", "Survived = 0")),
        ("how many smokers survived", ("smoker", "Survived = 1")),
        ("childless passengers, how many", ("COUNT(*)", "children = 0")),
        ("how many people in their forties", ("Age BETWEEN 40 AND 49",)),
        ("average fare by class", ("Pclass", "AVG(Fare)", "GROUP BY Pclass")),
        ("how many came on saturdays", ("Weekday", "'Sat'")),
        ("bookings per year", ("YrBooked", "GROUP BY YrBooked")),
        ("how many republicans", ("Party = 'Rep'",)),
        ("the 3 best sellers in japan", ("JP_Sales DESC", "LIMIT 3")),
        ("what percent of worldwide sales is europe", ("SUM(EU_Sales)", "SUM(Global_Sales)")),
        ("yungest passenger", ("ORDER BY Age", "LIMIT 1")),
        ("fare of the green deck people", ("Crew = 'Green Deck Watch'",)),
        ("passengers of the red team", ("Crew ILIKE '%red team%'",)),
        ("anyone older than 50?", ("Age > 50",)),
    ],
)
def test_words_about_people_on_a_cruise(cruise: Reader, question: str, parts: tuple[str, ...]) -> None:
    found = proposed(cruise, question)
    assert any(all(part in sql for part in parts) for sql in found), found


@pytest.mark.parametrize(
    ("question", "parts"),
    [
        ("who's our best customer", ("customer", "SUM(", "GROUP BY customer", "LIMIT 1")),
        ("revenue by region", ("SUM(qty * unit_price)", "GROUP BY region")),
        ("how much money did we take", ("SUM(qty * unit_price)",)),
        ("which customer ordered most often", ("GROUP BY customer", "COUNT(*)", "LIMIT 1")),
    ],
)
def test_words_about_business(orders: Reader, question: str, parts: tuple[str, ...]) -> None:
    found = proposed(orders, question)
    assert any(all(part in sql for part in parts) for sql in found), found


def test_the_june_that_is_meant_is_the_one_in_the_data(orders: Reader) -> None:
    """The data ended in July 2023, long before today."""
    pool = orders.pool("what did folks buy in june", lambda queries: [None] * len(queries))
    assert "2023-06-01" in str(pool.proposals[0].reading.sql)


def test_kinds_of_columns(cruise: Reader) -> None:
    by_name = {view.name: view for view in cruise.schema.columns}
    assert {name for name, view in by_name.items() if flag_values(view)} == {"Survived", "smoker"}
    assert {name for name, view in by_name.items() if adds_up(view)} >= {"EU_Sales", "JP_Sales", "Global_Sales"}
    assert not any(adds_up(by_name[name]) for name in ("Age", "Pclass", "Survived", "YrBooked"))
    assert [name for name, view in by_name.items() if is_whole(view)] == ["Global_Sales"]
    assert {name: calendar_part(view) for name, view in by_name.items() if calendar_part(view)} == {
        "Weekday": "weekday",
        "YrBooked": "year",
    }


def test_a_reader_that_lives_for_days_knows_the_day(tmp_path: Path) -> None:
    """The data goes on: a month later, "last month" is another one."""
    (tmp_path / "visits.csv").write_text("day,guests\n2025-05-01,3\n2025-06-28,4\n", "utf-8")
    catalog, values = described(str(tmp_path / "visits.csv"), tmp_path / "cache")
    days = iter([date(2025, 7, 1)] * 2 + [date(2025, 8, 1)] * 2)
    reader = Reader(catalog, values, today=lambda: next(days))
    read = [reader.pool("folks who came last month", lambda queries: [None] * len(queries)) for _ in range(2)]
    months = [str(pool.proposals[0].reading.sql) for pool in read]
    assert "2025-06-01" in months[0]
    assert "2025-07-01" in months[1]
