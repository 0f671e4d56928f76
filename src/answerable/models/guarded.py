"""One model and all that surrounds its calls: budget, breaker, time-outs, further attempts, a word to the listener."""

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from decimal import Decimal
from random import Random
from types import TracebackType
from typing import Any, Self, TypeVar

from pydantic_ai.messages import ModelMessage, ModelResponse, ModelResponseStreamEvent
from pydantic_ai.models import Model, ModelRequestParameters, StreamedResponse
from pydantic_ai.models.wrapper import WrapperModel
from pydantic_ai.settings import ModelSettings
from pydantic_ai.tools import RunContext as AgentContext

from answerable.core.breaker import Breaker
from answerable.core.clock import Clock
from answerable.core.context import RunContext, Spending
from answerable.core.errors import AnswerableError
from answerable.core.retry import Schedule, retry
from answerable.models import failures, tokens
from answerable.models.budget import Budget, Reservation
from answerable.models.calls import CANCELLED, DONE, Listener, ModelCalled
from answerable.models.config import ModelsConfig, Role
from answerable.models.names import Target
from answerable.models.prices import BILLION, Used, cost_of, dollars, used
from answerable.models.watched_stream import WatchedStream
from answerable.store.protocols.budgets import AccountLimit, Amount

_Result = TypeVar("_Result")

_FIRST_PAUSE = 0.5
_LONGEST_PAUSE = 8.0
_OUTPUT_TOKENS = 8192
"""Of one reply, unless the settings say otherwise or an agent asks for fewer."""
_SIGNS_PER_TOKEN = 16
"""No text has more signs than this for a token. A reply with more is not what a limit of tokens allows."""
_LEAST_SIGNS = 20_000


@dataclass(frozen=True, slots=True)
class CallPolicy:
    """What all calls of a gateway share."""

    config: ModelsConfig
    budget: Budget
    clock: Clock
    random: Random


@dataclass(frozen=True, slots=True)
class Caller:
    """The person and the run on whose behalf a model is called."""

    role: Role
    context: RunContext
    listeners: tuple[Listener, ...] = ()


@dataclass(frozen=True, slots=True)
class Bound:
    """The most that a call can use."""

    input: int
    output: int


class GuardedModel(WrapperModel):
    def __init__(self, wrapped: Model, target: Target, breaker: Breaker, policy: CallPolicy, caller: Caller) -> None:
        super().__init__(wrapped)
        self.target = target
        self.breaker = breaker
        self.policy = policy
        self.caller = caller

    async def request(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
    ) -> ModelResponse:
        settings = self._bounded(model_settings)
        bound = self._bound(messages, settings, model_request_parameters)

        async def attempted(attempt: int) -> ModelResponse:
            async with Call(self, attempt, bound) as call, asyncio.timeout(self.policy.config.timeouts.total):
                response = await self.wrapped.request(messages, settings, model_request_parameters)
                call.answered(response)
            return response

        return await self._retried(attempted)

    @asynccontextmanager
    async def request_stream(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
        run_context: AgentContext[Any] | None = None,
    ) -> AsyncGenerator[StreamedResponse]:
        settings = self._bounded(model_settings)
        bound = self._bound(messages, settings, model_request_parameters)

        async def attempted(attempt: int) -> tuple[AsyncExitStack, StreamedResponse]:
            async with AsyncExitStack() as opening:
                call = await opening.enter_async_context(Call(self, attempt, bound, streamed=True))
                opened = self.wrapped.request_stream(messages, settings, model_request_parameters, run_context)
                stream = await call.begin(opening, opened)
                # From here the stream belongs to the reader: a failure after the first event is not tried again,
                # because the reader may have shown a part of the reply already.
                return opening.pop_all(), stream

        open_stream, stream = await self._retried(attempted)
        async with open_stream:
            yield stream

    def _bounded(self, settings: ModelSettings | None) -> ModelSettings:
        """Every call has a longest reply, and attempts are ours to make, except with Amazon's client."""
        asked = min((settings or {}).get("max_tokens") or _OUTPUT_TOKENS, _OUTPUT_TOKENS)
        bounded: ModelSettings = {**(settings or {}), "max_tokens": self.policy.config.max_output_tokens or asked}
        return bounded if self.target.api == "bedrock" else {**bounded, "max_retries": 0}

    def _bound(
        self, messages: list[ModelMessage], settings: ModelSettings, parameters: ModelRequestParameters
    ) -> Bound:
        return Bound(tokens.at_most(messages, parameters), settings["max_tokens"])

    async def _retried(self, call: Callable[[int], Awaitable[_Result]]) -> _Result:
        """Retries what may pass. A provider that asks for more time than we have is not asked again."""
        config, policy = self.policy.config, self.policy
        schedule = Schedule(
            config.attempts,
            first=_FIRST_PAUSE,
            longest=min(_LONGEST_PAUSE, config.longest_wait),
            jitter=policy.random,
        )
        return await retry(
            call,
            schedule,
            policy.clock,
            may_pass=lambda error, _attempt, wait: (
                error.stable_code in failures.RETRIED and wait <= config.longest_wait
            ),
        )


