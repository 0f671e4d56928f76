"""Kind `api`: one call of a configured API. Its output is the API's reply.

A call that changes something is an effect of the node: its start is stored before it is made, and it carries the step's
idempotency key. If nobody knows whether it was carried out, it fails as an effect in doubt.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import orjson
from pydantic import Field

from answerable.apis.call import ApiCall, Method
from answerable.core.errors import AnswerableError, LimitError, SourceError, TransientError
from answerable.core.values import Frozen, Json
from answerable.engine.guards import IN_DOUBT
from answerable.engine.steps.base import Step
from answerable.engine.steps.descriptor import StepDescriptor
from answerable.sandbox.api_functions import ApiSessions

if TYPE_CHECKING:
    from answerable.apis.call import ApiReply, RequestRecord

LARGEST = 1_000_000
"""Bytes of a reply as JSON. The reply is part of the run's journal."""


class ApiConfig(Frozen):
    api: str
    method: Method = "GET"
    path: str = Field(min_length=1)
    params: Mapping[str, Json] = {}
    body: Json = None
    all_pages: bool = False


class ApiStep:
    descriptor = StepDescriptor(name="api", config=ApiConfig, produces="value", label="API")

    def __init__(self, apis: ApiSessions, seconds: float) -> None:
        """`seconds`: how long all requests of one call may take together."""
        self._apis = apis
        self._seconds = seconds

    async def run(self, step: Step) -> Json:
        config = step.config_as(ApiConfig)
        key = step.idempotency_key if step.node.effect else None
        call = ApiCall(config.path, config.method, config.params, config.body, config.all_pages, key)

        def record(request: "RequestRecord") -> None:
            shown = {"target": request.api, "path": request.path, "status": request.status, "error": request.error}
            step.output("host_call", {"function": config.method, **shown})

        before_write = step.journal.still_ours if step.node.effect else None
        session = self._apis.session(config.api, record, seconds=self._seconds, before_write=before_write)
        try:
            reply = await session.call(call)
        except AnswerableError as error:
            raise _in_doubt(step, error) if _may_have_happened(step, error) else error from error
        return {"data": self._bounded(step, reply)}

    def _bounded(self, step: Step, reply: "ApiReply") -> Json:
        if len(orjson.dumps(reply.data)) <= LARGEST:
            return reply.data
        if step.node.effect:  # it has happened, so it must not fail for the size of its reply
            return None
        raise LimitError(
            f"Step `{step.id}`: the reply of the API is larger than {LARGEST:,} bytes.",
            code="api_reply_large",
            hint="Ask for fewer fields or rows, or read the API in a `python` node.",
        )


def _may_have_happened(step: Step, error: AnswerableError) -> bool:
    if not step.node.effect or step.node.idempotent:
        return False
    unknown = isinstance(error, TransientError)
    return bool(error.details.get("may_have_acted", unknown))


def _in_doubt(step: Step, error: AnswerableError) -> SourceError:
    return SourceError(f"{error.message} The call of step `{step.id}` may have been carried out.", code=IN_DOUBT)
