"""Agents as stored things: in versions, compared, rolled back, and asked by people and graphs."""

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from scripted_model import Reply, ScriptedModel

from answerable.app import open_service
from answerable.core.context import LOCAL, Principal
from answerable.core.errors import AgentError, AnswerableError, GraphError, NotFoundError, UserError
from answerable.core.ids import RunId, TenantId, UserId
from answerable.service import Service
from answerable.settings import Settings

TEXT = """\
# Sorts what customers write.
name: triage
role: reasoning
description: Sorts messages.
temperature: 0.2
inputs: {message: what the customer wrote}
instructions: You sort messages.
prompt: "Message: {{ message }}"
output:
  type: object
  properties: {mood: {type: string}}
  required: [mood]
"""
CALMER = TEXT.replace("temperature: 0.2", "temperature: 0.9").replace("You sort", "You calmly sort")
GRAPH = """\
name: sort
nodes:
  sorted: {kind: agent, agent: AGENT, inputs: {message: hello}}
  ok: {kind: approval, prompt: Go?, after: [sorted]}
  again: {kind: agent, agent: AGENT, inputs: {message: bye}, after: [ok]}
  told: {kind: transform, template: "{{ sorted.reply.mood }} {{ again.reply.mood }}"}
"""
STRANGER = Principal(TenantId("other"), UserId("eve"))


@pytest.fixture
async def service(tmp_path: Path, scripted_model: ScriptedModel) -> AsyncIterator[Service]:
    settings = Settings(
        home=tmp_path / "home", model="compatible:scripted", model_base_url=scripted_model.base_url, source="demo"
    )
    async with open_service(settings, any_location=True) as opened:
        yield opened


async def test_versions_differ_and_go_back(service: Service) -> None:
    first = await service.agents.save(TEXT, LOCAL, tags=["support"], expected=0)
    assert (first.stored and first.stored.version, first.text, first.inputs) == (
        1,
        TEXT,
        {"message": "what the customer wrote"},
    )
    await service.agents.save(CALMER, LOCAL, note="calmer")
    found = await service.agents.diff("triage", LOCAL)
    assert found.changed == ("temperature", "instructions")
    assert "+temperature: 0.9" in found.text
    back = await service.agents.rollback("triage", 1, LOCAL)
    assert (back.text, back.sampling) == (TEXT, {"temperature": 0.2})
    assert [(each.version, each.note) for each in await service.agents.versions("triage", LOCAL)] == [
        (3, "Back to version 1"),
        (2, "calmer"),
        (1, ""),
    ]
    assert (await service.agents.show("triage", LOCAL, version=2)).text == CALMER
    assert [each.name for each in await service.agents.list(LOCAL, tag="support")] == ["triage"]
    with pytest.raises(UserError) as caught:
        await service.agents.save(CALMER, LOCAL, expected=1)
    assert caught.value.stable_code == "agent_changed"


async def test_a_tenant_sees_only_its_own(service: Service) -> None:
    await service.agents.save(TEXT, LOCAL)
    assert "triage" not in {each.name for each in await service.agents.list(STRANGER)}
    for verb in (
        service.agents.show("triage", STRANGER),
        service.agents.versions("triage", STRANGER),
        service.agents.delete("triage", STRANGER),
        service.agents.run("triage", {"message": "x"}, STRANGER),
    ):
        with pytest.raises(NotFoundError, match="There is no agent 'triage'"):
            await verb


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("temperature: 0.2", "temperature: 9"), "agent.yaml, line 5, column 1: temperature: "),
        (("temperature: 0.2", "temprature: 0.2"), "line 5, column 1: temprature: there is no such field"),
        (("{{ message }}", "{{ mesage }}"), "line 8, column 1: prompt: the input `mesage` is not described"),
        (('"Message: {{ message }}"', "Hello"), "line 6, column 10: inputs.message: it is not used"),
        (("properties: {mood: {type: string}}", "properties: {mood: {type: words}}"), "this is no JSON Schema"),
        (("name: triage", "name: triage\nname: other"), "line 3"),
        (("role: reasoning\n", ""), "`role` is missing"),
    ],
)
async def test_a_mistake_is_named_with_its_place_and_nothing_is_stored(
    service: Service, change: tuple[str, str], message: str
) -> None:
    with pytest.raises(AgentError) as caught:
        await service.agents.save(TEXT.replace(*change), LOCAL)
    assert message in caught.value.message
    assert [each.name for each in await service.agents.list(LOCAL) if each.stored] == []


