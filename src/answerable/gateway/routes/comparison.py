"""Two runs side by side."""

import itertools
from typing import Annotated

from fastapi import APIRouter, Query
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import StreamingResponse

from answerable.answers.comparison import Change
from answerable.answers.export import FORMATS, Format
from answerable.core.ids import RunId
from answerable.gateway.access import PrincipalOf, RunPath, ServiceOf, within
from answerable.gateway.middleware.idempotency import OnceRoute
from answerable.gateway.problems import documented
from answerable.gateway.wire import API, RUN_ID
from answerable.service.comparison import RunComparison

router = APIRouter(prefix=API, tags=["runs"], route_class=OnceRoute, dependencies=[within("ask")])

Other = Annotated[str, Query(pattern=RUN_ID, description="The later one.")]
Key = Annotated[list[str] | None, Query(max_length=20, description="Looked for when none is given.")]


@router.get("/runs/{run_id}/comparison", responses=documented(400, 404, 413, 422))
async def comparison(
    run_id: RunPath,
    service: ServiceOf,
    principal: PrincipalOf,
    other: Other,
    key: Key = None,
    change: Annotated[list[Change] | None, Query(description="Only rows of these sorts.")] = None,
    offset: Annotated[int, Query(ge=0, le=10**9)] = 0,
    limit: Annotated[int, Query(ge=0, le=1_000)] = 200,
) -> RunComparison:
    """Compare an answer with that of a later run: rows, columns, plan, code and time."""
    return await service.comparisons.compare(
        run_id, RunId(other), principal, key=key, changes=change, offset=offset, limit=limit
    )


@router.get(
    "/runs/{run_id}/comparison/rows",
    response_class=StreamingResponse,
    responses={
        200: {
            "content": {info.media_type.partition(";")[0]: {} for info in FORMATS.values()},
            "description": "As a file: the key once, of each other column how it was before and how it is",
        },
        **documented(400, 404, 413, 422),
    },
)
async def differing_rows(
    run_id: RunPath,
    service: ServiceOf,
    principal: PrincipalOf,
    other: Other,
    key: Key = None,
    format: Format = "csv",
) -> StreamingResponse:
    """List every row that was added, removed or changed in a later run."""
    pieces = await service.comparisons.export_differences(run_id, RunId(other), principal, format, key=key)
    first = await run_in_threadpool(next, pieces, b"")  # what cannot be compared fails before anything is sent
    info = FORMATS[format]
    headers = {"Content-Disposition": f'attachment; filename="differences.{info.extension}"'}
    return StreamingResponse(itertools.chain([first], pieces), media_type=info.media_type, headers=headers)
