"""When a schedule is due, and what happens to times that were missed. Pure."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Literal

from pydantic import Field

from answerable.core.cron_times import CronTimes, last_moment, moments
from answerable.core.values import Json

CatchUp = Literal["skip", "last", "all"]
"""What to do about times at which no server ran: nothing, one run for the last of them, or one for each."""
PUNCTUAL = timedelta(minutes=1)
"""A run that begins within this time is not late."""
MOST_AT_ONCE = 100
"""So many missed times are made up for at once; the others follow."""


class GraphSchedule(CronTimes):
    graph: str = Field(pattern=r"^[a-z0-9][a-z0-9_-]{0,63}$")
    version: int | None = Field(default=None, ge=1, description="Null for the version that counts when it runs.")
    catch_up: CatchUp = "last"
    input: Mapping[str, Json] = {}


def due_moments(schedule: GraphSchedule, first: datetime, now: datetime) -> Sequence[datetime]:
    """The times from the first to now for which a run begins, by the schedule's policy."""
    if schedule.catch_up == "all":
        due: list[datetime] = []
        for moment in moments(schedule, first - timedelta(seconds=1)):
            if moment > now or len(due) == MOST_AT_ONCE:
                return due
            due.append(moment)
    latest = max(first, last_moment(schedule, now))
    return [latest] if schedule.catch_up == "last" or now - latest <= PUNCTUAL else []
