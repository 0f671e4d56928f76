"""Times that come again: a cron expression in a time zone. Pure."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import Field

from answerable.core.errors import UserError
from answerable.core.values import Frozen


class CronTimes(Frozen):
    cron: str = Field(min_length=1, max_length=200, description="Minute, hour, day of month, month, day of week.")
    zone: str = Field(default="UTC", max_length=100, description="A time zone such as Europe/Berlin.")


def next_moment(times: CronTimes, after: datetime) -> datetime:
    """The first time after this one. Raises a `UserError` for times that never come."""
    return next(moments(times, after))


def moments(times: CronTimes, after: datetime) -> Iterator[datetime]:
    from croniter import CroniterBadDateError, croniter

    upcoming = croniter(_expression(times), after.astimezone(_zone(times)))
    while True:
        try:
            moment = upcoming.get_next(datetime)
        except CroniterBadDateError as error:
            raise UserError(f"`{times.cron}` never happens.", code="schedule_never") from error
        if not _is_repeated(times, moment):
            yield moment.astimezone(UTC)


def last_moment(times: CronTimes, now: datetime) -> datetime:
    """The last time up to this one."""
    from croniter import croniter

    former = croniter(_expression(times), (now + timedelta(seconds=1)).astimezone(_zone(times)))
    moment: datetime = former.get_prev(datetime)
    while _is_repeated(times, moment):
        moment = former.get_prev(datetime)
    return moment.astimezone(UTC)


def _is_repeated(times: CronTimes, moment: datetime) -> bool:
    """Whether the clock was set back, so that an hour comes twice. A schedule of certain hours runs in the first."""
    hours = times.cron.split()[1] if not times.cron.startswith("@") else "0"
    return not hours.startswith("*") and moment.utcoffset() != moment.replace(fold=0).utcoffset()


def _expression(times: CronTimes) -> str:
    from croniter import croniter

    cron = times.cron.strip()
    if not (cron.startswith("@") or len(cron.split()) == 5) or not croniter.is_valid(cron):
        raise UserError(
            f"`{cron}` is no schedule.",
            code="schedule_invalid",
            hint="Write minute, hour, day of month, month and day of week: `0 7 * * mon`, `*/15 * * * *`, or `@daily`.",
        )
    return cron


def _zone(times: CronTimes) -> ZoneInfo:
    try:
        return ZoneInfo(times.zone)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        hint = "Write a name such as Europe/Berlin, or UTC."
        raise UserError(f"There is no time zone {times.zone!r}.", code="schedule_invalid", hint=hint) from error
