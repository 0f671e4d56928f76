"""Questions to begin with."""

from fastapi import APIRouter
from pydantic import Field

from answerable.gateway.access import PrincipalOf, ServiceOf, SourcePath, within
from answerable.gateway.middleware.idempotency import OnceRoute
from answerable.gateway.problems import documented
from answerable.gateway.wire import API, Wire
from answerable.service.suggestions import SuggestedQuestion

router = APIRouter(prefix=API, tags=["sources"], route_class=OnceRoute, dependencies=[within("ask")])


class QuestionList(Wire):
    questions: list[SuggestedQuestion] = Field(
        description="Golden ones of this source first, then some made from its names; each was run."
    )


@router.get("/sources/{name}/questions", responses=documented(404, 422, 502, 503))
async def questions(name: SourcePath, service: ServiceOf, principal: PrincipalOf) -> QuestionList:
    """Suggest a few questions that this source can answer."""
    return QuestionList(questions=[*await service.suggestions.questions(name, principal)])
