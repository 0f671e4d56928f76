"""Versions of the access rules, and requests for more."""

from typing import Any

import httpx
import pytest
from served_app import serving

from answerable.core.context import HOME_TENANT, LOCAL, person
from answerable.core.errors import AnswerableError, NotFoundError, RefusedError, UserError
from answerable.gateway.app import create_app
from answerable.service import Service
from answerable.settings import Settings

ANA, BO, BOSS = person("ana"), person("bo"), person("boss")


async def test_an_edit_of_the_file_is_a_version_and_can_be_undone(service: Service, settings: Settings) -> None:
    path = settings.home / "access.yaml"
    first = path.read_text()
    assert [each.version for each in await service.rules.history(BOSS)] == [1]
    path.write_text(first.replace("contact: data@example.com", "contact: help@example.com"))
    assert [(each.version, each.user) for each in await service.rules.history(BOSS)] == [(2, None), (1, None)]
    diff = await service.rules.diff(BOSS)
    assert "-contact: data@example.com" in diff
    assert "+contact: help@example.com" in diff
    undone = await service.rules.undo(BOSS)
    assert (undone.version, undone.user, path.read_text()) == (3, "boss", first)
    assert (await service.rules.undo(BOSS, version=1)).version == 3, "a repeated request changes nothing"
    assert await service.rules.diff(BOSS, version=1) == ""
    assert (await service.access.show(LOCAL)).contact == "data@example.com"
    with pytest.raises(NotFoundError):
        await service.rules.undo(BOSS, version=99)
    with pytest.raises(RefusedError):
        await service.rules.undo(ANA)
    assert not [left for left in settings.home.iterdir() if left.name.startswith("access.yaml.")]


async def test_no_version_comes_back_that_locks_everybody_out(service: Service, settings: Settings) -> None:
    path = settings.home / "access.yaml"
    right = path.read_text()
    path.write_text(right.replace("[ask, sql, python, administer]", "[ask, sql]"))
    await service.rules.history(LOCAL)
    path.write_text("rules: [")
    await service.rules.history(LOCAL)
    path.write_text(right)
    token = (await service.identity.invite("boss", LOCAL)).token
    await service.identity.accept(token, "correct horse battery staple", HOME_TENANT)
    with pytest.raises(RefusedError, match="nobody could administer"):
        await service.rules.undo(LOCAL, version=1)
    with pytest.raises(AnswerableError) as broken:
        await service.rules.undo(LOCAL, version=2)
    assert broken.value.stable_code == "access_invalid"
    assert path.read_text() == right


async def test_a_request_is_approved_for_some_days_or_denied(service: Service, clock: Any) -> None:
    asked = await service.rules.ask("plans", ANA, reason="Budget round")
    with pytest.raises(RefusedError):
        service.access.require("python", ANA)
    assert await service.rules.ask("plans", ANA, reason="Budget round") == asked
    assert [each.request_id for each in await service.rules.requests(ANA)] == [asked.request_id]
    assert await service.rules.requests(BO) == []
    with pytest.raises(RefusedError):
        await service.rules.approve(asked.request_id, "manager", ANA)
    with pytest.raises(UserError, match="no role"):
        await service.rules.approve(asked.request_id, "chief", BOSS)
    approved = await service.rules.approve(asked.request_id, "manager", BOSS, days=2)
    assert (approved.state, approved.decided_by) == ("approved", "boss")
    assert await service.rules.approve(asked.request_id, "manager", BOSS, days=2) == approved
    service.access.require("python", ANA)
    with pytest.raises(UserError, match="decided already"):
        await service.rules.deny(asked.request_id, BOSS)
    await clock.sleep(2 * 86_400 + 3)
    await service.identity.refresh(HOME_TENANT)
    with pytest.raises(RefusedError):
        service.access.require("python", ANA)
    second = await service.rules.ask("plans", ANA)
    assert (await service.rules.deny(second.request_id, BOSS, note="Not now.")).note == "Not now."
    own = await service.rules.ask("everything", BOSS)
    with pytest.raises(RefusedError, match="own request"):
        await service.rules.approve(own.request_id, "manager", BOSS)
    with pytest.raises(NotFoundError):
        await service.rules.deny("req_0", BOSS)


