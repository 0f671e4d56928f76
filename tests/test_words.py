"""Words: each public class has one name and each name one class; docstrings and the changelog are in plain form."""

import ast
import re
from collections import defaultdict
from pathlib import Path

import pytest
from package_files import texts, trees

ROOT = Path(__file__).parents[1]
ODD_BEGINNING = re.compile(
    r"(Of |Nothing |Whose |None but )|.*\b([Nn]othing (when|where|if)|is told instead|the like)\b"
)
KINDS_OF_CHANGES = {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}
DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
DOCSTRING = re.compile(rf'"""({ODD_BEGINNING.pattern})')


def test_no_two_public_classes_have_one_name() -> None:
    places = defaultdict(list)
    for place, text in texts().items():
        for name in re.findall(r"^[ \t]*class ([A-Za-z]\w*)[:(]", text, re.MULTILINE):
            places[name].append(place)
    assert len(places) > 500
    assert {name: where for name, where in places.items() if len(where) > 1} == {}


def test_docstrings_begin_with_a_plain_sentence() -> None:
    odd = []
    for place, text in texts().items():
        if DOCSTRING.search(text):
            nodes = [node for node in ast.walk(ast.parse(text)) if isinstance(node, DEFINITIONS)]
            odd += [f"{place}:{n.lineno}" for n in nodes if ODD_BEGINNING.match(ast.get_docstring(n) or "")]
    assert odd == []


def test_names_say_what_a_thing_is() -> None:
    """Not only that something was done with it. The reader speaks of words that a follow-up keeps."""
    vague = {"told", "kept", "made"}
    found = []
    for place, tree in trees(rf"_*({'|'.join(vague)})_*", flags=re.IGNORECASE):
        for node in ast.walk(tree) if not place.startswith("reader/") else ():
            stored = isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
            name = node.id if isinstance(node, ast.Name) else node.arg if isinstance(node, ast.arg) else ""
            if (stored or isinstance(node, ast.arg)) and name.strip("_").lower() in vague:
                found.append(f"{place}: {name}")
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
