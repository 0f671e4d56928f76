"""Which route of the API a request is for, known before the routes are reached."""

from collections.abc import Iterable

from fastapi.routing import APIRoute
from starlette.types import Scope

from answerable.gateway.wire import API


def matched_route(scope: Scope) -> APIRoute | None:
    """The route that will answer, or None if no route of the API will."""
    if "matched_route" not in scope:
        routes: Iterable[APIRoute] = scope["app"].state.api_routes if scope["path"].startswith(API) else ()
        scope["matched_route"] = _find(routes, scope["method"], scope["path"])
    found: APIRoute | None = scope["matched_route"]
    return found


def route_pattern(scope: Scope) -> str:
    """The path of the route with names for its parameters, such as `/api/v1/runs/{run_id}`; empty if there is none."""
    route = matched_route(scope)
    return route.path if route is not None else ""


def _find(routes: Iterable[APIRoute], method: str, path: str) -> APIRoute | None:
    # Does not call `matches` of the route: it needs the context that the framework makes while it routes.
    return next((route for route in routes if method in (route.methods or ()) and route.path_regex.match(path)), None)
