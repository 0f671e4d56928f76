"""Replies of a model pass the content filter before anybody sees a part of them."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

from pydantic_ai import RunContext as AgentContext
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models import CompletedStreamedResponse, Model, ModelRequestParameters, StreamedResponse
from pydantic_ai.models.wrapper import WrapperModel
from pydantic_ai.settings import ModelSettings

from answerable.protection.content.content_filter import ContentFilter


class FilteredReplies(WrapperModel):
    """A reply is judged as a whole, so it is not streamed: its first words could be what is refused."""

    def __init__(self, model: Model, content: ContentFilter) -> None:
        super().__init__(model)
        self._content = content

    async def request(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
    ) -> ModelResponse:
        response = await self.wrapped.request(messages, model_settings, model_request_parameters)
        await self._content.check(_said(response), "replies")
        return response

    @asynccontextmanager
    async def request_stream(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
        run_context: AgentContext[Any] | None = None,
    ) -> AsyncGenerator[StreamedResponse]:
        response = await self.request(messages, model_settings, model_request_parameters)
        yield CompletedStreamedResponse(response, model_request_parameters=model_request_parameters, replay_events=True)


def _said(response: ModelResponse) -> str:
    """Text, and the arguments of calls: agents give their answers as such."""
    texts = [part.content for part in response.parts if isinstance(part, TextPart)]
    return "\n".join((*texts, *(part.args_as_json_str() for part in response.parts if isinstance(part, ToolCallPart))))
