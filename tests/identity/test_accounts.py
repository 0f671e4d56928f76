"""People, passwords and sessions: what a user, an administrator and somebody who guesses get."""

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from answerable.access.policy import digest_of
from answerable.core.context import HOME_TENANT, LOCAL, person
from answerable.core.errors import (
    AnswerableError,
    NotFoundError,
    OperatorError,
    RefusedError,
    SignInError,
    TooManyError,
    UserError,
)
from answerable.core.ids import TenantId
from answerable.identity.passwords import _NOBODYS, FREE_ATTEMPTS, LONGEST_WAIT, Passwords, wait_after
from answerable.identity.redis_sessions import RedisSessions
from answerable.service import Service
from answerable.settings import Settings

IN_BOTH_PLACES = pytest.mark.parametrize("sessions", ["store", "redis"])
PASSWORD = "correct horse battery staple"
BOSS = person("boss")


async def joined(service: Service, name: str, **options: Any) -> None:
    """Adds a user, who chooses a password."""
    invitation = await service.identity.add_user(name, LOCAL, **options)
    await service.identity.accept(invitation.token, PASSWORD, HOME_TENANT)


async def test_the_first_administrator_comes_by_a_link_that_works_once(service: Service, settings: Settings) -> None:
    token = await service.identity.setup_token(HOME_TENANT)
    assert token is not None
    with pytest.raises(UserError, match="too short"):
        await service.identity.accept(token, "short", HOME_TENANT, user="nora")
    with pytest.raises(UserError, match="person at the machine"):
        await service.identity.accept(token, PASSWORD, HOME_TENANT, user="local")
    signed_in = await service.identity.accept(token, PASSWORD, HOME_TENANT, user="nora")
    nora = await service.identity.person_with(signed_in.token, HOME_TENANT)
    assert nora == person("nora")
    assert "administer" in (await service.identity.profile(nora)).actions
    with pytest.raises(SignInError, match="used already"):
        await service.identity.accept(token, PASSWORD, HOME_TENANT, user="mallory")
    assert await service.identity.setup_token(HOME_TENANT) is None
    for file in settings.home.rglob("*"):
        stored = file.read_bytes() if file.is_file() else b""
        assert not any(secret.encode() in stored for secret in (PASSWORD, token, signed_in.token)), file


async def test_a_setup_link_is_over_after_a_day_and_replaced_by_the_next(service: Service, clock: Any) -> None:
    first, second = [await service.identity.setup_token(HOME_TENANT) for _ in range(2)]
    assert first is not None
    assert second is not None
    with pytest.raises(SignInError):
        await service.identity.accept(first, PASSWORD, HOME_TENANT, user="nora")
    await clock.sleep(86_400)
    with pytest.raises(SignInError):
        await service.identity.accept(second, PASSWORD, HOME_TENANT, user="nora")


