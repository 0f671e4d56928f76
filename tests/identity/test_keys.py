"""Keys for programs: they give what their scopes say, for as long as they count, and no more."""

import re
from collections.abc import Awaitable
from datetime import timedelta
from typing import Any

import httpx
import pytest
from served_app import serving

from answerable.core.context import HOME_TENANT, LOCAL, Principal, person
from answerable.core.errors import AnswerableError, NotFoundError, RefusedError, UserError
from answerable.gateway.app import create_app
from answerable.service import Service
from answerable.settings import Settings

ANA, BO, BOSS = person("ana"), person("bo"), person("boss")


async def test_a_key_gives_its_scopes_and_nothing_else(service: Service, settings: Settings) -> None:
    made = await service.keys.add(BOSS, name="reports", scopes=["ask"], days=30)
    program = await service.keys.person_with(made.key, HOME_TENANT)
    assert program is not None
    service.access.require("ask", program)
    for action in ("sql", "python", "administer"):
        service.access.require(action, BOSS)
        with pytest.raises(RefusedError):
            service.access.require(action, program)
    for file in settings.home.rglob("*"):
        assert not file.is_file() or made.key.encode() not in file.read_bytes(), file


async def test_a_key_expires_and_says_when_it_was_used(service: Service, clock: Any) -> None:
    made = await service.keys.add(ANA, days=2)
    assert (await service.keys.list(ANA))[0].used_at is None
    await clock.sleep(60)
    assert await service.keys.person_with(made.key, HOME_TENANT) is not None
    assert (await service.keys.list(ANA))[0].used_at == clock.now()
    await clock.sleep(2 * 86_400)
    assert await service.keys.person_with(made.key, HOME_TENANT) is None
    assert [key.counts for key in await service.keys.list(ANA)] == [False]


async def test_a_rotated_key_counts_for_as_long_as_it_was_given(service: Service, clock: Any) -> None:
    old = await service.keys.add(ANA, scopes=["ask", "sql"], days=10)
    new = await service.keys.rotate(old.view.key_id, ANA, grace_hours=1)
    assert (new.view.scopes, new.view.expires_at) == (["ask", "sql"], clock.now() + timedelta(days=10))
    assert all([await service.keys.person_with(made.key, HOME_TENANT) for made in (old, new)])
    await clock.sleep(3600)
    assert await service.keys.person_with(old.key, HOME_TENANT) is None
    with pytest.raises(UserError, match="no longer counts"):
        await service.keys.rotate(old.view.key_id, ANA)
    newest = await service.keys.rotate(new.view.key_id, ANA)
    assert await service.keys.person_with(new.key, HOME_TENANT) is None
    await service.keys.revoke(newest.view.key_id, ANA)
    assert await service.keys.person_with(newest.key, HOME_TENANT) is None


async def test_keys_of_others_are_for_administrators(service: Service) -> None:
    key = (await service.keys.add(ANA)).view.key_id
    attempt: Awaitable[object]
    attempts: tuple[Awaitable[object], ...] = (
        service.keys.revoke(key, BO),
        service.keys.rotate(key, BO),
        service.keys.revoke("kid_0", BO),
    )
    for attempt in attempts:
        with pytest.raises(NotFoundError):
            await attempt
    attempts = (
        service.keys.add(BO, user="ana"),
        service.keys.list(BO, user="ana"),
        service.keys.revoke_all(BO, user="ana"),
    )
    for attempt in attempts:
        with pytest.raises(RefusedError, match="administer"):
            await attempt
    assert [each.key_id for each in await service.keys.list(BOSS, user="ana")] == [key]
    assert await service.keys.revoke_all(BOSS, user="ana") == 1


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({"scopes": ["administer"]}, "key_scope_refused"),
        ({"scopes": ["fly"]}, "key_invalid"),
        ({"scopes": []}, "key_invalid"),
        ({"days": 0}, "key_invalid"),
        ({"days": 99999}, "key_invalid"),
        ({"name": " "}, "key_invalid"),
        ({"user": "nobody-known"}, "access_user_unknown"),
    ],
)
async def test_a_key_that_cannot_be_is_refused(service: Service, options: dict[str, Any], code: str) -> None:
    with pytest.raises(AnswerableError) as refused:
        await service.keys.add(LOCAL, **{"user": "ana", **options})
    assert refused.value.stable_code == code


async def test_who_comes_with_a_key_cannot_get_more_by_it(service: Service) -> None:
    made = await service.keys.add(BOSS, scopes=["ask"])
    program = await service.keys.person_with(made.key, HOME_TENANT)
    assert program is not None
    for attempt in (
        service.keys.add(program, scopes=["administer"]),
        service.keys.add(program, scopes=["ask"]),
        service.keys.rotate(made.view.key_id, program),
        service.keys.revoke_all(program),
        service.identity.add_user("mallory", program),
    ):
        with pytest.raises(RefusedError):
            await attempt


