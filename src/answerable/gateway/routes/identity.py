"""Signing in and out, one's own sessions, and the people who can sign in."""

from typing import Annotated
from urllib.parse import urlsplit

from fastapi import APIRouter, Path, Request, Response
from pydantic import Field, SecretStr

from answerable.core.errors import RefusedError
from answerable.core.ids import TenantId
from answerable.gateway.access import (
    SESSION_COOKIE,
    PrincipalOf,
    ServiceOf,
    TenantOf,
    needs,
    session_token,
    within,
)
from answerable.gateway.problems import documented
from answerable.gateway.wire import API, Wire
from answerable.service import Service
from answerable.service.identity_views import Invitation, Profile, SessionView, SignedIn, UserView
from answerable.service.providers import OfferedProvider
from answerable.service.scim import GroupView
from answerable.settings import LOOPBACK

# Not routes of the class `OnceRoute`: that stores replies, and these hold secrets, in their headers too.
router = APIRouter(prefix=API, tags=["identity"])

Name = Annotated[str, Field(min_length=1, max_length=200)]
Password = Annotated[SecretStr, Field(min_length=1, max_length=1000)]
SessionPath = Annotated[str, Path(pattern="^sid_[0-9a-f]{16}$")]
UserPath = Annotated[str, Path(min_length=1, max_length=200)]


OWN_ACCOUNT = within("administer")
"""Who comes with a key cannot change the account that it belongs to."""


class IdentityState(Wire):
    enabled: bool = Field(description="Whether people sign in here. If not, there is one person, who sees everything.")
    profile: Profile | None = Field(description="Who is signed in; null if nobody is.")
    providers: list[OfferedProvider] = Field([], description="Where else people can sign in: `/sign-in/NAME`.")


class Credentials(Wire):
    user: Name
    password: Password


class Acceptance(Wire):
    token: str = Field(min_length=1, max_length=200, description="From the one-time link.")
    password: Password
    user: Name | None = Field(None, description="The name that the first administrator chooses.")


class PasswordChange(Wire):
    old: Password
    new: Password


class NewUser(Wire):
    name: Name
    roles: list[Name] = Field([], max_length=100)
    attributes: dict[Name, list[Name]] = Field({}, max_length=100)


class UserChange(Wire):
    roles: list[Name] | None = Field(None, max_length=100)
    attributes: dict[Name, list[Name]] | None = Field(None, max_length=100)
    disabled: bool | None = None


class SessionList(Wire):
    sessions: list[SessionView]


class GroupList(Wire):
    groups: list[GroupView]


class UserList(Wire):
    users: list[UserView]


@router.get("/identity", responses=documented(503))
async def state(request: Request, service: ServiceOf, tenant: TenantOf) -> IdentityState:
    """Show whether people sign in here, and who asks."""
    if not service.access.is_on_for(tenant):
        return IdentityState(enabled=False, profile=None)
    person = request.scope.get("principal")
    return IdentityState(
        enabled=True,
        profile=await service.identity.profile(person) if person else None,
        providers=service.providers.offered(),
    )


@router.post("/sign-in", responses=documented(400, 401, 403, 413, 422, 429, 503))
async def sign_in(
    body: Credentials, request: Request, response: Response, service: ServiceOf, tenant: TenantOf
) -> Profile:
    """Sign in with a name and a password. The reply sets a cookie that no script can read."""
    _check_transport(request)
    signed_in = await service.identity.sign_in(
        body.user, body.password.get_secret_value(), tenant, client=_client(request)
    )
    return await _welcomed(signed_in, request, response, service, tenant)


@router.post("/invitations/accept", responses=documented(400, 401, 403, 413, 422, 503))
async def accept(
    body: Acceptance, request: Request, response: Response, service: ServiceOf, tenant: TenantOf
) -> Profile:
    """Use a one-time link: choose a password, and be signed in."""
    _check_transport(request)
    signed_in = await service.identity.accept(
        body.token, body.password.get_secret_value(), tenant, user=body.user, client=_client(request)
    )
    return await _welcomed(signed_in, request, response, service, tenant)


@router.post("/sign-out", status_code=204, responses=documented(503))
async def sign_out(request: Request, response: Response, service: ServiceOf, tenant: TenantOf) -> None:
    """End the session of this browser."""
    await service.identity.sign_out(session_token(request), tenant)
    response.delete_cookie(SESSION_COOKIE, path="/")


@router.get("/sessions", dependencies=[OWN_ACCOUNT], responses=documented(401, 503))
async def sessions(request: Request, service: ServiceOf, principal: PrincipalOf) -> SessionList:
    """List one's own sessions, the newest first."""
    return SessionList(sessions=await service.identity.sessions(principal, current=session_token(request)))


@router.delete(
    "/sessions/{session_id}", status_code=204, dependencies=[OWN_ACCOUNT], responses=documented(401, 404, 503)
)
async def end_session(session_id: SessionPath, service: ServiceOf, principal: PrincipalOf) -> None:
    """End one of one's own sessions."""
    await service.identity.end_session(session_id, principal)


@router.delete("/sessions", status_code=204, dependencies=[OWN_ACCOUNT], responses=documented(401, 503))
async def end_all_sessions(service: ServiceOf, principal: PrincipalOf) -> None:
    """End all of one's own sessions, this one too."""
    await service.identity.end_all_sessions(principal)


