from typing import Any

import pytest

from answerable.engine.conditions import holds, is_empty
from answerable.engine.graph import Condition

OUTPUT = {"count": 3, "name": "x", "tags": ["a", "b"], "nested": [{"ok": True}], "none": None}


@pytest.mark.parametrize(
    ("path", "op", "value", "expected"),
    [
        (("count",), "=", 3, True),
        (("count",), "!=", 3, False),
        (("count",), "<", 4, True),
        (("count",), "<=", 2, False),
        (("count",), ">", 2, True),
        (("count",), ">=", 4, False),
        (("count",), "in", [1, 3], True),
        (("tags",), "contains", "b", True),
        (("tags",), "contains", "z", False),
        (("nested", 0, "ok"), "=", True, True),
        (("nested", 5, "ok"), "=", None, True),
        (("count", "deeper"), "empty", None, True),
        (("none",), "not_empty", None, False),
        ((), "not_empty", None, True),
        (("name",), "<", 3, False),
        (("missing",), ">", 3, False),
        (("count",), "in", 3, False),
    ],
)
def test_conditions(path: tuple[Any, ...], op: Any, value: Any, expected: bool) -> None:
    condition = Condition(input="a", path=path, op=op, value=value)
    assert holds(condition, OUTPUT) is expected


def test_a_condition_reads_as_it_is_meant() -> None:
    assert str(Condition(input="a", path=("rows", 0), op=">", value=3)) == "a.rows.0 > 3"
    assert str(Condition(input="a", op="empty")) == "a empty"


@pytest.mark.parametrize(
    "output", [None, 0, "", [], {}, {"kind": "frame", "row_count": 0}, {"frame": {"kind": "frame", "row_count": 0}}]
)
def test_these_are_nothing(output: Any) -> None:
    assert is_empty(output)


@pytest.mark.parametrize(
    "output",
    [1, "x", [0], {"kind": "frame", "row_count": 1}, {"frame": {"kind": "frame", "row_count": 2}}, {"frame": None}],
)
def test_these_are_something(output: Any) -> None:
    assert not is_empty(output)
