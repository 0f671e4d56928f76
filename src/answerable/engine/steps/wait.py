"""Kind `wait`: lets time pass, or waits for a named event.

The moment at which a time ends is recorded first, so a continued run waits for the rest. A run that waits for an event
holds no process: the event is a decision that a program makes. Nor does one that waits for a long time, where processes
stay that take it up again.
"""

import asyncio
from datetime import datetime
from typing import Literal

from pydantic import AwareDatetime, Field, model_validator

from answerable.core.clock import Clock
from answerable.core.errors import LimitError
from answerable.core.values import Frozen, Json
from answerable.engine.steps.base import Step, Suspended
from answerable.engine.steps.descriptor import StepDescriptor

CHANNEL = "wait_until"
EVENT = "event"
"""The field that names the event in the question of a step that waits for one."""
LONGEST = 366 * 86_400.0
HELD = 300.0
"""Seconds. A run that waits for longer leaves its process."""


class WaitConfig(Frozen):
    seconds: float | None = Field(default=None, ge=0, le=LONGEST)
    until: AwareDatetime | None = None
    event: str | None = Field(default=None, min_length=1, max_length=200)
    within: float | None = Field(default=None, gt=0, le=LONGEST)
    """How many seconds to wait for the event at most."""
    missed: Literal["fail", "continue"] = "fail"
    """What to do if the event does not come in time: fail, or go on with null as its data."""

    @model_validator(mode="after")
    def _one_of_them(self) -> "WaitConfig":
        if sum(each is not None for each in (self.seconds, self.until, self.event)) != 1:
            raise ValueError("give one of seconds, until and event")
        return self


class WaitStep:
    descriptor = StepDescriptor(name="wait", config=WaitConfig, produces="value", label="wait")

    def __init__(self, clock: Clock, *, leaves: bool = False) -> None:
        """`leaves`: whether a run leaves its process for a long wait, because others look for runs whose time has come:
        servers and workers do."""
        self._clock = clock
        self._leaves = leaves

    async def run(self, step: Step) -> Json:
        config = step.config_as(WaitConfig)
        if config.event is not None:
            return self._event(step, config, config.event)
        until = self._recorded(step) or self._first(step)
        left = until - self._clock.now().timestamp()
        if left > HELD and self._leaves:
            step.journal.wakes[step.id] = until
            raise Suspended
        if left > 0:
            await self._sleep(step, left)
        return {"until": datetime.fromtimestamp(until, self._clock.now().tzinfo).isoformat()}

    async def _sleep(self, step: Step, seconds: float) -> None:
        """Lets time pass. A run that is to pause does not wait for that: the moment is recorded."""
        waits = (
            asyncio.ensure_future(self._clock.sleep(seconds)),
            asyncio.ensure_future(step.journal.pausing.wait()),
        )
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
            if not waits[0].done():
                raise Suspended
        finally:
            for each in waits:
                each.cancel()

    def _event(self, step: Step, config: WaitConfig, name: str) -> Json:
        past = step.past
        if past is not None and past.decision is not None:
            return {"event": name, "data": past.decision.data, "by": past.decision.by}
        if past is None or past.approval is None:
            until = None if config.within is None else self._clock.now().timestamp() + config.within
            step.wait_for_decision(f"Waits for the event `{name}`.", {EVENT: name}, until)
            raise Suspended
        if config.missed == "continue":  # it is started again only when the time is over
            return {"event": name, "data": None, "by": None}
        raise LimitError(f"Step `{step.id}`: the event `{name}` did not come in time.", code="event_missed")

    def _recorded(self, step: Step) -> float | None:
        outputs = (each.data for each in step.journal.outputs if each.node == step.id and each.channel == CHANNEL)
        return next(outputs, None)

    def _first(self, step: Step) -> float:
        config = step.config_as(WaitConfig)
        if config.until is not None:
            until = config.until.timestamp()
        else:
            assert config.seconds is not None
            until = self._clock.now().timestamp() + config.seconds
        step.output(CHANNEL, until)
        return until
