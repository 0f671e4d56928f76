"""Ready-made graphs: every case beside them holds, and users find and change them."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from scripted_model import Reply, ScriptedModel

import answerable.okta
from answerable.app import open_service
from answerable.core.context import LOCAL
from answerable.core.errors import NotFoundError, UserError
from answerable.graphs.ready_made import FOLDER, ready_graph, ready_graphs, renamed
from answerable.service import Service
from answerable.settings import Settings

NAMES = ("access-review", "data-quality", "debate", "research", "sales-brief", "support-triage")
OKTA = str(Path(answerable.okta.__file__).parent / "data" / "okta.sqlite")


def cases() -> Iterator[Any]:
    for name in NAMES:
        for case in yaml.safe_load((FOLDER / f"{name}.cases.yaml").read_text()):
            yield pytest.param(name, case, id=f"{name}: {case['name']}")


def reply(written: Any) -> Reply:
    if isinstance(written, str):
        return Reply.text(written)
    return Reply.tool_call(written["tool"], written["arguments"]) if "tool" in written else Reply.object(written)


def decision(written: Any) -> dict[str, Any]:
    if isinstance(written, str):
        return {"verdict": written}
    [(verdict, data)] = written.items()
    return {"verdict": verdict, "data": data}


@pytest.mark.parametrize(("name", "case"), list(cases()))
async def test_a_case_holds(name: str, case: Any, tmp_path: Path, scripted_model: ScriptedModel) -> None:
    for file, text in case.get("files", {}).items():
        (tmp_path / file).write_text(text)
    source = case.get("source")
    place = {"OKTA": OKTA, "demo": "demo", None: None}.get(source, str(tmp_path / str(source)))
    model = {"model": "compatible:scripted", "model_base_url": scripted_model.base_url} if "replies" in case else {}
    scripted_model.script([reply(each) for each in case.get("replies", ())])
    text = renamed(ready_graph(name), "tried", place)
    async with open_service(Settings(home=tmp_path / "home", **model), any_location=True) as service:
        run = await service.graphs.begin(text, case.get("input", {}), LOCAL)
        found = await service.graphs.wait(run, LOCAL)
        for node, decided in case.get("decisions", {}).items():
            assert (found.status, found.nodes[node].status) == ("waiting", "waiting"), found.error
            await service.runs.decide(run, node, LOCAL, **decision(decided))
            found = await service.graphs.wait(run, LOCAL)
    expected = case["expect"]
    assert found.status == expected["status"], found.error
    if "output" in expected:
        assert found.output == expected["output"]
    for said in expected.get("says", ()):
        assert said in found.output


def test_all_are_listed_and_those_without_a_model_come_without_one() -> None:
    assert tuple(each.name for each in ready_graphs()) == NAMES
    assert [each.name for each in ready_graphs() if not each.needs_model] == [
        "access-review",
        "data-quality",
        "sales-brief",
    ]


async def test_a_new_graph_is_a_stored_one_and_overwrites_nothing(service: Service) -> None:
    made = await service.graphs.new("nightly", LOCAL, template="data-quality", source="it's/here.csv")
    assert (made.graph.name, made.version.version) == ("nightly", 1)
    assert "source: 'it''s/here.csv'" in made.text
    for attempt, code in (
        (service.graphs.new("nightly", LOCAL, template="debate"), "graph_changed"),
        (service.graphs.new("No Name", LOCAL, template="debate"), "graph_name_invalid"),
    ):
        with pytest.raises(UserError) as caught:
            await attempt
        assert caught.value.stable_code == code
    with pytest.raises(NotFoundError, match="no ready-made graph 'debat'"):
        await service.graphs.new("x", LOCAL, template="debat")


def test_the_command_line_lists_makes_and_runs_one(answerable: Any, tmp_path: Path) -> None:
    assert "sales-brief" in answerable("graph", "list").out
    assert [each["name"] for each in json.loads(answerable("graph", "list", "--json").out)["templates"]] == [*NAMES]
    (tmp_path / "people.csv").write_text("id,name\n1,Ada\n2,Bo\n")
    assert answerable("graph", "new", "mine", "--from", "data-quality", "--source", "people.csv").code == 0
    assert answerable("graph", "run", "mine", "-o", "report.txt").out == ""
    assert (tmp_path / "report.txt").read_text() == "Data quality: nothing to report."
