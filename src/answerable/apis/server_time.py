"""What time it is for the API. Moments that it names are compared with its own clock: ours may be wrong, or its."""

from collections.abc import Mapping
from email.utils import parsedate_to_datetime

from answerable.core.clock import Clock


def server_time(headers: Mapping[str, str], clock: Clock) -> float:
    """The time in seconds since 1970, by the `Date` of a reply, or by our clock if it has none."""
    return moment(headers.get("Date", "")) or clock.now().timestamp()


def moment(date: str) -> float | None:
    try:
        return parsedate_to_datetime(date).timestamp()
    except (TypeError, ValueError, OverflowError):
        return None
