"""How large a request body may be, and how slowly it may come."""

import asyncio
import time

from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from answerable.gateway.problems import problem_response
from answerable.gateway.wire import API

MAX_BODY = 1_000_000
MAX_BODIES = 256_000_000
"""Bytes of all bodies that are in memory at the same time: they are read before anybody has shown who they are."""
BODY_SECONDS = 30.0
SLOWEST_BODY = 10_000
"""Bytes in a second. A body may take `BODY_SECONDS`, and a second more for each of so many bytes that have come."""
STREAMED = (f"{API}/uploads",)
"""Whose bodies go to the disk as they come, with a limit of their own."""


class BodyLimits:
    """Refuses a request body over `MAX_BODY` bytes before it is in memory, and leaves clients that send too slowly."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._in_memory = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        receive = _impatient(receive)
        if scope["path"] in STREAMED:
            await self._app(scope, receive, send)
            return
        chunks: list[bytes] = []
        size, more = 0, True
        try:
            while more:
                message = await receive()
                if message["type"] == "http.disconnect":
                    return
                chunks.append(message.get("body", b""))
                size += len(chunks[-1])
                self._in_memory += len(chunks[-1])
                more = message.get("more_body", False)
                # Counts the bytes that came; `Content-Length` may be missing or wrong.
                if size > MAX_BODY:
                    hint = f"At most {MAX_BODY:,} bytes are read."
                    await problem_response(413, "request_too_large", "The request is too large.", hint, Request(scope))(
                        scope, receive, send
                    )
                    return
                if self._in_memory > MAX_BODIES:
                    await _crowded(Request(scope))(scope, receive, send)
                    return
            await self._app(scope, replayed(b"".join(chunks), receive), send)
        finally:
            self._in_memory -= size


def _crowded(request: Request) -> JSONResponse:
    response = problem_response(
        503, "bodies_too_many", "Too many large requests come at the same time.", "Send it again later.", request
    )
    response.headers["Retry-After"] = "1"
    return response


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


def replayed(body: bytes, receive: Receive) -> Receive:
    """Returns the body once, then whatever the client does next (mostly: it disconnects)."""
    sent = False

    async def replay() -> Message:
        nonlocal sent
        if sent:
            return await receive()
        sent = True
        return {"type": "http.request", "body": body, "more_body": False}

    return replay
