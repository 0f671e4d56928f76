"""Who is asking, and what a route may use: a route's parameter list is its access rule."""

from hashlib import sha256
from typing import Annotated

from fastapi import Depends, Header, Path, Request

from answerable.core.context import LOCAL, Principal
from answerable.core.ids import RunId, ThreadId, new_run_id
from answerable.gateway.wire import RUN_ID, THREAD_ID
from answerable.service import Service

# Dependencies are coroutines, however little they do: FastAPI calls a plain function in a thread of its own.


async def _service(request: Request) -> Service:
    service: Service = request.app.state.service
    return service


async def _principal() -> Principal:
    """Everyone is the one local user until identities are configured."""
    return LOCAL


async def _request_id(request: Request) -> str:
    request_id: str = request.scope["request_id"]
    return request_id


async def _new_run(
    request: Request,
    service: Annotated[Service, Depends(_service)],
    principal: Annotated[Principal, Depends(_principal)],
    idempotency_key: Annotated[
        str | None,
        Header(
            pattern=r"^[\x21-\x7e]{1,200}$",
            description="A client that repeats a request with the same key within a day gets the same run.",
        ),
    ] = None,
) -> RunId:
    """The id of the run that the request starts, or started when it came with this key before."""
    if idempotency_key is None:
        return new_run_id()
    # The key alone is not enough: a client that reuses a key for another request must get an error, not the run of the
    # first. The fingerprint tells the two apart.
    asked = f"{request.method} {request.url.path}\n".encode() + await request.body()
    return await service.runs.id_for(idempotency_key, sha256(asked).hexdigest(), principal)


ServiceOf = Annotated[Service, Depends(_service)]
PrincipalOf = Annotated[Principal, Depends(_principal)]
RequestId = Annotated[str, Depends(_request_id)]
NewRun = Annotated[RunId, Depends(_new_run)]
RunPath = Annotated[RunId, Path(pattern=RUN_ID)]
SourcePath = Annotated[str, Path(min_length=1, max_length=200)]
TablePath = Annotated[str, Path(min_length=1, max_length=500)]
ThreadPath = Annotated[ThreadId, Path(pattern=THREAD_ID)]
