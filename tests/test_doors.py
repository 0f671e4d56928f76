"""The doors (command line, HTTP, library) only translate, and who asks is made there and required everywhere below."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest
from fastapi import APIRouter
from fastapi.routing import APIRoute
from package_files import PACKAGE, trees
from starlette.routing import Route

from answerable.gateway.access import principal_of
from answerable.gateway.app import create_app
from answerable.gateway.page import VIEWS
from answerable.settings import Settings

DOORS = (*(PACKAGE / "gateway").rglob("*.py"), *(PACKAGE / "cli").rglob("*.py"), PACKAGE / "library.py")
BESIDE_THE_DOORS = (PACKAGE / "case_replay.py",)
MAKES_A_PRINCIPAL = {"gateway/access.py", "cli/session.py", "library.py", "core/context.py"}
INNER_NAMES = {"store", "registry", "engine", "_store", "_registry", "_engine", "_runs", "_answers", "_settings"}
INNER_MODULES = {
    "answerable.engine.run",
    "answerable.sources.registry",
    "answerable.sources.added",
    "answerable.sources.watch",
    "answerable.store.open",
    "answerable.store.sqlite",
    "answerable.store.postgres",
}
SEAMS_OF_THE_STORE = ("answerable.store.base", "answerable.store.protocols")
VALUES_OF_THE_STORE = {"RunFilter", "RunRecord", "RunStatus"}
NOBODYS_DATA = {
    "/healthz": "says only that the process is up",
    "/readyz": "says only whether the store can be used",
    "/openapi.json": "describes the interface",
    "/docs": "is a page without data",
    "/api/v1/identity": "says who the caller is",
    "/api/v1/sign-in": "is how somebody comes to be known",
    "/api/v1/sign-out": "ends the session that the request brings",
    "/api/v1/invitations/accept": "is how somebody comes to be known",
    "/sign-in/{provider}": "is how somebody comes to be known",
    "/sign-in/{provider}/callback": "is how somebody comes to be known",
}


def inner_accesses(text: str, file: str) -> Iterator[str]:
    """Places that reach past the service to a store, a source registry or an engine."""
    for node in ast.walk(ast.parse(text)):
        place = f"{file}:{getattr(node, 'lineno', 0)}"
        if isinstance(node, ast.Attribute) and node.attr in INNER_NAMES and _is_service(node.value):
            yield f"{place}: .{node.attr}"
        elif isinstance(node, ast.Attribute) and node.attr.startswith("_") and _is_service(node.value):
            yield f"{place}: private .{node.attr}"
        elif isinstance(node, ast.ImportFrom) and node.module in INNER_MODULES:
            yield f"{place}: imports {node.module}"
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith(SEAMS_OF_THE_STORE):
            yield from (f"{place}: {name.name}" for name in node.names if name.name not in VALUES_OF_THE_STORE)


def _is_service(value: ast.expr) -> bool:
    """`service`, `self._service`, and any noun of it: `service.runs`."""
    if isinstance(value, ast.Name):
        return value.id == "service"
    return isinstance(value, ast.Attribute) and (value.attr in ("service", "_service") or _is_service(value.value))


@pytest.mark.parametrize("file", [*DOORS, *BESIDE_THE_DOORS], ids=lambda file: str(file.relative_to(PACKAGE)))
def test_doors_reach_nothing_behind_the_service(file: Path) -> None:
    assert list(inner_accesses(file.read_text(), str(file.relative_to(PACKAGE)))) == []


@pytest.mark.parametrize(
    "text",
    [
        "await service.store.runs.get(principal, run)",
        "self._service._store",
        "service.runs._live",
        "request.app.state.service.registry",
        "from answerable.sources.registry import SourceRegistry",
        "from answerable.store.base import Store",
        "def late():\n    from answerable.store.open import open_store",
    ],
)
def test_a_planted_access_is_found(text: str) -> None:
    assert len(list(inner_accesses(text, "planted.py"))) == 1


def defaulted_principals(tree: ast.Module, file: str) -> Iterator[str]:
    """Parameters and fields that hold a principal and have a default."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            yield from (f"{file}:{each.lineno}: {each.arg}" for each in _with_default(node.args) if _is_principal(each))
        elif isinstance(node, ast.ClassDef):
            for field in node.body:
                if isinstance(field, ast.AnnAssign) and field.value is not None and _names(field.annotation):
                    yield f"{file}:{field.lineno}: a field of {node.name}"


def _with_default(arguments: ast.arguments) -> Iterator[ast.arg]:
    positional = [*arguments.posonlyargs, *arguments.args]
    yield from positional[len(positional) - len(arguments.defaults) :]
    yield from (arg for arg, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True) if default)


def _is_principal(argument: ast.arg) -> bool:
    return argument.arg == "principal" or (argument.annotation is not None and _names(argument.annotation))


def _names(annotation: ast.expr) -> bool:
    text = ast.unparse(annotation).strip("'\"")
    return text in ("Principal", "Principal | None", "Optional[Principal]")


def test_no_default_stands_for_the_local_user() -> None:
    found = [place for file, tree in trees("principal", "Principal") for place in defaulted_principals(tree, file)]
    assert found == []


@pytest.mark.parametrize(
    "text",
    [
        "def ask(principal: Principal = LOCAL): ...",
        "async def ask(*, asker: 'Principal | None' = None): ...",
        "class Context:\n    principal: Principal = LOCAL",
        "lambda principal=LOCAL: principal",
    ],
)
def test_a_planted_default_is_found(text: str) -> None:
    assert len(list(defaulted_principals(ast.parse(text), "planted.py"))) == 1


def test_only_the_doors_name_the_local_user() -> None:
    naming = {
        file
        for file, tree in trees("LOCAL")
        for node in ast.walk(tree)
        if (isinstance(node, ast.Name) and node.id == "LOCAL")
        or (isinstance(node, ast.alias) and node.name == "LOCAL")
        or (isinstance(node, ast.Attribute) and node.attr == "LOCAL")
    }
    assert naming == MAKES_A_PRINCIPAL


def routes_of(router: object) -> Iterator[Route]:
    """Every route, those of routers inside it too."""
    for route in getattr(router, "routes", ()):
        if isinstance(route, Route):
            yield route
        yield from routes_of(getattr(route, "original_router", None))


def test_every_route_takes_the_principal(tmp_path: Path) -> None:
    """Except those that show nothing of anybody's data."""
    routes = list(routes_of(create_app(Settings(home=tmp_path))))
    assert len(routes) > 70
    pages = {f"/{view}" for view in VIEWS} | {f"/{view}/{{rest:path}}" for view in VIEWS} | {"/"}
    assert {route.path for route in routes if not takes_the_principal(route)} == NOBODYS_DATA.keys() | pages


def takes_the_principal(route: Route) -> bool:
    return isinstance(route, APIRoute) and any(one.call is principal_of for one in route.dependant.dependencies)


def test_a_planted_route_without_a_principal_is_found() -> None:
    router = APIRouter()
    router.add_api_route("/planted", lambda: None)
    assert [takes_the_principal(route) for route in routes_of(router)] == [False]
