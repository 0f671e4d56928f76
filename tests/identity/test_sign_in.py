"""Signing in over HTTP, as a browser does: cookies, origins, and three people who get three answers."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from http.cookies import SimpleCookie
from typing import Any

import httpx
import pytest
from fastapi import FastAPI
from served_app import serving

from answerable.core.context import HOME_TENANT, LOCAL
from answerable.gateway.app import create_app
from answerable.service import Service
from answerable.settings import Settings

PASSWORD = "correct horse battery staple"
QUESTION = {"message": "how many staff are there?"}


@asynccontextmanager
async def site(settings: Settings) -> AsyncIterator[tuple[FastAPI, str]]:
    app = create_app(settings, allow_hosts=("shop.example",))
    async with serving(app) as port:
        yield app, f"http://127.0.0.1:{port}"


def browser(address: str, **headers: str) -> httpx.AsyncClient:
    return httpx.AsyncClient(base_url=f"{address}/api/v1", headers={"Origin": address, **headers}, timeout=60)


async def invited(app: FastAPI, name: str) -> str:
    """The token of a link for somebody of access.yaml."""
    service: Service = app.state.service
    return (await service.identity.invite(name, LOCAL)).token


async def test_three_people_ask_one_question_and_get_three_answers(settings: Settings) -> None:
    async with site(settings) as (app, address):
        answers = {}
        for name in ("ana", "bo", "boss"):
            async with browser(address) as client:
                assert (await client.post("/chat", json=QUESTION)).status_code == 401
                token = await invited(app, name)
                accepted = await client.post("/invitations/accept", json={"token": token, "password": PASSWORD})
                assert accepted.json()["user"] == name
                asked = {"message": "SQL: SELECT min(id) AS first, count(*) AS n FROM staff"}
                answers[name] = (await client.post("/chat", json=asked)).json()
                state = (await client.get("/identity")).json()
                assert (state["enabled"], state["profile"]["user"]) == (True, name)
        assert {name: answer["rows"] for name, answer in answers.items()} == {
            "ana": [[1, 3]],
            "bo": [[10, 3]],
            "boss": [[1, 6]],
        }
        findings = {name: answer["provenance"]["findings"] for name, answer in answers.items()}
        assert "rows of region West only, by rule region" in findings["ana"][0]
        assert "rows of region East or North only, by rule region" in findings["bo"][0]
        assert not any("by rule" in finding for finding in findings["boss"])


async def test_a_session_is_a_cookie_and_ends_with_sign_out(settings: Settings) -> None:
    async with site(settings) as (app, address), browser(address) as client:
        await client.post("/invitations/accept", json={"token": await invited(app, "ana"), "password": PASSWORD})
        await client.post("/sign-out")
        assert (await client.get("/runs")).status_code == 401
        wrong = await client.post("/sign-in", json={"user": "ana", "password": "not the password"})
        assert (wrong.status_code, wrong.json()["code"]) == (401, "sign_in_failed")
        assert wrong.headers["www-authenticate"] == "Bearer"
        assert "not the password" not in wrong.text
        right = await client.post("/sign-in", json={"user": "ana", "password": PASSWORD})
        cookie = SimpleCookie(right.headers["set-cookie"])["answerable_session"]
        assert (cookie["httponly"], cookie["samesite"], cookie["secure"], cookie["path"]) == (True, "strict", "", "/")
        assert cookie.value not in right.text
        sessions = (await client.get("/sessions")).json()["sessions"]
        assert [each["current"] for each in sessions] == [True]
        stolen = cookie.value
        assert (await client.post("/sign-out")).status_code == 204
        async with browser(address, Cookie=f"answerable_session={stolen}") as thief:
            assert (await thief.get("/runs")).status_code == 401


@pytest.mark.parametrize("values", ["x", "ses_x", "a" * 5000, '"\\', "ses_\u00e9"])
async def test_another_cookie_is_none(settings: Settings, values: str) -> None:
    async with site(settings) as (_, address), browser(address) as client:
        headers = [(b"Cookie", f"answerable_session={values}".encode())]
        assert (await client.get("/runs", headers=headers)).status_code == 401


@pytest.mark.parametrize(
    ("headers", "status", "secure"),
    [
        ({"Origin": "https://shop.example", "Host": "shop.example"}, 200, True),
        ({"Origin": "http://shop.example", "Host": "shop.example"}, 403, None),
        ({"Origin": "http://evil.example"}, 403, None),
        ({"Origin": "http://127.0.0.1:1", "Sec-Fetch-Site": "same-site"}, 403, None),
        ({"Sec-Fetch-Site": "cross-site"}, 403, None),
    ],
)
async def test_only_the_own_page_signs_in_and_off_the_machine_only_by_https(
    settings: Settings, headers: dict[str, str], status: int, secure: bool | None
) -> None:
    async with site(settings) as (app, address), browser(address) as client:
        await client.post("/invitations/accept", json={"token": await invited(app, "ana"), "password": PASSWORD})
        reply = await client.post("/sign-in", json={"user": "ana", "password": PASSWORD}, headers=headers)
        assert reply.status_code == status
        if secure is not None:
            assert bool(SimpleCookie(reply.headers["set-cookie"])["answerable_session"]["secure"]) is secure
        else:
            # What another page sends does nothing, although the browser would send the cookie along.
            assert "set-cookie" not in reply.headers
            asked = await client.post("/chat", json=QUESTION, headers=headers)
            if "shop.example" not in headers.get("Origin", ""):
                assert asked.status_code == 403


async def test_an_administrator_manages_people_and_others_cannot(settings: Settings) -> None:
    async with site(settings) as (app, address), browser(address) as boss, browser(address) as ana:
        for name, client in (("boss", boss), ("ana", ana)):
            token = await invited(app, name)
            await client.post("/invitations/accept", json={"token": token, "password": PASSWORD})
        added = await boss.post("/users", json={"name": "new", "roles": ["seller"], "attributes": {"region": ["West"]}})
        assert added.status_code == 201
        async with browser(address) as client:
            accepted = await client.post(
                "/invitations/accept", json={"token": added.json()["token"], "password": PASSWORD}
            )
            assert accepted.json()["attributes"] == {"region": ["West"]}
            disabled = await boss.patch("/users/new", json={"disabled": True})
            assert disabled.json()["disabled"] is True
            assert (await client.get("/runs")).status_code == 401
        refused = await boss.patch("/users/boss", json={"disabled": True})
        assert (refused.status_code, refused.json()["code"]) == (403, "last_administrator")
        tried: tuple[tuple[str, str, dict[str, Any]], ...] = (
            ("GET", "/users", {}),
            ("POST", "/users", {"json": {"name": "mallory"}}),
            ("PATCH", "/users/ana", {"json": {"roles": ["manager"]}}),
            ("POST", "/users/boss/invitation", {}),
        )
        for method, path, body in tried:
            reply = await ana.request(method, path, **body)
            assert (reply.status_code, reply.json()["code"]) == (403, "access_action_denied"), path


async def test_too_many_attempts_are_told_when_the_next_is_possible(settings: Settings) -> None:
    async with site(settings) as (_, address), browser(address) as client:
        for _ in range(5):
            reply = await client.post("/sign-in", json={"user": "nobody-known", "password": "a wrong password"})
            assert reply.status_code == 401
        reply = await client.post("/sign-in", json={"user": "nobody-known", "password": "a wrong password"})
        assert (reply.status_code, reply.json()["code"]) == (429, "sign_in_locked")
        assert int(reply.headers["retry-after"]) >= 1


async def test_without_configuration_nobody_signs_in_and_everything_works(settings: Settings) -> None:
    (settings.home / "access.yaml").unlink()
    async with site(settings) as (_, address), browser(address) as client:
        state = await client.get("/identity")
        assert state.json() == {"enabled": False, "profile": None, "providers": []}
        assert "set-cookie" not in state.headers
        assert (await client.post("/chat", json=QUESTION)).json()["rows"] == [[6]]
        assert (await client.get(f"{address}/metrics")).status_code == 200
        off = await client.post("/sign-in", json={"user": "ana", "password": PASSWORD})
        assert (off.status_code, off.json()["code"]) == (422, "access_off")


# FastAPI makes the document with a field that pydantic warns about.
@pytest.mark.filterwarnings("ignore::pydantic.warnings.UnsupportedFieldAttributeWarning")
def test_no_body_takes_more_than_it_names(settings: Settings) -> None:
    """So a `user_id` in a body is refused everywhere: who asks, the token alone says."""
    document = create_app(settings).openapi()
    schemas = document["components"]["schemas"]
    taken = set()
    for path in document["paths"].values():
        for operation in path.values():
            content = operation.get("requestBody", {}).get("content", {}).get("application/json")
            if content is not None:
                taken.add(content["schema"].get("$ref", "").rpartition("/")[2])
    assert len(taken) > 15
    for name in taken:
        assert schemas[name].get("additionalProperties") is False, name
        assert not {"user_id", "tenant", "tenant_id", "principal"} & schemas[name]["properties"].keys()


async def test_the_setup_link_is_printed_by_a_server_with_rules(settings: Settings) -> None:
    async with site(settings) as (app, address), browser(address) as client:
        service: Service = app.state.service
        token = await service.identity.setup_token(HOME_TENANT)
        reply = await client.post("/invitations/accept", json={"token": token, "password": PASSWORD, "user": "first"})
        assert "administer" in reply.json()["actions"]
        assert (await client.get("/users")).status_code == 200
