"""The dry run tells readings apart, and makes the reader surer where many agree."""

from collections.abc import Sequence
from datetime import date
from typing import Any

import pytest

from answerable.core.catalog import Catalog
from answerable.query.checked import CheckedQuery
from answerable.reader.ranking.choices import MOST_CHOICES
from answerable.reader.ranking.dry_run import MORE_RUNS, RUNS, Rows, dry_run_result
from answerable.reader.reader import Reader
from answerable.reader.reading import Unsure

VAGUE = "customers and their orders by product"


@pytest.fixture(scope="module")
def reader(shop: Catalog, values: Any) -> Reader:
    return Reader(shop.model_copy(update={"measures": ()}), values, today=lambda: date(2025, 6, 15))


def test_the_order_of_rows_counts_only_where_they_are_sorted() -> None:
    here, there = [("a", 1), ("b", 2)], [("b", 2), ("a", 1)]
    assert dry_run_result(here, ordered=False) == dry_run_result(there, ordered=False)
    assert dry_run_result(here, ordered=True) != dry_run_result(there, ordered=True)


def test_what_came_out() -> None:
    assert dry_run_result([], ordered=False).void
    assert dry_run_result([(None,), (None,)], ordered=False)[1:] == (2, True, True, False, True)
    assert dry_run_result([(0,)], ordered=False).zero
    assert dry_run_result([("a", None)], ordered=False)[1:] == (1, False, True, False, False)


def test_readings_with_the_same_rows_are_offered_once(reader: Reader) -> None:
    reply = reader.read(VAGUE)
    assert isinstance(reply, Unsure)
    assert len(reply.readings) > 1
    same = reader.read(VAGUE, run=lambda statements: [[("Ada",)] for _ in statements])
    assert not isinstance(same, Unsure) or len(same.readings) == 1


def test_where_too_few_differ_more_are_run(reader: Reader) -> None:
    asked: list[int] = []

    def run(statements: Sequence[CheckedQuery]) -> list[Rows | None]:
        asked.append(len(statements))
        return [[(sum(asked), number if len(asked) > 1 else number % 2)] for number, _ in enumerate(statements)]

    reply = reader.read(VAGUE, run=run)
    assert isinstance(reply, Unsure)
    assert asked[:2] == [RUNS, MORE_RUNS], "then those that are offered"
    assert len(reply.readings) == MOST_CHOICES


def test_a_dry_run_that_tells_nothing_changes_nothing(reader: Reader) -> None:
    assert reader.read(VAGUE, run=lambda statements: [None for _ in statements]) == reader.read(VAGUE)


def test_the_more_agree_the_surer(reader: Reader) -> None:
    alike = reader.explain_stages(VAGUE, run=lambda statements: [[("Ada",)] for _ in statements])
    apart = reader.explain_stages(VAGUE, run=lambda statements: [[(number,)] for number, _ in enumerate(statements)])
    assert alike.confidence > apart.confidence


def test_the_dry_run_is_shown(reader: Reader) -> None:
    asked: list[Sequence[CheckedQuery]] = []

    def run(statements: Sequence[CheckedQuery]) -> list[Rows | None]:
        asked.append(statements)
        return [[("Ada",)], *([[("Alan",)]] * (len(statements) - 2)), None]

    stages = reader.explain_stages(VAGUE, run=run)
    assert [record["sql"] for record in stages.dry_run] == [query.text for query in asked[0]]
    assert len(stages.dry_run) == RUNS
    assert [record["rows"] for record in stages.dry_run] == [1] * (RUNS - 1) + [None]
    assert [record.get("same_as") for record in stages.dry_run] == [None, None, *([2] * (RUNS - 3)), None]


def test_a_forced_reading_needs_no_dry_run(reader: Reader) -> None:
    def run(statements: Sequence[CheckedQuery]) -> list[Rows | None]:
        raise AssertionError(statements)

    reader.read(VAGUE, force=True, run=run)
