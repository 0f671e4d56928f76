"""What the whole middleware adds to a request, at 500 requests a second: the 99th percentile, with rate limits, WAF and
authentication on. Processor time of the server's thread is measured: on a busy machine the clock would measure what
others do. Nothing here waits for anything but the processor."""

import asyncio
import tempfile
import time
from pathlib import Path
from typing import Any

from fastapi import FastAPI
from starlette.types import ASGIApp, Message

from answerable.gateway.app import create_app
from answerable.settings import Settings
from bench.figures import Figure, compared

LIMIT_MS = 5.0
PER_SECOND = 500
_BODY = b'{"message": "how many orders were there in 2024?", "source": "demo", "choice": 1}'
_HEADERS = [
    (b"host", b"127.0.0.1"),
    (b"content-type", b"application/json"),
    (b"user-agent", b"bench"),
    (b"cookie", b"theme=dark; answerable_session=none"),
    (b"authorization", b"Bearer of-nothing"),
]


def measure(quick: bool) -> list[Figure]:
    return asyncio.run(_measured(2 if quick else 10))


async def _measured(seconds: int) -> list[Figure]:
    with tempfile.TemporaryDirectory(prefix="answerable-bench-") as home:
        settings = Settings(home=Path(home), rate_limits="user 1000000/minute, route 1000000/minute /runs", waf="block")
        app = create_app(settings)
        async with app.router.lifespan_context(app):
            stack = _around(app)
            times = sorted([await _paced(stack, app, number) for number in range(PER_SECOND * seconds)])
    p99 = times[int(len(times) * 0.99)] * 1000
    # The floor is the promise itself: the ratio says which part of it is used.
    return [compared(f"middleware, p99 at {PER_SECOND} requests/s", p99, LIMIT_MS, "ms", 1.0)]


def _around(app: FastAPI) -> ASGIApp:
    async def nothing(_scope: Any, _receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    stack: ASGIApp = nothing
    for part in reversed(app.user_middleware):
        stack = part.cls(stack, *part.args, **part.kwargs)
    return stack


async def _paced(stack: ASGIApp, app: FastAPI, number: int) -> float:
    """One request; the rest of its five hundredth of a second is waited for."""
    path = "/api/v1/chat" if number % 2 else "/api/v1/runs"
    scope = {
        "type": "http",
        "method": "POST",
        "path": path,
        "raw_path": path.encode(),
        "query_string": b"",
        "headers": _HEADERS,
        "client": ("127.0.0.1", 1),
        "app": app,
        "scheme": "http",
        "server": ("127.0.0.1", 80),
    }
    received = iter([{"type": "http.request", "body": _BODY, "more_body": False}])

    async def receive() -> Message:
        return next(received, {"type": "http.disconnect"})

    async def send(_message: Message) -> None:
        return None

    started = time.thread_time()
    await stack(scope, receive, send)
    taken = time.thread_time() - started
    await asyncio.sleep(max(1 / PER_SECOND - taken, 0))
    return taken
