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
WITHOUT_A_NOUN = re.compile(
    r"(As|At|By|For|From|In|On|To|With|Without|Also|It|Those|One that|So many|The same (for|in|without))\b|The same[,.]"
)
"""Beginnings that leave the reader to guess what a sentence is about. The reader's forms may quote questions."""
KINDS_OF_CHANGES = {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}
DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
DOCSTRING = re.compile(rf'"""({ODD_BEGINNING.pattern}|{WITHOUT_A_NOUN.pattern})')


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
            odd += [f"{place}:{n.lineno}" for n in nodes if _is_odd(ast.get_docstring(n) or "", place)]
    assert odd == []


def _is_odd(text: str, place: str) -> bool:
    return bool(ODD_BEGINNING.match(text) or (not place.startswith("reader/") and WITHOUT_A_NOUN.match(text)))


def test_names_say_what_a_thing_is() -> None:
    """Not only that something was done with it. The reader speaks of words that a follow-up keeps."""
    vague = {"told", "kept", "made", "asking", "several", "elsewhere", "namesakes", "examiner", "rehearsal"}
    found = []
    for place, tree in trees(rf"_*({'|'.join(vague)})_*", flags=re.IGNORECASE):
        names = map(_defined_name, ast.walk(tree) if not place.startswith("reader/") else ())
        found += [f"{place}: {name}" for name in names if name.strip("_").lower() in vague]
    assert found == []


def _defined_name(node: ast.AST) -> str:
    """The name that a variable, a parameter, a function or a class gets here, or an empty text."""
    if isinstance(node, ast.Name):
        return node.id if isinstance(node.ctx, ast.Store) else ""
    return node.arg if isinstance(node, ast.arg) else node.name if isinstance(node, DEFINITIONS) else ""


@pytest.mark.parametrize(
    ("text", "odd"),
    [
        ("Nothing where the other table has not what the plan needs.", True),
        ("Measures a suite; one that is under way is told instead.", True),
        ("By the names of the result columns.", True),
        ("The same, for a commit that stores more than events.", True),
        ("Returns None if the other table lacks a column that the plan needs.", False),
    ],
)
def test_what_counts_as_odd(text: str, odd: bool) -> None:
    assert _is_odd(text, "planted.py") is odd


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
