"""What the gateway adds to a call of a model: whole agent turns against bare pydantic-ai with the same instant model,
and how long after its arrival the first token reaches the caller."""

import asyncio
import statistics
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path
from random import Random

from pydantic_ai import Agent
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models import Model
from pydantic_ai.models.function import AgentInfo, FunctionModel

from answerable.core.breaker import Breaker
from answerable.core.clock import SystemClock
from answerable.core.context import LOCAL, RunContext
from answerable.core.ids import RunId
from answerable.models.budget import Budget
from answerable.models.config import BudgetLimits, ModelsConfig
from answerable.models.guarded import Caller, CallPolicy, GuardedModel
from answerable.models.names import Target
from answerable.store.base import Store
from answerable.store.open import open_store
from bench.figures import Figure, compared, in_turn

TURN = 1.3
FIRST_TOKEN_MS = 20.0
PROMPT = "How many orders were there in each region last month? " * 40
LIMITS = BudgetLimits.model_validate({name: {"tokens": 10**15} for name in ("run", "user_day", "tenant_month")})


def measure(quick: bool) -> list[Figure]:
    return asyncio.run(_measured(5 if quick else 21))


async def _measured(repeats: int) -> list[Figure]:
    async with AsyncExitStack() as closing:
        folder = Path(closing.enter_context(tempfile.TemporaryDirectory()))
        store = await open_store(folder / "models.db", synchronous="normal")
        closing.push_async_callback(store.close)
        return [
            await _turn("models, turn with a tool, no budget", store, BudgetLimits(), repeats),
            await _turn("models, turn with a tool, three budgets", store, LIMITS, repeats),
            await _first_token(store, repeats),
        ]


async def _turn(name: str, store: Store, limits: BudgetLimits, repeats: int) -> Figure:
    bare = FunctionModel(_reply)
    ours, floor = _agent(_guarded(bare, store, limits)), _agent(bare)
    seconds, least = await in_turn(lambda: ours.run(PROMPT), lambda: floor.run(PROMPT), repeats)
    return compared(name, seconds * 1e3, least * 1e3, "ms/turn", TURN)


async def _first_token(store: Store, repeats: int) -> Figure:
    """The time between the moment the model gives its first piece and the moment the caller has it."""
    given: list[float] = []

    async def pieces(_: list[ModelMessage], __: AgentInfo) -> AsyncIterator[str]:
        await asyncio.sleep(0.02)
        for piece in ("one ", "two ", "three"):
            given.append(time.perf_counter())
            yield piece

    agent = Agent(_guarded(FunctionModel(stream_function=pieces), store, LIMITS))
    late = []
    for _ in range(repeats):
        given.clear()
        async with agent.run_stream_events(PROMPT) as events:
            async for event in events:
                if event.event_kind == "part_start":
                    late.append((time.perf_counter() - given[0]) * 1e3)
    return compared("models, first token after its arrival", statistics.median(late), FIRST_TOKEN_MS, "ms", 1.0)


def _guarded(model: Model, store: Store, limits: BudgetLimits) -> Model:
    clock = SystemClock()
    means = CallPolicy(ModelsConfig(), Budget(store.budgets, limits, clock), clock, Random(1))
    target = Target("local", "instant", "chat", "http://127.0.0.1/v1")
    caller = Caller("coding", RunContext(RunId("run_1"), LOCAL), (lambda _: None,))
    return GuardedModel(model, target, Breaker("local", clock, 5, 30), means, caller)


def _agent(model: Model) -> Agent[None, str]:
    agent = Agent(model, instructions="Answer in one sentence.")

    @agent.tool_plain
    def count_rows(table: str) -> int:
        """How many rows a table has."""
        return len(table)

    return agent


def _reply(messages: list[ModelMessage], _: AgentInfo) -> ModelResponse:
    if len(messages) == 1:
        return ModelResponse([ToolCallPart("count_rows", {"table": "orders"})])
    return ModelResponse([TextPart("There are six.")])
