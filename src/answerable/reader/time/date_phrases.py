"""Finds what a question says about time: "last quarter", "since March", "per month", "than in 2023".

Periods are half-open: `start` belongs to them, `end` does not. What English leaves open is decided by a fixed rule and
marked with a doubt, so that a caller can weigh it or ask:

- A month or day without a year is the latest that has begun; quarters and halves likewise.
- "last month" is the calendar month before this one; "past month" and "last 6 months" are so many that end with today;
  "last 2 quarters" are whole quarters, as nobody means the rolling ones.
- 05/01/2024 is read with the month first unless that is impossible.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import date, datetime
from typing import Literal, TypeAlias

from answerable.core.records import dataclass
from answerable.query.plan import Part, Unit
from answerable.reader.time.calendar_periods import CalendarUnit, Period, around, floor, shift
from answerable.reader.time.date_parser import DateDoubt, Time, TimeParser
from answerable.reader.time.date_words import (
    COMPARERS,
    CURRENT,
    EACH_ADVERBS,
    IN_WORDS,
    MONTH_NUMBERS,
    NAMING,
    NUMBER_CONTEXT,
    OPENERS,
    OVER_SHORT,
    PREVIOUS,
    TO_DATE_SHORT,
    TO_WORDS,
    UNITS,
    WEEKDAY_NUMBERS,
    YEAR_PREPOSITIONS,
    Side,
    tokens_of,
)

Kind = Literal["range", "point", "bucket", "recurring", "comparison"]


@dataclass(frozen=True, slots=True)
class DateSpan:
    start_char: int
    end_char: int
    text: str
    """The whole phrase with its preposition, `text[start_char:end_char]` of the question."""
    kind: Kind
    """`point` is one day (or one minute), `bucket` a grouping, `recurring` a condition on a part of the date, and
    `comparison` the period that another one is held against."""
    start: date | datetime | None = None
    """None if the period is open to the past, or if there is no period."""
    end: date | datetime | None = None
    """Exclusive."""
    unit: Unit | None = None
    """The step of a bucket or comparison, or the calendar unit that a range is one of."""
    part: Part | None = None
    """What recurs, in a recurring condition or in a bucket such as "by day of the week"."""
    values: tuple[int, ...] = ()
    """The numbers that `part` may have in a recurring condition."""
    doubt: DateDoubt | None = None
    """`number`: may be a plain number; `word`: may be an ordinary word; `year`: the year was assumed; `order`: day and
    month may be the other way round; `extent`: where the period begins and ends is a convention."""
    alternatives: tuple[Period, ...] = ()
    """The other periods that it may mean."""


def find_dates(text: str, today: date) -> list[DateSpan]:
    """All phrases about time in the order of the text; they do not overlap."""
    parser = _Phrases(tokens_of(text), today.date() if isinstance(today, datetime) else today)
    found: list[DateSpan] = []
    position = 0
    while position < len(parser.tokens):
        match = parser.phrase(position, found)
        if match is None:
            position += 1
            continue
        span, end = match
        first, last = parser.tokens[position], parser.tokens[end - 1]
        found.append(replace(span, start_char=first.start, end_char=last.end, text=text[first.start : last.end]))
        position = end
    return found


_Match: TypeAlias = tuple[DateSpan, int] | None


class _Phrases(TimeParser):
    """Whole phrases, with their prepositions."""

    def phrase(self, i: int, found: Sequence[DateSpan]) -> _Match:
        if self.word(i - 1) in NAMING:
            return None
        readers: tuple[Callable[[int], _Match], ...] = (
            self.to_date,
            self.each,
            self.recurring,
            self.bounded,
            self.open,
        )
        # Comparisons come first: "over the previous year" could also be a plain period.
        comparison = self.comparison(i, found)
        return comparison or next((match for read in readers if (match := read(i))), None) or self.simple(i, found)

    def to_date(self, i: int) -> _Match:
        """ "year to date", "YTD", "so far this year", "this month so far"."""
        j = self.skip(self.skip(i, {"in", "for", "over"}), {"the"})
        unit, end = TO_DATE_SHORT.get(self.word(j)), j + 1
        if unit is None and (after := self.sequence(j + 1, ("to", "date"))):
            unit, end = UNITS.get(self.word(j)), after
        if unit is None and (k := self.sequence(i, ("so", "far"))):
            k = self.skip(k, {"in", "for"})
            unit, end = (UNITS.get(self.word(k + 1)) if self.word(k) in CURRENT else None), k + 2
        if unit is None and self.word(j) in CURRENT and (after := self.sequence(j + 2, ("so", "far"))):
            unit, end = UNITS.get(self.word(j + 1)), after
        if unit is None:
            return None
        period = Period(floor(self.today, unit), shift(self.today, "day", 1))
        return _span("range", Time(period, None)), end

    def each(self, i: int) -> _Match:
        """ "per month", "by quarter", "which year", "monthly", "month by month", "by day of the week"."""
        word = self.word(i)
        if word in EACH_ADVERBS:
            return _blank("bucket", unit=_plan_unit(EACH_ADVERBS[word]), doubt="word"), i + 1
        if word == "hourly":
            return _blank("bucket", unit="hour", doubt="word"), i + 1
        if word in UNITS and (end := self.first_sequence(i + 1, (("by", word), ("after", word)))):
            return _blank("bucket", unit=_plan_unit(UNITS[word])), end
        if end := self.sequence(i, ("over", "time")):
            return _blank("bucket"), end
        start = self.each_word(i)
        return self.each_unit(start) if start is not None else None

    def each_word(self, i: int) -> int | None:
        choices = (("for", "each"), ("for", "every"), ("in", "each"), ("in", "every"), ("in", "which"), ("in", "what"))
        single = (("per",), ("by",), ("each",), ("every",), ("which",), ("what",), ("a", "single"))
        end = self.first_sequence(i, (*choices, *single))
        return None if end is None else self.skip(self.skip(end, {"the"}), {"calendar"})

    def each_unit(self, i: int) -> _Match:
        if end := self.part_name(i):
            return end
        word = self.word(i)
        if word == "hour":
            return _blank("bucket", unit="hour"), i + 1
        return (_blank("bucket", unit=_plan_unit(UNITS[word])), i + 1) if word in UNITS else None

    def part_name(self, i: int) -> _Match:
        names: tuple[tuple[tuple[str, ...], Part], ...] = (
            (("day", "of", "the", "week"), "weekday"),
            (("day", "of", "week"), "weekday"),
            (("weekday",), "weekday"),
            (("hour", "of", "the", "day"), "hour"),
            (("hour", "of", "day"), "hour"),
            (("month", "of", "the", "year"), "month"),
            (("day", "of", "the", "month"), "day"),
        )
        found = ((part, end) for words, part in names if (end := self.sequence(i, words)) is not None)
        return next(((_blank("bucket", part=part), end) for part, end in found), None)

    def recurring(self, i: int) -> _Match:
        """ "on Mondays", "at the weekend", "every December", "on a Saturday"."""
        j = self.skip(self.skip(i, {"on", "at", "in", "during"}), {"the"})
        word = self.word(j)
        if word in ("weekend", "weekends"):
            return _blank("recurring", part="weekday", values=(6, 7)), j + 1
        if word in ("weekdays", "workdays"):
            return _blank("recurring", part="weekday", values=(1, 2, 3, 4, 5)), j + 1
        if word.endswith("s") and word[:-1] in WEEKDAY_NUMBERS:
            return _blank("recurring", part="weekday", values=(WEEKDAY_NUMBERS[word[:-1]],)), j + 1
        if word not in ("a", "every", "each", "any"):
            return None
        name = self.word(j + 1)
        if name in WEEKDAY_NUMBERS:
            return _blank("recurring", part="weekday", values=(WEEKDAY_NUMBERS[name],)), j + 2
        if word != "a" and name in MONTH_NUMBERS:
            return _blank("recurring", part="month", values=(MONTH_NUMBERS[name],)), j + 2
        return None

    def bounded(self, i: int) -> _Match:
        """ "between A and B", "from A to B", "A through B"."""
        word = self.word(i)
        links = frozenset({"and"}) if word == "between" else TO_WORDS
        j = i + 1 if word == "between" else self.skip(i, IN_WORDS)
        first = self.time(j)
        if first is None or self.word(first[1]) not in links:
            return None
        second = self.time(first[1] + 1)
        if second is None:
            return None
        low, high = _same_year(first[0], second[0])
        if low.period.start >= high.period.end:
            return None
        # "Between 2000 and 2050" may be a range of numbers; "from" and "in" mark years.
        bare = word not in ("from", "in", "during") and {low.doubt, high.doubt} == {"number"}
        time = Time(Period(low.period.start, high.period.end), None, doubt="number" if bare else _doubt_of(low, high))
        return _span("range", time), second[1]

    def open(self, i: int) -> _Match:
        """ "since A", "before A", "after A", "until A", "from A on"."""
        for words, side in OPENERS:
            end = self.sequence(i, words)
            if end is not None and (match := self.time(end)):
                return _open_span(side, match[0]), match[1]
        if self.word(i) in ("from", "in") and (match := self.time(i + 1)):
            end = self.first_sequence(
                match[1], (("onwards",), ("onward",), ("on",), ("and", "later"), ("and", "after"))
            )
            return None if end is None else (_open_span("from", match[0]), end)
        if match := self.time(self.skip(i, IN_WORDS)):
            later = self.sequence(match[1], ("or", "later")) or self.sequence(match[1], ("and", "later"))
            earlier = self.sequence(match[1], ("or", "earlier")) or self.sequence(match[1], ("and", "earlier"))
            if later or earlier:
                return _open_span("from" if later else "until", match[0]), later or earlier or i
        return None

    def comparison(self, i: int, found: Sequence[DateSpan]) -> _Match:
        """ "year over year", "than in 2023", "compared to the previous quarter", "the same month last year"."""
        if rate := self.over_itself(i):
            return rate
        if (end := self.sequence(i, ("over",))) and (match := self.time(self.skip(end, {"the"}))) and match[0].previous:
            return _compared(match[0], found), match[1]
        start = self.first_sequence(i, COMPARERS)
        if same := self.same_period(i if start is None else start, found):
            return same
        match = None if start is None else self.time(self.skip(start, IN_WORDS))
        if match is None or (match[0].doubt == "number" and self.word(i - 1) in NUMBER_CONTEXT):
            return None
        return _compared(match[0], found), match[1]

    def over_itself(self, i: int) -> _Match:
        word = self.word(i)
        if word in OVER_SHORT:
            return _blank("comparison", unit=_plan_unit(OVER_SHORT[word])), i + 1
        if word in UNITS:
            end = self.first_sequence(i + 1, [(link, word) for link in ("over", "on", "to", "vs")])
            return (_blank("comparison", unit=_plan_unit(UNITS[word])), end) if end else None
        return None

    def same_period(self, i: int, found: Sequence[DateSpan]) -> _Match:
        j = self.skip(self.skip(i, {"in", "for", "to"}), {"the"})
        named = self.word(j + 1)
        if self.word(j) != "same" or named not in {*UNITS, "period", "time", "point"}:
            return None
        k = self.skip(self.skip(self.skip(j + 2, {"of", "in"}), {"the"}), {"a"})
        if not self.is_last_year(k):
            return None
        base = _base_of(found)
        if base is None:
            base = around(self.today, UNITS[named]) if named in UNITS else Period(floor(self.today, "year"), self.today)
        return _span("comparison", Time(base.moved("year", -1), "year")), k + 2

    def is_last_year(self, i: int) -> bool:
        word, following = self.word(i), self.word(i + 1)
        return (word == "year" and following in ("ago", "earlier", "before")) or (
            word in PREVIOUS and following == "year"
        )

    def simple(self, i: int, found: Sequence[DateSpan]) -> _Match:
        """A period with or without a preposition."""
        j = self.skip(i, IN_WORDS)
        match = self.time(self.skip(j, {"the"}) if j > i else j)
        if match is None:
            return None
        time, end = match
        if time.doubt == "number" and (self.word(i) in YEAR_PREPOSITIONS or self.continues(i, found)):
            time = replace(time, doubt=None)
        if time.doubt in ("number", "word") and self.word(j - 1) in NUMBER_CONTEXT:
            return None
        return _span("point" if time.unit == "day" else "range", time), end

    def continues(self, i: int, found: Sequence[DateSpan]) -> bool:
        """In "in 2023, 2024 and 2025" the later years are as sure as the first."""
        if not found or self.word(i - 1) not in ("and", "or", ","):
            return False
        gap = 2 if self.word(i - 2) == "," else 1
        return i - gap > 0 and self.tokens[i - gap - 1].end == found[-1].end_char


def _blank(
    kind: Kind,
    unit: Unit | None = None,
    part: Part | None = None,
    values: tuple[int, ...] = (),
    doubt: DateDoubt | None = None,
) -> DateSpan:
    return DateSpan(0, 0, "", kind, unit=unit, part=part, values=values, doubt=doubt)


def _span(kind: Kind, time: Time) -> DateSpan:
    start, end = time.moment or (time.period.start, time.period.end)
    unit = _plan_unit(time.unit) if time.unit else None
    return DateSpan(0, 0, "", kind, start, end, unit, doubt=time.doubt, alternatives=time.alternatives)


def _open_span(side: Side, time: Time) -> DateSpan:
    start, end = time.moment or (time.period.start, time.period.end)
    edge = start if side in ("from", "before") else end
    forward = side in ("from", "after")
    doubt = None if time.doubt == "number" and side != "until" else time.doubt
    return DateSpan(0, 0, "", "range", edge if forward else None, None if forward else edge, doubt=doubt)


def _compared(time: Time, found: Sequence[DateSpan]) -> DateSpan:
    """ "the previous year" is the one before the period that the question is about, where it names one."""
    base = _base_of(found)
    if time.previous and base and time.unit:
        time = replace(time, period=base.moved(time.unit, -1))
    return _span("comparison", replace(time, doubt=None if time.doubt == "number" else time.doubt))


def _base_of(found: Sequence[DateSpan]) -> Period | None:
    periods = [span for span in found if span.kind in ("range", "point") and span.start and span.end]
    if not periods:
        return None
    start, end = periods[-1].start, periods[-1].end
    return Period(start, end) if type(start) is date and type(end) is date else None


def _plan_unit(unit: CalendarUnit) -> Unit | None:
    # Plans have no buckets of half years or decades.
    return None if unit in ("half", "decade") else unit  # type: ignore[return-value]


def _same_year(low: Time, high: Time) -> tuple[Time, Time]:
    """In "between November and February 2025" the first takes its year from the second, and comes before it."""
    if low.yearless and not high.yearless:
        low = _in_year(low, high.period.start.year, high.doubt)
    elif high.yearless and not low.yearless:
        high = _in_year(high, low.period.start.year, low.doubt)
        if high.period.start < low.period.start:
            high = replace(high, period=high.period.moved("year", 1))
    while low.yearless and low.period.start > high.period.start:
        low = replace(low, period=low.period.moved("year", -1))
    return low, high


def _in_year(time: Time, year: int, doubt: DateDoubt | None) -> Time:
    return replace(time, period=time.period.moved("year", year - time.period.start.year), doubt=doubt, alternatives=())


def _doubt_of(*times: Time) -> DateDoubt | None:
    return next((time.doubt for time in times if time.doubt and time.doubt != "number"), None)
