"""Replaces personal data in everything that is sent to a model."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import fields, is_dataclass, replace
from typing import Any

from pydantic_ai import RunContext as AgentContext
from pydantic_ai.messages import ModelMessage, ModelResponse
from pydantic_ai.models import Model, ModelRequestParameters, StreamedResponse
from pydantic_ai.models.wrapper import WrapperModel
from pydantic_ai.settings import ModelSettings

from answerable.protection.personal.redaction import Redaction

_TEXTS = ("content", "parts", "args", "instructions")
"""The fields of messages that hold what is said. Others are ids, names of tools and times."""


class RedactedPrompts(WrapperModel):
    def __init__(self, model: Model, redaction: Redaction) -> None:
        super().__init__(model)
        self._redaction = redaction

    async def request(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
    ) -> ModelResponse:
        return await self.wrapped.request(self._shown(messages), model_settings, model_request_parameters)

    @asynccontextmanager
    async def request_stream(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
        run_context: AgentContext[Any] | None = None,
    ) -> AsyncGenerator[StreamedResponse]:
        shown = self._shown(messages)
        async with self.wrapped.request_stream(shown, model_settings, model_request_parameters, run_context) as stream:
            yield stream

    def _shown(self, messages: list[ModelMessage]) -> list[ModelMessage]:
        return [self._redacted(message) for message in messages]

    def _redacted(self, value: Any) -> Any:
        if is_dataclass(value) and not isinstance(value, type):
            names = [field.name for field in fields(value) if field.name in _TEXTS]
            return replace(value, **{name: self._redacted(getattr(value, name)) for name in names})
        if isinstance(value, list | tuple):
            return type(value)(self._redacted(each) for each in value)
        return self._redaction.value(value)
