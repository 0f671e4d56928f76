"""Which pages may ask: those of this server, and those of origins that the operator names."""

from ipaddress import ip_address
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from answerable.gateway.problems import problem_response
from answerable.gateway.wire import API

_CHANGES_NOTHING = ("GET", "HEAD", "OPTIONS")
_OWN = ("same-origin", "none")
_PREFLIGHT = {
    "Access-Control-Allow-Methods": "GET, POST, PUT, PATCH, DELETE",
    "Access-Control-Allow-Headers": "Authorization, Content-Type, Idempotency-Key, Last-Event-ID, X-API-Key, "
    "X-Request-Id",
    "Access-Control-Max-Age": "600",
}
_READABLE = (
    "Retry-After, RateLimit-Limit, RateLimit-Remaining, RateLimit-Reset, X-Request-Id, X-Response-Time, X-Run-Id, "
    "X-Thread-Id, X-Row-Count, X-Total-Rows"
)
"""Headers that a script of another origin may read."""


class KnownHosts:
    """Refuses requests that name another host, or come from a page of another one: a name that an attacker points at
    this machine (DNS rebinding) and foreign pages then get nothing."""

    def __init__(
        self,
        app: ASGIApp,
        hosts: frozenset[str],
        any_address: bool = False,
        origins: frozenset[str] = frozenset(),
    ) -> None:
        """`any_address`: whether every numeric address is known. Nobody can point an address somewhere else, and a
        server that other machines reach has addresses that it does not know. `origins`: other origins whose pages may
        ask."""
        self._app = app
        self._hosts = hosts
        self._any_address = any_address
        self._origins = origins

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and not self._known(Request(scope)):
            response = problem_response(
                403,
                "host_refused",
                "This server does not answer under that host name or for that page.",
                "Open it by the address it was started with, or add the name with --allow-host.",
                Request(scope),
            )
            await response(scope, receive, send)
            return
        await self._app(scope, receive, send)

    def _known(self, request: Request) -> bool:
        named = [f"//{request.headers.get('host', '')}"]
        # A page of another host could reach this server by its real name, so the page's host has to be known too.
        if "origin" in request.headers and request.headers["origin"] not in self._origins:
            named.append(request.headers["origin"])
        return all(self._is_known(_hostname(url)) for url in named)

    def _is_known(self, host: str | None) -> bool:
        return host in self._hosts or (self._any_address and host is not None and _is_address(host))


class SameOrigin:
    """Refuses what pages of other origins send through somebody's browser, also of another port of this machine.

    A browser says in `Sec-Fetch-Site` and `Origin` where a request comes from, and no page can change that. Programs
    send neither of them. `allowed` are hosts whose pages may ask although the request names another host: those of a
    proxy in front of the server. `origins` are those that the operator names.
    """

    def __init__(self, app: ASGIApp, allowed: frozenset[str], origins: frozenset[str] = frozenset()) -> None:
        self._app = app
        self._allowed = allowed
        self._origins = origins

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and not self._own(Request(scope)):
            response = problem_response(
                403,
                "origin_refused",
                "This was sent by a page of another origin.",
                "Open the page by the address of this server; programs send no `Origin`.",
                Request(scope),
            )
            await response(scope, receive, send)
            return
        await self._app(scope, receive, send)

    def _own(self, request: Request) -> bool:
        if request.method in _CHANGES_NOTHING and not request.url.path.startswith(API):
            return True  # the page itself may be linked to from anywhere
        origin = request.headers.get("origin")
        if origin is None:
            # Browsers send no `Origin` with a plain GET. Programs send neither header and count as `none`.
            return request.headers.get("sec-fetch-site", "none") in _OWN
        if origin in self._origins or _hostname(origin) in self._allowed:
            return True
        # Takes the scheme from the origin: behind a proxy that ends TLS this server sees http where the browser says
        # https.
        here = f"{origin.partition(':')[0]}://{request.headers.get('host', '')}"
        return _address(origin) == _address(here) and request.headers.get("sec-fetch-site", "none") in _OWN


class Cors:
    """Lets scripts of the origins that the operator names read replies, and answers what their browsers ask first.

    No cookie is allowed across origins: such a script says who asks with a key.
    """

    def __init__(self, app: ASGIApp, origins: frozenset[str]) -> None:
        self._app = app
        self._origins = origins

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        origin = Headers(scope=scope).get("origin") if scope["type"] == "http" else None
        if origin is None or origin not in self._origins:
            await self._app(scope, receive, send)
            return

        async def readable(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers["Access-Control-Allow-Origin"] = origin
                headers["Access-Control-Expose-Headers"] = _READABLE
                # Without it the browser keeps the reply from a script of another origin, whatever CORS says.
                headers["Cross-Origin-Resource-Policy"] = "cross-origin"
                headers.add_vary_header("Origin")
            await send(message)

        if scope["method"] == "OPTIONS" and "access-control-request-method" in Headers(scope=scope):
            await Response(status_code=204, headers=_PREFLIGHT)(scope, receive, readable)
            return
        await self._app(scope, receive, readable)


def _address(url: str) -> tuple[str | None, int | None] | None:
    """Returns host and port, or None if the text is not an address."""
    try:
        parts = urlsplit(url)
        return parts.hostname, parts.port or {"http": 80, "https": 443}.get(parts.scheme)
    except ValueError:
        return None


def _is_address(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True


def _hostname(url: str) -> str | None:
    try:
        return urlsplit(url).hostname
    except ValueError:
        return None
