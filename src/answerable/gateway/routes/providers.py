"""Signing in at an identity provider. These are addresses that a browser opens, so they lie outside of the API: the
provider's page leads to the second, and the API takes nothing from pages of other origins."""

from typing import Annotated
from urllib.parse import urlsplit

from fastapi import APIRouter, Path, Query, Request
from fastapi.responses import RedirectResponse

from answerable.core.errors import AnswerableError
from answerable.gateway.access import SESSION_COOKIE, ServiceOf, TenantOf
from answerable.settings import LOOPBACK

router = APIRouter(tags=["identity"], include_in_schema=False)

FLOW_COOKIE = "answerable_sign_in"
ProviderPath = Annotated[str, Path(pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,99}$")]
Parameter = Annotated[str, Query(max_length=4000)]


@router.get("/sign-in/{provider}")
async def begin(provider: ProviderPath, request: Request, service: ServiceOf, tenant: TenantOf) -> RedirectResponse:
    """Send the browser to the provider."""
    try:
        begun = await service.providers.begin(provider, _callback(request, provider), tenant)
    except AnswerableError as error:
        return _problem_redirect(error)
    reply = RedirectResponse(begun.address, status_code=303)
    # `Lax`: the way back is a link from the provider's page, and must find the cookie.
    reply.set_cookie(
        FLOW_COOKIE, begun.browser, max_age=600, httponly=True, samesite="lax", secure=_secure(request), path="/sign-in"
    )
    return reply


@router.get("/sign-in/{provider}/callback")
async def finish(
    provider: ProviderPath,
    request: Request,
    service: ServiceOf,
    tenant: TenantOf,
    state: Parameter = "",
    code: Parameter = "",
    iss: Annotated[str | None, Query(max_length=500)] = None,
) -> RedirectResponse:
    """Sign in whoever comes back from the provider."""
    try:
        signed_in = await service.providers.finish(
            provider,
            tenant,
            state=state,
            code=code,
            browser=request.cookies.get(FLOW_COOKIE, ""),
            issuer=iss,
            client=request.headers.get("user-agent", ""),
        )
    except AnswerableError as error:
        return _problem_redirect(error)
    reply = RedirectResponse("/", status_code=303)
    reply.set_cookie(
        SESSION_COOKIE, signed_in.token, httponly=True, samesite="strict", secure=_secure(request), path="/"
    )
    reply.delete_cookie(FLOW_COOKIE, path="/sign-in")
    return reply


def _callback(request: Request, provider: str) -> str:
    """The address that is registered at the provider. The host is one of ours: middleware has looked."""
    scheme = "https" if _secure(request) else "http"
    return f"{scheme}://{request.headers['host']}/sign-in/{provider}/callback"


def _secure(request: Request) -> bool:
    """Other machines reach the page by https only: the server, or a proxy before it, has the certificate."""
    return request.url.scheme == "https" or urlsplit(f"//{request.headers.get('host', '')}").hostname not in LOOPBACK


def _problem_redirect(error: AnswerableError) -> RedirectResponse:
    """The page with the code of what went wrong. No text goes along: somebody else could have written the address."""
    reply = RedirectResponse(f"/#sign-in-problem={error.stable_code}", status_code=303)
    reply.delete_cookie(FLOW_COOKIE, path="/sign-in")
    return reply
