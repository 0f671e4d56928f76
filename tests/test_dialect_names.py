"""SQL dialects and engines are named in their own rooms. Elsewhere the names may only become fewer."""

import ast
from pathlib import Path

PACKAGE = Path(__file__).parents[1] / "src" / "answerable"
NAMES = {"duckdb", "sqlite", "postgres"}
ROOMS = ("query/sql/", "sources/sql/", "sources/workers/", "store/")


def _names(path: Path) -> bool:
    return any(isinstance(node, ast.Constant) and node.value in NAMES for node in ast.walk(ast.parse(path.read_text())))


def test_other_rooms_do_not_name_a_dialect() -> None:
    paths = {str(path.relative_to(PACKAGE)): path for path in PACKAGE.rglob("*.py")}
    assert {name for name, path in paths.items() if not name.startswith(ROOMS) and _names(path)} == {
        "query/merged.py",
        "reader/grammar/measure_expressions.py",
        "sandbox/policy.py",
    }
