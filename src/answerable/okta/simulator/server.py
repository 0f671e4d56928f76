"""The simulated tenant over HTTP: who may ask, how often, and the reply with its headers."""

import asyncio
import contextlib
import socket
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from email.utils import formatdate
from threading import Thread
from typing import TypeAlias

import orjson
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from answerable.okta.simulator import problems
from answerable.okta.simulator.changes import change
from answerable.okta.simulator.endpoints import ENDPOINTS, Asked, SimulatedEndpoint
from answerable.okta.simulator.listings import Page
from answerable.okta.simulator.oauth import TOKEN_PATH, Application, TokenEndpoint
from answerable.okta.simulator.problems import OktaProblem
from answerable.okta.simulator.rates import UNLIMITED, Allowance, RateWindows
from answerable.okta.simulator.tenant import Tenant

TOKEN = "simulated-okta-token"  # noqa: S105 - opens nothing but simulators
"""The API token that a simulator accepts unless it is told another one. It opens nothing else."""

Fault: TypeAlias = Callable[[int, str], Response | None]
"""Called with the number and the path of each request; what it returns is sent instead of the true reply."""


@dataclass(slots=True)
class Simulator:
    tenant: Tenant
    token: str = TOKEN
    rate: float | None = None
    """Share of Okta's own limits that applies: 1 for the limits of a paid tenant, None for no limits."""
    scopes: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """Access tokens and their scopes."""
    applications: Mapping[str, Application] = field(default_factory=dict)
    """Applications that may exchange a signed assertion for an access token, by client id."""
    fault: Fault | None = None
    now: Callable[[], float] = time.time
    requests: int = 0
    refused: int = 0
    """Requests that were answered with 429."""
    _windows: RateWindows | None = None
    _tokens: TokenEndpoint | None = None

    def app(self, changes_a_minute: float = 0) -> Starlette:
        """The ASGI application. With `changes_a_minute`, the tenant changes while it is served."""
        by_path = {endpoint.path: endpoint for endpoint in ENDPOINTS}
        self._windows = RateWindows(lambda path: self._limit(by_path[path]), self.now)
        # paths without ids come first, so that `/groups/rules` is not the group named `rules`
        ordered = sorted(ENDPOINTS, key=lambda endpoint: endpoint.path.count("{"))
        every = ["GET", "POST", "PUT", "PATCH", "DELETE"]
        routes = [Route(endpoint.path, self._route(endpoint), methods=every) for endpoint in ordered]
        self._tokens = TokenEndpoint(self.applications, self.now)
        routes.append(Route(TOKEN_PATH, self._tokens.exchange, methods=["POST"]))
        catch_all = Route("/{path:path}", self._unknown_endpoint, methods=every)

        @asynccontextmanager
        async def lifespan(_app: Starlette) -> AsyncIterator[None]:
            changing = asyncio.create_task(self._go_on(changes_a_minute)) if changes_a_minute else None
            yield
            if changing is not None:
                changing.cancel()

        return Starlette(routes=[*routes, catch_all], lifespan=lifespan)

    def _limit(self, endpoint: SimulatedEndpoint) -> int:
        return UNLIMITED if self.rate is None else max(1, int(endpoint.a_minute * self.rate))

    async def _go_on(self, changes_a_minute: float) -> None:
        while True:
            await asyncio.sleep(60 / changes_a_minute)
            change(self.tenant, 1, 60 / changes_a_minute)

    def _route(self, endpoint: SimulatedEndpoint) -> Callable[[Request], Response]:
        async def route(request: Request) -> Response:
            return self._reply(endpoint, request)

        return route  # type: ignore[return-value]

    async def _unknown_endpoint(self, request: Request) -> Response:
        return self._problem(problems.no_such_endpoint(request.url.path))

    def _reply(self, endpoint: SimulatedEndpoint, request: Request) -> Response:
        self.requests += 1
        planted = self.fault(self.requests, request.url.path) if self.fault is not None else None
        if planted is not None:
            return planted
        assert self._windows is not None
        allowance: Allowance | None = None
        try:
            self._check_token(request, endpoint.scope)
            allowance = self._windows.take(endpoint.path)
            if allowance.exceeded:
                self.refused += 1
                raise problems.too_many_requests()
            if request.method != "GET":
                raise problems.wrong_method()
            return self._answered(endpoint, request, allowance)
        except OktaProblem as problem:
            return self._problem(problem, allowance)

    def _check_token(self, request: Request, scope: str) -> None:
        scheme, _, token = request.headers.get("Authorization", "").partition(" ")
        if scheme == "SSWS" and token == self.token:
            return
        url = f"{_host(request)}{request.url.path}"
        issued = self._tokens.scopes_of(scheme, token, request, url) if self._tokens is not None else None
        scopes = self.scopes.get(token) if issued is None and scheme == "Bearer" else issued
        if scopes is None:
            raise problems.invalid_token()
        if scope not in scopes:
            raise problems.missing_scope(scope)

    def _answered(self, endpoint: SimulatedEndpoint, request: Request, allowance: Allowance) -> Response:
        asked = Asked(self.tenant, _host(request), request.url.path, dict(request.query_params), request.path_params)
        answer = endpoint.answer(asked)
        body = list(answer.items) if isinstance(answer, Page) else answer
        response = self._response(orjson.dumps(body), 200, allowance)
        for relation, address in answer.links if isinstance(answer, Page) else ():
            response.headers.append("Link", f'<{address}>; rel="{relation}"')
        return response

    def _problem(self, problem: OktaProblem, allowance: Allowance | None = None) -> Response:
        body = problem.body(f"oae{self.requests:020d}")
        response = self._response(orjson.dumps(body), problem.status, allowance)
        response.headers.update(problem.headers)
        return response

    def _response(self, body: bytes, status: int, allowance: Allowance | None) -> Response:
        headers = {
            "Date": formatdate(self.now(), usegmt=True),
            "x-okta-request-id": f"{self.requests:020x}",
            "cache-control": "no-cache, no-store",
        }
        if allowance is not None:
            headers |= allowance.headers
        return Response(body, status, headers, media_type="application/json")


def _host(request: Request) -> str:
    return f"{request.url.scheme}://{request.headers.get('Host', 'localhost')}"


def server_of(simulator: Simulator, changes_a_minute: float = 0) -> uvicorn.Server:
    config = uvicorn.Config(
        simulator.app(changes_a_minute), log_config=None, access_log=False, lifespan="on", date_header=False
    )
    return uvicorn.Server(config)


def listening(port: int, host: str = "127.0.0.1") -> socket.socket:
    """Raises `OSError` if the port is taken. Port 0 is any that is free."""
    opened = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        opened.bind((host, port))
    except OSError:
        opened.close()
        raise
    return opened


@contextmanager
def served(simulator: Simulator, port: int = 0, *, changes_a_minute: float = 0) -> Iterator[str]:
    """Serves in a thread of this process for as long as the context lasts. Yields the address."""
    opened, server = listening(port), server_of(simulator, changes_a_minute)
    thread = Thread(target=lambda: asyncio.run(server.serve([opened])), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{opened.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(10)
        with contextlib.suppress(OSError):
            opened.close()
