"""The shipped vocabulary: each of its questions is answered by its own statement, with any value in its places."""

import shutil
from pathlib import Path

from answerable.core.question_places import PLACE
from answerable.library import Answerable
from answerable.okta.golden import DATA
from answerable.okta.tenants import VOCABULARY
from answerable.sources.semantic import load

VALUES = {
    "applications.name": "Slack",
    "applications.name 2": "Company Wiki",
    "groups.name": "office-new-york",
    "groups.name 2": "vpn-users",
    "users.name": "José Bauer",
    "administrators.role": "Help Desk Administrator",
    "factors.factor_type": "webauthn",
    "factors.strength": "strong",
    "login_risks.risk": "push bombing",
    "period": "since March 2026",
    "duration": "90 days",
    "number": "3",
    "users": "contractors in London",
    "users.department": "Sales",
}


def test_every_question_of_the_vocabulary_is_answered_by_its_statement(tmp_path: Path) -> None:
    shutil.copy(DATA, tmp_path / "okta.sqlite")
    shutil.copy(VOCABULARY, tmp_path / "semantic.yaml")
    wrong: list[str] = []
    with Answerable(tmp_path / "okta.sqlite", home=tmp_path / "home") as corp:
        for known in load(VOCABULARY).questions:
            asked = PLACE.sub(lambda place: VALUES[place[1]], known.question)
            answer = corp.ask(asked).answer
            if answer.status != "done" or "in semantic.yaml" not in answer.model_dump_json():
                wrong.append(f"{asked}: {answer.text}")
    assert wrong == []


def test_why_somebody_has_access_is_drawn(tmp_path: Path) -> None:
    shutil.copy(DATA, tmp_path / "okta.sqlite")
    shutil.copy(VOCABULARY, tmp_path / "semantic.yaml")
    with Answerable(tmp_path / "okta.sqlite", home=tmp_path / "home") as corp:
        drawn = corp.ask("How does Emeka Diallo have access to GitHub?").answer.graph
        assert drawn is not None
        named = {node.id: node.name for node in drawn.nodes}
        assert [(named[edge.source], edge.label, named[edge.target]) for edge in drawn.edges] == [
            ("emeka.diallo0@acme.example", "matches", 'Engineering staff: user.department=="Engineering"'),
            ('Engineering staff: user.department=="Engineering"', "in", "dept-engineering"),
            ("dept-engineering", "has", "GitHub"),
        ]
        assert corp.ask("Who has access to GitHub?").answer.graph is None
