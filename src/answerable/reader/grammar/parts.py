"""The parts that questions of analysis are made of: periods, values, dimensions, and what is calculated."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from functools import cached_property

from answerable.query.plan import (
    Aggregate,
    Bucket,
    Compare,
    Constant,
    DatePart,
    Expr,
    Filter,
    InList,
    MeasureRef,
)
from answerable.reader.grammar.measure_expressions import is_additive
from answerable.reader.linking.cues import Cue
from answerable.reader.linking.lexicon import GENERIC, STOPWORDS
from answerable.reader.linking.links import Mention, ValueMention
from answerable.reader.linking.scene import Scene
from answerable.reader.linking.schema import Schema
from answerable.reader.plans.joins import distance
from answerable.reader.plans.plan_builder import column_ref, equals
from answerable.reader.time.date_phrases import DateSpan

_FILLER_WORDS = """
get got did make made big high large come up our develop look percent percentage euro euros eur dollars usd
value first compare compared vs versus with still yet single ever nobody take takes days hours day hour total
names name please number place placed pay live lives comes often later
"""
FILLERS = frozenset(_FILLER_WORDS.split())
"""Words that a form need not account for."""
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
) | {"BETWEEN", "COUNT", "SORT", "ASC", "DESC"}
"""Cues that change the answer: none may be left over."""
_FOR_TOTALS = frozenset({"EACH", "BY", "SUM", "MUCH", "GROW", "SHARE"})


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
class Parts:
    """Of one question. Each part that is taken marks the words it accounts for as used."""

    scene: Scene
    dates: Sequence[DateSpan]
    used: set[int] = field(default_factory=set)
    form: str = ""
    """The form that was tried last: of a reading, the one that made it."""

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
            plain = token.lower in STOPWORDS or token.lower in GENERIC or token.lower in FILLERS
            telling = token.kind in ("number", "date", "quoted") or tag in _TELLING
            if telling or (not plain and tag in ("O", "TAB", "COL", "NUM")):
                left.append(token.text)
        return left

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
            for_all = self.words[cue.start : cue.end] == ["for", "all"]
            if cue.tag not in ("EACH", "BY") or cue.start in self.time_places or for_all:
                continue
            start = cue.end
            while start < len(self.words) and self.words[start] in ("the", "a", "our"):
                start += 1
            dimension = self.dimension_at(start, table)
            while dimension is not None:
                self.take(cue)
                found += [dimension] if dimension not in found else []
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
            return self._counted_value(cue)
        entity = next((m for m in tables if cue is not None and m.start >= cue.end), tables[0])
        if cue is None and not self._counts_rows(entity):
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

    def _counted_value(self, cue: Cue | None) -> tuple[Expr, int] | None:
        """How many owls: of the only table there is, the rows that are owls."""
        alone = len(self.schema.tables) == 1
        if cue is None or not alone or all(value.start != cue.end for value in self.values):
            return None
        self.take(cue)
        return Aggregate(function="count"), 0

    def _counts_rows(self, table: Mention) -> bool:
        """Orders per month, or orders in 2024, are counted; things that have names are listed."""
        if self.spans("bucket"):
            return True
        each = self.cue("EACH")
        per = each is not None and table.end <= each.start
        return not self._has_name(table.id) and (bool(self.dates) or per)

    def _has_name(self, table: int) -> bool:
        display = self.schema.tables[table].display
        return display is not None and self.schema.columns[display].words[-1:] in (("name",), ("title",))

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


def _moment(value: date | datetime) -> Constant:
    if isinstance(value, datetime):
        return Constant(value=value.isoformat(), type="datetime")
    return Constant(value=value.isoformat(), type="date")
