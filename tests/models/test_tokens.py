"""The bound holds for every text, whatever it is made of."""

from hypothesis import given
from hypothesis import strategies as st
from pydantic_ai.messages import (
    InstructionPart,
    ModelMessage,
    ModelRequest,
    ModelResponse,
    RetryFeedbackPart,
    RetryInfo,
    SystemPromptPart,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.tools import ToolDefinition

from answerable.models.tokens import at_most, likely

NOTHING = ModelRequestParameters()


@given(st.text(st.characters(codec="utf-8"), max_size=200))
def test_no_text_has_more_tokens_than_bytes(text: str) -> None:
    bound = at_most([ModelRequest([UserPromptPart(text)])], NOTHING)
    assert bound >= len(text.encode())
    assert likely(text) <= max(1, len(text.encode()))


def test_every_part_of_a_conversation_counts() -> None:
    text = "x" * 1000
    parts: list[ModelMessage] = [
        ModelRequest([SystemPromptPart(text)]),
        ModelRequest([UserPromptPart(text)]),
        ModelRequest([UserPromptPart([text])]),
        ModelRequest([ToolReturnPart("look", {"seen": text}, "c1")]),
        ModelRequest([RetryFeedbackPart(text, retry=RetryInfo(cause="model_retry"))]),
        ModelRequest([], instructions=text),
        ModelResponse([TextPart(text)]),
        ModelResponse([ThinkingPart(text)]),
        ModelResponse([ToolCallPart("look", {"at": text})]),
    ]
    for part in parts:
        assert 1000 <= at_most([part], NOTHING) < 1500, part
    assert at_most(parts, NOTHING) >= 9000


def test_tools_schemas_and_instructions_count() -> None:
    schema = {"type": "object", "properties": {"x" * 1000: {"type": "string"}}}
    tool = ToolDefinition(name="look", description="y" * 1000, parameters_json_schema=schema)
    for parameters in (
        ModelRequestParameters(function_tools=[tool]),
        ModelRequestParameters(output_tools=[tool]),
        ModelRequestParameters(instruction_parts=[InstructionPart("z" * 2000)]),
    ):
        assert at_most([], parameters) >= 2000
