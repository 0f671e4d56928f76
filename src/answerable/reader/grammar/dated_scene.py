"""What the forms of the grammar look at: a scene with the dates that were found in it. Nothing here changes."""

from collections.abc import Iterable, Sequence
from functools import cached_property

from answerable.core.records import dataclass
from answerable.query.plan import QueryPlan
from answerable.reader.grammar.measure_expressions import is_additive
from answerable.reader.grammar.selling import measure_of_sale
from answerable.reader.linking.cues import Cue
from answerable.reader.linking.links import Mention, ValueMention
from answerable.reader.linking.scene import Scene
from answerable.reader.linking.schema import Schema
from answerable.reader.plans.joins import distance
from answerable.reader.time.date_phrases import DateSpan


@dataclass(frozen=True, slots=True)
class Parse:
    """A plan, and the places of the words of the question that it uses."""

    plan: QueryPlan
    words: frozenset[int]


# Least scores. Forms answer without the ranker, so they use a name only if the question says all or nearly all of it.
NAMED_IN_FULL = 0.9
COLUMN_NAMED = 0.88
VALUE_NAMED = 0.85
_CUES_FOR_TOTALS = frozenset({"EACH", "BY", "SUM", "MUCH", "GROW", "SHARE"})
_UNREACHABLE = 99.0
_BIRTHS = frozenset({"birth", "born", "birthday", "birthdate", "dob"})


@dataclass(frozen=True)
class DatedScene:
    """Lookups in one question: which of its words name what, and which belong to a phrase about time."""

    scene: Scene
    dates: Sequence[DateSpan]

    @property
    def schema(self) -> Schema:
        return self.scene.schema

    @property
    def words(self) -> list[str]:
        return self.scene.words

    @cached_property
    def time_places(self) -> dict[int, DateSpan]:
        """The places of tokens that are part of a phrase about time."""
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
        # A word of a longer value names no measure: "Sales" in "Sales Department".
        values = [v for v in self.scene.values if v.end - v.start > 1]
        good = [
            m
            for m in self.scene.links.measures
            if m.score >= NAMED_IN_FULL and not any(v.start <= m.start and m.end <= v.end for v in values)
        ]
        return max(good, key=_longest, default=None) or self._measure_of_sale()

    def _measure_of_sale(self) -> Mention | None:
        """ "How much did we sell" asks for the sales, unless it names a number of its own ("sold the most tickets")."""
        found = measure_of_sale(self.scene, self.cues("MUCH", "MOST", "LEAST", "COUNT"))
        numbers = [m for m in self.scene.links.columns if m.score >= COLUMN_NAMED and self.schema.columns[m.id].numeric]
        return None if any(not self.is_key(m.id) for m in numbers) else found

    @cached_property
    def summed_column(self) -> Mention | None:
        """A column that is added up although the question does not say so ("amount per month"). Only where another
        cue asks for totals: "the amount of order 5" shows the column as it is."""
        asks = any(cue.tag in _CUES_FOR_TOTALS for cue in self.scene.cues) or bool(self.spans("bucket"))
        if self.measure is not None or not asks or self.cue("AVG", "COUNT") is not None:
            return None
        taken = places_of(value for value in self.scene.values if value.score >= NAMED_IN_FULL)
        good = [
            m
            for m in self.scene.links.columns
            if m.score >= NAMED_IN_FULL
            and is_additive(self.schema.columns[m.id])
            and taken.isdisjoint(range(m.start, m.end))
        ]
        return max(good, key=_longest, default=None)

    @property
    def measured(self) -> Mention | None:
        """What the question measures: a measure of the catalog, or a column that is added up."""
        return self.measure or self.summed_column

    @cached_property
    def measure_places(self) -> frozenset[int]:
        """Places of the words that name the measure, without a table in their middle ("sold *product* by quantity")."""
        measured = self.measured
        if measured is None:
            return frozenset()
        named = (m for m in self.scene.links.tables if m.score >= NAMED_IN_FULL)
        within = places_of(m for m in named if measured.start < m.start and m.end < measured.end)
        own = self.schema.measures[measured.id][1] if measured.kind == "measure" else ()
        stems = {stem for variant in own for stem in variant.stems}
        return places_of([measured]) - {place for place in within if self.scene.tokens[place].stem not in stems}

    @cached_property
    def tables(self) -> list[Mention]:
        """Tables that are named in full, in the order of the question; where two share words the longer name."""
        blocked = self.value_places | set(self.time_places)
        good = [
            m for m in self.scene.links.tables if m.score >= NAMED_IN_FULL and blocked.isdisjoint(range(m.start, m.end))
        ]
        good.sort(key=lambda m: (-(m.end - m.start), -m.score, m.start))
        chosen: list[Mention] = []
        for mention in good:
            if all(mention.end <= other.start or mention.start >= other.end for other in chosen):
                chosen.append(mention)
        return sorted(chosen, key=lambda m: m.start)

    def tables_of(self, table: int) -> list[Mention]:
        return [mention for mention in self.tables if mention.id == table]

    def columns(self, least: float = COLUMN_NAMED) -> list[Mention]:
        """Columns that are named at least this well by words of which some are free."""
        blocked = self.value_places | self.measure_places | set(self.time_places)
        good = [
            m for m in self.scene.links.columns if m.score >= least and not blocked.issuperset(range(m.start, m.end))
        ]
        return sorted(good, key=lambda m: (m.start, -m.score))

    @cached_property
    def values(self) -> list[ValueMention]:
        return [
            v
            for v in self.scene.values
            if v.score >= VALUE_NAMED
            and self.measure_places.isdisjoint(range(v.start, v.end))
            and self.time_places.keys().isdisjoint(range(v.start, v.end))
        ]

    @cached_property
    def value_places(self) -> frozenset[int]:
        return places_of(self.values)

    def rivals(self, value: ValueMention) -> list[ValueMention]:
        """All columns that hold the value of this phrase."""
        return self.scene.rivals[(value.start, value.end)]

    def cue(self, *tags: str) -> Cue | None:
        return next(iter(self.cues(*tags)), None)

    def cues(self, *tags: str) -> list[Cue]:
        """Cues outside phrases about time: the "last" of "last month" is no superlative."""
        return [cue for cue in self.scene.cues if cue.tag in tags and cue.start not in self.time_places]

    @property
    def free_numbers(self) -> list[int]:
        """The places of numbers that are neither part of a value nor of a phrase about time."""
        return [place for place in self.scene.numbers if place not in self.time_places]

    def is_key(self, column: int) -> bool:
        view = self.schema.columns[column]
        return bool(view.key or view.foreign)

    def distance_to(self, table: int, column: int) -> float:
        """How many joins away the column's table is."""
        far = distance(self.schema, table, self.schema.columns[column].table)
        return _UNREACHABLE if far is None else far

    def own_date(self, table: int) -> int | None:
        """The first column of the table that holds dates. Births are meant only if the question speaks of them."""
        dates = [self.schema.columns[c] for c in self.schema.tables[table].columns if self.schema.columns[c].temporal]
        said = not _BIRTHS.isdisjoint(self.words)
        return next((view.id for view in dates if said or _BIRTHS.isdisjoint(view.words)), None)


def places_of(mentions: Iterable[Mention | Cue | ValueMention | None]) -> frozenset[int]:
    """The places of the words that these mentions consist of."""
    return frozenset(place for one in mentions if one is not None for place in range(one.start, one.end))


def _longest(mention: Mention) -> tuple[int, float, int]:
    return mention.end - mention.start, mention.score, -mention.start
