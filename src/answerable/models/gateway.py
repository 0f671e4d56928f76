"""`Models`: the one object through which language models are reached."""

import os
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from random import Random
from typing import Any

from httpx2 import AsyncClient
from pydantic_ai.exceptions import FallbackExceptionGroup
from pydantic_ai.messages import ModelMessage, ModelResponse
from pydantic_ai.models import Model, ModelRequestParameters, StreamedResponse
from pydantic_ai.models.fallback import FallbackModel
from pydantic_ai.models.wrapper import WrapperModel
from pydantic_ai.settings import ModelSettings
from pydantic_ai.tools import RunContext as AgentContext

from answerable.core.breaker import Breaker
from answerable.core.clock import Clock, SystemClock
from answerable.core.context import RunContext
from answerable.core.errors import OperatorError
from answerable.models import failures
from answerable.models.budget import Budget
from answerable.models.calls import Listener
from answerable.models.config import ModelsConfig, Role
from answerable.models.filtered_replies import FilteredReplies
from answerable.models.guarded import Caller, CallPolicy, GuardedModel
from answerable.models.marked_data import MarkedData
from answerable.models.names import Target, target_of
from answerable.models.providers import model_for, new_client
from answerable.models.redacted_prompts import RedactedPrompts
from answerable.protection.content.content_filter import ContentFilter
from answerable.protection.personal.redaction import Redaction
from answerable.store.protocols.budgets import Budgets

HOW_TO_SET_ONE = "Set ANSWERABLE_MODEL=provider:name, for example openai:gpt-5.5; docs/agents.md shows each provider."
_FAILURES = 5
_COOLDOWN = 30.0


class Models:
    def __init__(
        self,
        config: ModelsConfig,
        budgets: Budgets,
        *,
        clock: Clock | None = None,
        environment: Mapping[str, str] = os.environ,
        random: Random | None = None,
        listeners: Sequence[Listener] = (),
        redaction: Redaction | None = None,
        content: ContentFilter | None = None,
    ) -> None:
        """`listeners` hear of every call; a single run can add its own. `redaction`: of personal data in prompts.
        `content`: what replies must pass, and how data is marked."""
        self._redaction = redaction
        self._content = content
        clock = clock or SystemClock()
        chance = random or Random()  # noqa: S311 - spreads waits, keeps no secret
        self.budget = Budget(budgets, config.budget, clock)
        self._policy = CallPolicy(config, self.budget, clock, chance)
        self._environment = environment
        self._listeners = tuple(listeners)
        self._clients: dict[str, AsyncClient] = {}
        self._breakers: dict[str, Breaker] = {}
        self._models: dict[str, tuple[Target, Model]] = {}

    @property
    def configured(self) -> bool:
        return bool(self._policy.config.named())

    def for_role(self, role: Role, context: RunContext, listener: Listener | None = None) -> Model:
        """The model of a role, guarded on behalf of a run. Calls of sub-agents belong to the run that they work for."""
        names = self._policy.config.chain(role)
        if not names:
            raise OperatorError(
                "No language model is set.",
                code="model_missing",
                hint=HOW_TO_SET_ONE,
            )
        listeners = self._listeners if listener is None else (*self._listeners, listener)
        caller = Caller(role, context, listeners)
        guarded = [self._guarded(name, caller) for name in names]
        # Outside of the chain: what one model may not say, another is not asked to say.
        return self._filtered(guarded[0] if len(guarded) == 1 else ChainModel(guarded))

    def named(self, name: str, role: Role, context: RunContext, listener: Listener | None = None) -> Model:
        """One model by its name, without those that would take over."""
        return self._filtered(self._guarded(name, Caller(role, context, () if listener is None else (listener,))))

    async def close(self) -> None:
        for client in self._clients.values():
            await client.aclose()
        self._clients.clear()
        self._models.clear()

    def _filtered(self, model: Model) -> Model:
        if self._content is not None and self._content.marks_data:
            model = MarkedData(model, self._content)
        if self._content is not None and self._content.looks_at("replies"):
            model = FilteredReplies(model, self._content)
        return model

    def _guarded(self, name: str, caller: Caller) -> GuardedModel:
        target, model = self._models.get(name) or self._built(name)
        return GuardedModel(model, target, self._breaker(target), self._policy, caller)

    def _built(self, name: str) -> tuple[Target, Model]:
        target = target_of(name, self._policy.config, self._environment)
        if target.provider not in self._clients:
            self._clients[target.provider] = new_client(self._policy.config.timeouts)
        model = model_for(target, self._clients[target.provider])
        self._models[name] = (target, RedactedPrompts(model, self._redaction) if self._redaction else model)
        return self._models[name]

    def _breaker(self, target: Target) -> Breaker:
        # One breaker for a provider, not for a model: an outage of the provider takes all of its models.
        if target.provider not in self._breakers:
            self._breakers[target.provider] = Breaker(target.provider, self._policy.clock, _FAILURES, _COOLDOWN)
        return self._breakers[target.provider]


class ChainModel(WrapperModel):
    """The models of a role in turn; when all have failed, one error that says why."""

    def __init__(self, models: Sequence[Model]) -> None:
        super().__init__(FallbackModel(*models, fallback_on=failures.falls_back))

    async def request(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
    ) -> ModelResponse:
        try:
            return await self.wrapped.request(messages, model_settings, model_request_parameters)
        except FallbackExceptionGroup as group:
            raise failures.all_failed(list(group.exceptions)) from group

    @asynccontextmanager
    async def request_stream(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
        run_context: AgentContext[Any] | None = None,
    ) -> AsyncGenerator[StreamedResponse]:
        opened = self.wrapped.request_stream(messages, model_settings, model_request_parameters, run_context)
        try:
            async with opened as stream:
                yield stream
        except FallbackExceptionGroup as group:
            raise failures.all_failed(list(group.exceptions)) from group
