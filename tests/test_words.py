"""Words: each public class has one name and each name one class; docstrings and the changelog are in plain form."""

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
ODD_BEGINNING = re.compile(
    r"(Of |Nothing |Whose |None but )|.*\b([Nn]othing (when|where|if)|is told instead|the like)\b"
)
KINDS_OF_CHANGES = {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}
DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def definitions() -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef]]:
    for path in sorted((ROOT / "src").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, DEFINITIONS):
                yield f"{path.relative_to(ROOT)}:{node.lineno}", node


def test_no_two_public_classes_have_one_name() -> None:
    places = defaultdict(list)
    for place, node in definitions():
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            places[node.name].append(place)
    assert {name: where for name, where in places.items() if len(where) > 1} == {}


def test_docstrings_begin_with_a_plain_sentence() -> None:
    odd = [place for place, node in definitions() if ODD_BEGINNING.match(ast.get_docstring(node) or "")]
    assert odd == []


def test_names_say_what_a_thing_is() -> None:
    """Not only that something was done with it. The reader speaks of words that a follow-up keeps."""
    vague = {"told", "kept", "made"}
    found = []
    for path in sorted((ROOT / "src").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())) if "reader" not in path.parts else ():
            stored = isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
            name = node.id if isinstance(node, ast.Name) else node.arg if isinstance(node, ast.arg) else ""
            if (stored or isinstance(node, ast.arg)) and name.strip("_").lower() in vague:
                found.append(f"{path.relative_to(ROOT)}: {name}")
    assert found == []


@pytest.mark.parametrize(
    ("text", "odd"),
    [
        ("Nothing where the other table has not what the plan needs.", True),
        ("Measures a suite; one that is under way is told instead.", True),
        ("Returns None if the other table lacks a column that the plan needs.", False),
    ],
)
def test_what_counts_as_odd(text: str, odd: bool) -> None:
    assert bool(ODD_BEGINNING.match(text)) is odd


def test_the_changelog_keeps_its_form() -> None:
    text = (ROOT / "CHANGELOG.md").read_text()
    versions = re.findall(r"^## (.*)$", text, re.MULTILINE)
    assert versions[0] == "[Unreleased]"
    assert [name for name in versions[1:] if not re.fullmatch(r"\[\d+\.\d+\.\d+\] - \d{4}-\d{2}-\d{2}", name)] == []
    assert set(re.findall(r"^### (.*)$", text, re.MULTILINE)) <= KINDS_OF_CHANGES


def test_every_word_of_the_glossary_is_explained_once() -> None:
    section = (ROOT / "ARCHITECTURE.md").read_text().split("## Glossary")[1].split("\n## ")[0]
    rows = re.findall(r"^\| \*\*(.+?)\*\* \| .+ \| `(.+?)` \|$", section, re.MULTILINE)
    assert len(rows) == section.count("\n| **") >= 20
    assert len({word for word, _ in rows}) == len(rows)
    assert [place for _, place in rows if not (ROOT / "src" / "answerable" / place).is_file()] == []
