"""Questions of analysis, read by grammar: measures, periods, buckets, shares, growth, comparisons, never and both.

A form answers only when it accounts for every content word of the question; otherwise the question is left to the
fitted candidates. That makes its readings few and nearly always right.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from functools import cached_property

from answerable.core.words import stem
from answerable.query.plan import (
    Aggregate,
    Arithmetic,
    Between,
    Bucket,
    ColumnRef,
    Compare,
    Constant,
    DateDifference,
    DatePart,
    Expr,
    Filter,
    InList,
    InQuery,
    IsNull,
    Join,
    MeasureRef,
    QueryPlan,
    ScalarQuery,
    SelectItem,
)
from answerable.reader.dates import DateSpan
from answerable.reader.frame import all_of, column_ref, equals, plan_of
from answerable.reader.joins import NoPath, distance, join_tree
from answerable.reader.lexicon import GENERIC, STOPWORDS
from answerable.reader.link import Mention, ValueMention
from answerable.reader.measures import expanded, is_additive, is_money, restricted
from answerable.reader.options import operator_at
from answerable.reader.scene import Scene
from answerable.reader.schema import ColumnView, Schema
from answerable.reader.tag import Cue

_FILLER_WORDS = """
get got did make made big high large come up our develop look percent percentage euro euros eur dollars usd
value first compare compared vs versus with still yet single ever nobody take takes days hours day hour total
names name please number place placed pay live lives comes often later
"""
_FILLERS = frozenset(_FILLER_WORDS.split())
_TELLING = frozenset(
    (
        "NEG",
        "VAL",
        "SHARE",
        "GROW",
        "COMMON",
        "RARE",
        "MAX",
        "MIN",
        "AVG",
        "SUM",
        "MOST",
        "LEAST",
        "GT",
        "LT",
        "GE",
        "LE",
    )
) | {"BETWEEN", "COUNT"}
"""Cues that change the answer: none may be left over."""
_FOR_TOTALS = frozenset({"EACH", "BY", "SUM", "MUCH", "GROW", "SHARE"})
_NO_ONE = frozenset({"nobody", "never", "no", "without", "none", "not", "n't"})
_EXTREMES = ("MAX", "MIN", "MOST", "LEAST")
_DOWN = frozenset({"MAX", "MOST"})
_HUNDRED = Constant(value=100.0)


@dataclass(frozen=True, slots=True)
class Period:
    start: date | datetime | None
    end: date | datetime | None


@dataclass(frozen=True, slots=True)
class Dimension:
    """What to group by: the key, and what is shown of it."""

    key: tuple[Expr, ...]
    shown: tuple[Expr, ...]
    table: int


@dataclass
class Analysis:
    scene: Scene
    dates: Sequence[DateSpan]
    used: set[int] = field(default_factory=set)
    form: str = ""
    """The form that was tried last: of a reading, the one that made it."""

    def read(self) -> QueryPlan | None:
        """The first form that explains the whole question."""
        forms: tuple[Callable[[], QueryPlan | None], ...] = (
            self.boss,
            self.bought_both,
            self.once_not_now,
            self.never,
            self.unfinished,
            self.growth,
            self.two_periods,
            self.share,
            self.duration,
            self.more_than_average,
            self.many,
            self.most_common,
            self.first_rows,
            self.top,
            self.overview,
            self.listing,
        )
        for form in forms:
            self.form = form.__name__
            self.used = set()
            try:
                plan = form()
            except NoPath:
                continue
            if plan is not None and not self.unexplained() and (self.timely or not self.ambiguous()):
                return plan
        return None

    @property
    def timely(self) -> bool:
        """Speaks of a measure or of time, which few other readings could account for."""
        return self.measured is not None or bool(self.dates)

    def ambiguous(self) -> bool:
        """Words that the simple forms do not weigh: or, and values that stand in several columns; a second sentence."""
        if self.cue("EITHER", "DISTINCT", "RESPECT") is not None and self.form != "overview":
            return True
        several = any(
            len({v.column for v in self.rivals(value) if v.score >= value.score}) > 1 for value in self.values
        )
        free = any(value.score < 0.85 for value in self.scene.values)
        sentences = sum(kind == "after_mark" for kind in self.scene.clause)
        loose = any(cue.tag in ("EACH", "EITHER") and cue.start not in self.used for cue in self.scene.cues)
        return several or free or sentences > 0 or loose

    # What the question holds

    @property
    def schema(self) -> Schema:
        return self.scene.schema

    @cached_property
    def words(self) -> list[str]:
        return self.scene.words

    @cached_property
    def time_places(self) -> dict[int, DateSpan]:
        found = {}
        for span in self.dates:
            for place, token in enumerate(self.scene.tokens):
                if token.start < span.end_char and span.start_char < token.end:
                    found[place] = span
        return found

    def spans(self, *kinds: str) -> list[DateSpan]:
        return [span for span in self.dates if span.kind in kinds]

    @cached_property
    def measure(self) -> Mention | None:
        """The fullest mention of a measure; of equal ones the longest."""
        values = [v for v in self.scene.values if v.end - v.start > 1]
        good = [
            m
            for m in self.scene.links.measures
            if m.score >= 0.9 and not any(v.start <= m.start and m.end <= v.end for v in values)
        ]
        return max(good, key=lambda m: (m.end - m.start, m.score, -m.start), default=None)

    @cached_property
    def total(self) -> Mention | None:
        """A column that is summed without being told so: amount per month. Only where something asks for totals."""
        asks = any(cue.tag in _FOR_TOTALS for cue in self.scene.cues) or bool(self.spans("bucket"))
        if self.measure is not None or not asks or self.cue("AVG", "COUNT") is not None:
            return None
        taken = {place for value in self.scene.values if value.score >= 0.9 for place in range(value.start, value.end)}
        good = [
            m
            for m in self.scene.links.columns
            if m.score >= 0.9 and is_additive(self.schema.columns[m.id]) and not taken & set(range(m.start, m.end))
        ]
        return max(good, key=lambda m: (m.end - m.start, m.score, -m.start), default=None)

    @property
    def measured(self) -> Mention | None:
        return self.measure or self.total

    @cached_property
    def measure_places(self) -> set[int]:
        return set(range(self.measured.start, self.measured.end)) if self.measured else set()

    def tables(self) -> list[Mention]:
        """Tables that are named in full, in the order of the question; where two share words the longer name."""
        blocked = self.value_places | set(self.time_places)
        good = [m for m in self.scene.links.tables if m.score >= 0.9 and not blocked & set(range(m.start, m.end))]
        good.sort(key=lambda m: (-(m.end - m.start), -m.score, m.start))
        kept: list[Mention] = []
        for mention in good:
            if all(mention.end <= other.start or mention.start >= other.end for other in kept):
                kept.append(mention)
        return sorted(kept, key=lambda m: m.start)

    def columns(self, least: float = 0.88) -> list[Mention]:
        blocked = self.value_places | self.measure_places | set(self.time_places)
        good = [m for m in self.scene.links.columns if m.score >= least and not set(range(m.start, m.end)) <= blocked]
        return sorted(good, key=lambda m: (m.start, -m.score))

    @cached_property
    def values(self) -> list[ValueMention]:
        free = [
            v for v in self.scene.values if not self.measure_places & set(range(v.start, v.end)) and v.score >= 0.85
        ]
        return [v for v in free if not set(range(v.start, v.end)) & set(self.time_places)]

    @cached_property
    def value_places(self) -> set[int]:
        return {place for value in self.values for place in range(value.start, value.end)}

    def cue(self, *tags: str) -> Cue | None:
        return next(iter(self.cues(*tags)), None)

    def cues(self, *tags: str) -> list[Cue]:
        """Those that are no part of a phrase about time, such as the last of last month."""
        return [cue for cue in self.scene.cues if cue.tag in tags and cue.start not in self.time_places]

    def take(self, *mentions: Mention | Cue | ValueMention | None) -> None:
        for mention in mentions:
            if mention is not None:
                self.used.update(range(mention.start, mention.end))

    def unexplained(self) -> list[str]:
        """Content words that no part of the reading accounts for."""
        left = []
        for place, (token, tag) in enumerate(zip(self.scene.tokens, self.scene.tags, strict=True)):
            if place in self.used or token.kind == "mark" or place in self.time_places:
                continue
            plain = token.lower in STOPWORDS or token.lower in GENERIC or token.lower in _FILLERS
            telling = token.kind in ("number", "date", "quoted") or tag in _TELLING
            if telling or (not plain and tag in ("O", "TAB", "COL", "NUM")):
                left.append(token.text)
        return left

    # Parts

    def period_filter(self, column: int, period: Period) -> list[Filter]:
        left = column_ref(self.schema, column)
        found: list[Filter] = []
        if period.start is not None:
            found.append(Compare(left=left, op=">=", right=_moment(period.start)))
        if period.end is not None:
            found.append(Compare(left=left, op="<", right=_moment(period.end)))
        return found

    def date_column(self, table: int) -> int | None:
        """The mentioned date column; else the table's own; else that of the nearest table it belongs to."""
        mentioned = [m for m in self.columns(0.85) if self.schema.columns[m.id].temporal]
        mentioned.sort(key=lambda m: (-m.score, distance(self.schema, table, self.schema.columns[m.id].table) or 0.0))
        near = [m for m in mentioned if distance(self.schema, table, self.schema.columns[m.id].table) is not None]
        if near and self.schema.columns[near[0].id].table == table:
            self.take(*[m for m in near if m.id == near[0].id])
            return near[0].id
        own = self._own_date(table)
        if own is not None:
            self.take(*[m for m in self.scene.columns.get(own, ()) if m.score >= 0.4])
            return own
        parents = [
            edge.end
            for edge in self.schema.edges.get(table, ())
            if edge.relationship.from_table == self.schema.tables[table].name
        ]
        return next((column for parent in parents if (column := self._own_date(parent)) is not None), None)

    def _own_date(self, table: int) -> int | None:
        dates = [c for c in self.schema.tables[table].columns if self.schema.columns[c].temporal]
        return dates[0] if dates else None

    def time_filters(self, table: int) -> list[Filter] | None:
        """The periods and recurring days of the question; nothing when there is no column that they could mean."""
        found: list[Filter] = []
        spans = self.spans("range", "point", "recurring")
        if not spans:
            return found
        column = self.date_column(table)
        if column is None:
            return None
        for part in dict.fromkeys(span.part for span in spans if span.kind == "recurring" and span.part is not None):
            numbers = sorted(
                {v for span in spans if span.kind == "recurring" and span.part == part for v in span.values}
            )
            left = DatePart(part=part, of=column_ref(self.schema, column))
            found.append(InList(left=left, values=tuple(Constant(value=number) for number in numbers)))
        for span in spans:
            if span.kind != "recurring":
                found.extend(self.period_filter(column, self.period(span)))
        return found

    def period(self, span: DateSpan) -> Period:
        """With what follows it: 2022 or later."""
        last = max(place for place, other in self.time_places.items() if other is span)
        after = next((cue for cue in self.scene.cues if cue.start == last + 1), None)
        if after is not None and after.tag in ("GE", "LE"):
            self.take(after)
            return Period(span.start, None) if after.tag == "GE" else Period(None, span.end)
        return Period(span.start, span.end)

    def bucket(self, table: int) -> Expr | None:
        span = next(iter(self.spans("bucket")), None)
        column = self.date_column(table) if span else None
        if span is None or column is None:
            return None
        of = column_ref(self.schema, column)
        if span.part is not None:
            return DatePart(part=span.part, of=of)
        return Bucket(unit=span.unit or "month", of=of)

    def value_filters(self, table: int, skip: Sequence[ValueMention] = ()) -> list[Filter]:
        found: dict[int, list[str]] = {}
        for value in self.values:
            if value in skip:
                continue
            best = min(self.rivals(value), key=lambda v: (-v.score, self._far(table, v.column), v.column))
            found.setdefault(best.column, []).append(best.value)
            self.take(value)
            self.take(*[m for m in self.scene.columns.get(best.column, ()) if m.score >= 0.85])
            owner = self.schema.columns[best.column].table
            self.take(*[m for m in self.scene.tables.get(owner, ()) if m.score >= 0.9])
        return [self._is_one_of(column, texts) for column, texts in found.items()]

    def _is_one_of(self, column: int, texts: Sequence[str]) -> Filter:
        if len(texts) == 1:
            return equals(self.schema, column, texts[0])
        return InList(left=column_ref(self.schema, column), values=tuple(Constant(value=text) for text in texts))

    def rivals(self, value: ValueMention) -> list[ValueMention]:
        return self.scene.rivals[(value.start, value.end)]

    def _far(self, table: int, column: int) -> float:
        far = distance(self.schema, table, self.schema.columns[column].table)
        return 99.0 if far is None else far

    def dimensions(self, table: int) -> list[Dimension]:
        """What follows `by`, `per` and `each`, unless it is a measure or a period."""
        found: list[Dimension] = []
        for cue in self.scene.cues:
            if cue.tag not in ("EACH", "BY") or cue.start in self.time_places:
                continue
            start = cue.end
            while start < len(self.words) and self.words[start] in ("the", "a", "our"):
                start += 1
            dimension = self.dimension_at(start, table)
            while dimension is not None:
                self.take(cue)
                found.append(dimension)
                start = self._after_and(start)
                dimension = self.dimension_at(start, table)
        return found

    def _after_and(self, start: int) -> int:
        """Where the next dimension of `by region and product` would begin."""
        while start in self.used:
            start += 1
        return start + 1 if self.words[start : start + 1] in (["and"], [","]) else len(self.words)

    def dimension_at(self, start: int, table: int) -> Dimension | None:
        if start in self.measure_places or start in self.time_places:
            return None
        columns = [
            m for m in self.columns() if m.start == start or (m.start == start + 1 and self._is_table_word(start))
        ]
        columns = [m for m in columns if not self.schema.columns[m.id].looks_like_id]
        best = min(columns, key=lambda m: (-(m.end - m.start) - m.score, self._far(table, m.id)), default=None)
        owner = next((m for m in self.tables() if m.start == start), None)
        if best is not None and (owner is None or best.end > owner.end):
            self.take(best)
            if self._is_table_word(start):
                self.used.add(start)
            shown = column_ref(self.schema, best.id)
            return Dimension((shown,), (shown,), self.schema.columns[best.id].table)
        return self.table_dimension(owner) if owner else None

    def _is_table_word(self, place: int) -> bool:
        return any(m.start == place for m in self.tables())

    def table_dimension(self, mention: Mention) -> Dimension | None:
        view = self.schema.tables[mention.id]
        if view.display is None:
            return None
        self.take(mention)
        shown = column_ref(self.schema, view.display)
        key = () if view.key is None or view.key == view.display else (column_ref(self.schema, view.key),)
        return Dimension((*key, shown), (shown,), mention.id)

    def main(self) -> tuple[Expr, int] | None:
        """What is calculated, and the table it is calculated over."""
        if self.measure is not None:
            self.take(self.measure)
            self.take(
                *[c for c in self.scene.cues if c.tag in ("MUCH", "COUNT", "SUM") and c.end <= self.measure.start]
            )
            measure = self.schema.measures[self.measure.id][0]
            return MeasureRef(name=measure.name), self.schema.table_ids[measure.table]
        return self.aggregate() or self.summed() or self.count()

    def summed(self) -> tuple[Expr, int] | None:
        if self.total is None:
            return None
        owner = self.schema.columns[self.total.id].table
        self.take(self.total, *self.cues("MUCH", "SUM"), *[m for m in self.tables() if m.id == owner])
        return Aggregate(function="sum", of=column_ref(self.schema, self.total.id)), owner

    def aggregate(self) -> tuple[Expr, int] | None:
        cue = self.cue("AVG", "SUM")
        median = self.words.index("median") if "median" in self.words else None
        if cue is None and median is None:
            return None
        function = "median" if median is not None else "avg" if cue and cue.tag == "AVG" else "sum"
        column = self.numeric_column()
        if column is None:
            return None
        owner = self.schema.columns[column.id].table
        self.take(cue, column, *[m for m in self.tables() if m.id == owner])
        self.take(*self.cues("MUCH", "COUNT") if function != "count" else ())
        if median is not None:
            self.used.add(median)
        expr = Aggregate.model_validate({"function": function, "of": column_ref(self.schema, column.id)})
        return expr, owner

    def numeric_column(self) -> Mention | None:
        """The numeric column that is said best, of the tables that are said if there are any."""
        named = {m.id for m in self.tables()}
        numeric = [m for m in self.columns() if self.schema.columns[m.id].numeric and not self._is_key(m.id)]
        return min(
            numeric,
            key=lambda m: (-(m.end - m.start) - m.score, self.schema.columns[m.id].table not in named, m.start),
            default=None,
        )

    def _is_key(self, column: int) -> bool:
        view = self.schema.columns[column]
        return bool(view.key or view.foreign)

    def count(self) -> tuple[Expr, int] | None:
        tables = self.tables()
        cue = self.cue("COUNT")
        if not tables:
            return None
        entity = next((m for m in tables if cue is not None and m.start >= cue.end), tables[0])
        if cue is None and not self._counts_rows(entity.id):
            return None
        distinct = self.cue("DISTINCT")
        if distinct is not None and cue is not None:
            column = next((m for m in self.columns() if m.start >= distinct.end), None)
            if column is not None:
                self.take(cue, distinct, entity, column)
                of = column_ref(self.schema, column.id)
                return Aggregate(function="count", of=of, distinct=True), self.schema.columns[column.id].table
        self.take(cue, entity)
        return Aggregate(function="count"), entity.id

    def _counts_rows(self, table: int) -> bool:
        """Orders per month, or orders in 2024, are counted; things that have names are listed."""
        if self.spans("bucket"):
            return True
        return not self._has_name(table) and (bool(self.dates) or self.cue("EACH") is not None)

    def _has_name(self, table: int) -> bool:
        display = self.schema.tables[table].display
        return display is not None and self.schema.columns[display].words[-1:] in (("name",), ("title",))

    # Forms

    def overview(self) -> QueryPlan | None:
        """A calculation, perhaps for each of something, in a period: revenue by region in 2025."""
        main = self.main()
        if main is None:
            return None
        expr, base = main
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
        return plan_of(self.schema, base, [*shown, expr], where=where, group=keys, order=order)

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

    def target(self, table: int, cue: Cue) -> Dimension | None:
        """What is ranked: a column or table that is named, and is not the measure."""
        for place in range(len(self.words)):
            if place in self.used or place in self.measure_places or place in self.value_places:
                continue
            dimension = self.dimension_at(place, table)
            if dimension is not None:
                return dimension
        return None

    def limit(self) -> int:
        for place in self.scene.numbers:
            number = self.scene.tokens[place].value
            if place not in self.time_places and isinstance(number, int) and number > 0:
                self.used.add(place)
                return number
        return 1

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

    def never(self) -> QueryPlan | None:
        """Things that have no partner: customers without an order."""
        negation = next((place for place, word in enumerate(self.words) if word in _NO_ONE), None)
        tables = self.tables()
        if negation is None or not tables or tables[0].start > negation or self.dates:
            return None
        entity = tables[0]
        other = self._negated_table(entity, negation)
        display = self.schema.tables[entity.id].display
        if other is None or display is None:
            return None
        path = join_tree(self.schema, entity.id, [other])
        left, right = path[0].pairs[0]
        inner = plan_of(self.schema, path[0].end, [column_ref(self.schema, right)], where=self.value_filters(entity.id))
        self.used.add(negation)
        self.take(entity, *self.cues("NEG"))
        condition = InQuery(left=column_ref(self.schema, left), plan=inner, negated=True)
        count = self.cue("COUNT")
        self.take(count)
        shown: Expr = Aggregate(function="count") if count else column_ref(self.schema, display)
        return plan_of(self.schema, entity.id, [shown], where=[condition])

    def _negated_table(self, entity: Mention, negation: int) -> int | None:
        """What is lacking: a table, or the table of a measure or of a date that is said as a verb."""
        for mention in self.scene.links.tables:
            if mention.start > negation and mention.id != entity.id and mention.score >= 0.6:
                self.take(mention)
                return mention.id
        for mention in self.scene.links.measures:
            if mention.start > negation and mention.score >= 0.45:
                self.take(mention)
                return int(self.schema.table_ids[self.schema.measures[mention.id][0].table])
        for mention in self.scene.links.columns:
            table = self.schema.columns[mention.id].table
            if mention.start > negation and table != entity.id and mention.score >= 0.85:
                self.take(mention)
                return int(table)
        return None

    def unfinished(self) -> QueryPlan | None:
        """Tickets that are still open or not resolved: the date of the end is missing."""
        tables = self.tables()
        if not tables:
            return None
        table = tables[0]
        end = self._missing_end(table.id)
        if end is None:
            return None
        self.take(table, *self.cues("NEG"))
        count = self.cue("COUNT")
        self.take(count)
        display = self.schema.tables[table.id].display
        shown: Expr = Aggregate(function="count") if count or display is None else column_ref(self.schema, display)
        condition = IsNull(left=column_ref(self.schema, end))
        times = self.time_filters(table.id)
        if times is None:
            return None
        return plan_of(self.schema, table.id, [shown], where=[condition, *self.value_filters(table.id), *times])

    def _missing_end(self, table: int) -> int | None:
        dates = [
            c
            for c in self.schema.tables[table].columns
            if self.schema.columns[c].temporal and self.schema.columns[c].source.nullable
        ]
        ends = [
            c
            for c in dates
            if {"resolv", "clos", "end", "finish", "complet", "solv", "deliver", "ship"}
            & _stems_of(self.schema.columns[c])
        ]
        for place, word in enumerate(self.words):
            if word == "open" and ends:
                self.used.add(place)
                return ends[0]
            if word.startswith("un") and len(word) > 6:
                matching = [c for c in ends if stem(word[2:]) in _stems_of(self.schema.columns[c])]
                if matching:
                    self.used.add(place)
                    return matching[0]
        if self.cue("NEG") is None:
            return None
        mentioned = [m for m in self.scene.links.columns if m.id in ends and m.score >= 0.85]
        self.take(*mentioned)
        return mentioned[0].id if mentioned else None

    def more_than_average(self) -> QueryPlan | None:
        """Products that cost more than the average."""
        cue = self.cue("GT", "LT")
        average = self.cue("AVG")
        tables = self.tables()
        if cue is None or average is None or not tables or average.start < cue.start or self.dates:
            return None
        entity = tables[0]
        column = self.compared_column(entity.id)
        display = self.schema.tables[entity.id].display
        if column is None or display is None:
            return None
        self.take(cue, average, *[m for m in tables if m.id == entity.id])
        left = column_ref(self.schema, column)
        mean = ScalarQuery(plan=plan_of(self.schema, entity.id, [Aggregate(function="avg", of=left)]))
        test = Compare(left=left, op=">" if cue.tag == "GT" else "<", right=mean)
        return plan_of(
            self.schema, entity.id, [column_ref(self.schema, display)], where=[test, *self.value_filters(entity.id)]
        )

    def compared_column(self, table: int) -> int | None:
        """The numeric column of the table that the question says, or means by an adjective."""
        mentions = [
            m
            for m in self.scene.links.columns
            if self.schema.columns[m.id].table == table
            and self.schema.columns[m.id].numeric
            and not self._is_key(m.id)
            and not set(range(m.start, m.end)) & self.value_places
            and m.score >= 0.5
        ]
        best = max(mentions, key=lambda m: (m.score, -m.id), default=None)
        if best is None or self._is_asked_for(best):
            return None
        self.take(*[m for m in mentions if m.id == best.id])
        return best.id

    def _is_asked_for(self, mention: Mention) -> bool:
        """What is the height of …: the column is wanted, not compared."""
        before = [word for word in self.words[max(0, mention.start - 3) : mention.start] if word != "the"]
        return before[-2:] in (["what", "is"], ["what", "are"]) or before[-1:] in (
            ["return"],
            ["give"],
            ["show"],
            ["find"],
            ["list"],
        )

    def many(self) -> QueryPlan | None:
        """Customers with more than 50 orders."""
        tables = self.tables()
        numbers = [place for place in self.scene.numbers if place not in self.time_places]
        cue = self.cue("GT", "LT", "GE", "LE", "EQ")
        if len(tables) < 2 or len(numbers) != 1 or cue is None:
            return None
        entity, other = tables[0], tables[1]
        place = numbers[0]
        if not 0 < other.start - place <= 2:
            return None
        self.take(cue, entity, other, *self.cues("GT", "LT", "GE", "LE", "EQ"))
        self.used.add(place)
        dimension = self.table_dimension(entity)
        times = self.time_filters(other.id)
        number = self.scene.tokens[place].value
        if dimension is None or times is None or number is None:
            return None
        having = Compare.model_validate(
            {"left": Aggregate(function="count"), "op": operator_at(self.scene, place), "right": Constant(value=number)}
        )
        where = [*self.value_filters(other.id), *times]
        return plan_of(
            self.schema, entity.id, dimension.shown, where=where, group=dimension.key, having=having, extra=[other.id]
        )

    def most_common(self) -> QueryPlan | None:
        cue = self.cue("COMMON", "RARE")
        tables = self.tables()
        if cue is None:
            return None
        columns = [m for m in self.columns() if not self._is_key(m.id)]
        named = {m.id for m in tables}
        best = min(
            columns, key=lambda m: (self.schema.columns[m.id].table not in named, -m.score, m.start), default=None
        )
        if best is None:
            return None
        table = self.schema.columns[best.id].table
        self.take(cue, best, *[m for m in tables if m.id == table])
        times = self.time_filters(table)
        if times is None:
            return None
        shown = column_ref(self.schema, best.id)
        order: list[tuple[Expr, bool]] = [(Aggregate(function="count"), cue.tag == "COMMON")]
        where = [*self.value_filters(table), *times]
        return plan_of(self.schema, table, [shown], where=where, group=[shown], order=order, limit=self.limit())

    def first_rows(self) -> QueryPlan | None:
        """The most expensive product: rows sorted by a column of their own; or the extremes of that column."""
        cues = self.cues("MAX", "MIN")
        tables = self.tables()
        if not cues or self.measure is not None:
            return None
        entity = tables[0].id if tables else self._owner_of_number()
        column = None if entity is None else self.compared_column(entity)
        display = None if entity is None else self.schema.tables[entity].display
        if column is None or display is None or entity is None:
            return None
        self.take(*cues, *[m for m in tables if m.id == entity])
        ref = column_ref(self.schema, column)
        where = self.value_filters(entity)
        if len({cue.tag for cue in cues}) == 2:
            shown = [Aggregate.model_validate({"function": cue.tag.lower(), "of": ref}) for cue in cues]
            return plan_of(self.schema, entity, shown, where=where)
        order: list[tuple[Expr, bool]] = [(ref, cues[0].tag == "MAX")]
        shown_name = [column_ref(self.schema, display)]
        return plan_of(self.schema, entity, shown_name, where=where, order=order, limit=self.limit())

    def _owner_of_number(self) -> int | None:
        """The table of the numeric column that is said in full."""
        best = self.numeric_column()
        return None if best is None else int(self.schema.columns[best.id].table)

    def listing(self) -> QueryPlan | None:
        """Things by name, with conditions on values, numbers and dates."""
        tables = self.tables()
        entity = tables[0].id if tables else self._owner_of_columns()
        display = None if entity is None else self.schema.tables[entity].display
        if entity is None or display is None or self.cue("COUNT", "AVG", "SUM", "EACH", "MAX", "MIN"):
            return None
        self.take(*[m for m in tables if m.id == entity])
        times = self.time_filters(entity)
        ranges = self.number_range(entity)
        if times is None:
            return None
        where = [*self.value_filters(entity), *ranges, *times]
        self.take(*[m for m in self.columns() if m.id == display])
        return plan_of(self.schema, entity, [column_ref(self.schema, display)], where=where) if where else None

    def _owner_of_columns(self) -> int | None:
        """Who was hired: the table of the only date that is said."""
        owners = {self.schema.columns[m.id].table for m in self.columns(0.88) if self.schema.columns[m.id].temporal}
        return owners.pop() if len(owners) == 1 else None

    def number_range(self, table: int) -> list[Filter]:
        numbers = [place for place in self.scene.numbers if place not in self.time_places]
        column = self.compared_column(table) if numbers else None
        if column is None:
            return []
        left = column_ref(self.schema, column)
        values = [Constant(value=self.scene.tokens[place].value) for place in numbers]
        self.used.update(numbers)
        if len(numbers) == 2:
            self.take(*self.cues("BETWEEN"))
            return [Between(left=left, low=values[0], high=values[1])]
        self.take(*self.cues("GT", "LT", "GE", "LE", "EQ"))
        return [Compare.model_validate({"left": left, "op": operator_at(self.scene, numbers[0]), "right": values[0]})]

    def once_not_now(self) -> QueryPlan | None:
        """Customers who ordered in 2024 but not in 2025."""
        spans = self.spans("range", "point")
        negation = self.cue("NEG")
        tables = self.tables()
        if len(spans) != 2 or negation is None or not tables:
            return None
        entity = tables[0]
        date_of = next((self._own_date(m.id) for m in tables[1:]), None) or self._verb_date(entity.id)
        display = self.schema.tables[entity.id].display
        if date_of is None or display is None:
            return None
        self.take(*tables, *self.cues("NEG"))
        path = join_tree(self.schema, entity.id, [self.schema.columns[date_of].table])
        left, right = path[0].pairs[0]
        tests: list[Filter] = []
        for number, span in enumerate(spans):
            where = self.period_filter(date_of, Period(span.start, span.end))
            inner = plan_of(self.schema, path[0].end, [column_ref(self.schema, right)], where=where)
            tests.append(InQuery(left=column_ref(self.schema, left), plan=inner, negated=number == 1))
        return plan_of(self.schema, entity.id, [column_ref(self.schema, display)], where=tests)

    def _verb_date(self, entity: int) -> int | None:
        """Ordered, as a verb, is the date of another table."""
        for mention in self.scene.links.columns:
            view = self.schema.columns[mention.id]
            if view.temporal and view.table != entity and mention.score >= 0.85:
                self.take(mention)
                return mention.id
        return None

    def bought_both(self) -> QueryPlan | None:
        """Customers who bought both A and B: two values of one column elsewhere."""
        tables = self.tables()
        if len(self.values) != 2 or not tables or self.cue("BOTH", "AND") is None or self.cue("COUNT"):
            return None
        entity = tables[0]
        first, second = self.values
        columns = {v.column for v in self.rivals(first)} & {v.column for v in self.rivals(second)}
        columns = {c for c in columns if self.schema.columns[c].table != entity.id}
        display = self.schema.tables[entity.id].display
        if not columns or display is None:
            return None
        column = min(columns, key=lambda c: (self._far(entity.id, c), c))
        path = join_tree(self.schema, entity.id, [self.schema.columns[column].table])
        if len(path) < 2:
            return None
        left, right = path[0].pairs[0]
        tests: list[Filter] = []
        for value in (first, second):
            text = next(v.value for v in self.rivals(value) if v.column == column)
            inner = plan_of(
                self.schema, path[0].end, [column_ref(self.schema, right)], where=[equals(self.schema, column, text)]
            )
            tests.append(InQuery(left=column_ref(self.schema, left), plan=inner))
        self.take(first, second, *tables, *self.cues("BOTH"))
        self.take(*[m for m in self.scene.links.columns if m.score >= 0.85 and self.schema.columns[m.id].temporal])
        return plan_of(self.schema, entity.id, [column_ref(self.schema, display)], where=tests)

    def boss(self) -> QueryPlan | None:
        """Employees who earn more than their manager: a table that points to itself."""
        cue = self.cue("GT", "LT")
        if cue is None or self.dates:
            return None
        for relationship in self.schema.catalog.relationships:
            if relationship.from_table != relationship.to_table:
                continue
            table = self.schema.table_ids[relationship.from_table]
            names = {
                stem(word)
                for name in (relationship.name, *relationship.synonyms)
                for word in name.replace("_", " ").split()
            }
            said = [place for place, token in enumerate(self.scene.tokens) if token.stem in names and place > cue.start]
            column = self.compared_column(table)
            display = self.schema.tables[table].display
            if said and column is not None and display is not None:
                self.used.update(said)
                self.take(cue, *[m for m in self.tables() if m.id == table])
                return self._compared_with_other(relationship.name, table, column, display, cue)
        return None

    def _compared_with_other(self, relationship: str, table: int, column: int, display: int, cue: Cue) -> QueryPlan:
        name = self.schema.tables[table].name
        value = self.schema.columns[column].name
        link = next(r for r in self.schema.catalog.relationships if r.name == relationship)
        on = tuple(
            (ColumnRef(table=name, column=here), ColumnRef(table="other", column=there))
            for here, there in zip(link.from_columns, link.to_columns, strict=True)
        )
        return QueryPlan(
            entity=name,
            joins=(Join(table=name, alias="other", on=on),),
            select=(SelectItem(expr=column_ref(self.schema, display)),),
            where=Compare(
                left=ColumnRef(table=name, column=value),
                op=">" if cue.tag == "GT" else "<",
                right=ColumnRef(table="other", column=value),
            ),
        )


def _stems_of(view: ColumnView) -> set[str]:
    return {stem_ for variant in view.variants for stem_ in variant.stems}


def _moment(value: date | datetime) -> Constant:
    if isinstance(value, datetime):
        return Constant(value=value.isoformat(), type="datetime")
    return Constant(value=value.isoformat(), type="date")


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
