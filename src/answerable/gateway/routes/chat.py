"""Asking."""

from fastapi import APIRouter
from fastapi.responses import Response, StreamingResponse

from answerable.agents.question_request import QuestionRequest
from answerable.answers.answer import Answer
from answerable.core.context import Principal
from answerable.core.ids import RunId, ThreadId, thread_of
from answerable.gateway.access import NewRun, PrincipalOf, RequestId, ServiceOf, within
from answerable.gateway.middleware.idempotency import OnceRoute
from answerable.gateway.problems import documented
from answerable.gateway.sse import EVENT_STREAM, sse_response
from answerable.gateway.wire import API, ChatReply, ChatRequest
from answerable.service import Service

router = APIRouter(prefix=API, tags=["chat"], route_class=OnceRoute, dependencies=[within("ask")])


@router.post("/chat", response_model=ChatReply, responses=documented(400, 404, 413, 422, 503))
async def chat(
    body: ChatRequest, service: ServiceOf, principal: PrincipalOf, request_id: RequestId, new: NewRun
) -> Response:
    """Ask a question and wait for the whole answer. If the run fails, `status` and `provenance.error` say so."""
    run, thread = await _begin(body, service, principal, request_id, new)
    answer = await service.runs.wait(run, principal)
    # The answer is valid: it is written as it is. Another validation would cost more than the rest of the reply.
    reply = ChatReply.model_construct(**{name: getattr(answer, name) for name in Answer.model_fields}, thread_id=thread)
    return Response(reply.model_dump_json(), media_type="application/json")


@router.post(
    "/chat/stream",
    response_class=StreamingResponse,
    responses={
        200: EVENT_STREAM,
        **documented(400, 404, 413, 422, 503),
    },
)
async def chat_stream(
    body: ChatRequest, service: ServiceOf, principal: PrincipalOf, request_id: RequestId, new: NewRun
) -> StreamingResponse:
    """Ask, and follow the run as Server-Sent Events. The run goes on if the client leaves; `GET /runs/{id}/events`
    continues the stream."""
    run, thread = await _begin(body, service, principal, request_id, new)
    named = {"X-Run-Id": run, "X-Thread-Id": thread}
    return sse_response(service.runs.events(run, principal), service.runs.carrier.leaving, named)


async def _begin(
    body: ChatRequest, service: Service, principal: Principal, request_id: str, new: RunId
) -> tuple[RunId, ThreadId]:
    thread = ThreadId(body.thread_id) if body.thread_id else thread_of(new)
    request = QuestionRequest(
        body.message,
        sources=(*([body.source] if body.source else []), *body.sources),
        thread=thread,
        choice=body.choice,
        force=body.force,
        mode=body.mode,
        plan_only=body.plan_only,
    )
    return await service.questions.begin(request, principal, request_id, run=new), thread
