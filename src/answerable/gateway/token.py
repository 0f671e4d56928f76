"""One token for everybody who may use a server that other machines can reach, until identities are configured.

The server draws the token at its start and prints it in a link. Whoever opens the link gets the
token as a cookie; programs send it as `Authorization: Bearer TOKEN`.
"""

import secrets
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qsl, quote, urlencode

from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from answerable.gateway.problems import problem_response
from answerable.gateway.wire import API

COOKIE = "answerable_token"
PARAMETER = "token"
_OPEN = ("/healthz",)
"""What needs no token: whether the process is up is asked by machines that should know no secret."""


_NEEDED = "This server needs a token."
_HOW = "Open the link that it printed at its start"
_PAGE = f"<!doctype html><html lang=en><title>Answerable</title><h1>{_NEEDED}</h1><p>{_HOW}.</p></html>"


def new_token() -> str:
    return secrets.token_urlsafe(32)


class TokenRequired:
    def __init__(self, app: ASGIApp, token: str) -> None:
        self._app = app
        self._token = token.encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"] in _OPEN:
            await self._app(scope, receive, send)
            return
        request = Request(scope)
        if self._is_link(request):
            await self._signed_in(request)(scope, receive, send)
        elif any(map(self._is_token, _sent(request))):
            await self._app(scope, receive, send)
        else:
            reply = _refused(request)
            reply.headers["WWW-Authenticate"] = "Bearer"
            await reply(scope, receive, send)

    def _is_link(self, request: Request) -> bool:
        """Whether this is the printed link, opened in a browser. The API takes no token from an address, because
        addresses end up in logs and histories."""
        is_page = request.method == "GET" and not request.url.path.startswith(API)
        return is_page and self._is_token(request.query_params.get(PARAMETER, ""))

    def _signed_in(self, request: Request) -> RedirectResponse:
        """The same address without the token, and the token as a cookie that no script can read. `Lax`: the link may be
        opened from a message, and the redirect must find the cookie; changes are guarded by their origin."""
        rest = [(name, value) for name, value in parse_qsl(request.url.query) if name != PARAMETER]
        # An address that begins with two slashes, or with a slash and a backslash, would lead to another host.
        target = "/" + quote(request.scope["path"].lstrip("/\\")) + (f"?{urlencode(rest)}" if rest else "")
        reply = RedirectResponse(target, status_code=303)
        # A `Secure` cookie would never come back over plain http, which is all that this server speaks without a proxy.
        secure = request.url.scheme == "https"
        reply.set_cookie(COOKIE, self._token.decode(), httponly=True, samesite="lax", secure=secure, path="/")
        return reply

    def _is_token(self, sent: str) -> bool:
        """Compared in constant time, so that the time of a refusal does not tell how much of it was right."""
        return secrets.compare_digest(sent.encode(errors="replace"), self._token)


def _refused(request: Request) -> Response:
    """A page for a person in front of a browser, a problem for a program."""
    if "text/html" in request.headers.get("accept", "") and not request.url.path.startswith(API):
        return HTMLResponse(_PAGE, status_code=401)
    hint = f"{_HOW}; programs send `Authorization: Bearer TOKEN`."
    return problem_response(401, "token_required", _NEEDED, hint, request)


def _sent(request: Request) -> list[str]:
    """What the request offers as a token."""
    scheme, _, bearer = request.headers.get("authorization", "").partition(" ")
    offered = [bearer.strip()] if scheme.lower() == "bearer" else []
    try:
        cookie = SimpleCookie(request.headers.get("cookie", "")).get(COOKIE)
    # The cookies come from the client, and another program of the same host may have set a broken one.
    except CookieError:
        cookie = None
    return [*offered, cookie.value] if cookie is not None else offered