async def test_a_name_that_a_folder_has_is_taken(service: Service) -> None:
    with pytest.raises(UserError) as caught:
        await service.agents.save(TEXT.replace("name: triage", "name: plan"), LOCAL)
    assert caught.value.stable_code == "agent_name_taken"
    for verb in (service.agents.versions("plan", LOCAL), service.agents.show("plan", LOCAL, version=1)):
        with pytest.raises(NotFoundError, match="folder on the server"):
            await verb


async def test_a_run_keeps_the_agent_that_it_began_with(service: Service, scripted_model: ScriptedModel) -> None:
    await service.agents.save(TEXT, LOCAL)
    scripted_model.script([Reply.object({"mood": "calm"}), Reply.object({"mood": "angry"})])
    run = await service.graphs.begin(GRAPH.replace("AGENT", "triage"), {}, LOCAL)
    assert (await service.graphs.wait(run, LOCAL)).status == "waiting"
    await service.agents.save(CALMER, LOCAL)
    await service.agents.delete("triage", LOCAL)
    await service.runs.decide(run, "ok", LOCAL, verdict="approve")
    found = await service.graphs.wait(RunId(run), LOCAL)
    assert (found.status, found.output) == ("done", "calm angry"), found.error
    asked = json.dumps([request.json for request in scripted_model.requests])
    assert asked.count("You sort messages.") == 2
    assert "calmly" not in asked


@pytest.mark.parametrize(
    ("agent", "message"),
    [
        ("triag", "line 3, column 25: nodes.sorted.agent: there is no agent 'triag'"),
        ("triage@7", "has no version 7; the newest is 1"),
        ("plan@1", "is a folder on the server"),
    ],
)
async def test_an_agent_that_is_not_there_is_named_before_anything_starts(
    service: Service, agent: str, message: str
) -> None:
    await service.agents.save(TEXT, LOCAL)
    with pytest.raises(GraphError) as caught:
        await service.graphs.begin(GRAPH.replace("AGENT", agent), {}, LOCAL)
    assert message in caught.value.message
    assert await service.runs.list(LOCAL) == []


async def test_inputs_and_replies_are_checked_before_a_run(service: Service) -> None:
    await service.agents.save(TEXT, LOCAL)
    wrong = GRAPH.replace("AGENT", "triage@1")
    for text, message in (
        (wrong.replace("{message: hello}", "{massage: hello}"), "disagree about: massage, message"),
        (wrong.replace("sorted.reply.mood", "sorted.reply.mod"), "it has no field `mod`"),
    ):
        with pytest.raises(GraphError, match=message):
            await service.graphs.validate(text, LOCAL)


async def test_a_graph_whose_agent_was_deleted_says_so_and_starts_nothing(service: Service) -> None:
    await service.agents.save(TEXT, LOCAL)
    await service.graphs.save(GRAPH.replace("AGENT", "triage"), LOCAL)
    await service.agents.delete("triage", LOCAL)
    with pytest.raises(AnswerableError, match="there is no agent 'triage'"):
        await service.graphs.begin_stored("sort", {}, LOCAL)
    assert await service.runs.list(LOCAL) == []


def test_the_command_line_stores_compares_and_exports(answerable: Any, tmp_path: Path) -> None:
    (tmp_path / "a.agent.yaml").write_bytes(TEXT.replace("\n", "\r\n").encode())
    assert answerable("agents", "save", "a.agent.yaml").out.strip() == "triage: version 1"
    (tmp_path / "a.agent.yaml").write_text(CALMER)
    assert answerable("agents", "save", "a.agent.yaml", "--note", "calmer").out.strip() == "triage: version 2"
    assert answerable("agents", "diff", "triage").code == 1
    assert "calmer" in answerable("agents", "versions", "triage").out
    assert "version 2  Sorts messages." in answerable("agents", "list").out
    answerable("agents", "rollback", "triage", "1")
    assert answerable("agents", "export", "triage@1", "-o", "b.yaml").code == 0
    assert (tmp_path / "b.yaml").read_bytes() == TEXT.replace("\n", "\r\n").encode()
    assert answerable("agents", "delete", "triage").code == 0
    assert answerable("agents", "export", "triage").code == 2
