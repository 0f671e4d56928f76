"""The web application firewall: requests that look like attacks are logged, and refused where the operator says so."""

import logging
from collections.abc import Sequence

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from answerable.gateway.middleware.bodies import STREAMED, replayed
from answerable.gateway.middleware.matched_route import route_pattern
from answerable.gateway.problems import problem_response
from answerable.gateway.wire import API
from answerable.protection.waf.judging import RequestVerdict, judged
from answerable.protection.waf.modes import WafRule, mode_for


def _set(text: str) -> frozenset[str]:
    return frozenset(text.split())


FREE = _set(
    "message code text question search selection note data prompt plan filters value title name label description "
    "expression sql cypher query definition reason steps input token password"
)
"""Fields whose values are what the routes of the API are for: questions, programs, definitions, names of data. Each of
them is read by a parser of its own, and looks like an attack when it is quite in order."""
_log = logging.getLogger("answerable.waf")


class Waf:
    def __init__(self, app: ASGIApp, rules: Sequence[WafRule]) -> None:
        self._app = app
        self._rules = rules

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        is_looked_at = self._rules and scope["type"] == "http"
        mode = mode_for(self._rules, route_pattern(scope).removeprefix(API)) if is_looked_at else "off"
        if mode == "off":
            await self._app(scope, receive, send)
            return
        body = b""
        if scope["path"] not in STREAMED:
            body = await Request(scope, receive).body()
            receive = replayed(body, receive)
        query = scope["query_string"].decode("latin-1")
        target = scope["raw_path"].decode("latin-1") + (f"?{query}" if query else "")
        judgement = judged(scope["method"], target, dict(Headers(scope=scope)), body, FREE)
        if judgement.is_attack:
            _explain(scope, judgement, mode)
        if judgement.is_attack and mode == "block":
            refused = problem_response(
                403,
                "request_refused",
                "The request looks like an attack on the server.",
                "If it is none, give the request_id to whoever runs this installation: the log says what it was.",
                Request(scope),
            )
            await refused(scope, receive, send)
            return
        await self._app(scope, receive, send)


def _explain(scope: Scope, judgement: RequestVerdict, mode: str) -> None:
    findings = [{"check": each.check, "place": each.place, "why": each.why} for each in judgement.findings[:10]]
    fields = {"method": scope["method"], "path": scope["path"], "mode": mode, "score": judgement.score}
    _log.warning("looks like an attack", extra={"fields": {**fields, "findings": findings}})
