"""Rate limits: who has sent too many requests in the last while is told when to come back."""

import math
from collections.abc import Sequence
from hashlib import sha256

from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from answerable.core.context import HOME_TENANT, Principal
from answerable.core.errors import TooManyError
from answerable.gateway.access import sent_keys
from answerable.gateway.middleware.matched_route import route_pattern
from answerable.gateway.problems import problem_of
from answerable.gateway.wire import API
from answerable.protection.rates import rules as rate_rules
from answerable.protection.rates.base import RateVerdict
from answerable.protection.rates.rules import RateRule, limits_for
from answerable.service import Service


class RateLimit:
    """Counts requests to the API. The page itself and `/healthz` are always answered."""

    def __init__(self, app: ASGIApp, rules: Sequence[RateRule]) -> None:
        self._app = app
        self._rules = rules

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if not self._rules or scope["type"] != "http" or not scope["path"].startswith(API):
            await self._app(scope, receive, send)
            return
        request = Request(scope)
        limits = limits_for(self._rules, _callers(request), route_pattern(scope).removeprefix(API))
        if not limits:
            await self._app(scope, receive, send)
            return
        principal: Principal | None = scope.get("principal")
        service: Service = request.app.state.service
        verdict = await service.rate_counts.take(principal.tenant if principal else HOME_TENANT, limits)
        if verdict.allowed:
            await self._app(scope, receive, _with_rate_headers(verdict, send))
        else:
            await problem_of(_refusal(verdict), request)(scope, receive, _with_rate_headers(verdict, send))


def _callers(request: Request) -> dict[rate_rules.Scope, str]:
    callers: dict[rate_rules.Scope, str] = {"route": "all"}
    if request.client is not None:
        callers["address"] = request.client.host
    principal: Principal | None = request.scope.get("principal")
    if principal is not None:
        callers |= {"user": principal.user, "tenant": principal.tenant}
        # Only of somebody who is known: else every guess would have a window of its own.
        if key := next(filter(None, sent_keys(request)), None):
            callers["key"] = sha256(key.encode()).hexdigest()[:32]
    return callers


def _refusal(verdict: RateVerdict) -> TooManyError:
    limit = verdict.limit
    scope = limit.name.partition(":")[0]
    return TooManyError(
        f"Too many requests: at most {limit.count:,} in {limit.seconds:,} seconds for each {scope}.",
        code="rate_limited",
        hint="Wait as long as `Retry-After` says.",
        retry_after=max(math.ceil(verdict.reset), 1),
    )


def _with_rate_headers(verdict: RateVerdict, send: Send) -> Send:
    async def send_with_headers(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            headers["RateLimit-Limit"] = f"{verdict.limit.count}, {verdict.limit.count};w={verdict.limit.seconds}"
            headers["RateLimit-Remaining"] = str(verdict.remaining)
            headers["RateLimit-Reset"] = str(math.ceil(verdict.reset))
        await send(message)

    return send_with_headers
