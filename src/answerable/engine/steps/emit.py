"""Kind `emit`: tells other runs that wait for an event that it has happened."""

from collections.abc import Awaitable, Callable, Sequence

from pydantic import Field

from answerable.core.context import RunContext
from answerable.core.ids import RunId
from answerable.core.values import Frozen, Json
from answerable.engine.steps.base import Step
from answerable.engine.steps.descriptor import StepDescriptor


class EmitConfig(Frozen):
    event: str = Field(min_length=1, max_length=200)
    data: Json = None


class Signals:
    """Where events go. The service that reaches runs which wait is made after the kinds of steps."""

    send: Callable[[str, Json, RunContext], Awaitable[Sequence[RunId]]]


class EmitStep:
    """Returns `{"event", "runs"}`: the runs that go on. Its own run is not one of them. After a crash the event may be
    told once more; a run that has gone on does not hear it again."""

    descriptor = StepDescriptor(name="emit", config=EmitConfig, produces="value", label="emit")

    def __init__(self, signals: Signals) -> None:
        self._signals = signals

    async def run(self, step: Step) -> Json:
        config = step.config_as(EmitConfig)
        return {"event": config.event, "runs": list(await self._signals.send(config.event, config.data, step.context))}
