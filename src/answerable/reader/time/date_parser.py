"""Reads one period or point in time, such as "the third quarter of 2025" or "last 7 days", at a place in a question."""

from collections.abc import Callable, Collection, Iterable, Sequence
from datetime import date, datetime, timedelta
from typing import Literal, TypeAlias

from answerable.core.records import dataclass
from answerable.reader.time.calendar_periods import CalendarUnit, Period, around, floor, shift
from answerable.reader.time.date_words import (
    COUNT_WORDS,
    CURRENT,
    IN_WORDS,
    MONTH_LIKE_WORDS,
    MONTH_NUMBERS,
    NEXT,
    ORDINAL_NUMBERS,
    PREVIOUS,
    TO_WORDS,
    UNITS,
    UNITS_ANY_NUMBER,
    WEEKDAY_NUMBERS,
    DateToken,
)

DateDoubt = Literal["number", "word", "year", "order", "extent"]


@dataclass(frozen=True, slots=True)
class Time:
    """A period as it was said."""

    period: Period
    unit: CalendarUnit | None
    yearless: bool = False
    doubt: DateDoubt | None = None
    alternatives: tuple[Period, ...] = ()
    moment: tuple[datetime, datetime] | None = None
    """Set if the question has a time of day."""
    previous: bool = False
    """Said as "the previous quarter", which may mean the one before another period of the question."""


TimeMatch: TypeAlias = tuple[Time, int] | None

_BEFORE_A_MONTH = (
    IN_WORDS | PREVIOUS | CURRENT | NEXT | TO_WORDS | {"since", "before", "after", "by", "between", "and", "than"}
)


