"""Rows described in a few words, and questions of `semantic.yaml` with such descriptions in their places."""

from pathlib import Path

import pytest

from answerable.core.errors import AnswerableError
from answerable.library import Answerable

PEOPLE = (
    "id,name,kind,city,status\n1,Ada,Contractor,London,active\n2,Bo,Employee,London,left\n"
    "3,Cy,Contractor,Paris,active\n4,Di,Employee,Paris,active\n"
)
NAMES = """
version: 1
tables:
  people: {synonyms: [persons, staff]}
questions:
  - question: Which {people} like tea?
    also: ["do {people} like tea"]
    sql: SELECT name FROM people WHERE id IN ('{people}') ORDER BY 1
  - question: The {number} oldest badges
    sql: SELECT id FROM people ORDER BY id LIMIT '{number}'
"""


@pytest.fixture(scope="module")
def office(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("office")
    (folder / "people.csv").write_text(PEOPLE)
    (folder / "semantic.yaml").write_text(NAMES)
    return folder


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("Which contractors like tea?", ["Ada", "Cy"]),
        ("which people in London like tea", ["Ada", "Bo"]),
        ("Which active employees like tea?", ["Di"]),
        ("which of the contractors in Paris like tea?", ["Cy"]),
        ("Do persons whose city is Paris like tea?", ["Cy", "Di"]),
    ],
)
def test_values_of_the_table_describe_its_rows(office: Path, tmp_path: Path, question: str, names: list[str]) -> None:
    with Answerable(office, home=tmp_path) as asked:
        answer = asked.ask(question).answer
    assert [row[0] for row in answer.rows] == names
    assert "in semantic.yaml" in str(answer.provenance.understood)


@pytest.mark.parametrize(
    "question",
    ["Which people not in London like tea?", "Which tall people like tea?", "which people in London or Paris like tea"],
)
def test_what_is_not_understood_is_not_passed_over(office: Path, tmp_path: Path, question: str) -> None:
    with Answerable(office, home=tmp_path) as asked:
        assert "semantic.yaml" not in asked.ask(question).answer.model_dump_json(include={"provenance"})


def test_a_number_has_its_place(office: Path, tmp_path: Path) -> None:
    with Answerable(office, home=tmp_path) as asked:
        assert [row[0] for row in asked.ask("the two oldest badges").answer.rows] == [1, 2]
        assert len(asked.ask("the 3 oldest badges").answer.rows) == 3


def test_a_table_without_a_key_cannot_be_described(tmp_path: Path) -> None:
    (tmp_path / "pairs.csv").write_text("one,other\n1,1\n1,2\n2,1\n")
    question = "  - question: Which {pairs} fit?\n    sql: SELECT one FROM pairs WHERE one IN ('{pairs}')\n"
    (tmp_path / "semantic.yaml").write_text(f"version: 1\nquestions:\n{question}")
    wrong = pytest.raises(AnswerableError, match="key of one column")
    with Answerable(tmp_path, home=tmp_path / "home") as asked, wrong:
        asked.ask("which pairs fit")
