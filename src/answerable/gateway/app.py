"""The HTTP application: routes, middleware, page."""

import os
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from importlib.metadata import version

from fastapi import APIRouter, FastAPI
from fastapi.responses import Response
from fastapi.routing import APIRoute
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest

from answerable.app import open_service
from answerable.core.context import HOME_TENANT
from answerable.gateway.access import PrincipalOf, ServiceOf
from answerable.gateway.metrics import Metrics
from answerable.gateway.middleware.stack import middleware_stack
from answerable.gateway.page import serve_page
from answerable.gateway.problems import Problem, documented, handle_problems
from answerable.gateway.routes import (
    agents,
    chat,
    comparison,
    datasets,
    evals,
    freshness,
    graphs,
    identity,
    keys,
    models,
    okta,
    plans,
    providers,
    questions,
    rows,
    rules,
    runs,
    schedules,
    scim,
    semantic,
    setup,
    sources,
    threads,
    uploads,
    wrong_answers,
)
from answerable.gateway.tls import parsed_tls
from answerable.gateway.wire import Health
from answerable.logs import EventLog
from answerable.service import Service
from answerable.service.process_role import ProcessRole
from answerable.settings import Settings

ROUTES = (
    chat,
    runs,
    rows,
    freshness,
    plans,
    comparison,
    threads,
    datasets,
    sources,
    okta,
    questions,
    uploads,
    semantic,
    evals,
    wrong_answers,
    graphs,
    schedules,
    agents,
    setup,
    identity,
    keys,
    models,
    providers,
    scim,
    rules,
)
"""The modules whose routes make up the API, in the order of its documentation."""


def create_app(settings: Settings, *, allow_hosts: Iterable[str] = (), token: str | None = None) -> FastAPI:
    """`allow_hosts`: host names that the server answers under beside its own. `token`: what every request must carry;
    None if the server is for everybody who can reach it."""
    metrics = Metrics()
    app = FastAPI(
        title="Answerable",
        version=version("answerable"),
        description="Ask your data in plain words and get answers that can be held to account.",
        lifespan=lambda app: _lifespan(app, settings, metrics),
        docs_url=None,  # ours needs nothing from other hosts
        redoc_url=None,
        middleware=middleware_stack(settings, metrics, allow_hosts=allow_hosts, token=token),
    )
    app.state.tls = parsed_tls(settings.tls)
    handle_problems(app)
    app.include_router(_root(metrics))  # first, because each request is held against one route after the other
    for part in ROUTES:
        app.include_router(part.router)
    app.state.api_routes = [route for part in ROUTES for route in part.router.routes if isinstance(route, APIRoute)]
    # After the routes of the API, so that no address of the page can hide one of them.
    serve_page(app)
    _describe_problems(app)
    return app


@asynccontextmanager
async def _lifespan(app: FastAPI, settings: Settings, metrics: Metrics) -> AsyncIterator[None]:
    try:
        async with _served(settings, metrics) as service:
            app.state.service = service
            yield
    except BaseException as error:
        app.state.failure = error  # uvicorn only logs it; whoever started the server has to hear it
        raise


@asynccontextmanager
async def _served(settings: Settings, metrics: Metrics) -> AsyncIterator[Service]:
    """The service of a server, with its runs taken up and its background work under way."""
    # The process may be bound to fewer cores than the machine has.
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    role = ProcessRole(
        # A server outlives a restart of its database: runs wait for the store instead of failing.
        patient=True,
        # What a client reads says nothing about how the disk is laid out.
        hides_paths=True,
        leaves_runs=settings.workers,
        # A run mostly waits for a model or a database, so each core can carry more than one.
        working_at_once=settings.runs_at_once or 4 * cores,
        computing_processes=settings.processes if settings.processes >= 0 else cores,
    )
    # A client must not make the server open a path or an address of the client's choice: not `any_location`.
    opened = open_service(settings, any_location=False, role=role, listeners=(EventLog(), metrics))
    async with opened as service:
        metrics.running.set_function(service.runs.carrier.running)
        # Before the server listens: clients of an earlier process come back for their runs.
        await service.runs.carrier.resume_unfinished()
        _ = service.rate_counts  # a wrong address of Redis is told now, not to whoever asks first
        if settings.has_identities:
            await service.rules.note(HOME_TENANT)
        service.start_background_work()
        yield service


def _root(metrics: Metrics) -> APIRouter:
    router = APIRouter()
    own_version = version("answerable")  # read once: it takes a look into the file system

    @router.get("/healthz", tags=["operations"])
    async def healthz() -> Health:
        """The process is alive. This says nothing about its store: see `/readyz`."""
        return Health(status="ok", version=own_version)

    @router.get("/readyz", tags=["operations"], responses=documented(503))
    async def readyz(service: ServiceOf) -> Health:
        """Questions can be taken: the store can be read and written."""
        await service.check_ready()
        return Health(status="ok", version=own_version)

    # Without identities everybody may administer, and a server that other machines reach has asked for its token.
    @router.get("/metrics", tags=["operations"], response_class=Response)
    async def prometheus(service: ServiceOf, principal: PrincipalOf) -> Response:
        """Counters for Prometheus."""
        service.access.require("administer", principal)
        return Response(generate_latest(metrics.collectors), media_type=CONTENT_TYPE_LATEST)

    return router


def _describe_problems(app: FastAPI) -> None:
    """Every route's problems refer to one schema, which no route returns as a model of its own."""
    generate = app.openapi

    def openapi() -> dict[str, object]:
        document = generate()
        schemas = document.setdefault("components", {}).setdefault("schemas", {})
        schemas.setdefault("Problem", Problem.model_json_schema())
        for path in document["paths"].values():
            for operation in path.values():
                # FastAPI documents its own shape for 422, but `handle_problems` answers with a problem document.
                invalid = operation["responses"].get("422")
                if invalid is not None and "application/json" in invalid.get("content", {}):
                    invalid["content"] = {
                        "application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}
                    }
        return document

    app.openapi = openapi  # type: ignore[method-assign]
