"""Signing in at an identity provider: a real one over sockets, and ones that are down, slow, or lie."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from http.cookies import SimpleCookie
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
from fastapi import FastAPI
from served_app import serving

from answerable.app import open_service
from answerable.core.context import HOME_TENANT, LOCAL, person
from answerable.core.errors import AnswerableError, OperatorError, SignInError
from answerable.gateway.app import create_app
from answerable.identity import oidc
from answerable.identity.provider import read_providers, vouched
from answerable.identity.simulator import AUDIENCE, CLIENT_ID, Fault, SimulatedProvider
from answerable.service import Service
from answerable.settings import Settings

CALLBACK = "http://127.0.0.1/sign-in/acme/callback"
PEOPLE: dict[str, Mapping[str, Any]] = {
    "ana": {"groups": ["sales", "yoga"], "region": "West"},
    "new": {"groups": ["sales"], "region": ["East", "North"]},
    "chief": {"groups": ["board"]},
}


@dataclass
class World:
    provider: SimulatedProvider
    service: Service
    clock: Any

    async def sign_in(self, user: str = "new", **changes: str) -> str:
        """Signs in as a browser would, and returns the token of the session."""
        begun = await self.service.providers.begin("acme", CALLBACK, HOME_TENANT)
        returned = await followed(begun.address, user)
        given = {"state": returned["state"], "code": returned["code"], "browser": begun.browser, **changes}
        return (await self.service.providers.finish("acme", HOME_TENANT, **given)).token


async def followed(address: str, user: str) -> dict[str, str]:
    """What the provider sends the browser back with, after `user` has signed in there."""
    async with httpx.AsyncClient(timeout=60) as client:
        reply = await client.get(f"{address}&user={user}")
    assert reply.status_code == 307, reply.text
    return {name: values[0] for name, values in parse_qs(urlsplit(reply.headers["location"]).query).items()}


def configured(issuer: str, /, **changes: Any) -> dict[str, Any]:
    return {
        "acme": {
            "issuer": issuer,
            "client_id": CLIENT_ID,
            "audience": AUDIENCE,
            "roles": {"sales": "seller", "board": ["manager", "no-such-role"]},
            "attributes": {"region": "region"},
            **changes,
        }
    }


@asynccontextmanager
async def provided(clock: Any) -> AsyncIterator[SimulatedProvider]:
    provider = SimulatedProvider("", people=dict(PEOPLE), now=clock.now)
    async with serving(provider.app) as port:  # type: ignore[arg-type]
        provider.issuer = f"http://127.0.0.1:{port}"
        yield provider


@pytest.fixture
async def world(settings: Settings, clock: Any) -> AsyncIterator[World]:
    async with provided(clock) as provider:
        changed = settings.model_copy(update={"providers": configured(provider.issuer)})
        async with open_service(changed, any_location=False, clock=clock) as service:
            yield World(provider, service, clock)


async def test_who_signs_in_at_the_provider_has_the_roles_and_attributes_of_its_claims(world: World) -> None:
    token = await world.sign_in("new")
    new = await world.service.identity.person_with(token, HOME_TENANT)
    assert new == person("new")
    profile = await world.service.identity.profile(new)
    assert (profile.origin, profile.roles, profile.has_password) == ("acme", ["seller"], False)
    assert profile.attributes == {"region": ["East", "North"]}
    chief = await world.service.identity.person_with(await world.sign_in("chief"), HOME_TENANT)
    assert chief is not None
    world.service.access.require("administer", chief)
    world.provider.people["chief"] = {"groups": []}
    await world.sign_in("chief")
    with pytest.raises(AnswerableError):
        world.service.access.require("administer", chief)


async def test_a_sign_in_is_finished_once_in_its_own_browser_and_in_time(world: World) -> None:
    begun = await world.service.providers.begin("acme", CALLBACK, HOME_TENANT)
    returned = await followed(begun.address, "new")
    finish = world.service.providers.finish
    given = {"state": returned["state"], "code": returned["code"], "browser": begun.browser}
    await finish("acme", HOME_TENANT, **given)
    with pytest.raises(SignInError):
        await finish("acme", HOME_TENANT, **given)
    for changes in ({"browser": "of-a-victim"}, {"state": "guessed"}, {"code": "stolen"}, {"issuer": "https://evil"}):
        with pytest.raises(SignInError):
            await world.sign_in("new", **changes)
    late = await world.service.providers.begin("acme", CALLBACK, HOME_TENANT)
    returned = await followed(late.address, "new")
    await world.clock.sleep(600)
    with pytest.raises(SignInError):
        await finish("acme", HOME_TENANT, state=returned["state"], code=returned["code"], browser=late.browser)


async def test_a_code_of_another_sign_in_does_not_count(world: World) -> None:
    """An attacker's code in a victim's browser: PKCE and the nonce belong to the sign-in that began there."""
    other = await world.service.providers.begin("acme", CALLBACK, HOME_TENANT)
    stolen = (await followed(other.address, "chief"))["code"]
    with pytest.raises(SignInError):
        await world.sign_in("new", code=stolen)


@pytest.mark.parametrize(
    ("fault", "code"),
    [
        ("issuer", "token_invalid"),
        ("audience", "token_invalid"),
        ("nonce", "sign_in_refused"),
        ("azp", "sign_in_refused"),
        ("unsigned", "token_invalid"),
        ("hmac", "token_invalid"),
        ("foreign_key", "token_invalid"),
        ("expired", "token_expired"),
        ("later", "token_invalid"),
        ("oversized", "provider_lies"),
    ],
)
async def test_a_provider_that_lies_lets_nobody_in(world: World, fault: Fault, code: str) -> None:
    world.provider.faults.add(fault)
    with pytest.raises(AnswerableError) as refused:
        await world.sign_in("new")
    assert refused.value.stable_code == code
    assert [user.name for user in await world.service.identity.users(LOCAL) if user.origin == "acme"] == []
    world.provider.faults.clear()
    await world.sign_in("new")


@pytest.mark.parametrize(
    ("fault", "code"),
    [
        ("down", "provider_unreachable"),
        ("slow", "provider_unreachable"),
        ("redirects", "provider_unreachable"),
        ("not_json", "provider_lies"),
        ("issuer_of_document", "provider_lies"),
        ("other_host", "provider_host_refused"),
    ],
)
async def test_a_provider_that_cannot_be_used_is_told_and_tried_again(
    world: World, monkeypatch: pytest.MonkeyPatch, fault: Fault, code: str
) -> None:
    if fault == "slow":
        monkeypatch.setattr(oidc, "SECONDS", 0.3)
    world.provider.faults.add(fault)
    with pytest.raises(AnswerableError) as refused:
        await world.service.providers.begin("acme", CALLBACK, HOME_TENANT)
    assert refused.value.stable_code == code
    [checked] = await world.service.providers.check(LOCAL)
    assert (checked.usable, checked.problem) == (False, refused.value.message)
    monkeypatch.undo()
    world.provider.faults.clear()
    await world.sign_in("new")
    assert [each.usable for each in await world.service.providers.check(LOCAL)] == [True]


async def test_keys_that_rotate_are_fetched_anew_but_not_for_every_unknown_name(world: World) -> None:
    await world.sign_in("new")
    old = world.provider.token("new", AUDIENCE)
    world.provider.rotate()
    await world.clock.sleep(oidc.LOOK_AGAIN_AFTER)
    await world.sign_in("new")
    with pytest.raises(SignInError):
        await world.service.providers.person_with(old, HOME_TENANT)
    asked = world.provider.requests.count("/keys")
    for _ in range(20):
        with pytest.raises(SignInError):
            await world.service.providers.person_with(old, HOME_TENANT)
    assert world.provider.requests.count("/keys") == asked


async def test_an_access_token_opens_the_api_and_an_id_token_does_not(world: World) -> None:
    people = world.service.providers
    assert await people.person_with(world.provider.token("new", AUDIENCE), HOME_TENANT) == person("new")
    skewed = world.provider.token("new", AUDIENCE)
    await world.clock.sleep(300 + 59)
    assert await people.person_with(skewed, HOME_TENANT) == person("new")
    await world.clock.sleep(2)
    with pytest.raises(SignInError, match="expired"):
        await people.person_with(skewed, HOME_TENANT)
    with pytest.raises(SignInError):
        await people.person_with(world.provider.token("new", CLIENT_ID), HOME_TENANT)
    for text in ("", "ses_x", "a.b", "." * 20_000):
        assert await people.person_with(text, HOME_TENANT) is None
    for text in ("a.b.c", "..", f"{'x' * 20_000}.y.z"):
        with pytest.raises(SignInError) as refused:
            await people.person_with(text, HOME_TENANT)
        assert refused.value.stable_code == "token_invalid"


async def test_a_name_stays_with_its_account(world: World) -> None:
    await world.sign_in("new")
    token = world.provider.token("new", AUDIENCE, sub="somebody-else")
    with pytest.raises(SignInError, match="another account"):
        await world.service.providers.person_with(token, HOME_TENANT)
    await world.service.identity.add_user("chief", LOCAL)
    with pytest.raises(SignInError, match="another account"):
        await world.sign_in("chief")
    for name in ("local", " ", "x" * 201):
        with pytest.raises(AnswerableError):
            await world.service.providers.person_with(
                world.provider.token("new", AUDIENCE, preferred_username=name), HOME_TENANT
            )
    with pytest.raises(AnswerableError, match="no password"):
        await world.service.identity.set_password("new", "correct horse battery staple", LOCAL)


async def test_who_is_disabled_here_stays_out(world: World) -> None:
    await world.sign_in("new")
    await world.service.identity.set_disabled("new", True, LOCAL)
    with pytest.raises(SignInError, match="disabled"):
        await world.sign_in("new")


async def test_only_known_users_where_others_are_not_wanted(settings: Settings, clock: Any) -> None:
    async with provided(clock) as provider:
        changed = settings.model_copy(update={"providers": configured(provider.issuer, new_users=False)})
        async with open_service(changed, any_location=False, clock=clock) as service:
            world = World(provider, service, clock)
            await world.sign_in("ana")
            with pytest.raises(SignInError, match="not among the users"):
                await world.sign_in("new")


@pytest.mark.parametrize(
    "changes",
    [
        {"issuer": "http://login.example"},
        {"issuer": "https://login.example?x=1"},
        {"issuer": "nonsense"},
        {"audience": CLIENT_ID},
        {"scopes": ["profile"]},
        {"colour": "blue"},
        {"client_id": None},
    ],
)
def test_a_wrong_configuration_stops_with_a_sentence(changes: dict[str, Any]) -> None:
    with pytest.raises(OperatorError, match="acme") as wrong:
        read_providers(configured("https://login.example", **changes))
    assert wrong.value.stable_code == "provider_invalid"


def test_groups_that_were_left_out_are_not_taken_for_none() -> None:
    provider = read_providers(configured("https://login.example"))["acme"]
    with pytest.raises(SignInError, match="left out"):
        vouched({"sub": "1", "preferred_username": "ana", "_claim_names": {"groups": "src1"}}, provider)
    with pytest.raises(SignInError, match="who this is"):
        vouched({"sub": "1"}, provider)


def test_google_needs_its_hosts_to_be_named() -> None:
    google = configured("https://accounts.google.com", hosts=["oauth2.googleapis.com", "www.googleapis.com"])
    assert read_providers(google)["acme"].allowed_hosts == {
        "accounts.google.com",
        "oauth2.googleapis.com",
        "www.googleapis.com",
    }


async def test_a_browser_signs_in_by_the_button(settings: Settings) -> None:
    from answerable.core.clock import SystemClock

    async with provided(SystemClock()) as provider:
        app: FastAPI = create_app(settings.model_copy(update={"providers": configured(provider.issuer)}))
        async with serving(app) as port:
            address = f"http://127.0.0.1:{port}"
            # As a browser does that comes from the provider's page.
            headers = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}
            async with httpx.AsyncClient(base_url=address, timeout=60) as client:
                state = (await client.get("/api/v1/identity")).json()
                assert state["providers"] == [{"name": "acme", "label": "acme"}]
                begun = await client.get("/sign-in/acme")
                cookie = SimpleCookie(begun.headers["set-cookie"])["answerable_sign_in"]
                assert (cookie["httponly"], cookie["samesite"], cookie["path"]) == (True, "lax", "/sign-in")
                returned = await followed(begun.headers["location"], "new")
                finished = await client.get("/sign-in/acme/callback", params=returned, headers=headers)
                assert finished.headers["location"] == "/"
                assert "samesite=strict" in finished.headers["set-cookie"].lower()
                asked = await client.post("/api/v1/chat", json={"message": "SQL: SELECT count(*) FROM staff"})
                assert asked.json()["rows"] == [[3]]
                again = await client.get("/sign-in/acme/callback", params=returned, headers=headers)
                assert again.headers["location"] == "/#sign-in-problem=sign_in_refused"
                unknown = await client.get("/sign-in/nobody")
                assert unknown.headers["location"] == "/#sign-in-problem=provider_unknown"
            bearer = {"Authorization": f"Bearer {provider.token('new', AUDIENCE)}"}
            other = SimulatedProvider(provider.issuer, people=dict(PEOPLE))
            forged = {"Authorization": f"Bearer {other.token('new', AUDIENCE)}"}
            async with httpx.AsyncClient(base_url=f"{address}/api/v1", timeout=60) as client:
                assert (await client.get("/runs", headers=bearer)).status_code == 200
                refused = await client.get("/runs", headers=forged)
                assert (refused.status_code, refused.json()["code"]) == (401, "token_invalid")


async def test_many_who_sign_in_at_once_make_the_provider_send_its_keys_a_few_times(world: World) -> None:
    await asyncio.gather(*(world.sign_in(name) for name in ("new", "chief", "ana") for _ in range(3)))
    assert world.provider.requests.count("/keys") <= 9
