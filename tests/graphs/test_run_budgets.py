"""What one run may use of models: its nodes and the graphs inside of them share it, also at the same time."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from scripted_model import Reply, ScriptedModel

from answerable.app import open_service
from answerable.core.context import LOCAL
from answerable.service import Service
from answerable.service.graphs import GraphRun
from answerable.settings import Settings

AGENT = "{kind: agent, prompt: 'Say {{ input.item }}'}"


@pytest.fixture
async def service(tmp_path: Path, scripted_model: ScriptedModel) -> AsyncIterator[Service]:
    settings = Settings(home=tmp_path / "home", model="compatible:scripted", model_base_url=scripted_model.base_url)
    async with open_service(settings, any_location=True) as opened:
        yield opened


async def ran(service: Service, budget: str) -> GraphRun:
    text = f"""
name: many
budget: {budget}
nodes:
  each: {{kind: map, over: [a, b, c], concurrency: 3, body: {{nodes: {{x: {AGENT}}}}}}}
  inside: {{kind: subgraph, after: [each], body: {{nodes: {{x: {{kind: agent, prompt: Sum up}}}}}}}}
  told: {{kind: transform, template: "{{{{ inside.output.reply }}}}"}}
"""
    return await service.graphs.wait(await service.graphs.begin(text, {}, LOCAL), LOCAL)


async def test_nodes_that_run_at_once_make_no_more_calls_than_the_run_may(
    service: Service, scripted_model: ScriptedModel
) -> None:
    scripted_model.script([Reply.text("fine")] * 4)
    found = await ran(service, "{model_calls: 2}")
    assert (found.status, found.error["code"]) == ("failed", "run_budget_spent")
    assert len(scripted_model.requests) == 2


async def test_a_budget_that_suffices_to_the_last_call_lets_the_run_end(
    service: Service, scripted_model: ScriptedModel
) -> None:
    scripted_model.script([Reply.text("fine")] * 4)
    found = await ran(service, "{model_calls: 4}")
    assert (found.status, found.output) == ("done", "fine"), found.error
    assert len(scripted_model.requests) == 4


async def test_a_graph_inside_shares_the_tokens(service: Service, scripted_model: ScriptedModel) -> None:
    scripted_model.script([Reply.text("fine")] * 4)
    found = await ran(service, "{tokens: 1}")
    assert (found.status, found.error["code"]) == ("failed", "run_budget_spent")
    assert 1 <= len(scripted_model.requests) <= 3, "those that began before any had told its tokens"
