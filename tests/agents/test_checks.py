"""A check counts only if it recomputes something of the answer's own rows in another way."""

from typing import Any

import pytest

from answerable.agents.checks import CheckedRows, CheckResult, NotThere, is_independent, same_value, verdict
from answerable.agents.replies import Verification
from answerable.core.values import OutputColumn

ROWS = CheckedRows(
    columns=(OutputColumn(name="region", type="text"), OutputColumn(name="orders", type="integer")),
    rows=[("North", 3), ("South", 4)],
    row_count=2,
    code="SELECT region, COUNT(*) AS orders FROM orders GROUP BY region",
)


def check(**told: Any) -> Verification:
    return Verification(sql="SELECT 1", **told)


@pytest.mark.parametrize(
    ("claimed", "found", "rounded", "same"),
    [
        (3304, 3304, False, True),
        (3304, 3305, False, False),
        (3304, 3304.4, False, False),
        (3304, 3304.4, True, True),
        (0.27, 0.270504, True, True),
        (0.27, 0.270504, False, False),
        (0.27, 0.2761, True, False),
        (317904.25, 317904.2500000001, False, True),
        (317904.25, 317904.26, True, False),
        (1e21, 1e21, False, True),
        (1e-7, 3.0, True, False),
        ("North", "north ", False, True),
        ("North", "South", False, False),
        ("2025-01-01", "2025-01-01T00:00:00", False, True),
        (None, None, False, True),
        (None, 0, False, False),
        (True, 1, False, False),
    ],
)
def test_values_are_the_same_as_far_as_they_were_rounded(claimed: Any, found: Any, rounded: bool, same: bool) -> None:
    assert same_value(claimed, found, rounded=rounded) is same


@pytest.mark.parametrize(
    ("told", "value"),
    [
        ({"of": "rows"}, 2),
        ({"of": "sum", "column": "orders"}, 7),
        ({"of": "cell", "column": "orders", "row": 2}, 4),
        ({"of": "cell", "column": "region"}, "North"),
    ],
)
def test_what_must_come_out_is_read_from_the_rows(told: dict[str, Any], value: Any) -> None:
    assert ROWS.value(check(**told)) == value


@pytest.mark.parametrize(
    "told",
    [
        {"of": "cell", "column": "zone"},
        {"of": "cell", "column": "orders", "row": 3},
        {"of": "cell", "column": "orders", "row": 0},
        {"of": "sum", "column": "region"},
        {"of": "sum"},
    ],
)
def test_a_check_of_what_is_not_there_is_no_check(told: dict[str, Any]) -> None:
    with pytest.raises(NotThere):
        ROWS.value(check(**told))


@pytest.mark.parametrize(
    ("sql", "tables", "independent"),
    [
        ("SELECT COUNT(*) FROM orders", {"orders"}, True),
        ("SELECT COUNT(*) FROM weather", {"weather"}, False),
        (ROWS.code, {"orders"}, False),
        (f"select count(*) from ({ROWS.code.lower()});", {"orders"}, False),
    ],
)
def test_a_check_is_a_query_of_its_own_over_the_same_tables(sql: str, tables: set[str], independent: bool) -> None:
    assert is_independent(sql, tables, ROWS.code, {"orders"}) is independent


def result(claimed: Any, found: Any, **more: Any) -> CheckResult:
    return CheckResult(check(question="How many?"), claimed, found, **more)


def test_confidence_follows_from_the_checks() -> None:
    assert verdict([result(3, 3)], ()).confidence == "high"
    assert verdict([result(3, 3, decisive=False)], ()).confidence is None, "the number of rows says nothing of figures"
    assert verdict([result(3, None, ran=False)], ()).confidence is None
    assert verdict([result(3, 3)], ("It leaves out refunds.",)).confidence == "medium"
    wrong = verdict([result(3, 3), result(3, 4)], ())
    assert wrong.confidence == "low"
    assert wrong.doubt == "A check does not hold: How many? The answer says 3, the data says 4."
    assert not ROWS.decides(check(of="rows"))
    assert ROWS.decides(check(of="sum", column="orders"))