@router.put(
    "/password", status_code=204, dependencies=[OWN_ACCOUNT], responses=documented(400, 401, 403, 413, 422, 429, 503)
)
async def change_password(body: PasswordChange, request: Request, service: ServiceOf, principal: PrincipalOf) -> None:
    """Choose another password. All one's sessions end."""
    _check_transport(request)
    await service.identity.change_password(body.old.get_secret_value(), body.new.get_secret_value(), principal)


@router.get("/users", dependencies=[needs("administer")], responses=documented(401, 403, 422, 503))
async def users(service: ServiceOf, principal: PrincipalOf) -> UserList:
    """List everybody who can sign in or is named by `access.yaml`."""
    return UserList(users=await service.identity.users(principal))


@router.post(
    "/users", status_code=201, dependencies=[needs("administer")], responses=documented(400, 401, 403, 413, 422, 503)
)
async def add_user(body: NewUser, service: ServiceOf, principal: PrincipalOf) -> Invitation:
    """Let somebody sign in. The reply holds the token of a link with which they choose a password."""
    return await service.identity.add_user(body.name, principal, roles=body.roles, attributes=body.attributes)


@router.post(
    "/service-users",
    status_code=201,
    dependencies=[needs("administer")],
    responses=documented(400, 401, 403, 413, 422, 503),
)
async def add_service_user(body: NewUser, service: ServiceOf, principal: PrincipalOf) -> UserView:
    """Add a user who is a program: it comes with keys, and has no password."""
    return await service.identity.add_service(body.name, principal, roles=body.roles, attributes=body.attributes)


@router.get("/users/{name}/sessions", dependencies=[needs("administer")], responses=documented(401, 403, 422, 503))
async def sessions_of(name: UserPath, service: ServiceOf, principal: PrincipalOf) -> SessionList:
    """List the sessions of a user, the newest first."""
    return SessionList(sessions=await service.identity.sessions(principal, user=name))


@router.delete(
    "/users/{name}/sessions",
    status_code=204,
    dependencies=[needs("administer")],
    responses=documented(401, 403, 422, 503),
)
async def end_sessions_of(name: UserPath, service: ServiceOf, principal: PrincipalOf) -> None:
    """End all sessions of a user."""
    await service.identity.end_all_sessions(principal, user=name)


@router.delete(
    "/users/{name}/sessions/{session_id}",
    status_code=204,
    dependencies=[needs("administer")],
    responses=documented(401, 403, 404, 422, 503),
)
async def end_session_of(name: UserPath, session_id: SessionPath, service: ServiceOf, principal: PrincipalOf) -> None:
    """End one session of a user."""
    await service.identity.end_session(session_id, principal, user=name)


@router.get("/groups", dependencies=[needs("administer")], responses=documented(401, 403, 422, 503))
async def groups(service: ServiceOf, principal: PrincipalOf) -> GroupList:
    """List the groups that a directory has sent, with their members and the roles that they give."""
    return GroupList(groups=await service.scim.listed_groups(principal))


@router.patch(
    "/users/{name}", dependencies=[needs("administer")], responses=documented(400, 401, 403, 404, 413, 422, 503)
)
async def change_user(name: UserPath, body: UserChange, service: ServiceOf, principal: PrincipalOf) -> UserView:
    """Change the roles or attributes of a user, or keep the user out."""
    if body.roles is not None:
        await service.identity.set_roles(name, body.roles, principal)
    if body.attributes is not None:
        await service.identity.set_attributes(name, body.attributes, principal)
    if body.disabled is not None:
        await service.identity.set_disabled(name, body.disabled, principal)
    return await service.identity.user(name, principal)


@router.post(
    "/users/{name}/invitation",
    status_code=201,
    dependencies=[needs("administer")],
    responses=documented(401, 403, 404, 422, 503),
)
async def invite(name: UserPath, service: ServiceOf, principal: PrincipalOf) -> Invitation:
    """Make a one-time link with which a user chooses a new password."""
    return await service.identity.invite(name, principal)


async def _welcomed(
    signed_in: SignedIn, request: Request, response: Response, service: Service, tenant: TenantId
) -> Profile:
    # `Strict`: the page is the same for everybody, so a link from elsewhere can open it without the cookie, and its own
    # requests then carry it. No other site's request ever does.
    response.set_cookie(
        SESSION_COOKIE,
        signed_in.token,
        httponly=True,
        samesite="strict",
        secure=not _is_loopback(request) or "https" in (request.url.scheme, _origin(request).partition(":")[0]),
        path="/",
    )
    person = await service.identity.person_with(signed_in.token, tenant)
    assert person is not None
    return await service.identity.profile(person)


def _check_transport(request: Request) -> None:
    """Refuses passwords from a page that came over plain HTTP from another machine: whoever is on the way can read
    them, and the browser would not keep the cookie."""
    if _origin(request).startswith("http:") and not _is_loopback(request):
        raise RefusedError(
            "Passwords are not taken over plain HTTP from another machine.",
            code="sign_in_insecure",
            hint="Open the page by https: put a proxy with a certificate before the server, see docs/identity.md.",
        )


def _origin(request: Request) -> str:
    return request.headers.get("origin", "")


def _is_loopback(request: Request) -> bool:
    host = urlsplit(f"//{request.headers.get('host', '')}").hostname
    return host in LOOPBACK


def _client(request: Request) -> str:
    return request.headers.get("user-agent", "")
