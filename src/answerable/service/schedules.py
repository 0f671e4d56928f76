"""Schedules of graphs: stored, listed, removed, and run when they are due."""

import asyncio
import hashlib
import logging
import re
from collections.abc import Sequence
from datetime import datetime

from answerable.core.clock import Clock
from answerable.core.context import Principal
from answerable.core.cron_times import next_moment
from answerable.core.errors import AnswerableError, RefusedError, UserError
from answerable.core.ids import RunId
from answerable.core.values import Frozen
from answerable.graphs.schedules import GraphSchedule, due_moments
from answerable.service.graphs import GraphService
from answerable.store.base import Store
from answerable.store.protocols.schedules import ScheduleRecord

NAME = r"[a-z0-9][a-z0-9_-]{0,63}"
LOOK_SECONDS = 1.0
"""How often a server looks for schedules that are due."""
_PROBLEM = "problem"
_log = logging.getLogger("answerable.schedules")


class ScheduleView(Frozen):
    name: str
    schedule: GraphSchedule
    user: str
    next_at: datetime
    problem: str | None
    """Why its graph could not be started the last time."""


class ScheduleService:
    def __init__(self, store: Store, graphs: GraphService, clock: Clock) -> None:
        self._schedules = store.schedules
        self._graphs = graphs
        self._clock = clock
        self._task: asyncio.Task[None] | None = None

    async def add(self, name: str, schedule: GraphSchedule, principal: Principal) -> ScheduleView:
        """Stores when a graph runs by itself, on behalf of this person. A schedule of the same name is replaced."""
        if not re.fullmatch(NAME, name):
            hint = "A name has 1 to 64 small letters, digits, `-` and `_`."
            raise UserError(f"{name[:80]!r} is no name of a schedule.", code="schedule_invalid", hint=hint)
        now = self._clock.now()
        next_at = next_moment(schedule, now)
        await self._graphs.show(schedule.graph, principal, version=schedule.version)  # raises if there is none
        owner = Principal(principal.tenant, principal.user)
        record = ScheduleRecord(name, owner, schedule.graph, schedule.model_dump(mode="json"), next_at, now)
        await self._schedules.put(record)
        return _view(record)

    async def list(self, principal: Principal) -> Sequence[ScheduleView]:
        """Schedules by name."""
        return [_view(record) for record in await self._schedules.list(principal)]

    async def remove(self, name: str, principal: Principal) -> None:
        """Removes a schedule. Runs that it has begun go on."""
        await self._schedules.remove(principal, name)

    async def run_due(self) -> Sequence[RunId]:
        """Begins the runs that are due by now, of all tenants. Each time of a schedule has a run id of its own, so that
        servers that do this at once, or one that was killed in between, begin no run twice."""
        begun: list[RunId] = []
        for record in await self._schedules.due(self._clock.now()):
            begun += await self._begin(record, _schedule(record))
        return begun

    async def _begin(self, record: ScheduleRecord, schedule: GraphSchedule) -> Sequence[RunId]:
        now, problem, begun = self._clock.now(), None, []
        moments = due_moments(schedule, record.next_at, now)
        for moment in moments:
            run = _run_id(record, moment)
            try:
                await self._graphs.begin_stored(
                    schedule.graph, schedule.input, record.principal, version=schedule.version, run=run
                )
                begun.append(run)
            except (UserError, RefusedError) as error:  # trying again would not help; other failures are tried again
                problem = f"{error.message} [{error.stable_code}]"
                _log.warning("schedule not run", extra={"fields": {"schedule": record.name, "reason": problem}})
        # A policy that makes up for each time may have some left.
        after = moments[-1] if moments and schedule.catch_up == "all" else now
        body = {**schedule.model_dump(mode="json"), **({_PROBLEM: problem} if problem else {})}
        await self._schedules.advance(record, next_moment(schedule, after), body)
        return begun

    def keep_running(self) -> None:
        """Runs graphs when they are due, from now on. For a process that stays, such as a server."""
        self._task = asyncio.create_task(self._run_for_ever(), name="schedules")

    async def _run_for_ever(self) -> None:
        while True:
            try:
                await self.run_due()
            except AnswerableError as error:  # the store may be back the next time
                _log.warning("schedules not run", extra={"fields": {"code": error.stable_code, "reason": str(error)}})
            await asyncio.sleep(LOOK_SECONDS)

    async def close(self) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait((self._task,))


def _schedule(record: ScheduleRecord) -> GraphSchedule:
    return GraphSchedule.model_validate({name: value for name, value in record.body.items() if name != _PROBLEM})


def _view(record: ScheduleRecord) -> ScheduleView:
    return ScheduleView(
        name=record.name,
        schedule=_schedule(record),
        user=record.principal.user,
        next_at=record.next_at,
        problem=record.body.get(_PROBLEM),
    )


def _run_id(record: ScheduleRecord, moment: datetime) -> RunId:
    text = f"{record.principal.tenant}\n{record.name}\n{record.created_at.isoformat()}\n{moment.isoformat()}"
    return RunId("run_" + hashlib.sha256(text.encode()).hexdigest()[:24])
