"""What is known of every request: its id, how long it took, and a line in the log.

Plain ASGI, so that streams stay streams.
"""

import logging
import re
import secrets
import time

from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from answerable.gateway.metrics import Metrics
from answerable.gateway.problems import defect_response
from answerable.logs import about

_log = logging.getLogger("answerable.http")
_ACCEPTED_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")


class RequestId:
    """Gives each request an id (its own `X-Request-Id` where it is a plain word), which the reply and the logs name."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request_id = scope["request_id"] = _request_id(scope)

        async def tagged(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message["headers"], (b"x-request-id", request_id.encode())]
            await send(message)

        with about(request=request_id):
            await self._app(scope, receive, tagged)


class ResponseTime:
    """Says in `X-Response-Time` how many milliseconds passed until the reply began, and counts requests."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self._app = app
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started, status = time.perf_counter(), 500

        async def timed(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                taken = b"%.1fms" % ((time.perf_counter() - started) * 1000)
                message["headers"] = [*message["headers"], (b"x-response-time", taken)]
            await send(message)

        try:
            await self._app(scope, receive, timed)
        finally:
            # Counts by the route's pattern, not by the path: paths hold ids, and each would become a series of its own.
            route = getattr(scope.get("route"), "path", "other")
            self._metrics.requests.labels(scope["method"], route, str(status)).inc()
            self._metrics.seconds.labels(scope["method"], route).observe(time.perf_counter() - started)


class AccessLog:
    """Logs each request once, when its reply is complete."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not _log.isEnabledFor(logging.INFO):
            await self._app(scope, receive, send)
            return
        started, status = time.perf_counter(), 500

        async def noted(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self._app(scope, receive, noted)
        finally:
            milliseconds = round((time.perf_counter() - started) * 1000, 1)
            fields = {"method": scope["method"], "path": scope["path"], "status": status, "ms": milliseconds}
            if (principal := scope.get("principal")) is not None:
                fields |= {"user": principal.user, "tenant": principal.tenant}
            _log.info("request", extra={"fields": fields})


class Defects:
    """Answers what nobody caught with a problem, and logs it."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        has_begun = False

        async def watched(message: Message) -> None:
            nonlocal has_begun
            has_begun = has_begun or message["type"] == "http.response.start"
            await send(message)

        try:
            await self._app(scope, receive, watched)
        except Exception:
            # Here, and not in a handler of the framework, whose reply would pass by the other middleware.
            _log.exception("defect", extra={"fields": {"method": scope["method"], "path": scope["path"]}})
            if has_begun:
                raise  # all that is left is to cut the reply off
            await defect_response(Request(scope))(scope, receive, send)


def _request_id(scope: Scope) -> str:
    # The id is copied into a header and the log, so only harmless characters are taken from the client.
    proposed = Request(scope).headers.get("x-request-id", "")
    return proposed if _ACCEPTED_ID.fullmatch(proposed) else new_request_id()


def new_request_id() -> str:
    return "req_" + secrets.token_hex(8)