class TimeParser:
    """Recursive descent over the words: each method looks at one place and returns what it read and where that ends."""

    def __init__(self, tokens: Sequence[DateToken], today: date) -> None:
        self.tokens = tokens
        self.today = today
        self._words = tuple(token.word for token in tokens)
        self._times: dict[int, TimeMatch] = {}

    # Words.

    def word(self, i: int) -> str:
        return self._words[i] if 0 <= i < len(self._words) else ""

    def skip(self, i: int, words: Collection[str]) -> int:
        return i + 1 if self.word(i) in words else i

    def sequence(self, i: int, words: tuple[str, ...]) -> int | None:
        end = i + len(words)
        return end if self._words[i:end] == words else None

    def first_sequence(self, i: int, choices: Iterable[tuple[str, ...]]) -> int | None:
        return next((end for words in choices if (end := self.sequence(i, words)) is not None), None)

    def count(self, i: int) -> tuple[int, int] | None:
        """A small whole number in digits or words; "a couple of" too."""
        if (end := self.first_sequence(i, (("a", "couple", "of"), ("couple", "of"), ("couple",)))) is not None:
            return 2, end
        word = self.word(i)
        if word.isdecimal() and len(word) <= 4:
            return int(word), i + 1
        return (COUNT_WORDS[word], i + 1) if word in COUNT_WORDS else None

    # Periods.

    def time(self, i: int) -> TimeMatch:
        """The period at this place. It is cached, because many kinds of phrases try the same place."""
        if i not in self._times:
            self._times[i] = self._time(i)
        return self._times[i]

    def _time(self, i: int) -> TimeMatch:
        j = self.skip(i, {"the"})
        # Longer phrases come before their parts: "May 1st" before "May", "2025 Q3" before "2025".
        readers = (
            self.numeric,
            self.day_and_month,
            self.ordinal,
            self.year_first,
            self.month,
            self.relative,
            self.year,
        )
        return next((match for read in readers if (match := read(j))), None)

    def numeric(self, i: int) -> TimeMatch:
        word = self.word(i)
        if "-" in word and len(word) > 4:
            return _iso(word, i + 1)
        parts = word.replace(".", "/").split("/")
        if len(parts) == 3 and all(part.isdecimal() for part in parts):
            return _slashed(parts, i + 1)
        if len(parts) == 2 and "/" in word and all(part.isdecimal() for part in parts):
            return _timed(_month_period(int(parts[1]), int(parts[0])), "month", i + 1)
        return None

    def day_and_month(self, i: int) -> TimeMatch:
        """ "1 May 2024", "the 1st of May", "May 1st, 2024"."""
        day, month, end = _day_number(self.word(i)), None, i + 1
        if day:
            end = self.skip(end, {"of"})
            month, end = MONTH_NUMBERS.get(self.word(end)), end + 1
        elif month := MONTH_NUMBERS.get(self.word(i)):
            day, end = _day_number(self.word(end)), end + 1
        if not day or not month:
            return None
        if match := self.said_year(self.skip(end, {","}), bare=False):
            period = _day_period(match[0], month, day)
            return _timed(period, "day", match[1])
        return self.latest("day", lambda year: _day_period(year, month, day), end)

    def ordinal(self, i: int) -> TimeMatch:
        """ "Q3 2025", "third quarter of 2025", "H1", "the last quarter of 2024"."""
        named = self.numbered_unit(i)
        if named is None:
            return None
        unit, number, end = named
        length = {"quarter": 3, "half": 6, "month": 1}[unit]
        at = (12 // length if number == -1 else number) - 1
        if not 0 <= at < 12 // length:
            return None

        def of_year(year: int) -> Period:
            return around(date(year, at * length + 1, 1), unit)

        if match := self.said_year(end):
            return _timed(of_year(match[0]), unit, match[1])
        return None if number == -1 or unit == "month" else self.latest(unit, of_year, end)

    def numbered_unit(self, i: int) -> tuple[CalendarUnit, int, int] | None:
        word, following = self.word(i), self.word(i + 1)
        units: dict[str, CalendarUnit] = {"quarter": "quarter", "half": "half", "month": "month"}
        if len(word) == 2 and word[0] in "qh" and word[1].isdecimal():
            return ("quarter" if word[0] == "q" else "half"), int(word[1]), i + 1
        if word in ORDINAL_NUMBERS and following in units:
            return units[following], ORDINAL_NUMBERS[word], i + 2
        if word in ("last", "final") and following in units and self.word(i + 2) == "of":
            return units[following], -1, i + 2
        if word == "quarter" and following.isdecimal() and len(following) == 1:
            return "quarter", int(following), i + 2
        return None

    def year_first(self, i: int) -> TimeMatch:
        """ "2025 Q3", "last year's third quarter"."""
        said = self.said_year(i)
        if said is None:
            return None
        named = self.numbered_unit(said[1])
        if named is None or named[0] == "month":
            return None
        unit, number, end = named
        length = 3 if unit == "quarter" else 6
        if not 1 <= number <= 12 // length:
            return None
        return _timed(around(date(said[0], (number - 1) * length + 1, 1), unit), unit, end)

    def month(self, i: int) -> TimeMatch:
        """ "March 2024", "March of last year", "March", "the month of March"."""
        j = self.sequence(i, ("month", "of")) or i
        number = MONTH_NUMBERS.get(self.word(j))
        if number is None:
            return None
        if match := self.said_year(self.skip(j + 1, {","})):
            return _timed(_month_period(match[0], number), "month", match[1])
        if not self.surely_month(i, j):
            return None
        return self.latest("month", lambda year: _month_period(year, number), j + 1)

    def surely_month(self, i: int, j: int) -> bool:
        """ "may" is a month only when it is written like one or stands where a period would."""
        word = self.word(j)
        if word not in MONTH_LIKE_WORDS or j > i or self.word(i - 1) in _BEFORE_A_MONTH:
            return True
        return self.tokens[j].capital and (j > 0 or word != "may" or len(self.tokens) == 1)

    def relative(self, i: int) -> TimeMatch:
        readers = (self.near_day, self.ago, self.rolling, self.neighbour, self.neighbour_named)
        return next((match for read in readers if (match := read(i))), None)

    def near_day(self, i: int) -> TimeMatch:
        if end := self.sequence(i, ("day", "before", "yesterday")):
            return _timed(around(shift(self.today, "day", -2), "day"), "day", end)
        distance = {"today": 0, "yesterday": -1, "tomorrow": 1}.get(self.word(i))
        if distance is None:
            return None
        return _timed(around(shift(self.today, "day", distance), "day"), "day", i + 1)

    def ago(self, i: int) -> TimeMatch:
        """ "3 days ago", "a year ago": the calendar unit so far back."""
        counted = self.count(i)
        if counted is None or self.word(counted[1] + 1) != "ago":
            return None
        unit = UNITS_ANY_NUMBER.get(self.word(counted[1]))
        if unit is None:
            return None
        return _timed(around(shift(self.today, unit, -counted[0]), unit), unit, counted[1] + 2)

    def rolling(self, i: int) -> TimeMatch:
        """ "last 7 days", "the past six months", "last 24 hours"."""
        if self.word(i) not in PREVIOUS | NEXT | {"recent"} or (counted := self.count(i + 1)) is None:
            return None
        count, end = counted
        if self.word(end) in ("hour", "hours"):
            # Hours become whole days, rounded up: most data has dates without a time.
            return self.rolling_days(-(-count // 24), end + 1)
        unit = UNITS_ANY_NUMBER.get(self.skip_word(end, {"full", "calendar", "complete"}))
        if unit is None or count == 0:
            return None
        whole = self.word(end) in ("full", "calendar", "complete")
        end += 2 if whole else 1
        # The next seven days begin tomorrow; today is over for planning.
        if self.word(i) in NEXT:
            start = shift(self.today, "day", 1)
            return Time(Period(start, shift(start, unit, count)), None, doubt="extent"), end
        return self.back(unit, count, whole), end

    def skip_word(self, i: int, words: Collection[str]) -> str:
        return self.word(self.skip(i, words))

    def rolling_days(self, count: int, end: int) -> TimeMatch:
        return Time(self.ending_today("day", count), None, doubt="extent"), end

    def back(self, unit: CalendarUnit, count: int, whole: bool) -> Time:
        start = floor(self.today, unit)
        calendar = Period(shift(start, unit, -count), start)
        rolling = self.ending_today(unit, count)
        if whole:
            return Time(calendar, None)
        # "The last two quarters" means whole quarters to most people; "the last two months" means up to today.
        if unit == "quarter":
            return Time(calendar, None, doubt="extent", alternatives=(rolling,))
        return Time(rolling, None, doubt="extent", alternatives=(calendar,))

    def ending_today(self, unit: CalendarUnit, count: int) -> Period:
        end = shift(self.today, "day", 1)
        return Period(shift(end, unit, -count), end)

    def neighbour(self, i: int) -> TimeMatch:
        """ "last month", "this week", "the current quarter", "next year", "the year before"."""
        if (unit := UNITS.get(self.word(i))) and self.word(i + 1) == "before" and self.word(i - 1) == "the":
            return Time(around(shift(self.today, unit, -1), unit), unit, previous=True), i + 2
        step = _step(self.word(i))
        j = self.skip(i + 1, {"calendar", "fiscal", "business"})
        unit = UNITS.get(self.word(j))
        if step is None or unit is None:
            return None
        # "The past month" means the last 30 days, "last month" the calendar month.
        if self.word(i) == "past" and unit != "quarter":
            return self.back(unit, 1, whole=False), j + 1
        period = around(shift(floor(self.today, unit), unit, step), unit)
        # "In the last month" may be either, so the rolling period is offered as well.
        if self.word(i) == "last" and self.word(i - 1) == "the" and unit != "quarter":
            return Time(period, unit, doubt="extent", alternatives=(self.ending_today(unit, 1),)), j + 1
        return Time(period, unit, previous=self.word(i) in ("previous", "prior", "preceding")), j + 1

    def neighbour_named(self, i: int) -> TimeMatch:
        """ "last December", "this March", "last Monday", "last weekend", "on Tuesday"."""
        step, word = _step(self.word(i)), self.word(i + 1)
        if step is not None and word in MONTH_NUMBERS:
            return _timed(self.near_month(MONTH_NUMBERS[word], step), "month", i + 2)
        if step is not None and word in WEEKDAY_NUMBERS:
            return _timed(self.near_weekday(WEEKDAY_NUMBERS[word], step), "day", i + 2)
        if step is not None and word == "weekend":
            saturday = shift(floor(self.today, "week"), "day", 7 * step + 5)
            return _timed(Period(saturday, shift(saturday, "day", 2)), None, i + 2)
        if self.word(i) in WEEKDAY_NUMBERS and self.word(i - 1) in ("on", "since", "until", "after", "before", "than"):
            latest = self.near_weekday(WEEKDAY_NUMBERS[self.word(i)], -1, or_today=True)
            return Time(latest, "day", doubt="extent"), i + 1
        return None

    def near_month(self, month: int, step: int) -> Period:
        """The last one is over already, the next has not begun, this one is of this year."""
        this_year = around(date(self.today.year, month, 1), "month")
        if step < 0 and this_year.end > self.today:
            return this_year.moved("year", -1)
        if step > 0 and this_year.start <= self.today:
            return this_year.moved("year", 1)
        return this_year

    def near_weekday(self, weekday: int, step: int, or_today: bool = False) -> Period:
        distance = weekday - self.today.isoweekday()
        if step < 0 and (distance > 0 or (distance == 0 and not or_today)):
            distance -= 7
        if step > 0 and distance <= 0:
            distance += 7
        return around(shift(self.today, "day", distance), "day")

    def year(self, i: int) -> TimeMatch:
        """ "2024", "the year 2024", "FY24", "the 1990s"."""
        word = self.word(i)
        if word.endswith("s") and _year_number(word[:-1]) and word[3] == "0":
            return _timed(around(date(int(word[:-1]), 1, 1), "decade"), "decade", i + 1)
        if word.startswith("fy") and word[2:].isdecimal() and (len(word) == 4 or _year_number(word[2:])):
            return Time(around(date(_full_year(word[2:]), 1, 1), "year"), "year", doubt="extent"), i + 1
        j = self.skip(self.skip(i, {"calendar", "fiscal"}), {"year", "fy"})
        number = _year_number(self.word(j))
        # "2000 %" is no year.
        if number is None or self.word(j + 1) in ("%", "percent"):
            return None
        # A bare 2024 may be a number of pieces, and a fiscal year may begin in any month.
        doubt: DateDoubt | None = "number" if j == i else ("extent" if self.word(i) in ("fiscal", "fy") else None)
        return Time(around(date(number, 1, 1), "year"), "year", doubt=doubt), j + 1

    def said_year(self, i: int, bare: bool = True) -> tuple[int, int] | None:
        """ "2024", "of 2024", "'24", "of last year", "this year"."""
        j = self.skip(i, {"of", "in"})
        word = self.word(j)
        if len(word) == 3 and word[0] in "'’":
            return _full_year(word[1:]), j + 1
        k = self.skip(j, {"the"})
        step = _step(self.word(k))
        if step is not None and self.word(k + 1) == "year" and 1 <= self.today.year + step <= 9999:
            return self.today.year + step, k + 2
        number = _year_number(word)
        return (number, j + 1) if number and (bare or j == i) else None

    def latest(self, unit: CalendarUnit, of_year: Callable[[int], Period | None], end: int) -> TimeMatch:
        """Without a year: the latest that has begun."""
        # 29 February exists every four years, and not in 2100: eight years back always finds one.
        for year in range(self.today.year, max(self.today.year - 9, 0), -1):
            period = of_year(year)
            if period is not None and period.start <= self.today:
                other = period.moved("year", -1 if period.end > self.today else 1)
                return Time(period, unit, yearless=True, doubt="year", alternatives=(other,)), end
        return None


def _timed(period: Period | None, unit: CalendarUnit | None, end: int) -> TimeMatch:
    return (Time(period, unit), end) if period and period.start < period.end else None


def _step(word: str) -> int | None:
    if word in PREVIOUS:
        return -1
    if word in CURRENT:
        return 0
    return 1 if word in NEXT else None


def _year_number(word: str) -> int | None:
    # Four digits outside these two centuries are more likely a quantity.
    return int(word) if len(word) == 4 and word.isdecimal() and 1900 <= int(word) <= 2099 else None


def _full_year(digits: str) -> int:
    """Two digits are of this century up to 69, as in POSIX."""
    number = int(digits)
    if len(digits) > 2:
        return number
    return number + (2000 if number < 70 else 1900)


def _day_number(word: str) -> int | None:
    digits = word[:-2] if word[-2:] in ("st", "nd", "rd", "th") else word
    return int(digits) if digits.isdecimal() and len(digits) <= 2 and 1 <= int(digits) <= 31 else None


def _day_period(year: int, month: int, day: int) -> Period | None:
    try:
        return around(date(year, month, day), "day")
    except ValueError:
        return None


def _month_period(year: int, month: int) -> Period | None:
    return around(date(year, month, 1), "month") if 1 <= year <= 9999 and 1 <= month <= 12 else None


def _iso(word: str, end: int) -> TimeMatch:
    """ "2024-05-01", "2024-05", "2024-05-01 14:30"."""
    try:
        if len(word) == 7:
            return _timed(_month_period(int(word[:4]), int(word[5:])), "month", end)
        moment = datetime.fromisoformat(word)
    except ValueError:
        return None
    period = around(moment.date(), "day")
    if len(word) == 10 or period.start == period.end:
        return _timed(period, "day", end)
    length = timedelta(seconds=1) if word.count(":") == 2 else timedelta(minutes=1)
    return Time(period, "day", moment=(moment, moment + length)), end


def _slashed(parts: Sequence[str], end: int) -> TimeMatch:
    first, second, year = int(parts[0]), int(parts[1]), _full_year(parts[2])
    if year == 0:
        return None
    month_first, day_first = _day_period(year, first, second), _day_period(year, second, first)
    # 05/06/2024 is June in Europe and May in America: one is taken, the other is offered.
    if month_first and day_first and month_first != day_first:
        return Time(month_first, "day", doubt="order", alternatives=(day_first,)), end
    return _timed(month_first or day_first, "day", end)