async def test_a_service_has_keys_and_no_password(service: Service) -> None:
    added = await service.identity.add_service("nightly", LOCAL, roles=["seller"], attributes={"region": ["West"]})
    assert (added.origin, added.can_sign_in) == ("service", False)
    made = await service.keys.add(LOCAL, user="nightly", scopes=["sql"])
    for attempt in (service.identity.invite("nightly", LOCAL), service.identity.set_password("nightly", "x", LOCAL)):
        with pytest.raises(UserError, match="no password"):
            await attempt
    assert await service.keys.person_with(made.key, HOME_TENANT) == person("nightly", scopes=frozenset({"sql"}))
    await service.identity.set_disabled("nightly", True, LOCAL)
    assert await service.keys.person_with(made.key, HOME_TENANT) is None
    await service.identity.set_disabled("nightly", False, LOCAL)
    assert await service.keys.person_with(made.key, HOME_TENANT) is None


async def test_sessions_of_others_are_for_administrators(service: Service) -> None:
    await service.identity.begin_session("ana", HOME_TENANT, client="Firefox")
    [session] = await service.identity.sessions(BOSS, user="ana")
    for attempt in (
        service.identity.sessions(BO, user="ana"),
        service.identity.end_session(session.session_id, BO, user="ana"),
    ):
        with pytest.raises(RefusedError):
            await attempt
    await service.identity.end_session(session.session_id, BOSS, user="ana")
    assert await service.identity.sessions(ANA) == []


OPEN_TO_EVERY_KEY = {
    ("GET", "/api/v1/identity"),
    ("POST", "/api/v1/sign-in"),
    ("POST", "/api/v1/sign-out"),
    ("POST", "/api/v1/invitations/accept"),
    ("GET", "/api/v1/keys"),
}
"""What says nothing about data: who is signed in, and which keys one has."""
_PATHS = {"run_id": "run_" + "0" * 24, "thread_id": "thr_" + "0" * 24, "key_id": "kid_" + "0" * 16}


# FastAPI makes the document with a field that pydantic warns about.
@pytest.mark.filterwarnings("ignore::pydantic.warnings.UnsupportedFieldAttributeWarning")
async def test_no_route_takes_a_key_whose_scopes_do_not_allow_it(settings: Settings) -> None:
    """A key that may only evaluate is refused by every route that is not about that."""
    policy = settings.home / "access.yaml"
    policy.write_text(policy.read_text().replace("[ask, sql, python, administer]", "[ask, evaluate, administer]"))
    app = create_app(settings)
    paths: dict[str, Any] = app.openapi()["paths"]
    async with serving(app) as port:
        service: Service = app.state.service
        made = await service.keys.add(LOCAL, user="boss", scopes=["evaluate"])
        bearer = {"Authorization": f"Bearer {made.key}"}
        async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", headers=bearer, timeout=60) as client:
            tried = 0
            for path, operations in paths.items():
                for method in map(str.upper, operations):
                    if not path.startswith("/api/v1/") or (method, path) in OPEN_TO_EVERY_KEY:
                        continue
                    if "evals" in path or "eval" in str(operations[method.lower()].get("tags")):
                        continue
                    address = re.sub(r"\{(\w+)\}", lambda found: _PATHS.get(found[1], "x"), path)
                    reply = await client.request(method, address, json={})
                    tried += 1
                    # A body or a parameter that is wrong may be told first; nothing else may.
                    assert reply.status_code in (403, 404, 422), (method, path, reply.text)
                    assert reply.status_code == 403 or reply.json()["code"] in _SAID_FIRST, (method, path, reply.text)
            assert tried > 60
            assert (await client.get("/api/v1/runs")).status_code == 403
            assert (await client.get("/api/v1/sources")).status_code == 403
            assert (await client.get("/metrics")).status_code == 403
            assert (await client.get("/api/v1/evals/suites")).status_code in (200, 404)


_SAID_FIRST = {"request_invalid", "key_not_found"}


async def test_a_program_asks_with_its_key_over_http(settings: Settings) -> None:
    app = create_app(settings)
    async with serving(app) as port:
        service: Service = app.state.service
        session = await service.identity.begin_session("ana", HOME_TENANT)
        address = f"http://127.0.0.1:{port}/api/v1"
        async with httpx.AsyncClient(base_url=address, timeout=60) as client:
            cookie = {"Cookie": f"answerable_session={session.token}"}
            made = await client.post("/keys", json={"name": "laptop", "scopes": ["ask", "sql"]}, headers=cookie)
            assert made.status_code == 201
            bearer = {"Authorization": f"Bearer {made.json()['key']}"}
            asked = await client.post("/chat", json={"message": "SQL: SELECT count(*) FROM staff"}, headers=bearer)
            assert asked.json()["rows"] == [[3]]
            assert made.json()["key"] not in (await client.get("/keys", headers=cookie)).text
            refused = await client.put("/password", json={"old": "x", "new": "y"}, headers=bearer)
            assert refused.json()["code"] == "access_action_denied"
            rotated = await client.post(f"/keys/{made.json()['view']['key_id']}/rotate", json={}, headers=cookie)
            assert (await client.get("/runs", headers=bearer)).status_code == 401
            new = {"X-API-Key": rotated.json()["key"]}
            assert (await client.get("/runs", headers=new)).status_code == 200
            assert (await client.delete("/keys", headers=cookie)).json() == {"revoked": 1}
            assert (await client.get("/runs", headers=new)).status_code == 401


def test_the_scopes_are_part_of_who_asks() -> None:
    assert len({ANA, person("ana", scopes=frozenset()), Principal(HOME_TENANT, ANA.user, own_only=True)}) == 2
