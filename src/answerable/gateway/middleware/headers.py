"""Headers that every response carries, so that a browser does no harm with it."""

from collections.abc import Collection, Iterable

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from answerable.gateway.wire import API

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


class SecurityHeaders:
    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def completed(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = secured(scope["path"], message["headers"])
            await send(message)

        await self._app(scope, receive, completed if scope["type"] == "http" else send)


def secured(path: str, headers: Iterable[tuple[bytes, bytes]] = ()) -> list[tuple[bytes, bytes]]:
    """The headers of a response, and those that every response carries and this one has not set itself."""
    own = list(headers)
    return own + _missing(path, {name.lower() for name, _ in own})


def _missing(path: str, present: Collection[bytes]) -> list[tuple[bytes, bytes]]:
    # The page sets a policy of its own, under which its scripts may run; that one stays.
    wanted = [*SECURITY_HEADERS, NOTHING_RUNS, *([NOT_KEPT] if path.startswith(API) else [])]
    return [header for header in wanted if header[0] not in present]
