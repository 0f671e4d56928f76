"""Calendar arithmetic and the names of calendar periods. Weeks start on Monday, quarters in January."""

from calendar import monthrange
from datetime import date, timedelta
from typing import Literal

from answerable.core.records import dataclass

CalendarUnit = Literal["day", "week", "month", "quarter", "half", "year", "decade"]

MONTHS = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
ORDINALS = ("first", "second", "third", "fourth")

_MONTHS_PER: dict[str, int] = {"month": 1, "quarter": 3, "half": 6, "year": 12, "decade": 120}
_DAYS_PER: dict[str, int] = {"day": 1, "week": 7}


@dataclass(frozen=True, slots=True)
class Period:
    start: date
    end: date
    """The first day that is no longer part of it."""

    def moved(self, unit: CalendarUnit, count: int) -> "Period":
        return Period(shift(self.start, unit, count), shift(self.end, unit, count))


def floor(day: date, unit: CalendarUnit) -> date:
    """The first day of the calendar unit that holds the day."""
    if unit == "day":
        return day
    if unit == "week":
        return shift(day, "day", -day.weekday())
    months = _MONTHS_PER[unit]
    index = (day.year * 12 + day.month - 1) // months * months
    # The first decade begins in the year 0, which `date` does not have.
    return date(max(index // 12, 1), index % 12 + 1, 1)


def shift(day: date, unit: CalendarUnit, count: int) -> date:
    """So many units later; a day that the month lacks becomes its last, and the calendar's ends are never passed."""
    if unit in _DAYS_PER:
        return _from_ordinal(day.toordinal() + count * _DAYS_PER[unit])
    year, month = divmod(day.year * 12 + day.month - 1 + count * _MONTHS_PER[unit], 12)
    if not 1 <= year <= 9999:
        return date.min if year < 1 else date.max
    return date(year, month + 1, min(day.day, monthrange(year, month + 1)[1]))


def _from_ordinal(ordinal: int) -> date:
    return date.fromordinal(min(max(ordinal, 1), date.max.toordinal()))


def around(day: date, unit: CalendarUnit) -> Period:
    """The calendar unit that holds the day."""
    start = floor(day, unit)
    return Period(start, shift(start, unit, 1))


def unit_of(period: Period) -> CalendarUnit | None:
    """The unit of which the period is exactly one."""
    units: tuple[CalendarUnit, ...] = ("day", "week", "month", "quarter", "half", "year", "decade")
    return next((unit for unit in units if around(period.start, unit) == period), None)


def day_name(day: date) -> str:
    return f"{day.day} {MONTHS[day.month - 1]} {day.year:04}"


def period_name(period: Period) -> str | None:
    """As people call it, with the preposition: "in March 2024", "on 1 May 2024", "from March to May 2024"."""
    match unit_of(period):
        case "day":
            return f"on {day_name(period.start)}"
        case "week":
            return f"in the week of {day_name(period.start)}"
        case "month":
            return f"in {_month_name(period.start)}"
        case "quarter":
            return f"in the {ORDINALS[period.start.month // 3]} quarter of {period.start.year:04}"
        case "half":
            return f"in the {ORDINALS[period.start.month // 6]} half of {period.start.year:04}"
        case "year":
            return f"in {period.start.year:04}"
        case "decade":
            return f"in the {period.start.year:04}s"
    return _longer_name(period)


def _longer_name(period: Period) -> str | None:
    """The name of a period of whole years, whole months, or any other days."""
    if period.start >= period.end:
        return None
    last = period.end - timedelta(days=1)
    if period.start == floor(period.start, "year") and period.end == floor(period.end, "year"):
        return f"from {period.start.year:04} to {last.year:04}"
    if period.start.day == 1 and period.end.day == 1:
        return f"from {_month_name(period.start)} to {_month_name(last)}"
    return f"from {day_name(period.start)} to {day_name(last)}"


def _month_name(day: date) -> str:
    return f"{MONTHS[day.month - 1]} {day.year:04}"