async def test_requests_have_bounds(service: Service) -> None:
    for wanted in ("", "   ", "x" * 2001):
        with pytest.raises(UserError):
            await service.rules.ask(wanted, ANA)
    for number in range(20):
        await service.rules.ask(f"plans {number}", ANA)
    with pytest.raises(UserError, match="open already"):
        await service.rules.ask("plans", ANA)
    with pytest.raises(UserError, match="everything already"):
        await service.rules.ask("plans", LOCAL)


async def test_a_refused_person_asks_and_then_sees_over_http(settings: Settings) -> None:
    app = create_app(settings)
    async with serving(app) as port:
        service: Service = app.state.service
        address = f"http://127.0.0.1:{port}/api/v1"
        tokens = {name: (await service.identity.begin_session(name, HOME_TENANT)).token for name in ("ana", "boss")}
        ana = httpx.AsyncClient(base_url=address, headers={"Authorization": f"Bearer {tokens['ana']}"}, timeout=60)
        boss = httpx.AsyncClient(base_url=address, headers={"Authorization": f"Bearer {tokens['boss']}"}, timeout=60)
        async with ana, boss:
            question = {"message": "SQL: SELECT salary FROM staff"}
            refused = (await ana.post("/chat", json=question)).json()
            assert refused["kind"] == "refusal"
            made = await ana.post("/access/requests", json={"wanted": "salary of staff"})
            assert made.status_code == 201
            path = f"/access/requests/{made.json()['request_id']}"
            assert (await ana.post(f"{path}/approve", json={"role": "manager"})).status_code == 403
            assert (await boss.get("/access/requests")).json()["requests"][0]["state"] == "open"
            assert (await boss.post(f"{path}/approve", json={"role": "manager", "days": 1})).status_code == 200
            assert "python" in (await service.identity.profile(ANA)).actions
            versions = (await boss.get("/access/versions")).json()["versions"]
            assert [each["version"] for each in versions] == [1]
            assert (await boss.get("/access/diff")).status_code == 404
            assert (await ana.get("/access/versions")).status_code in (200, 403)


async def test_rules_are_read_tried_and_replaced_over_http(settings: Settings) -> None:
    app = create_app(settings)
    async with serving(app) as port:
        service: Service = app.state.service
        address = f"http://127.0.0.1:{port}/api/v1"
        token = (await service.identity.begin_session("boss", HOME_TENANT)).token
        async with httpx.AsyncClient(
            base_url=address, headers={"Authorization": f"Bearer {token}"}, timeout=60
        ) as boss:
            state = (await boss.get("/access/rules")).json()
            assert (state["version"], state["text"]) == (1, (settings.home / "access.yaml").read_text())
            assert {"allow", "rows"} <= {rule["effect"] for rule in state["rules"]}
            assert "administer" in next(role for role in state["roles"] if role["name"] == "manager")["actions"]
            draft = state["text"].replace("tables: orders", "tables: odrers", 1)
            report = (await boss.post("/access/check", json={"text": draft})).json()
            assert any("odrers" in problem["message"] for problem in report["problems"])
            assert (await boss.post("/access/check", json={"text": "rules: ["})).json()["problems"][0]["rule"] == ""
            assert (await boss.put("/access/rules", json={"text": "rules: [", "version": 1})).status_code >= 400
            changed = {"text": state["text"].replace("data@example.com", "help@example.com"), "version": 1}
            for _ in range(2):  # the second one as if the first reply had been lost
                assert (await boss.put("/access/rules", json=changed)).json()["version"] == 2
            stale = await boss.put("/access/rules", json={**changed, "text": state["text"]})
            assert (stale.status_code, stale.json()["code"]) == (422, "access_changed")
            assert (await boss.get("/access/rules")).json()["contact"] == "help@example.com"
            seen = (await boss.get("/access/explain", params={"user": "ana", "source": "shop"})).json()
            assert any("by rule" in line for table in seen["tables"] for line in table["shaped"])
            assert (await boss.get("/groups")).json() == {"groups": []}
            await boss.post("/users", json={"name": "cleo", "roles": ["manager"]})
            patched = await boss.patch("/users/cleo", json={"attributes": {"region": ["West"]}})
            assert patched.json()["attributes"] == {"region": ["West"]}
            session = (await service.identity.begin_session("ana", HOME_TENANT)) and (
                await boss.get("/users/ana/sessions")
            ).json()["sessions"][0]["session_id"]
            assert (await boss.delete(f"/users/ana/sessions/{session}")).status_code == 204
            assert (await boss.get("/users/ana/sessions")).json()["sessions"] == []
