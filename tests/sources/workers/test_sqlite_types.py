"""Types of SQLite results, from their values."""

from typing import Any

import pytest

from answerable.sources.workers.sqlite_types import declared_type, joined, type_of, widened


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([], None),
        ([None, None], None),
        ([1, None, 2], "integer"),
        ([1, 2.5], "number"),
        ([True, False, None], "boolean"),
        ([True, 2], "integer"),
        ([b"x"], "binary"),
        (["x", 1], "text"),
        ([b"x", "y"], "text"),
        (["2024-01-31", None], "date"),
        (["2024-01-31", "2024-02-30"], "text"),
        (["2024-01-31 10:00", "2024-01-31T10:00:00.5", "2024-02-01"], "datetime"),
        (["2024-01-31T10:00:00Z"], "text"),
        (["20240131"], "text"),
        (["2024-01-31", 5], "text"),
        (["hello", "world, this is text of 20"], "text"),
    ],
)
def test_type_of(values: list[Any], expected: str | None) -> None:
    assert type_of(values) == expected


def test_joining_never_narrows() -> None:
    kinds = ["boolean", "integer", "number", "date", "datetime", "text", "binary", None]
    for one in kinds:
        for other in kinds:
            both = joined(one, other)
            assert both == joined(other, one)
            assert joined(both, one) == both, "what holds both holds each"


def test_widened_stretches_only_what_must() -> None:
    assert widened(["integer", "text", None], [(1.5,), (b"",), ("2024-01-01",)]) == ["number", "text", "date"]


@pytest.mark.parametrize(
    ("declaration", "expected"),
    [
        ("INTEGER", "integer"),
        ("bigint unsigned", "integer"),
        ("VARCHAR(20)", "text"),
        ("DECIMAL(10,2)", "number"),
        ("double precision", "number"),
        ("DATETIME", "datetime"),
        ("timestamp with time zone", "datetime"),
        ("DATE", "date"),
        ("BOOLEAN", "boolean"),
        ("JSON", "json"),
        ("BLOB", "binary"),
        ("", "text"),
        ("POINT", "integer"),
        ("whatever", "text"),
    ],
)
def test_declared(declaration: str, expected: str) -> None:
    """`POINT` contains INT, which SQLite itself takes for an integer."""
    assert declared_type(declaration) == expected
