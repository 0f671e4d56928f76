"""When a schedule is due: cron expressions in a time zone, and what happens to times that were missed. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Literal
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import Field

from answerable.core.errors import UserError
from answerable.core.values import Frozen, Json

CatchUp = Literal["skip", "last", "all"]
"""What to do about times at which no server ran: nothing, one run for the last of them, or one for each."""
PUNCTUAL = timedelta(minutes=1)
"""A run that begins within this time is not late."""
MOST_AT_ONCE = 100
"""So many missed times are made up for at once; the others follow."""


class GraphSchedule(Frozen):
    graph: str = Field(pattern=r"^[a-z0-9][a-z0-9_-]{0,63}$")
    version: int | None = Field(default=None, ge=1, description="Null for the version that counts when it runs.")
    cron: str = Field(min_length=1, max_length=200, description="Minute, hour, day of month, month, day of week.")
    zone: str = Field(default="UTC", max_length=100, description="A time zone such as Europe/Berlin.")
    catch_up: CatchUp = "last"
    input: Mapping[str, Json] = {}


def next_moment(schedule: GraphSchedule, after: datetime) -> datetime:
    """The first time after this one. Raises a `UserError` for a schedule that can never be met."""
    return next(_moments(schedule, after))


def due_moments(schedule: GraphSchedule, first: datetime, now: datetime) -> Sequence[datetime]:
    """The times from the first to now for which a run begins, by the schedule's policy."""
    if schedule.catch_up == "all":
        due: list[datetime] = []
        for moment in _moments(schedule, first - timedelta(seconds=1)):
            if moment > now or len(due) == MOST_AT_ONCE:
                return due
            due.append(moment)
    latest = max(first, _last_moment(schedule, now))
    return [latest] if schedule.catch_up == "last" or now - latest <= PUNCTUAL else []


def _moments(schedule: GraphSchedule, after: datetime) -> Iterator[datetime]:
    from croniter import CroniterBadDateError, croniter

    times = croniter(_expression(schedule), after.astimezone(_zone(schedule)))
    while True:
        try:
            moment = times.get_next(datetime)
        except CroniterBadDateError as error:
            raise UserError(f"`{schedule.cron}` never happens.", code="schedule_never") from error
        if not _is_repeated(schedule, moment):
            yield moment.astimezone(UTC)


def _last_moment(schedule: GraphSchedule, now: datetime) -> datetime:
    from croniter import croniter

    times = croniter(_expression(schedule), (now + timedelta(seconds=1)).astimezone(_zone(schedule)))
    moment: datetime = times.get_prev(datetime)
    while _is_repeated(schedule, moment):
        moment = times.get_prev(datetime)
    return moment.astimezone(UTC)


def _is_repeated(schedule: GraphSchedule, moment: datetime) -> bool:
    """Whether the clock was set back, so that an hour comes twice. A schedule of certain hours runs in the first."""
    hours = schedule.cron.split()[1] if not schedule.cron.startswith("@") else "0"
    return not hours.startswith("*") and moment.utcoffset() != moment.replace(fold=0).utcoffset()


def _expression(schedule: GraphSchedule) -> str:
    from croniter import croniter

    cron = schedule.cron.strip()
    if not (cron.startswith("@") or len(cron.split()) == 5) or not croniter.is_valid(cron):
        raise UserError(
            f"`{cron}` is no schedule.",
            code="schedule_invalid",
            hint="Write minute, hour, day of month, month and day of week: `0 7 * * mon`, `*/15 * * * *`, or `@daily`.",
        )
    return cron


def _zone(schedule: GraphSchedule) -> ZoneInfo:
    try:
        return ZoneInfo(schedule.zone)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        hint = "Write a name such as Europe/Berlin, or UTC."
        raise UserError(f"There is no time zone {schedule.zone!r}.", code="schedule_invalid", hint=hint) from error
