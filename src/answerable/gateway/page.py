"""The page and its files. It is one document for every address that it knows; what it shows, it fetches."""

import os
from pathlib import Path

from fastapi import APIRouter, FastAPI
from fastapi.responses import FileResponse
from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Receive, Scope, Send

WEB = Path(__file__).parents[1] / "web"
BUILT = "dist"
"""Where the build of `web/` goes."""
VIEWS = ("ask", "sources", "graphs", "runs", "evals", "settings", "shared")
"""The page's own addresses, so that they can be opened, reloaded and sent to others."""
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; font-src 'self'; "
    "connect-src 'self'; worker-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'"
)
FOREVER = "public, max-age=31536000, immutable"
"""For files whose names hold a hash of their content."""


class HashedFiles(StaticFiles):
    """What the build names by its content never changes under that name. The build has packed each file too."""

    def file_response(
        self, full_path: str | os.PathLike[str], stat_result: os.stat_result, scope: Scope, status_code: int = 200
    ) -> Response:
        packed = Path(f"{os.fspath(full_path)}.gz")
        if "gzip" in Headers(scope=scope).get("accept-encoding", "") and packed.is_file():
            response = super().file_response(packed, packed.stat(), scope, status_code)
            response.headers["Content-Encoding"] = "gzip"
        else:
            response = super().file_response(full_path, stat_result, scope, status_code)
        response.headers["Cache-Control"] = FOREVER
        response.headers["Vary"] = "Accept-Encoding"
        return response


def serve_page(app: FastAPI) -> None:
    router = APIRouter(include_in_schema=False)

    async def page() -> FileResponse:
        return _page()

    async def docs() -> FileResponse:
        return _document(WEB / "docs.html")

    routes = {"/": page, "/docs": docs}
    for view in VIEWS:
        routes |= {f"/{view}": page, f"/{view}/{{rest:path}}": page}
    for path, endpoint in routes.items():
        router.add_api_route(path, endpoint, methods=["GET", "HEAD"])
    app.include_router(router)
    # `check_dir=False`: the API also works where the page was never built.
    app.router.default = _Nowhere(app.router.default)
    app.mount("/assets", HashedFiles(directory=WEB / BUILT / "assets", check_dir=False), name="assets")
    app.mount("/static", StaticFiles(directory=WEB), name="static")


class _Nowhere:
    """Answers where no route is. Who follows a mangled link sees the page, which says so; programs get a problem."""

    def __init__(self, problem: ASGIApp) -> None:
        self._problem = problem

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        by_people = (
            scope["type"] == "http" and scope["method"] in ("GET", "HEAD") and not scope["path"].startswith("/api/")
        )
        if by_people and "text/html" in Headers(scope=scope).get("accept", ""):
            await _page(status=404)(scope, receive, send)
        else:
            await self._problem(scope, receive, send)


def _page(*, status: int = 200) -> FileResponse:
    index = WEB / BUILT / "index.html"
    # A checkout has no page until it is built. The other document says how to build it.
    return _document(index, status=status) if index.is_file() else _document(WEB / "not-built.html", status=503)


def _document(file: Path, *, status: int = 200) -> FileResponse:
    # `no-cache` asks again each time: the document names the hashed files of the newest build.
    headers = {"Content-Security-Policy": POLICY, "Cache-Control": "no-cache"}
    return FileResponse(file, status_code=status, headers=headers)
