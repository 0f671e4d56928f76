"""An answer over nothing says that there is nothing: missing values, missing periods, filters that match no row, and
tables without rows. It never names a winner among things without a value."""

import contextlib
import re
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from answerable import Answerable

SAYS_NOTHING = re.compile(r"\bno value\b|Nothing matched|^0 |None of them has a value|has no rows|^No [a-z ]+ match")
REGIONS = ("North", "South")
DAYS = [(year, month) for year in (2022, 2023, 2024) for month in (2, 8)]
COLUMNS = "id INTEGER PRIMARY KEY, ordered_on DATE, region TEXT, amount REAL"

Row = tuple[int, str, str, float | None]


def rows(amounts: bool) -> list[Row]:
    days = [(f"{year}-{month:02}-15", region) for year, month in DAYS for region in REGIONS]
    return [(number, day, region, number * 10.5 if amounts else None) for number, (day, region) in enumerate(days, 1)]


def database(folder: Path, content: list[Row]) -> Path:
    path = folder / "shop.sqlite"
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute(f"CREATE TABLE orders ({COLUMNS})")
        connection.executemany("INSERT INTO orders VALUES (?, ?, ?, ?)", content)
        connection.commit()
    return path


@contextlib.contextmanager
def opened(path: Path) -> Iterator[Answerable]:
    with Answerable(path, home=path.parent / "home") as data:
        yield data


@pytest.fixture(scope="module")
def full(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Answerable]:
    with opened(database(tmp_path_factory.mktemp("full"), rows(amounts=True))) as data:
        yield data


@pytest.fixture(scope="module")
def blank(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Answerable]:
    """Orders of three years without a single amount."""
    with opened(database(tmp_path_factory.mktemp("blank"), rows(amounts=False))) as data:
        yield data


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Answerable]:
    with opened(database(tmp_path_factory.mktemp("empty"), [])) as data:
        yield data


def text_of(data: Answerable, question: str) -> str:
    """The answer's text. A question back is no answer, and counts as saying nothing."""
    data.forget()  # otherwise it would be read as a follow-up
    result = data.ask(question)
    asks_back = result.kind == "clarify" and bool(result.choices)
    return "no value is claimed" if asks_back else result.text


OF_AMOUNTS = [
    "which region grew fastest in 2024?",
    "which region grew least in 2024?",
    "how much did amount grow from 2023 to 2024?",
    "growth of amount by region in 2024",
    "total amount in 2024",
    "total amount by region",
    "average amount by region",
    "amount by region in 2024",
    "amount per month in 2024",
    "top 3 regions by amount",
    "which region has the highest amount in 2024?",
    "which region has the lowest total amount?",
    "share of amount by region",
    "maximum and minimum amount",
    "median amount",
    "amount in 2023 and 2024",
]


@pytest.mark.parametrize("question", OF_AMOUNTS)
def test_missing_values_are_no_answer(blank: Answerable, question: str) -> None:
    said = text_of(blank, question)
    assert SAYS_NOTHING.search(said), said
    assert not said.startswith("Region:"), said


@pytest.mark.parametrize("question", [*OF_AMOUNTS, "list orders in 2024", "orders in 2024", "how many orders?"])
def test_a_table_without_rows_is_no_answer(empty: Answerable, question: str) -> None:
    said = text_of(empty, question)
    assert SAYS_NOTHING.search(said), said


@pytest.mark.parametrize(
    "question",
    [
        "orders in 2031",
        "how many orders in 2031?",
        "total amount in 2031",
        "amount by region in 2031",
        "growth of amount in 2031",
        "growth of amount by region in 2031",
        "which region grew fastest in 2031?",
        "top 3 regions by amount in 2031",
        "amount in 2030, 2031 and 2032",
        "amount per month in 2031",
    ],
)
def test_a_period_without_rows_is_no_answer(full: Answerable, question: str) -> None:
    said = text_of(full, question)
    assert SAYS_NOTHING.search(said), said


def test_a_csv_with_a_header_alone_has_no_rows(tmp_path: Path) -> None:
    (tmp_path / "orders.csv").write_text("id,ordered_on,region,amount\n")
    with opened(tmp_path / "orders.csv") as data:
        said = text_of(data, "which region grew fastest in 2024?")
        assert said.startswith("orders has no rows, so there is nothing to answer from.")
        assert text_of(data, "how many orders?") == "0 orders."


@pytest.mark.parametrize(
    ("question", "count"),
    [
        ("how many orders in 2022, 2023 and 2024?", 12),
        ("how many orders in 2022 and 2024?", 8),
        ("how many orders in 2022 or 2023?", 8),
        ("how many orders in February 2022, August 2023 and August 2024?", 6),
        ("how many orders in 2022, 2023 and 2031?", 8),
        ("how many orders since 2023?", 8),
        ("how many orders in 2024?", 4),
    ],
)
def test_periods_named_together_mean_any_of_them(full: Answerable, question: str, count: int) -> None:
    full.forget()
    result = full.ask(question)
    assert count in [*result.to_polars().row(0), sum(result.to_polars().row(0))], result.text


def test_a_follow_up_takes_all_periods_that_it_names(full: Answerable) -> None:
    full.forget()
    assert full.ask("how many orders in 2022?").value == 4
    assert full.ask("and in 2022, 2023 and 2024?").value == 12
    assert full.ask("and in 2023?").value == 4


def test_a_region_without_an_earlier_value_cannot_win(tmp_path: Path) -> None:
    """South has no orders in 2023: its growth is unknown, and North's 10 % is the fastest that is known."""
    content: list[Row] = [
        (1, "2023-02-15", "North", 100),
        (2, "2024-02-15", "North", 110),
        (3, "2024-02-15", "South", 9),
    ]
    with opened(database(tmp_path, content)) as data:
        assert text_of(data, "which region grew fastest in 2024?") == "Region: North."
        assert text_of(data, "which region grew least in 2024?") == "Region: North."
