"""How many tokens a request can have, before it is sent.

`at_most` is a bound, not a guess: tokenizers of all providers cut text into pieces of at least one byte of UTF-8, so
text never has more tokens than bytes. To that comes an allowance for what providers put around messages and tools. It
is three to four times the truth for English; a budget that must never be overdrawn reserves it and gives the rest back
right after the call. `likely` is the guess that is shown to people.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import orjson

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelMessage, ModelRequestPart, ModelResponsePart
    from pydantic_ai.models import ModelRequestParameters

BYTES_PER_TOKEN = 4
PER_MESSAGE = 16
"""Roles and separators."""
PER_TOOL = 64
FOR_TOOLS = 1024
"""What a provider explains to its model when there are tools or a schema at all."""


def likely(text: str) -> int:
    """About as many tokens as English text and code have."""
    return -(-len(text.encode()) // BYTES_PER_TOKEN)


def at_most(messages: Sequence["ModelMessage"], parameters: "ModelRequestParameters") -> int:
    total = sum(PER_MESSAGE + _bytes(texts(message)) for message in messages)
    tools = [*parameters.function_tools, *parameters.output_tools]
    schemas = [tool.parameters_json_schema for tool in tools]
    total += sum(PER_TOOL + _bytes((tool.name, tool.description or "")) for tool in tools)
    if parameters.output_object is not None:
        schemas.append(parameters.output_object.json_schema)
    if schemas:
        total += FOR_TOOLS + sum(len(orjson.dumps(schema)) for schema in schemas)
    return total + _bytes(part.content for part in parameters.instruction_parts or ())


def texts(message: "ModelMessage") -> Iterator[str]:
    """Everything of a message that a provider is sent."""
    for part in message.parts:
        yield from _part_texts(part)
    # pydantic-ai holds instructions beside the parts of a message; providers are sent both.
    if message.kind == "request" and message.instructions:
        yield message.instructions


def _part_texts(part: "ModelRequestPart | ModelResponsePart") -> Iterator[str]:
    from pydantic_ai.messages import BaseToolCallPart, BaseToolReturnPart, RetryFeedbackPart, UserPromptPart

    if isinstance(part, BaseToolCallPart):
        yield part.tool_name
        yield part.args_as_json_str()
    elif isinstance(part, BaseToolReturnPart):
        yield part.tool_name
        yield part.model_response_str()
    elif isinstance(part, RetryFeedbackPart):
        yield part.model_response()
    elif isinstance(part, UserPromptPart) and not isinstance(part.content, str):
        yield from (item if isinstance(item, str) else repr(item) for item in part.content)
    else:
        content = getattr(part, "content", None)
        yield content if isinstance(content, str) else repr(part)


def _bytes(parts: Iterable[str]) -> int:
    return sum(len(text) if text.isascii() else len(text.encode(errors="replace")) for text in parts)
