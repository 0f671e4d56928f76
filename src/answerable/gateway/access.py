"""Who is asking, and what a route may use: a route's parameter list is its access rule."""

from typing import Annotated

from fastapi import Depends, Path, Request

from answerable.core.context import LOCAL, Principal
from answerable.core.ids import RunId, ThreadId
from answerable.gateway.wire import RUN_ID, THREAD_ID
from answerable.service import Service


def _service(request: Request) -> Service:
    service: Service = request.app.state.service
    return service


def _principal() -> Principal:
    """Everyone is the one local user until identities are configured."""
    return LOCAL


def _request_id(request: Request) -> str:
    request_id: str = request.scope["request_id"]
    return request_id


ServiceOf = Annotated[Service, Depends(_service)]
PrincipalOf = Annotated[Principal, Depends(_principal)]
RequestId = Annotated[str, Depends(_request_id)]
RunPath = Annotated[RunId, Path(pattern=RUN_ID)]
SourcePath = Annotated[str, Path(min_length=1, max_length=200)]
TablePath = Annotated[str, Path(min_length=1, max_length=500)]
ThreadPath = Annotated[ThreadId, Path(pattern=THREAD_ID)]
