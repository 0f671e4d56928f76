"""Runs an agent: writes its message, asks its model for a typed reply, and tells what happens as it happens."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from pydantic import BaseModel

from answerable.core.context import RunContext
from answerable.core.errors import AnswerableError, LimitError
from answerable.core.values import Json
from answerable.models.calls import Listener, ModelCalled
from answerable.models.config import Role
from answerable.models.tokens import likely

if TYPE_CHECKING:
    from pydantic_ai import Agent
    from pydantic_ai.models import Model

    from answerable.agents.folder import AgentFolder

T = TypeVar("T", bound=BaseModel)
Tell = Callable[[str, Json], None]
"""Hears a channel and what is said on it: `prompt` (agent and estimated tokens, before anything is sent), `token`,
`tool`, `model_call` (usage and cost, after each call)."""
Check = Callable[[Any], Awaitable[None]]
"""Raises `Mistake` for a reply that fits its type and is still wrong; the model hears why."""


GAVE_UP = "model_bad_reply"
"""The code of the error when a model has used up its corrections."""


class Mistake(Exception):
    """What is wrong with a reply, in words that its writer can act on."""


class ModelGateway(Protocol):
    def for_role(self, role: Role, context: RunContext, listener: Listener | None = None) -> "Model": ...

    async def close(self) -> None: ...


class Agents:
    def __init__(self, open_models: Callable[[], ModelGateway], *, available: bool) -> None:
        """Models are opened when the first agent is asked: most questions need none."""
        self._models = cache(open_models)
        self.available = available
        """Whether there is a model at all."""

    async def close(self) -> None:
        if self._models.cache_info().currsize:
            await self._models().close()

    async def ask(
        self,
        name: str,
        prompt_context: Mapping[str, str],
        reply: type[T],
        context: RunContext,
        tell: Tell,
        *,
        tools: Sequence[Callable[..., Any]] = (),
        check: Check | None = None,
    ) -> T:
        """The typed reply of a builtin agent. Failures of the model arrive as errors of `core/errors.py`."""
        from answerable.agents.folder import BUILTIN, load_agent

        folder = load_agent(BUILTIN / name)
        message = folder.written(prompt_context)
        tell("prompt", {"agent": name, "tokens": likely(folder.instructions + message)})
        agent = self._agent(folder, reply, context, tell, tools)
        mistakes = _judged_by(agent, check) if check is not None else []
        try:
            return await _carried_out(agent, message, folder.requests, lambda event: _tell_event(event, name, tell))
        except AnswerableError as error:
            if mistakes and error.stable_code == GAVE_UP:
                raise _gave_up(mistakes) from error
            raise

    def _agent(
        self,
        folder: "AgentFolder",
        reply: type[T],
        context: RunContext,
        tell: Tell,
        tools: Sequence[Callable[..., Any]],
    ) -> "Agent[object, T]":
        from pydantic_ai import Agent

        def called(call: ModelCalled) -> None:
            tell("model_call", {"agent": folder.name, **call.as_json()})

        return Agent(
            self._models().for_role(folder.role, context, called),
            output_type=reply,
            instructions=folder.instructions,
            name=folder.name,
            tools=tools,
            retries=folder.requests - 1,
            model_settings={"max_tokens": folder.output_tokens},
        )


def _judged_by(agent: "Agent[object, T]", check: Check) -> list[str]:
    """Hands replies that are wrong back to the model; the list fills with what was wrong."""
    from pydantic_ai import ModelRetry

    mistakes: list[str] = []

    @agent.output_validator
    async def judge(output: T) -> T:
        try:
            await check(output)
        except Mistake as mistake:
            mistakes.append(str(mistake))
            raise ModelRetry(str(mistake)) from mistake
        return output

    return mistakes


async def _carried_out(agent: "Agent[object, T]", message: str, requests: int, hear: Callable[[Any], None]) -> T:
    from pydantic_ai import UsageLimits

    from answerable.models.failures import explained

    with explained():
        async with agent.run_stream_events(message, usage_limits=UsageLimits(request_limit=requests)) as run:
            async for event in run:
                hear(event)
            assert run.result is not None
            return run.result.output


def _gave_up(mistakes: Sequence[str]) -> LimitError:
    return LimitError(
        f"The model was corrected {len(mistakes)} times and still got it wrong. The last reason: {mistakes[-1]}",
        code="model_gave_up",
        hint="Ask in other words, or set another model.",
    )


def _piece(part: Any, ending: str = "") -> Any:
    """The text of a part of a reply, or of what was added to it."""
    return getattr(part, f"content{ending}", None) or getattr(part, f"args{ending}", None)


def _tell_event(event: Any, agent: str, tell: Tell) -> None:
    """Only what a person watching wants: the words as they come, and which tool is called."""
    kind = event.event_kind
    if kind in ("part_start", "part_delta"):
        piece = _piece(event.part) if kind == "part_start" else _piece(event.delta, "_delta")
        if isinstance(piece, str) and piece:
            tell("token", {"agent": agent, "text": piece})
    elif kind == "function_tool_call":
        tell("tool", {"agent": agent, "name": event.part.tool_name})
