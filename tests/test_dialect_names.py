"""SQL dialects and engines are named in the table of dialects, by their own backends and workers, and by the store.
All other code asks the row of the dialect."""

import ast
from pathlib import Path

PACKAGE = Path(__file__).parents[1] / "src" / "answerable"
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


def _names_a_dialect(path: Path) -> bool:
    return any(isinstance(node, ast.Constant) and node.value in NAMES for node in ast.walk(ast.parse(path.read_text())))


def test_a_dialect_is_named_in_its_own_files_only() -> None:
    paths = {str(path.relative_to(PACKAGE)): path for path in PACKAGE.rglob("*.py")}
    assert [name for name, path in paths.items() if not name.startswith(ALLOWED) and _names_a_dialect(path)] == []
