"""What a model gets has no personal data if the operator says so: in questions, instructions, results of tools."""

from pydantic_ai import Agent
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from answerable.models.redacted_prompts import RedactedPrompts
from answerable.protection.personal.redaction import Redaction


async def test_prompts_and_results_of_tools_are_redacted() -> None:
    seen: list[str] = []

    def reply(messages: list[ModelMessage], _info: AgentInfo) -> ModelResponse:
        seen.append(str(messages))
        if len(seen) == 1:
            return ModelResponse(parts=[ToolCallPart("look", {})])
        return ModelResponse(parts=[TextPart("done")])

    agent = Agent(RedactedPrompts(FunctionModel(reply), Redaction()), instructions="Answer ana@mail.example.")

    @agent.tool_plain
    def look() -> dict[str, str]:
        return {"card": "4111 1111 1111 1111"}

    assert (await agent.run("orders of bo@mail.example")).output == "done"
    assert len(seen) == 2
    assert "@mail.example" not in "".join(seen)
    assert "4111" not in seen[1]
    assert "[email]" in seen[0]
    assert "[card]" in seen[1]
