"""Uploads: one file, whose bytes are the body of the request."""

from collections.abc import AsyncIterator
from typing import Annotated

from fastapi import APIRouter, Query, Request
from starlette.requests import ClientDisconnect

from answerable.core.errors import UserError
from answerable.gateway.access import AttemptOf, PrincipalOf, ServiceOf, needs
from answerable.gateway.middleware.idempotency import OnceRoute
from answerable.gateway.problems import documented
from answerable.gateway.wire import API
from answerable.service.source_views import UploadedFile

router = APIRouter(prefix=API, tags=["sources"], route_class=OnceRoute, dependencies=[needs("add_sources")])

_BYTES = {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}}
FILE_BODY = {"requestBody": {"required": True, "content": _BYTES}}


@router.post("/uploads", status_code=201, responses=documented(400, 403, 413, 422, 503), openapi_extra=FILE_BODY)
async def upload(
    request: Request,
    service: ServiceOf,
    principal: PrincipalOf,
    attempt: AttemptOf,
    name: Annotated[str, Query(min_length=1, max_length=500, description="The file's own name.")],
    source: Annotated[
        str | None, Query(min_length=1, max_length=60, description="Join this uploaded source, or make it.")
    ] = None,
    replace: Annotated[bool, Query(description="Take the place of a file of the same name.")] = False,
) -> UploadedFile:
    """Upload one file; the body is its content. Without `source`, it becomes a new source named after the file."""
    return await service.sources.upload(
        name,
        _pieces(request),
        principal,
        source=source,
        replace=replace,
        announced=_announced(request),
        attempt=attempt,
    )


def _announced(request: Request) -> int:
    """The size that the client says it will send: enough to refuse the file before its first byte."""
    # A hint only: the service counts the bytes that come as well.
    length = request.headers.get("content-length", "")
    return int(length) if length.isdecimal() else 0


async def _pieces(request: Request) -> AsyncIterator[bytes]:
    try:
        async for piece in request.stream():
            yield piece
    except ClientDisconnect:
        raise UserError("The upload was broken off.", code="upload_cut", hint="Upload the file again.") from None