@pytest.mark.parametrize("name", ["ana", "nobody-of-that-name"])
async def test_a_thousand_wrong_passwords_get_five_tries(
    service: Service, clock: Any, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """Whether they come one after the other or at once, and whether or not there is such a user."""
    await joined(service, "ana")
    compared = 0
    matches = Passwords.matches

    async def counting(self: Passwords, stored: str | None, password: str) -> bool:
        nonlocal compared
        compared += 1
        return await matches(self, stored, password)

    monkeypatch.setattr(Passwords, "matches", counting)
    attempts = (service.identity.sign_in(name, f"wrong password {n}", HOME_TENANT) for n in range(1000))
    errors = await asyncio.gather(*attempts, return_exceptions=True)
    codes = [error.stable_code for error in errors if isinstance(error, AnswerableError)]
    assert compared == FREE_ATTEMPTS == codes.count("sign_in_failed")
    assert codes.count("sign_in_locked") == 1000 - FREE_ATTEMPTS
    with pytest.raises(TooManyError) as locked:
        await service.identity.sign_in(name, PASSWORD, HOME_TENANT)
    assert locked.value.details["retry_after"] == 2
    await clock.sleep(2)
    with pytest.raises(SignInError):
        await service.identity.sign_in(name, "wrong again, really", HOME_TENANT)
    with pytest.raises(TooManyError) as longer:
        await service.identity.sign_in(name, PASSWORD, HOME_TENANT)
    assert longer.value.details["retry_after"] == 3
    await clock.sleep(3)
    if name == "ana":
        assert (await service.identity.sign_in(name, PASSWORD, HOME_TENANT)).user == "ana"
        await service.identity.sign_in(name, PASSWORD, HOME_TENANT)  # and the count begins anew


def test_the_wait_grows_and_has_an_end() -> None:
    waits = [wait_after(failures) for failures in range(1, 60)]
    assert waits == sorted(waits)
    assert waits[: FREE_ATTEMPTS - 1] == [0.0] * (FREE_ATTEMPTS - 1)
    assert max(waits) == LONGEST_WAIT


async def test_nobody_can_sign_in_without_a_password_of_their_own(service: Service) -> None:
    await service.identity.add_user("ana", LOCAL)
    for name in ("ana", "bo", "local", ""):
        for password in ("", _NOBODYS, "x" * 1000):
            with pytest.raises((SignInError, TooManyError)):
                await service.identity.sign_in(name, password, HOME_TENANT)
    passwords = Passwords()
    assert not await passwords.matches(None, "anything")
    assert not await passwords.matches("not a hash", "anything")


@pytest.mark.parametrize(
    "weak", ["", "elevenchars", "aaaaaaaaaaaaaaaa", "abababababab", "my name is ana", "Answerable-2026", "x" * 257]
)
async def test_weak_passwords_are_refused(service: Service, weak: str) -> None:
    invitation = await service.identity.add_user("ana", LOCAL)
    with pytest.raises(UserError) as refused:
        await service.identity.accept(invitation.token, weak, HOME_TENANT)
    assert refused.value.stable_code == "password_weak"
    await service.identity.accept(invitation.token, PASSWORD, HOME_TENANT)  # the link still works


@IN_BOTH_PLACES
async def test_a_session_slides_and_ends(service: Service, clock: Any) -> None:
    await joined(service, "ana")
    tokens = [(await service.identity.sign_in("ana", PASSWORD, HOME_TENANT)).token for _ in range(3)]
    for _ in range(3):
        await clock.sleep(29 * 60)
        assert await service.identity.person_with(tokens[0], HOME_TENANT) == person("ana")
    assert await service.identity.person_with(tokens[1], HOME_TENANT) is None
    await clock.sleep(30 * 60)
    assert await service.identity.person_with(tokens[0], HOME_TENANT) is None


@IN_BOTH_PLACES
async def test_sessions_are_ended_one_by_one_and_all_at_once(service: Service) -> None:
    await joined(service, "ana")
    await joined(service, "bo")
    ana, bo = person("ana"), person("bo")
    here, there, other = [(await service.identity.sign_in("ana", PASSWORD, HOME_TENANT)).token for _ in range(3)]
    listed = await service.identity.sessions(ana, current=here)
    assert len(listed) == 4
    [current] = [each for each in listed if each.current]
    with pytest.raises(NotFoundError):
        await service.identity.end_session(current.session_id, bo)
    await service.identity.sign_out(there, HOME_TENANT)
    await service.identity.end_session(current.session_id, ana)
    assert [await service.identity.person_with(token, HOME_TENANT) for token in (here, there, other)] == [
        None,
        None,
        ana,
    ]
    with pytest.raises(RefusedError):
        await service.identity.end_all_sessions(bo, user="ana")
    await service.identity.end_all_sessions(ana)
    assert await service.identity.person_with(other, HOME_TENANT) is None
    assert len(await service.identity.sessions(bo)) == 1


@IN_BOTH_PLACES
async def test_who_is_disabled_is_out_at_once_and_keeps_what_is_theirs(service: Service) -> None:
    await joined(service, "ana")
    token = (await service.identity.sign_in("ana", PASSWORD, HOME_TENANT)).token
    view = await service.identity.set_disabled("ana", True, LOCAL)
    assert view.disabled
    assert await service.identity.person_with(token, HOME_TENANT) is None
    with pytest.raises(SignInError):
        await service.identity.sign_in("ana", PASSWORD, HOME_TENANT)
    with pytest.raises(RefusedError, match="disabled"):
        service.access.require("ask", person("ana"))
    await service.identity.set_disabled("ana", False, LOCAL)
    assert (await service.identity.sign_in("ana", PASSWORD, HOME_TENANT)).user == "ana"


@IN_BOTH_PLACES
async def test_a_new_password_ends_all_sessions(service: Service) -> None:
    await joined(service, "ana")
    ana, other = person("ana"), "another good long password"
    token = (await service.identity.sign_in("ana", PASSWORD, HOME_TENANT)).token
    with pytest.raises(SignInError):
        await service.identity.change_password("not the old one", other, ana)
    await service.identity.change_password(PASSWORD, other, ana)
    assert await service.identity.person_with(token, HOME_TENANT) is None
    assert (await service.identity.sign_in("ana", other, HOME_TENANT)).user == "ana"
    with pytest.raises(SignInError):
        await service.identity.sign_in("ana", PASSWORD, HOME_TENANT)


async def test_the_last_administrator_stays(service: Service) -> None:
    await joined(service, "boss")
    await joined(service, "second", roles=["manager"])
    await service.identity.set_roles("second", [], LOCAL)
    for attempt in (
        service.identity.set_disabled("boss", True, LOCAL),
        service.identity.set_disabled("boss", True, BOSS),
    ):
        with pytest.raises(RefusedError, match="last administrator"):
            await attempt
    await service.identity.set_roles("second", ["manager"], BOSS)
    await service.identity.set_disabled("boss", True, person("second"))
    with pytest.raises(RefusedError, match="last administrator"):
        await service.identity.set_roles("second", ["seller"], LOCAL)


async def test_administration_needs_the_permission(service: Service) -> None:
    await joined(service, "ana")
    ana = person("ana")
    for attempt in (
        service.identity.users(ana),
        service.identity.user("boss", ana),
        service.identity.add_user("mallory", ana, roles=["manager"]),
        service.identity.invite("boss", ana),
        service.identity.set_password("boss", PASSWORD, ana),
        service.identity.set_roles("ana", ["manager"], ana),
        service.identity.set_disabled("boss", True, ana),
    ):
        with pytest.raises(RefusedError, match="`administer`"):
            await attempt
    with pytest.raises(UserError, match="no role 'chief'"):
        await service.identity.set_roles("ana", ["chief"], LOCAL)
    with pytest.raises(NotFoundError):
        await service.identity.invite("nobody-of-that-name", LOCAL)
    with pytest.raises(UserError, match="already"):
        await service.identity.add_user("ana", LOCAL)


async def test_roles_and_attributes_of_the_directory_count_beside_those_of_the_file(service: Service) -> None:
    await joined(service, "new", roles=["seller"], attributes={"region": ["West"]})
    profile = await service.identity.profile(person("new"))
    assert (profile.roles, profile.actions, profile.attributes) == (["seller"], ["ask", "sql"], {"region": ["West"]})
    await joined(service, "ana", roles=["manager"], attributes={"region": ["East"]})
    both = await service.identity.profile(person("ana"))
    assert (both.roles, both.attributes) == (["manager", "seller"], {"region": ["West"]})
    listed = {user.name: user for user in await service.identity.users(LOCAL)}
    assert (listed["new"].in_file, listed["new"].can_sign_in, listed["bo"].can_sign_in) == (False, True, False)


async def test_another_process_sees_who_was_disabled(service: Service, settings: Settings, clock: Any) -> None:
    from answerable.app import open_service

    await joined(service, "ana")
    async with open_service(settings, any_location=False, clock=clock) as other:
        other.access.require("ask", person("ana"))
        await service.identity.set_disabled("ana", True, LOCAL)
        await clock.sleep(3)
        await other.identity.refresh(HOME_TENANT)
        with pytest.raises(RefusedError, match="disabled"):
            other.access.require("ask", person("ana"))


async def test_without_rules_there_is_nobody_to_add(settings: Settings, clock: Any) -> None:
    from answerable.app import open_service

    plain = replace_home(settings)
    async with open_service(plain, any_location=False, clock=clock) as service:
        with pytest.raises(UserError, match="does not exist") as off:
            await service.identity.add_user("ana", LOCAL)
        assert off.value.stable_code == "access_off"
        with pytest.raises(UserError):
            await service.identity.sign_in("ana", PASSWORD, HOME_TENANT)


def replace_home(settings: Settings) -> Settings:
    return settings.model_copy(update={"home": settings.home.parent / "plain"})


@pytest.mark.parametrize("sessions", ["redis"])
async def test_sessions_in_redis_are_of_one_tenant_and_of_all_servers(
    service: Service, settings: Settings, clock: Any
) -> None:
    await joined(service, "ana")
    token = (await service.identity.sign_in("ana", PASSWORD, HOME_TENANT)).token
    beside, other = RedisSessions(settings.redis, clock), TenantId("other")
    assert await beside.find(other, digest_of(token)) is None
    assert await beside.end(other, "ana", None) == 0
    found = await beside.find(HOME_TENANT, digest_of(token))
    assert found is not None
    assert token not in repr(found)
    # One that was ended meanwhile does not live on because another server renews it.
    await service.identity.sign_out(token, HOME_TENANT)
    later = clock.now() + timedelta(minutes=30)
    await beside.renew(HOME_TENANT, digest_of(token), used_at=clock.now(), expires_at=later)
    assert await beside.find(HOME_TENANT, digest_of(token)) is None
    await beside.close()


async def test_while_redis_is_away_nobody_gets_in(clock: Any) -> None:
    sessions = RedisSessions("unix:///nowhere/redis.sock", clock)
    for attempt in (
        sessions.find(HOME_TENANT, "digest"),
        sessions.of_user(HOME_TENANT, "ana"),
        sessions.end(HOME_TENANT, "ana", None),
    ):
        with pytest.raises(OperatorError) as caught:
            await attempt
        assert caught.value.stable_code == "redis_unavailable"
    await sessions.close()