class Call:
    """One attempt, from the reservation to the settlement."""

    def __init__(self, model: GuardedModel, attempt: int, bound: Bound, *, streamed: bool = False) -> None:
        self._model = model
        self._attempt = attempt
        self._bound = bound
        self._streamed = streamed
        self._response: ModelResponse | None = None
        self._stream: StreamedResponse | None = None
        self._ended = not streamed
        self._handed_over = False
        """Whether what is raised may also come from whoever reads the stream."""
        self._reservation: Reservation | None = None
        self._spending: Spending | None = None
        self._trial = False
        self._began = 0.0

    async def __aenter__(self) -> Self:
        self._trial = self._model.breaker.enter()
        try:
            self._begin()
            self._reservation = await self._reserved()
        except BaseException:
            self._end()
            # The provider was not called, so the breaker must count neither a success nor a failure.
            self._model.breaker.leave(trial=self._trial, failed=None)
            raise
        self._began = time.perf_counter()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        ended = self._typed(error)
        outcome = self._outcome(ended)
        failed = None if outcome == CANCELLED else outcome in failures.OF_PROVIDER
        self._model.breaker.leave(trial=self._trial, failed=failed)
        try:
            await self._settle(outcome)
        finally:
            self._end()
        if ended is not None and ended is not error:
            raise ended from error

    async def begin(self, opening: AsyncExitStack, opened: Any) -> StreamedResponse:
        """Waits for the first event, so that what fails before it can be tried again."""
        limits = self._model.policy.config.timeouts
        deadline = asyncio.get_running_loop().time() + limits.total
        async with asyncio.timeout(min(limits.first_token, limits.total)):
            stream: StreamedResponse = await opening.enter_async_context(opened)
            self._stream = stream
            events = aiter(stream)
            first = await anext(events, None)
        self._handed_over = True
        return WatchedStream(stream, self._watched(first, events, stream, deadline))

    def answered(self, response: ModelResponse) -> None:
        self._response = response
        self._check_length(sum(map(len, tokens.texts(response))))
        self._check_not_refused(response)

    async def _watched(
        self,
        first: ModelResponseStreamEvent | None,
        events: AsyncIterator[ModelResponseStreamEvent],
        stream: StreamedResponse,
        deadline: float,
    ) -> AsyncIterator[ModelResponseStreamEvent]:
        event, length = first, 0
        while event is not None:
            length += _signs(event)
            self._check_length(length)
            yield event
            async with asyncio.timeout_at(deadline):
                event = await anext(events, None)
        self._ended = True
        self._check_not_refused(stream.get())

    def _check_length(self, signs: int) -> None:
        most = max(_SIGNS_PER_TOKEN * self._bound.output, _LEAST_SIGNS)
        if signs > most:
            raise failures.too_long(self._model.target.name, most)

    def _check_not_refused(self, response: ModelResponse) -> None:
        if response.finish_reason == "content_filter":
            said = (response.provider_details or {}).get("refusal")
            raise failures.refused(self._model.target.name, str(said or ""))

    def _typed(self, error: BaseException | None) -> BaseException | None:
        if not isinstance(error, Exception) or isinstance(error, AnswerableError):
            return error
        # The reader of the stream runs inside this context too; its own errors pass unchanged.
        if self._handed_over and not failures.is_foreign(error):
            return error
        return failures.typed(
            error, self._model.target, begun=self._stream is not None and bool(self._stream.get().parts)
        )

    def _outcome(self, error: BaseException | None) -> str:
        """Whoever stops reading before the end has cancelled the call."""
        if isinstance(error, AnswerableError):
            return error.stable_code
        return DONE if error is None and self._ended else CANCELLED

    def _begin(self) -> None:
        """Takes a call out of what the run may use."""
        spending = self._model.caller.context.spending
        if spending is not None:
            spending.begin_call()
            self._spending = spending

    def _end(self) -> None:
        if self._spending is not None:
            self._spending.end_call()

    async def _reserved(self) -> Reservation | None:
        model = self._model
        accounts = model.policy.budget.accounts(model.caller.context)
        if not accounts:
            return None
        bound = Used(self._bound.input, self._bound.output)
        cost = cost_of(model.target, bound) if _limit_cost(accounts) else 0
        return await model.policy.budget.reserve(accounts, Amount(bound.total, cost or 0))

    async def _settle(self, outcome: str) -> None:
        reply = self._response or (self._stream.get() if self._stream is not None else None)
        spent, estimated = self._spent(outcome, reply)
        cost = cost_of(self._model.target, spent)
        if reply is not None and cost is not None:
            reply.usage.cost = Decimal(cost) / BILLION
        if self._reservation is not None:
            await self._model.policy.budget.settle(self._reservation, Amount(spent.total, cost or 0))
        self._tell(outcome, spent, cost, estimated)

    def _spent(self, outcome: str, reply: ModelResponse | None) -> tuple[Used, bool]:
        """What the provider counted. Where it did not say, the most that it can have counted."""
        if reply is not None and reply.usage.total_tokens:
            return used(reply.usage), False
        if outcome in failures.UNPAID:
            return Used(), False
        arrived = self._bound.output if reply is None else min(_size(reply), self._bound.output)
        return Used(self._bound.input, arrived), True

    def _tell(self, outcome: str, spent: Used, cost: int | None, estimated: bool) -> None:
        caller, target = self._model.caller, self._model.target
        first = self._stream.time_to_first_chunk(self._began) if self._stream is not None else None
        called = ModelCalled(
            run=caller.context.run,
            role=caller.role,
            provider=target.provider,
            model=target.model,
            attempt=self._attempt,
            outcome=outcome,
            streamed=self._streamed,
            input_tokens=spent.input,
            output_tokens=spent.output,
            cached_tokens=spent.cached,
            cost=dollars(cost),
            estimated=estimated,
            duration_ms=(time.perf_counter() - self._began) * 1000,
            first_token_ms=None if first is None else first * 1000,
        )
        for listener in caller.listeners:
            listener(called)


def _signs(event: ModelResponseStreamEvent) -> int:
    """How many signs a piece of a reply adds to it."""
    part = getattr(event, "part", None) if event.event_kind == "part_start" else getattr(event, "delta", None)
    names = ("content", "args") if event.event_kind == "part_start" else ("content_delta", "args_delta")
    texts = [getattr(part, name, None) for name in names]
    return sum(len(text) for text in texts if isinstance(text, str))


def _size(reply: ModelResponse) -> int:
    """Bytes of what has arrived: no fewer than its tokens."""
    return sum(len(text.encode(errors="replace")) for text in tokens.texts(reply))


def _limit_cost(accounts: Sequence[AccountLimit]) -> bool:
    return any(account.cost is not None for account in accounts)
