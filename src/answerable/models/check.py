"""Tries a model with tiny requests and says what works."""

import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel
from pydantic_ai import Agent
from pydantic_ai.models import Model
from pydantic_ai.usage import UsageLimits

from answerable.core.context import Principal, RunContext
from answerable.core.errors import AnswerableError, NotFoundError, OperatorError, TransientError
from answerable.core.ids import new_run_id
from answerable.models.calls import ModelCalled
from answerable.models.config import BudgetLimits, ModelsConfig
from answerable.models.failures import BAD_REPLY, explained
from answerable.models.gateway import HOW_TO_SET_ONE, Models
from answerable.store.open import open_store

NEEDED = ("text", "structured", "streaming")
"""Without tools everything but exploring works."""
_LIMITS = UsageLimits(request_limit=3)


@dataclass(frozen=True, slots=True)
class Trial:
    ok: bool
    ms: float
    error: AnswerableError | None = None


@dataclass(frozen=True, slots=True)
class Checked:
    name: str
    trials: Mapping[str, Trial]
    tokens: int
    cost: float | None
    """Dollars that the check itself cost; None if the price of the model is not known."""

    @property
    def works(self) -> bool:
        return all(name in self.trials and self.trials[name].ok for name in NEEDED)


class Sum(BaseModel):
    """The result of an addition."""

    total: int


async def check_models(config: ModelsConfig, principal: Principal, name: str | None = None) -> list[Checked]:
    """Tries one model, or all that some role uses, each once and beside all budgets."""
    if name is not None and name not in config.named():
        raise NotFoundError(f"No role uses a model {name!r}.", code="model_unknown", hint=HOW_TO_SET_ONE)
    if not config.named():
        raise OperatorError("No language model is set.", code="model_missing", hint=HOW_TO_SET_ONE)
    store = await open_store(":memory:")
    # A check must work when budgets are used up, and say what the first attempt met.
    once = config.model_copy(update={"attempts": 1, "budget": BudgetLimits()})
    models = Models(once, store.budgets)
    try:
        return [await checked(models, principal, each) for each in ([name] if name else config.named())]
    finally:
        await models.close()
        await store.close()


async def checked(models: Models, principal: Principal, name: str) -> Checked:
    """When the first trial fails, the others would only repeat its reason."""
    calls: list[ModelCalled] = []
    trials: dict[str, Trial] = {}
    try:
        model = models.named(name, "reasoning", RunContext(new_run_id(), principal), calls.append)
    except AnswerableError as error:
        return Checked(name, {"text": Trial(False, 0.0, error)}, 0, None)
    for trial, act in _TRIALS.items():
        trials[trial] = await _tried(act, model)
        if not trials["text"].ok:
            break
    costs = [call.cost for call in calls]
    cost = None if None in costs else sum(cost for cost in costs if cost is not None)
    return Checked(name, trials, sum(call.input_tokens + call.output_tokens for call in calls), cost)


async def _tried(act: Callable[[Model], Awaitable[bool]], model: Model) -> Trial:
    began = time.perf_counter()
    error: AnswerableError | None = None
    try:
        with explained():
            if not await act(model):
                error = TransientError("The model answered, but not as it was asked to.", code=BAD_REPLY)
    except AnswerableError as failure:
        error = failure
    return Trial(error is None, (time.perf_counter() - began) * 1000, error)


async def _text(model: Model) -> bool:
    return bool((await Agent(model).run("Say hello in one word.", usage_limits=_LIMITS)).output.strip())


async def _structured(model: Model) -> bool:
    result = await Agent(model, output_type=Sum).run("Add 20 and 22.", usage_limits=_LIMITS)
    return isinstance(result.output, Sum)


async def _streaming(model: Model) -> bool:
    pieces = 0
    async with Agent(model).run_stream_events("Count from one to five.", usage_limits=_LIMITS) as events:
        async for event in events:
            pieces += event.event_kind in ("part_start", "part_delta")
    return pieces > 0  # a short reply may come in one piece


async def _tools(model: Model) -> bool:
    called: list[str] = []

    def todays_word() -> str:
        """The word of the day."""
        called.append("todays_word")
        return "marmalade"

    agent: Agent[None, Any] = Agent(model, tools=[todays_word])
    await agent.run("Call the tool todays_word and repeat what it returns.", usage_limits=_LIMITS)
    return bool(called)


_TRIALS = {"text": _text, "structured": _structured, "streaming": _streaming, "tools": _tools}
