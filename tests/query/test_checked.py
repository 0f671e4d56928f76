"""Unchecked text cannot reach a source: only checkers create checked queries, and sources take nothing else."""

import ast
from pathlib import Path

import pytest
from package_files import trees

from answerable.core.catalog import Catalog, Column, Table
from answerable.core.errors import UserError
from answerable.query.checked import CheckedQuery
from answerable.query.sql.check import checked
from answerable.sources.base import Limits
from answerable.sources.open import open_source


def _kinds() -> dict[str, str]:
    """The subclasses of `CheckedQuery`, with the modules that define them."""
    return {
        node.name: module
        for module, tree in trees("CheckedQuery")
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef) and any(ast.unparse(base) == "CheckedQuery" for base in node.bases)
    }


def test_only_the_module_of_a_checker_creates_its_checked_queries() -> None:
    kinds = _kinds()
    assert set(kinds) == {"CheckedSql", "CompiledSql", "OperatorSql", "CheckedCypher"}
    created = {
        (module, node.func.id)
        for module, tree in trees(*kinds, "CheckedQuery")
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in {*kinds, "CheckedQuery"}
    }
    assert created == {
        ("query/cypher/check.py", "CheckedCypher"),
        ("query/sql/check.py", "CheckedSql"),
        ("query/sql/operator.py", "OperatorSql"),
        ("query/sql/to_sql.py", "CompiledSql"),
    }


def test_only_evaluations_run_statements_of_the_operator_as_they_stand() -> None:
    """Sources know them only to check their text, once rules apply to whoever asks."""
    named = {
        module
        for module, tree in trees("operator")
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        and (
            node.module == "answerable.query.sql.operator"
            or (node.module == "answerable.query.sql" and any(alias.name == "operator" for alias in node.names))
        )
    }
    assert named == {"service/eval_runner.py", "sources/sql/source.py"}


def test_nobody_creates_one_of_no_language() -> None:
    with pytest.raises(TypeError):
        CheckedQuery("duckdb", "SELECT 1")


async def test_a_source_refuses_a_query_of_a_language_that_it_does_not_speak(tmp_path: Path) -> None:
    (tmp_path / "towns.csv").write_text("name\nRome\n")
    source = await open_source(str(tmp_path / "towns.csv"), cache=tmp_path / "cache")
    try:
        table = Table(name="towns", columns=(Column(name="name", type="text"),))
        foreign = checked("SELECT name FROM towns", Catalog(source="other", dialect="postgres", tables=(table,)))
        for attempt in (
            source.check(foreign),
            source.execute(foreign, tmp_path / "x.arrow", Limits()),
            source.peek([foreign], Limits()),  # type: ignore[attr-defined]
        ):
            with pytest.raises(UserError) as caught:
                await attempt
            assert caught.value.stable_code == "query_language_unknown"
            assert caught.value.hint == "It is asked in duckdb."
        assert not (tmp_path / "x.arrow").exists()
    finally:
        await source.close()
