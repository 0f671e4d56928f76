"""Around every request: an id, a bound on its size, a known host, metrics and a log line.

Plain ASGI, so that streams stay streams.
"""

import asyncio
import logging
import re
import secrets
import time
from collections.abc import Collection, Iterable
from ipaddress import ip_address
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from answerable.gateway.metrics import Metrics
from answerable.gateway.problems import defect_response, problem_response
from answerable.gateway.wire import API
from answerable.logs import about

MAX_BODY = 1_000_000
BODY_SECONDS = 30.0
SLOWEST_BODY = 10_000
"""Bytes in a second. A body may take `BODY_SECONDS`, and a second more for each of so many bytes that have come."""
SECURITY_HEADERS = (
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"x-frame-options", b"DENY"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), geolocation=(), microphone=()"),
)
NOTHING_RUNS = (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'; sandbox")
"""For whatever is not the page: should a browser take it for a document, that document can do nothing."""
NOT_KEPT = (b"cache-control", b"no-store")
"""For data: no browser writes it to its disk."""
STREAMED = (f"{API}/uploads",)
"""Whose bodies go to the disk as they come, with a limit of their own."""
_CHANGES_NOTHING = ("GET", "HEAD", "OPTIONS")
_OWN = ("same-origin", "none")
_log = logging.getLogger("answerable.http")
_ACCEPTED_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")


class Observe:
    """Gives each request an id (its own `X-Request-Id` where it is a plain word), counts it, and logs it."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self._app = app
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request_id = scope["request_id"] = _request_id(scope)
        started = time.perf_counter()
        status: int | None = None  # of the response, once it has begun

        async def tagged(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = complete_headers(request_id, scope["path"], message["headers"])
            await send(message)

        with about(request=request_id):
            try:
                await self._app(scope, receive, tagged)
            except Exception:
                # Here, and not in a handler of the framework, whose reply would pass by `tagged`.
                _log.exception("defect", extra={"fields": {"method": scope["method"], "path": scope["path"]}})
                if status is not None:
                    raise  # the reply has begun, and all that is left is to cut it off
                await defect_response(Request(scope))(scope, receive, tagged)
            finally:
                self._note(scope, status or 500, time.perf_counter() - started)

    def _note(self, scope: Scope, status: int, seconds: float) -> None:
        # Counts by the route's pattern, not by the path: paths hold ids, and each would become a series of its own.
        route = getattr(scope.get("route"), "path", "other")
        self._metrics.requests.labels(scope["method"], route, str(status)).inc()
        self._metrics.seconds.labels(scope["method"], route).observe(seconds)
        fields = {"method": scope["method"], "path": scope["path"], "status": status, "ms": round(seconds * 1000, 1)}
        _log.info("request", extra={"fields": fields})


class KnownHosts:
    """Refuses requests that name another host, or come from a page of another one: a name that an attacker points at
    this machine (DNS rebinding) and foreign pages then get nothing."""

    def __init__(self, app: ASGIApp, hosts: frozenset[str], any_address: bool = False) -> None:
        """`any_address`: whether every numeric address is known. Nobody can point an address somewhere else, and a
        server that other machines reach has addresses that it does not know."""
        self._app = app
        self._hosts = hosts
        self._any_address = any_address

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
        if "origin" in request.headers:
            named.append(request.headers["origin"])
        return all(self._is_known(_hostname(url)) for url in named)

    def _is_known(self, host: str | None) -> bool:
        return host in self._hosts or (self._any_address and host is not None and _is_address(host))


class SameOrigin:
    """Refuses what pages of other origins send through somebody's browser, also of another port of this machine.

    A browser says in `Sec-Fetch-Site` and `Origin` where a request comes from, and no page can change that. Programs
    send neither of them. `allowed` are hosts whose pages may ask although the request names another host: those of a
    proxy in front of the server.
    """

    def __init__(self, app: ASGIApp, allowed: frozenset[str]) -> None:
        self._app = app
        self._allowed = allowed

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
        if _hostname(origin) in self._allowed:
            return True
        # Takes the scheme from the origin: behind a proxy that ends TLS this server sees http where the browser says
        # https.
        here = f"{origin.partition(':')[0]}://{request.headers.get('host', '')}"
        return _address(origin) == _address(here) and request.headers.get("sec-fetch-site", "none") in _OWN


class BoundedBody:
    """Refuses a request body over `MAX_BODY` bytes before it is in memory, and leaves clients that send too slowly."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        receive = _impatient(receive)
        if scope["path"] in STREAMED:
            await self._app(scope, receive, send)
            return
        chunks, size, more = [], 0, True
        while more:
            message = await receive()
            if message["type"] == "http.disconnect":
                return
            chunks.append(message.get("body", b""))
            size += len(chunks[-1])
            more = message.get("more_body", False)
            # Counts the bytes that came; `Content-Length` may be missing or wrong.
            if size > MAX_BODY:
                hint = f"At most {MAX_BODY:,} bytes are read."
                await problem_response(413, "request_too_large", "The request is too large.", hint, Request(scope))(
                    scope, receive, send
                )
                return
        await self._app(scope, _replayed(b"".join(chunks), receive), send)


def complete_headers(
    request_id: str, path: str, headers: Iterable[tuple[bytes, bytes]] = ()
) -> list[tuple[bytes, bytes]]:
    """What every response carries, beside the headers of its own."""
    tagged = [*headers, (b"x-request-id", request_id.encode()), *SECURITY_HEADERS]
    return tagged + _missing(path, {name.lower() for name, _ in tagged})


def _missing(path: str, present: Collection[bytes]) -> list[tuple[bytes, bytes]]:
    """Returns the default headers that the route has not set itself."""
    # The page sets a policy of its own, under which its scripts may run; that one stays.
    wanted = [NOTHING_RUNS, *([NOT_KEPT] if path.startswith(API) else [])]
    return [header for header in wanted if header[0] not in present]


def _impatient(receive: Receive) -> Receive:
    """Takes a client that sends its body too slowly for one that has left. What was begun for it is undone in the same
    way, and the connection is closed."""
    began, size, complete = time.monotonic(), 0, False

    async def received() -> Message:
        nonlocal size, complete
        if complete:  # the body is here; what comes next is that the client leaves, and it may wait as long as it likes
            return await receive()
        left = BODY_SECONDS + size / SLOWEST_BODY - (time.monotonic() - began)
        try:
            message = await asyncio.wait_for(receive(), max(left, 0))
        except TimeoutError:
            return {"type": "http.disconnect"}
        size += len(message.get("body", b""))
        complete = not message.get("more_body", False)
        return message

    return received


def _replayed(body: bytes, receive: Receive) -> Receive:
    """Returns the body once, then whatever the client does next (mostly: it disconnects)."""
    sent = False

    async def replay() -> Message:
        nonlocal sent
        if sent:
            return await receive()
        sent = True
        return {"type": "http.request", "body": body, "more_body": False}

    return replay


def _request_id(scope: Scope) -> str:
    # The id is copied into a header and the log, so only harmless characters are taken from the client.
    proposed = Request(scope).headers.get("x-request-id", "")
    return proposed if _ACCEPTED_ID.fullmatch(proposed) else new_request_id()


def new_request_id() -> str:
    return "req_" + secrets.token_hex(8)


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
