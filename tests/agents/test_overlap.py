"""Steps that do not wait for each other ask their models at the same time; what a model says is told as it comes."""

import threading
from pathlib import Path

import pytest
from scripted_model import Reply, Request, ScriptedModel

from answerable.app import open_service
from answerable.core.context import LOCAL
from answerable.core.events import StepOutput
from answerable.settings import load_settings

PLAN = {
    "steps": [
        {"id": "men", "tool": "sql", "context": "how many men"},
        {"id": "women", "tool": "sql", "context": "how many women"},
        {
            "id": "both",
            "tool": "combine",
            "after": ["men", "women"],
            "code": "SELECT men.n + women.n AS n FROM men, women",
        },
    ]
}


async def test_calls_of_independent_steps_overlap(
    scripted_model: ScriptedModel, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("ANSWERABLE_MODEL", "compatible:scripted")
    monkeypatch.setenv("ANSWERABLE_MODEL_BASE_URL", scripted_model.base_url)
    (tmp_path / "people.csv").write_text("sex\nm\nf\nf\n")
    both_are_here = threading.Barrier(2, timeout=30)

    def reply(request: Request) -> Reply:
        both_are_here.wait()  # neither is answered before the other has asked
        sex = "f" if "how many women" in request.text else "m"
        return Reply.object({"sql": f"SELECT count(*) AS n FROM people WHERE sex = '{sex}'"})

    scripted_model.script(reply)
    async with open_service(load_settings(), any_location=True) as service:
        run = await service.questions.begin_query("plan", PLAN, LOCAL, source=str(tmp_path / "people.csv"))
        answer = await service.runs.wait(run, LOCAL)
        told = [event async for event in service.runs.events(run, LOCAL) if isinstance(event, StepOutput)]
    assert answer.rows == ((3,),), answer.text
    assert len(scripted_model.requests) == 2
    tokens = "".join(event.data["text"] for event in told if event.channel == "token" and event.node.endswith("women"))
    assert tokens == '{"sql": "SELECT count(*) AS n FROM people WHERE sex = \'f\'"}'
