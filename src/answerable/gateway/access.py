"""Who is asking, and what a route may use: a route's parameter list is its access rule."""

from collections.abc import Iterator
from hashlib import sha256
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import Depends, Header, Path, Request

from answerable.access.policy import KEY_PREFIX
from answerable.core.context import LOCAL, Principal, person
from answerable.core.errors import SignInError
from answerable.core.ids import RunId, TenantId, ThreadId, new_run_id
from answerable.gateway.middleware.bodies import STREAMED
from answerable.gateway.tls import NAMES_IN_STATE, TlsRules
from answerable.gateway.wire import RUN_ID, THREAD_ID
from answerable.service import Service
from answerable.service.keyed_requests import KeyedAttempt

if TYPE_CHECKING:
    from answerable.access.policy import Action

SESSION_COOKIE = "answerable_session"
KEY = r"^[\x21-\x7e]{1,200}$"
IdempotencyKey = Annotated[
    str | None,
    Header(pattern=KEY, description="Who repeats a request with the same key within a day gets the same run or reply."),
]


# Dependencies are coroutines, however little they do: FastAPI calls a plain function in a thread of its own.


async def service_of(request: Request) -> Service:
    service: Service = request.app.state.service
    return service


async def principal_of(request: Request, service: Annotated[Service, Depends(service_of)]) -> Principal:
    """Everyone is the one local user until identities are configured. From then on nobody is, over HTTP: the local user
    is the person at the machine, to whom no rule applies. Who asks, the key, the session or else the certificate says.
    The middleware `Authentication` has looked already; what it found is in the scope."""
    if (known := request.scope.get("principal")) is not None:
        found_before: Principal = known
        return found_before
    if not service.access.is_on_for(LOCAL.tenant):
        return LOCAL
    await service.identity.refresh(LOCAL.tenant)
    for secret in (*sent_keys(request), session_token(request)):
        found = service.access.person_with(secret, LOCAL) if secret else None
        if secret and found is None:
            found = await service.identity.person_with(secret, LOCAL.tenant)
        if secret.startswith(KEY_PREFIX) and found is None:
            found = await service.keys.person_with(secret, LOCAL.tenant)
        if secret and found is None:
            found = await service.providers.person_with(secret, LOCAL.tenant)
        if found is not None:
            return found
    if (certified := _certified(request)) is not None:
        service.access.require_known(certified)
        return certified
    raise SignInError(
        "Say who you are.", hint="Sign in on the page; programs send `Authorization: Bearer KEY` or `X-API-Key: KEY`."
    )


def _certified(request: Request) -> Principal | None:
    """The user of the service whose certificate the connection has shown, or None."""
    rules: TlsRules | None = getattr(request.app.state, "tls", None)
    names: frozenset[str] = request.scope.get("state", {}).get(NAMES_IN_STATE, frozenset())
    user = rules.user_of(names) if rules is not None else None
    return person(user, LOCAL.tenant) if user is not None else None


def sent_keys(request: Request) -> Iterator[str]:
    scheme, _, bearer = request.headers.get("authorization", "").partition(" ")
    yield request.headers.get("x-api-key", "")
    yield bearer.strip() if scheme.lower() == "bearer" else ""


def session_token(request: Request) -> str:
    """The session that the browser has, or an empty text."""
    return request.cookies.get(SESSION_COOKIE, "")


PrincipalOf = Annotated[Principal, Depends(principal_of)]


def within(*actions: "Action") -> Any:
    """A dependency of routes that everybody may use who signs in, but a key only if it gives one of these permissions:
    a key that is not for asking shows nothing of what its owner has asked."""

    async def check(service: Annotated[Service, Depends(service_of)], principal: PrincipalOf) -> None:
        if principal.scopes is not None and principal.scopes.isdisjoint(actions):
            service.access.require(actions[0], principal)

    return Depends(check)


def needs(action: "Action") -> Any:
    """A dependency of routes that only those with a permission may use."""

    async def check(service: Annotated[Service, Depends(service_of)], principal: PrincipalOf) -> None:
        service.access.require(action, principal)

    return Depends(check)


async def _request_id(request: Request) -> str:
    request_id: str = request.scope["request_id"]
    return request_id


async def fingerprint_of(request: Request) -> str:
    """The key alone is not enough: a client that reuses a key for another request must get an error, not the reply to
    the first. The fingerprint tells the two apart. Of a body that goes straight to the disk, its length counts."""
    streamed = request.url.path in STREAMED
    body = request.headers.get("content-length", "").encode() if streamed else await request.body()
    query = f"?{request.url.query}" if request.url.query else ""
    return sha256(f"{request.method} {request.url.path}{query}\n".encode() + body).hexdigest()


async def new_run(
    request: Request,
    service: Annotated[Service, Depends(service_of)],
    principal: Annotated[Principal, Depends(principal_of)],
    idempotency_key: IdempotencyKey = None,
) -> RunId:
    """The id of the run that the request starts, or started when it came with this key before."""
    if idempotency_key is None:
        return new_run_id()
    return await service.runs.id_for(idempotency_key, await fingerprint_of(request), principal)


async def _attempt(request: Request) -> KeyedAttempt | None:
    """Returns None for a request without an Idempotency-Key; see `once.py`."""
    return getattr(request.state, "attempt", None)


async def tenant_of() -> TenantId:
    """The tenant at whose door somebody signs in."""
    return LOCAL.tenant


ServiceOf = Annotated[Service, Depends(service_of)]
TenantOf = Annotated[TenantId, Depends(tenant_of)]
RequestId = Annotated[str, Depends(_request_id)]
NewRun = Annotated[RunId, Depends(new_run)]
AttemptOf = Annotated[KeyedAttempt | None, Depends(_attempt)]
RunPath = Annotated[RunId, Path(pattern=RUN_ID)]
SourcePath = Annotated[str, Path(min_length=1, max_length=200)]
TablePath = Annotated[str, Path(min_length=1, max_length=500)]
ThreadPath = Annotated[ThreadId, Path(pattern=THREAD_ID)]
