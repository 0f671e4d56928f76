"""Nothing but a kind's own file names it: whoever treats kinds differently reads their descriptors."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from package_files import trees
from step_kinds import step_kinds

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "web" / "src"
OWN_FILES = (
    "agents/ask_step.py",
    "agents/model_descriptors.py",
    "agents/programs.py",
    "agents/statements.py",
    *(
        f"engine/steps/{name}.py"
        for name in (
            *("approval", "combine", "graph_answer", "join", "literal", "loop", "map", "present", "python", "router"),
            *("emit", "raised", "sql", "subgraph", "transform", "understand", "wait"),
        )
    ),
)


def _about_kinds(tree: ast.AST) -> Iterator[ast.AST]:
    """Expressions that say which kind a step has, such as `kind="x"`, `"kind": "x"` or `step.kind in ("x", "y")`."""
    for node in ast.walk(tree):
        match node:
            case ast.keyword(arg="kind", value=value):
                yield value
            case ast.Dict():
                yield from (
                    value
                    for key, value in zip(node.keys, node.values, strict=True)
                    if isinstance(key, ast.Constant) and key.value == "kind"
                )
            case ast.Compare() if any(_is_kind(side) for side in (node.left, *node.comparators)):
                yield node
            case ast.Match() if _is_kind(node.subject):
                yield from (case.pattern for case in node.cases)
            case ast.Subscript(value=ast.Dict() as table, slice=index) if _is_kind(index):
                yield table


def _is_kind(node: ast.AST) -> bool:
    return (isinstance(node, ast.Attribute) and node.attr == "kind") or (
        isinstance(node, ast.Name) and node.id == "kind"
    )


def _named(tree: ast.Module, kinds: frozenset[str]) -> set[str]:
    leaves = [leaf for expression in _about_kinds(tree) for leaf in ast.walk(expression)]
    composed = {"a composed name" for leaf in leaves if isinstance(leaf, ast.JoinedStr)}
    return composed | {leaf.value for leaf in leaves if isinstance(leaf, ast.Constant) and leaf.value in kinds}


@pytest.mark.parametrize("room", ["engine", "answers", "agents", "service", "gateway", "cli"])
def test_the_package_names_a_kind_only_in_its_own_file(room: str) -> None:
    kinds = frozenset(step_kinds())
    found = {}
    for place, tree in trees("kind", under=f"{room}/"):
        if place not in OWN_FILES and (names := _named(tree, kinds)):
            found[place] = names
    assert found == {}


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ('Node(id="a", kind="sql")', {"sql"}),
        ('{"id": "a", "kind": "format"}', {"format"}),
        ('step.kind in ("react", "sql")', {"react", "sql"}),
        ('{"understand": 1}[node.kind]', {"understand"}),
        ('match kind:\n  case "present": pass', {"present"}),
        ('Node(id="a", kind=f"write_{tool}")', {"a composed name"}),
        ('language == "sql"', set()),
    ],
)
def test_what_counts_as_naming_a_kind(text: str, names: set[str]) -> None:
    assert _named(ast.parse(text), frozenset(step_kinds())) == names


LANGUAGES = {"sql", "cypher", "python"}
"""Languages that kinds are called like. `shared/` knows languages, to colour code."""
LANGUAGE_ROOMS = {"shared"}
FORMS = PAGE / "graphs" / "kinds.ts"
"""The forms of nodes that people draw. `tests/web/test_files.py` holds them to the format, kind by kind."""
EVERYDAY = {"agent", "api", "approval", "ask", "format", "join", "map", "program", "tool", "transform", "wait"}
"""Kinds that are called like a field of something else on the page."""


def test_the_page_names_no_kind() -> None:
    kinds = set(step_kinds()) - EVERYDAY
    found = {}
    for path in sorted(PAGE.rglob("*.ts*")):
        # `schema.ts` is made from the server's OpenAPI document.
        if path.name.endswith(".test.ts") or path.name == "schema.ts" or path == FORMS:
            continue
        text = re.sub(r'from "[^"]+"|language="[^"]+"', "", path.read_text())
        words = set(re.findall(r'["\'`](\w+)["\'`]|^\s*(\w+):', text, re.MULTILINE))
        names = {word for pair in words for word in pair} & kinds
        if names - (LANGUAGES if path.parent.name in LANGUAGE_ROOMS else set()):
            found[str(path.relative_to(PAGE))] = names
    assert found == {}
