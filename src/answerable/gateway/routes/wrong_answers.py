"""Answers that were called wrong."""

from fastapi import APIRouter
from pydantic import Field

from answerable.core.ids import RunId
from answerable.gateway.access import PrincipalOf, RunPath, ServiceOf
from answerable.gateway.middleware.idempotency import OnceRoute
from answerable.gateway.problems import documented
from answerable.gateway.wire import API, RUN_ID, Wire
from answerable.service.wrong_answers import Judgement, WrongAnswer, WrongPart

router = APIRouter(prefix=API, tags=["evals"], route_class=OnceRoute)


class WrongAnswerList(Wire):
    answers: list[WrongAnswer] = Field(description="Newest first.")


class NewWrongAnswer(Wire):
    run_id: str = Field(pattern=RUN_ID)
    what: WrongPart
    note: str = Field("", max_length=2000, description="What would be right.")


@router.get("/wrong-answers", responses=documented(422))
async def wrong_answers(service: ServiceOf, principal: PrincipalOf) -> WrongAnswerList:
    """List the answers that were called wrong and are to be mended."""
    return WrongAnswerList(answers=[*await service.evals.wrong_answers(principal)])


@router.post("/wrong-answers", status_code=201, responses=documented(400, 404, 422))
async def call_wrong(body: NewWrongAnswer, service: ServiceOf, principal: PrincipalOf) -> WrongAnswer:
    """Call an answer wrong. It is kept until the question gets its right answer as a golden case."""
    return await service.evals.call_wrong(RunId(body.run_id), body.what, principal, note=body.note)


@router.delete("/wrong-answers/{run_id}", status_code=204, responses=documented(404, 422))
async def take_back(run_id: RunPath, service: ServiceOf, principal: PrincipalOf) -> None:
    """No longer call the answer of this run wrong."""
    await service.evals.take_back(run_id, principal)


@router.get("/runs/{run_id}/judgement", responses=documented(404, 422))
async def judgement(run_id: RunPath, service: ServiceOf, principal: PrincipalOf) -> Judgement:
    """Say whether an answer became a golden case, or was called wrong."""
    return await service.evals.judgement(run_id, principal)
