"""Whether the data of an answer is still as it was."""

from datetime import datetime

from fastapi import APIRouter
from pydantic import Field

from answerable.core.errors import AnswerableError
from answerable.gateway.access import PrincipalOf, RunPath, ServiceOf
from answerable.gateway.problems import documented
from answerable.gateway.wire import API, Wire
from answerable.service import Service

router = APIRouter(prefix=API, tags=["runs"])


class ReadSource(Wire):
    source: str
    changed: bool | None = Field(description="Since the answer; null when the source cannot be looked at now.")
    last_sync: datetime | None = Field(description="When its data was last written, as it is now.")


class Freshness(Wire):
    run_id: str
    stale: bool = Field(description="Some source has changed: asked again, the answer may be another.")
    sources: list[ReadSource]


@router.get("/runs/{run_id}/freshness", responses=documented(404, 422))
async def freshness(run_id: RunPath, service: ServiceOf, principal: PrincipalOf) -> Freshness:
    """Whether what an answer was read from has changed since."""
    answer = await service.runs.answer(run_id, principal)
    marks = {step.source: step.fingerprint for step in answer.steps if step.source and step.fingerprint}
    sources = [await _looked_at(name, mark, service) for name, mark in marks.items()]
    return Freshness(run_id=run_id, stale=any(each.changed for each in sources), sources=sources)


async def _looked_at(name: str, mark: str, service: Service) -> ReadSource:
    try:
        catalog = await (await service.registry.get(name)).describe()
    except AnswerableError:  # gone or not to be reached: its own view says why
        return ReadSource(source=name, changed=None, last_sync=None)
    return ReadSource(source=name, changed=catalog.fingerprint != mark, last_sync=catalog.last_sync)
