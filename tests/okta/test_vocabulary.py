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
