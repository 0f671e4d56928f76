"""When a tenant is synced by itself: kept beside its data, in `okta/NAME/schedule.json`."""

from datetime import datetime
from pathlib import Path

from pydantic import ValidationError

from answerable.core.cron_times import CronTimes, next_moment
from answerable.core.errors import OperatorError
from answerable.store.whole_files import whole_file

FILE = "schedule.json"


class SyncSchedule(CronTimes):
    user: str
    """On whose behalf it is synced."""
    after: datetime
    """The last time that it was synced, or when the schedule was made: the next time comes after it."""
    problem: str | None = None
    """Why the last sync by this schedule failed."""

    @property
    def next_at(self) -> datetime:
        return next_moment(self, self.after)


def stored_schedule(folder: Path) -> SyncSchedule | None:
    try:
        return SyncSchedule.model_validate_json((folder / FILE).read_bytes())
    except FileNotFoundError:
        return None
    except (OSError, ValidationError) as error:
        raise OperatorError(
            f"{folder / FILE} cannot be read.",
            code="okta_schedule_unreadable",
            hint="Remove the file, and schedule the syncs once more.",
        ) from error


def store_schedule(folder: Path, schedule: SyncSchedule) -> None:
    with whole_file(folder / FILE) as partial:
        partial.write_text(schedule.model_dump_json(indent=2) + "\n", "utf-8")


def remove_schedule(folder: Path) -> None:
    (folder / FILE).unlink(missing_ok=True)
