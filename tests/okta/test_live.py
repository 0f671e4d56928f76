"""The live API of a synced tenant, as a source beside it."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from answerable.core.errors import AnswerableError
from answerable.library import Answerable
from answerable.okta.live import USUAL, checked_entities, endpoints
from answerable.okta.simulator.populate import simulated_tenant
from answerable.okta.simulator.server import TOKEN, Simulator, served


def test_the_document_has_the_endpoints_of_okta() -> None:
    found = endpoints().endpoints
    assert len(found) >= 110
    assert len({endpoint.entity for endpoint in found}) >= 28
    assert {"list", "get"} == {endpoint.operation for endpoint in found}
    assert checked_entities(()) == USUAL
    assert checked_entities(USUAL) == USUAL
    with pytest.raises(AnswerableError, match="unicorns"):
        checked_entities(["unicorns"])


def test_a_question_about_now_is_answered_live(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OKTA_API_TOKEN", TOKEN)
    tenant = simulated_tenant(12, 3, datetime(2026, 11, 16, tzinfo=UTC), groups=0)
    with served(Simulator(tenant)) as url, Answerable(home=tmp_path) as corp:
        corp.okta.sync("corp", url=url)
        assert corp.okta.live("corp", ["groups", "zones"]) == "corp_live"
        tenant.groups.add({**next(iter(tenant.groups)), "id": "00gNewOne"})
        with Answerable("corp_live", home=tmp_path) as live, Answerable("corp", home=tmp_path) as synced:
            now, before = live.ask("How many groups are there?"), synced.ask("How many groups are there?")
        assert (now.value, before.value) == (len(tenant.groups), len(tenant.groups) - 1)
        assert now.answer.provenance.data_source_type == "api"
        assert before.answer.provenance.data_source_type == "sql"
        with pytest.raises(AnswerableError, match="nobody"):
            corp.okta.live("nobody")


def test_a_question_about_right_now_joins_what_is_synced_with_what_is_asked_live(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OKTA_API_TOKEN", TOKEN)
    tenant = simulated_tenant(12, 3, datetime(2026, 11, 16, tzinfo=UTC), groups=0)
    user = next(user for user in tenant.users if tenant.factors.get(user["id"]))
    asked = f"What factors does {user['profile']['displayName']} have right now?"
    with served(Simulator(tenant)) as url, Answerable(home=tmp_path) as corp:
        corp.okta.sync("corp", url=url)
        [_, *rest] = tenant.factors[user["id"]]
        tenant.factors[user["id"]] = rest
        with Answerable("corp", home=tmp_path) as synced:
            before = synced.ask(asked).answer
            assert (before.row_count, before.provenance.data_source_type) == (len(rest) + 1, "sql")
            assert "Nothing was asked live" in str(before.provenance.findings)
        corp.okta.live("corp", ["users", "factors"])
        with Answerable("corp", home=tmp_path) as both:
            now = both.ask(asked).answer
            ordinary = both.ask(asked.replace(" right now", "")).answer
    assert (now.row_count, now.provenance.data_source_type) == (max(1, len(rest)), "hybrid")
    parts = {step.id: (step.source, step.data_source_type, step.last_sync) for step in now.steps}
    assert parts["synced"][:2] == ("corp", "sql")
    assert parts["live"][:2] == ("corp_live", "api")
    assert parts["synced"][2] < parts["live"][2]  # type: ignore[operator]
    assert ordinary.provenance.data_source_type == "sql"
