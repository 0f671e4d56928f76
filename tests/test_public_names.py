"""The public surface is explicit: adding or removing a name is a decision, seen in this file's diff."""

import subprocess
import sys

import answerable

PUBLIC = [
    "Answer",
    "Answerable",
    "AnswerableError",
    "InternalError",
    "LimitError",
    "NotFoundError",
    "OperatorError",
    "RefusedError",
    "Result",
    "SourceError",
    "TransientError",
    "UserError",
]


def test_the_public_names_are_these() -> None:
    assert answerable.__all__ == PUBLIC
    assert dir(answerable) == PUBLIC


def test_every_public_name_can_be_had() -> None:
    assert all(getattr(answerable, name).__name__ == name for name in PUBLIC)


def test_an_unknown_name_is_an_attribute_error() -> None:
    assert not hasattr(answerable, "ask")


def test_importing_answerable_imports_nothing_heavy() -> None:
    heavy = ["polars", "duckdb", "sqlglot", "psycopg", "fastapi", "rich", "pydantic", "yaml"]
    code = f"import sys, answerable, answerable.cli.main; print([n for n in {heavy} if n in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
