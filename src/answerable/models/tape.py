"""Records what is sent to a model and what it replies, so that both can be replayed.

A tape lies between the agents and the gateway, so it is the same for every provider. It holds what was said and nothing
of how it was sent: no address, no header, no key.
"""

import json
import re
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any, Protocol

from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models import Model, ModelRequestParameters, StreamedResponse
from pydantic_ai.models.wrapper import WrapperModel
from pydantic_ai.settings import ModelSettings
from pydantic_ai.tools import RunContext as AgentContext

from answerable.core.context import RunContext
from answerable.core.values import Frozen, Json
from answerable.models.calls import Listener
from answerable.models.config import Role
from answerable.models.tokens import texts

REDACTED = "[redacted]"
_FENCE = re.compile(r"<(/?\w+)-[\w-]{22}>")
"""A tag around content. Its random part is new in each message, so a tape leaves it out."""


class ToolCall(Frozen):
    name: str
    arguments: Mapping[str, Json] = {}


class Exchange(Frozen):
    asked: str
    """All that was new to the model: instructions, message, tools and the form of the reply; after a reply, what
    tools or checks said to it."""
    text: str = ""
    calls: tuple[ToolCall, ...] = ()
    input_tokens: int = 0
    output_tokens: int = 0


class Tape(Protocol):
    def asked(self, text: str) -> None: ...

    def replied(self, text: str, response: ModelResponse) -> None: ...


class Recorder:
    """Records exchanges. No secret should be in one; those that are known are replaced all the same."""

    def __init__(self, secrets: Sequence[str] = ()) -> None:
        self._secrets = [secret for secret in secrets if secret]
        self.exchanges: list[Exchange] = []

    def asked(self, text: str) -> None:
        """Does nothing: a request is recorded together with its reply."""

    def replied(self, text: str, response: ModelResponse) -> None:
        calls = [part for part in response.parts if isinstance(part, ToolCallPart)]
        written = "".join(part.content for part in response.parts if isinstance(part, TextPart))
        exchange = Exchange(
            asked=text,
            text=written,
            calls=tuple(ToolCall(name=call.tool_name, arguments=call.args_as_dict()) for call in calls),
            input_tokens=response.usage.input_tokens,
            output_tokens=response.usage.output_tokens,
        )
        self.exchanges.append(self._redacted(exchange))

    def _redacted(self, exchange: Exchange) -> Exchange:
        document = exchange.model_dump_json()
        for secret in self._secrets:
            # The document is JSON, so a secret is looked for as JSON escapes it, without the quotes.
            document = document.replace(json.dumps(secret)[1:-1], REDACTED)
        return Exchange.model_validate_json(document)


class ModelsByRole(Protocol):
    def for_role(self, role: Role, context: RunContext, listener: Listener | None = None) -> Model: ...

    def named(self, name: str, role: Role, context: RunContext, listener: Listener | None = None) -> Model: ...

    async def close(self) -> None: ...


class TapedModels:
    """The same models, with every request and reply passed to a tape."""

    def __init__(self, models: ModelsByRole, tape: Tape) -> None:
        self._models = models
        self._tape = tape

    def for_role(self, role: Role, context: RunContext, listener: Listener | None = None) -> Model:
        return TapedModel(self._models.for_role(role, context, listener), self._tape)

    def named(self, name: str, role: Role, context: RunContext, listener: Listener | None = None) -> Model:
        return TapedModel(self._models.named(name, role, context, listener), self._tape)

    async def close(self) -> None:
        await self._models.close()


class TapedModel(WrapperModel):
    def __init__(self, wrapped: Model, tape: Tape) -> None:
        super().__init__(wrapped)
        self.tape = tape

    async def request(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
    ) -> ModelResponse:
        text = said(messages, model_request_parameters)
        self.tape.asked(text)
        response = await self.wrapped.request(messages, model_settings, model_request_parameters)
        self.tape.replied(text, response)
        return response

    @asynccontextmanager
    async def request_stream(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
        run_context: AgentContext[Any] | None = None,
    ) -> AsyncGenerator[StreamedResponse]:
        text = said(messages, model_request_parameters)
        self.tape.asked(text)
        opened = self.wrapped.request_stream(messages, model_settings, model_request_parameters, run_context)
        async with opened as stream:
            yield stream
            self.tape.replied(text, stream.get())


def said(messages: Sequence[ModelMessage], parameters: ModelRequestParameters) -> str:
    """What a request adds to what the model knows already."""
    replies = [place for place, message in enumerate(messages) if message.kind == "response"]
    if replies:
        return _unfenced("\n\n".join(text for message in messages[replies[-1] + 1 :] for text in _spoken(message)))
    spoken = [text for message in messages for text in _spoken(message)]
    return _unfenced("\n\n".join([*spoken, *_tools(parameters), *_form(parameters)]))


def _unfenced(text: str) -> str:
    return _FENCE.sub(r"<\1>", text)


def _spoken(message: ModelMessage) -> Iterator[str]:
    """Instructions first. A request after a reply repeats them; only the first one is recorded with them."""
    parts = list(texts(message))
    instructions = message.instructions if message.kind == "request" else None
    if instructions:
        parts.remove(instructions)
    if instructions and not any(part.part_kind in ("tool-return", "retry-prompt") for part in message.parts):
        yield instructions
    yield from parts


def _tools(parameters: ModelRequestParameters) -> Iterator[str]:
    for tool in parameters.function_tools:
        taken = ", ".join(tool.parameters_json_schema.get("properties", {}))
        yield f"tool {tool.name}({taken}): {tool.description}"


def _form(parameters: ModelRequestParameters) -> Iterator[str]:
    """The schema of the reply, however it is asked for."""
    if parameters.output_object is not None:
        schema = parameters.output_object.json_schema
    elif parameters.output_tools:
        schema = parameters.output_tools[0].parameters_json_schema
    else:
        return
    yield f"reply: {json.dumps(schema, ensure_ascii=False, sort_keys=True, indent=1)}"
