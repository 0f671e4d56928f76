"""Runs an agent: writes its message, asks its model for a typed reply, and streams the reply to an output sink."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, cast

from pydantic import BaseModel

from answerable.core.context import RunContext
from answerable.core.errors import AnswerableError, LimitError, OperatorError
from answerable.core.values import Json
from answerable.engine.steps.base import OutputSink
from answerable.models.calls import Listener, ModelCalled
from answerable.models.config import ModelsConfig, Role
from answerable.models.current import CurrentModels
from answerable.models.tokens import likely

if TYPE_CHECKING:
    from pydantic_ai import Agent
    from pydantic_ai.models import Model
    from pydantic_ai.settings import ModelSettings

    from answerable.agents.directory import AgentDirectory
    from answerable.agents.folder import AgentFolder

T = TypeVar("T", bound=BaseModel)
R = TypeVar("R")
Check = Callable[[Any], Awaitable[None]]
"""Raises `Mistake` for a reply that fits its type and is still wrong. The model gets the reason and tries again."""
BAD_REPLY, REJECTED = "model_bad_reply", "model_rejected"
"""The codes of the errors when a model has used up its corrections, and when its server does not take the request."""


class Mistake(Exception):
    """The reason why a reply is wrong, in words that its writer can act on."""


class ModelGateway(Protocol):
    def for_role(self, role: Role, context: RunContext, listener: Listener | None = None) -> "Model": ...

    def named(self, name: str, role: Role, context: RunContext, listener: Listener | None = None) -> "Model": ...

    async def close(self) -> None: ...


class Agents:
    def __init__(
        self, open_models: Callable[[ModelsConfig], ModelGateway], current: CurrentModels, places: Sequence[Path] = ()
    ) -> None:
        """Models are opened when the first agent is asked, because most questions need none, and again when others are
        set. `places`: folders of agents beside those that come with Answerable."""
        self._open_models = open_models
        self._current = current
        self._places = tuple(places)
        self._opened: list[tuple[ModelsConfig, ModelGateway]] = []

    @property
    def available(self) -> bool:
        """Whether there is a model at all."""
        return bool(self._current.config.named())

    async def close(self) -> None:
        for _, models in self._opened:
            await models.close()

    def _models(self) -> ModelGateway:
        """The models to ask now. Earlier ones stay open, because runs may be in the middle of a call."""
        config = self._current.config
        if not self._opened or self._opened[-1][0] is not config:
            self._opened.append((config, self._open_models(config)))
        return self._opened[-1][1]

    async def ask(
        self,
        name: str,
        prompt_context: Mapping[str, str],
        reply: type[T],
        context: RunContext,
        output: OutputSink,
        *,
        tools: Sequence[Callable[..., Any]] = (),
        needs_tools: bool = False,
        check: Check | None = None,
    ) -> T:
        """The typed reply of a builtin agent. Failures of the model are raised as errors of `core/errors.py`. `tools`
        are left out for a model that takes none, unless it `needs_tools`."""
        folder = self.directory.named(name)
        try:
            return await self._asked(folder, prompt_context, reply, context, output, tools, check)
        except OperatorError as error:
            if error.stable_code != REJECTED or needs_tools or not tools:
                raise
            return await self._asked(folder, prompt_context, reply, context, output, (), check)

    async def run(
        self,
        folder: "AgentFolder",
        inputs: Mapping[str, Json],
        context: RunContext,
        output: OutputSink,
        *,
        tools: Sequence[Callable[..., Any]] = (),
    ) -> Json:
        """The reply of an agent to its inputs: an object that fits the JSON Schema in its `agent.yaml`, or text if
        it has none."""
        from answerable.agents.data_text import as_data

        prompt_context = {each: as_data(value) for each, value in inputs.items()}
        limit = asyncio.timeout(folder.seconds)
        try:
            async with limit:
                if folder.output is None:
                    return await self._asked(folder, prompt_context, str, context, output, tools, None)
                form, check = _form_of(folder.output, folder), _fits(folder.output)
                return dict(await self._asked(folder, prompt_context, form, context, output, tools, check))
        except TimeoutError:
            if not limit.expired():
                raise
            raise LimitError(
                f"The agent {folder.name!r} took longer than its {folder.seconds:g} seconds.",
                code="agent_timeout",
                hint="Raise `seconds` in its agent.yaml, or give it less to do.",
            ) from None

    @cached_property
    def directory(self) -> "AgentDirectory":
        from answerable.agents.directory import AgentDirectory

        return AgentDirectory(self._places)

    async def _asked(
        self,
        folder: "AgentFolder",
        prompt_context: Mapping[str, str],
        reply: type[R],
        context: RunContext,
        output: OutputSink,
        tools: Sequence[Callable[..., Any]],
        check: Check | None,
    ) -> R:
        name, message = folder.name, folder.written(prompt_context)
        # Before anything is sent, so that a user can see and stop an expensive prompt.
        output("prompt", {"agent": name, "tokens": likely(folder.instructions + message)})
        agent = self._agent(folder, reply, context, output, tools)
        mistakes = _judged_by(agent, check) if check is not None else []
        try:
            return await _streamed(
                agent, message, folder.requests, lambda event: _forward_event(event, folder.name, output)
            )
        except AnswerableError as error:
            # The model library only reports that retries are used up; the last mistake says why.
            if mistakes and error.stable_code == BAD_REPLY:
                raise _gave_up(mistakes) from error
            raise

    def _agent(
        self,
        folder: "AgentFolder",
        reply: type[R],
        context: RunContext,
        output: OutputSink,
        tools: Sequence[Callable[..., Any]],
    ) -> "Agent[object, R]":
        from pydantic_ai import Agent

        def called(call: ModelCalled) -> None:
            output("model_call", {"agent": folder.name, **call.as_json()})

        models = self._models()
        return Agent(
            models.named(folder.model, folder.role, context, called)
            if folder.model
            else models.for_role(folder.role, context, called),
            output_type=reply,
            instructions=folder.instructions,
            name=folder.name,
            tools=tools,
            retries=min(folder.corrections, folder.requests - 1),  # the first request is no retry
            model_settings=cast("ModelSettings", {"max_tokens": folder.output_tokens, **folder.sampling}),
        )


def _form_of(schema: Mapping[str, Any], folder: "AgentFolder") -> type[dict[str, Any]]:
    """The type of a reply that is described by a JSON Schema."""
    from pydantic_ai import StructuredDict

    return StructuredDict(dict(schema), name=folder.name.replace("-", "_"), description=folder.description)


def _fits(schema: Mapping[str, Any]) -> Check:
    from answerable.core.json_schema import SchemaProblem, check_value

    async def check(reply: dict[str, Any]) -> None:
        try:
            check_value(dict(reply), schema)
        except SchemaProblem as problem:
            place = ".".join(map(str, problem.path))
            raise Mistake(f"{place}: {problem.message}" if place else problem.message) from None

    return check


def _judged_by(agent: "Agent[object, R]", check: Check) -> list[str]:
    """Makes the agent send wrong replies back to the model. Returns a list that collects the reasons."""
    from pydantic_ai import ModelRetry

    from answerable.agents.data_text import as_data

    mistakes: list[str] = []

    @agent.output_validator
    async def judge(reply: R) -> R:
        try:
            await check(reply)
        except Mistake as mistake:
            mistakes.append(str(mistake))
            raise ModelRetry(f"This reply cannot be used. The reason: {as_data(str(mistake))}") from mistake
        return reply

    return mistakes


async def _streamed(agent: "Agent[object, R]", message: str, requests: int, on_event: Callable[[Any], None]) -> R:
    from pydantic_ai import UsageLimits

    from answerable.models.failures import explained

    # Outermost, because the stream raises errors of providers both when it opens and while it is read.
    with explained():
        async with agent.run_stream_events(message, usage_limits=UsageLimits(request_limit=requests)) as run:
            async for event in run:
                on_event(event)
            assert run.result is not None
            return run.result.output


def _gave_up(mistakes: Sequence[str]) -> LimitError:
    return LimitError(
        f"The model was corrected {len(mistakes)} times and still got it wrong. The last reason: {mistakes[-1]}",
        code="model_gave_up",
        hint="Ask in other words, or set another model.",
    )


def _piece(part: Any, ending: str = "") -> Any:
    """The text of a part of a reply, or of an addition to it. Text has `content`, a call of a tool has `args`."""
    return getattr(part, f"content{ending}", None) or getattr(part, f"args{ending}", None)


def _forward_event(event: Any, agent: str, output: OutputSink) -> None:
    """Forwards only the events that a person can follow: text as it is written, and the names of called tools."""
    kind = event.event_kind
    if kind in ("part_start", "part_delta"):
        piece = _piece(event.part) if kind == "part_start" else _piece(event.delta, "_delta")
        if isinstance(piece, str) and piece:
            output("token", {"agent": agent, "text": piece})
    elif kind == "function_tool_call":
        output("tool", {"agent": agent, "name": event.part.tool_name})
