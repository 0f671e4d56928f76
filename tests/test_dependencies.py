"""What the code imports is declared, so that an update of another package cannot take it away."""

import ast
import re
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

from package_files import imports, texts

ROOT = Path(__file__).parents[1]
PARTS = {"pydantic-monty": "pydantic-monty-client"}
"""A package that is released in parts, and the part that holds its modules."""


def imported() -> set[str]:
    found: set[str] = set()
    for text in texts().values():
        for node in imports(text):
            if isinstance(node, ast.Import):
                found |= {alias.name.partition(".")[0] for alias in node.names}
            elif node.module:
                found.add(node.module.partition(".")[0])
    return found - set(sys.stdlib_module_names) - {"answerable"}


def declared() -> set[str]:
    """Distributions that the package and its extras require, an extra such as `psycopg[pool]` as `psycopg-pool`."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = [line for name, lines in project["optional-dependencies"].items() if name != "dev" for line in lines]
    found: set[str] = set()
    for line in (*project["dependencies"], *extras):
        match = re.match(r"([\w.-]+)(?:\[([\w,-]+)\])?", line)
        assert match is not None
        found |= {match[1], *(f"{match[1]}-{extra}" for extra in (match[2] or "").split(",") if extra)}
    return found | {part for whole, part in PARTS.items() if whole in found}


def test_every_imported_package_is_declared() -> None:
    distributions = packages_distributions()
    missing = {
        module
        for module in imported()
        if not {re.sub(r"[-_.]+", "-", name).lower() for name in distributions.get(module, [])} & declared()
    }
    assert missing == set()
