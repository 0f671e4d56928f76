"""Forms of questions about measures: overviews, the top, growth, shares, two periods, durations."""

from collections.abc import Sequence
from datetime import date

from answerable.query.plan import (
    Aggregate,
    Arithmetic,
    Constant,
    DateDifference,
    Expr,
    MeasureRef,
    QueryPlan,
    ScalarQuery,
)
from answerable.reader.grammar.measure_expressions import expanded, is_money, restricted
from answerable.reader.grammar.parts import Parts, Period
from answerable.reader.linking.cues import Cue
from answerable.reader.plans.plan_builder import all_of, column_ref, plan_of

_EXTREMES = ("MAX", "MIN", "MOST", "LEAST")
_DOWN = frozenset({"MAX", "MOST"})
_HUNDRED = Constant(value=100.0)


class MeasureForms(Parts):
    def overview(self) -> QueryPlan | None:
        """A calculation, perhaps for each of something, in a period: revenue by region in 2025."""
        main = self.main()
        if main is None:
            return None
        expr, base = main
        counted = isinstance(expr, Aggregate) and expr.function == "count"
        asked_first = (
            not (counted or self.schema.measures or self.measured)
            and min(self.used, default=0) < self._first_dimension()
        )
        dimensions = self.dimensions(base)
        times = self.time_filters(base)
        if times is None:
            return None
        bucket = self.bucket(base)
        where = [*self.value_filters(base), *times]
        shown = [item for dimension in dimensions for item in dimension.shown]
        keys = [item for dimension in dimensions for item in dimension.key]
        order: list[tuple[Expr, bool]] = []
        if bucket is not None:
            shown, keys, order = [bucket, *shown], [bucket, *keys], [(bucket, False)]
        order = self.sorted_by(expr) or order
        select = [expr, *shown] if asked_first and bucket is None else [*shown, expr]
        return plan_of(self.schema, base, select, where=where, group=keys, order=order)

    def _first_dimension(self) -> int:
        return min((cue.start for cue in self.cues("EACH", "BY")), default=0)

    def sorted_by(self, expr: Expr) -> list[tuple[Expr, bool]]:
        """Slowest first, from highest to lowest, descending."""
        for cue in self.cues("MAX", "MIN", "DESC", "ASC"):
            follows = cue.end < len(self.words) and self.words[cue.end] == "first"
            if cue.tag in ("DESC", "ASC") or follows:
                self.take(cue)
                self.take(*self.cues("SORT"))
                slow = self.words[cue.start] == "slowest"
                self.used.update({cue.end} if follows else ())
                return [(expr, cue.tag in ("MAX", "DESC") or slow)]
        return []

    def top(self) -> QueryPlan | None:
        """The five best products by sales; which region had the highest revenue."""
        cue = self.cue(*_EXTREMES)
        if cue is None:
            return None
        self.take(cue)
        main = self.number_of(cue) if self.measured is None else self.main()
        if main is None:
            return None
        expr, base = main
        ranked = self.measured
        self.take(*[c for c in self.cues("BY") if ranked is not None and 0 <= ranked.start - c.end <= 1])
        target = self.target(base, cue)
        times = self.time_filters(base)
        if target is None or times is None:
            return None
        limit = self.limit()
        again = self._measure_again()
        shown = [*target.shown, expr] if limit > 1 or again else [*target.shown]
        where = [*self.value_filters(base), *times]
        order = [(expr, cue.tag in _DOWN)]
        return plan_of(self.schema, base, shown, where=where, group=target.key, order=order, limit=limit)

    def number_of(self, cue: Cue) -> tuple[Expr, int] | None:
        """The most orders: how many there are of what follows."""
        counted = next((m for m in self.tables() if m.start == cue.end and cue.tag in ("MOST", "LEAST")), None)
        if counted is None or not self.dates:
            return None
        self.take(counted)
        return Aggregate(function="count"), counted.id

    def _measure_again(self) -> bool:
        """… and their revenue: the measure is to be shown as well."""
        mentions = [m for m in self.scene.links.measures if self.measure and m.id == self.measure.id]
        again = len({m.start for m in mentions if m.score >= 0.9}) > 1
        self.take(*mentions if again else ())
        return again

    def growth(self) -> QueryPlan | None:
        """How much a measure grew, by something, between two periods; or what grew fastest."""
        cue = self.cue("GROW")
        if cue is None:
            return None
        self.take(*self.cues("GROW", "MUCH", "SHARE"))
        main = self._first_measure() if self.measured is None else self.main()
        periods = self.two()
        if main is None or periods is None:
            return None
        expr, base = main
        ratio = self.ratio(expr, base, *periods)
        if ratio is None:
            return None
        fastest = self.cue("MAX", "MOST", "MIN", "LEAST")
        dimensions = self.dimensions(base)
        if fastest is not None:
            self.take(fastest)
            target = next(iter(dimensions), None) or self.target(base, fastest)
            if target is None:
                return None
            order = [(ratio, fastest.tag in _DOWN)]
            return plan_of(
                self.schema,
                base,
                target.shown,
                where=self.value_filters(base),
                group=target.key,
                order=order,
                limit=self.limit(),
            )
        shown = [item for dimension in dimensions for item in dimension.shown]
        keys = [item for dimension in dimensions for item in dimension.key]
        return plan_of(self.schema, base, [*shown, ratio], where=self.value_filters(base), group=keys)

    def _first_measure(self) -> tuple[Expr, int] | None:
        """Growth of a region, without saying of what, means the first measure of the catalog; without any, the one
        sum of money that there is."""
        if self.schema.measures:
            measure = self.schema.measures[0][0]
            return MeasureRef(name=measure.name), self.schema.table_ids[measure.table]
        sums = [view for view in self.schema.columns if is_money(view)]
        if len(sums) != 1:
            return None
        return Aggregate(function="sum", of=column_ref(self.schema, sums[0].id)), sums[0].table

    def two(self) -> tuple[Period, Period] | None:
        """The period and the one that it is held against: named, or the one just before."""
        spans = [
            s
            for s in self.dates
            if s.kind in ("range", "point", "comparison") and s.start is not None and s.end is not None
        ]
        if len(spans) >= 2:
            first, second = sorted(spans[:2], key=lambda s: s.start.isoformat() if s.start else "")
            return Period(second.start, second.end), Period(first.start, first.end)
        if len(spans) == 1:
            now = Period(spans[0].start, spans[0].end)
            ends = _first_and_last_year(now) if spans[0].text.lower().startswith("from") else None
            if ends is not None:
                return ends
            before = _period_before(now)
            return None if before is None else (now, before)
        return None

    def ratio(self, expr: Expr, base: int, now: Period, before: Period) -> Expr | None:
        """Growth in percent."""
        pair = self.in_periods(expr, base, (now, before))
        if pair is None:
            return None
        change = Arithmetic(op="-", left=pair[0], right=pair[1])
        return Arithmetic(op="/", left=Arithmetic(op="*", left=_HUNDRED, right=change), right=pair[1])

    def in_periods(self, expr: Expr, base: int, periods: Sequence[Period]) -> list[Expr] | None:
        column = self.date_column(base)
        plain = self.written_out(expr)
        if column is None or plain is None:
            return None
        found = []
        for period in periods:
            condition = all_of(self.period_filter(column, period))
            part = None if condition is None else restricted(plain, condition)
            if part is None:
                return None
            found.append(part)
        return found

    def written_out(self, expr: Expr) -> Expr | None:
        if not isinstance(expr, MeasureRef):
            return expr
        measure = self.schema.catalog.measure(expr.name)
        return None if measure is None else expanded(measure)

    def two_periods(self) -> QueryPlan | None:
        """The same measure in two periods, side by side, in the order they are named."""
        spans = [
            s
            for s in self.dates
            if s.kind in ("range", "point", "comparison") and s.start is not None and s.end is not None
        ]
        main = self.main() if len(spans) == 2 and not self.cue("NEG") else None
        if main is None:
            return None
        pair = self.in_periods(main[0], main[1], [Period(s.start, s.end) for s in spans])
        if pair is None:
            return None
        dimensions = self.dimensions(main[1])
        shown = [item for dimension in dimensions for item in dimension.shown]
        keys = [item for dimension in dimensions for item in dimension.key]
        return plan_of(self.schema, main[1], [*shown, *pair], where=self.value_filters(main[1]), group=keys)

    def share(self) -> QueryPlan | None:
        """What part of the rows has a property, or of a measure falls to each of something; in percent."""
        if self.cue("SHARE") is None:
            return None
        self.take(*self.cues("SHARE", "SUM"))
        if self.measured is not None:
            return self.share_of_measure()
        tables = self.tables()
        if not tables or not self.values:
            return None
        base = tables[0].id
        self.take(tables[0])
        times = self.time_filters(base)
        condition = all_of(self.value_filters(base))
        if times is None or condition is None:
            return None
        part = Arithmetic(op="*", left=_HUNDRED, right=Aggregate(function="count", where=condition))
        dimensions = self.dimensions(base)
        shown = [item for dimension in dimensions for item in dimension.shown]
        keys = [item for dimension in dimensions for item in dimension.key]
        ratio = Arithmetic(op="/", left=part, right=Aggregate(function="count"))
        return plan_of(self.schema, base, [*shown, ratio], where=times, group=keys)

    def share_of_measure(self) -> QueryPlan | None:
        main = self.main()
        if main is None:
            return None
        expr, base = main
        times = self.time_filters(base)
        dimensions = self.dimensions(base)
        if times is None or not dimensions:
            return None
        where = [*self.value_filters(base), *times]
        total = ScalarQuery(plan=plan_of(self.schema, base, [expr], where=where))
        ratio = Arithmetic(op="/", left=Arithmetic(op="*", left=_HUNDRED, right=expr), right=total)
        return plan_of(self.schema, base, [*dimensions[0].shown, ratio], where=where, group=dimensions[0].key)

    def duration(self) -> QueryPlan | None:
        """How many days from one date to another, on average."""
        unit = next((word for word in self.words if word in ("days", "hours", "minutes")), None)
        cue = self.cue("AVG")
        if unit is None or cue is None:
            return None
        dates = [m for m in self.scene.links.columns if self.schema.columns[m.id].temporal and m.score >= 0.4]
        pairs = [
            (first.score + second.score, first, second)
            for first in dates
            for second in dates
            if first.id != second.id and first.end <= second.start and self._same_table(first.id, second.id)
        ]
        if not pairs:
            return None
        _, first, second = max(pairs, key=lambda p: (p[0], -p[1].start))
        self.take(cue, first, second, *self.cues("COUNT", "BETWEEN"))
        base = self.schema.columns[first.id].table
        self.take(*[m for m in self.tables() if m.id == base])
        start, end = column_ref(self.schema, first.id), column_ref(self.schema, second.id)
        span = DateDifference.model_validate({"unit": unit[:-1], "start": start, "end": end})
        return self.calculated(Aggregate(function="avg", of=span), base)

    def _same_table(self, left: int, right: int) -> bool:
        return bool(self.schema.columns[left].table == self.schema.columns[right].table)

    def calculated(self, expr: Expr, base: int) -> QueryPlan | None:
        times = self.time_filters(base)
        if times is None:
            return None
        dimensions = self.dimensions(base)
        shown = [item for dimension in dimensions for item in dimension.shown]
        keys = [item for dimension in dimensions for item in dimension.key]
        return plan_of(self.schema, base, [*shown, expr], where=[*self.value_filters(base), *times], group=keys)


def _period_before(period: Period) -> Period | None:
    """The one of the same length that ends where it starts; whole months stay whole months."""
    start, end = period.start, period.end
    if start is None or end is None:
        return None
    months = (end.year - start.year) * 12 + end.month - start.month
    if start.day == end.day == 1 and months > 0:
        return Period(_months_earlier(start, months), start)
    return Period(start - (end - start), start)


def _first_and_last_year(period: Period) -> tuple[Period, Period] | None:
    """From 2024 to 2025: the later year against the earlier one."""
    start, end = period.start, period.end
    if start is None or end is None or (start.month, start.day, end.month, end.day) != (1, 1, 1, 1):
        return None
    if end.year - start.year < 2:
        return None
    later = Period(date(end.year - 1, 1, 1), date(end.year, 1, 1))
    return later, Period(date(start.year, 1, 1), date(start.year + 1, 1, 1))


def _months_earlier(day: date, months: int) -> date:
    index = day.year * 12 + day.month - 1 - months
    return date(index // 12, index % 12 + 1, 1)
