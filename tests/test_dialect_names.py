"""SQL dialects and engines are named in the table of dialects, by their own backends and workers, and by the store.
All other code asks the row of the dialect."""

import ast

from package_files import trees

NAMES = {"duckdb", "sqlite", "postgres", "postgresql"}
ALLOWED = (
    "query/sql/dialects.py",
    "sources/sql/duckdb.py",
    "sources/sql/sqlite.py",
    "sources/sql/postgres",
    "sources/sql/database_files.py",  # the first bytes of each engine's files
    "sources/workers/",
    "store/",
)


def _names_a_dialect(tree: ast.Module) -> bool:
    return any(isinstance(node, ast.Constant) and node.value in NAMES for node in ast.walk(tree))


def test_a_dialect_is_named_in_its_own_files_only() -> None:
    others = ((place, tree) for place, tree in trees(*NAMES) if not place.startswith(ALLOWED))
    assert [place for place, tree in others if _names_a_dialect(tree)] == []
