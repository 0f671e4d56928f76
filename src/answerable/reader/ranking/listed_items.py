"""What a question asks to be shown, item by item, and how well a candidate keeps to it: number, order and place."""

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple

from answerable.reader.candidates.composition import ConditionOption
from answerable.reader.fitted.features import Vector
from answerable.reader.linking.cues import FUNCTION_TAGS
from answerable.reader.linking.lexicon import STOPWORDS
from answerable.reader.linking.scene import Scene
from answerable.reader.plans.draft import Draft, DraftOrder, Term, all_drafts

_BREAKS = frozenset({"COMMA", "AND"})
_BREAK_WORDS = frozenset({",", "and", "&"})
_ENDS = frozenset({"REL", "SORT", "EACH", "FOR", "IN", "BY", "BE", "GT", "LT", "GE", "LE", "NEG", "STARTS"})
_EMPTY = frozenset({"THE", "BE", "WH", "VERB", "DISTINCT", "BOTH", "RESPECT", "OF", "MARK"})
_FUNCTIONS = frozenset({"COUNT", "AVG", "SUM", "MAX", "MIN"})
_EXTREMES = ("MAX", "MIN", "MOST", "LEAST", "OLD", "YOUNG", "COMMON", "RARE")
_SENTENCE_ENDS = frozenset({"?", ".", ";", "!"})
# A distance beyond the length of most questions: stands for "not said at all".
_FAR = 12.0
_OWNER = 0.6
"""How well a column fits an item that only names it as the owner: the age of the singer."""
_OTHER_USE = 0.3
"""How well an item fits that speaks of the column, but asks for something else of it."""
_OTHER_OWNER = 0.7
"""How well a column of the right name fits where the table is another than the one said."""
# Above the fit of a word that asks for something else (0.3), below that of an owner (0.6).
_FITS = 0.5
# A table that is named nearly in full owns the item; a column that is only hinted at may belong to it.
_SAID = 0.8
_HINTED = 0.4


class Item(NamedTuple):
    """One thing to be shown, as the places that name it and those that say of what it is."""

    head: frozenset[int]
    owner: frozenset[int]

    @property
    def places(self) -> frozenset[int]:
        return self.head | self.owner


def listed(scene: Scene) -> list[Item]:
    """What the question asks to be shown: the name, the age of the singer and the city."""
    items: list[Item] = []
    parts: tuple[set[int], set[int]] = (set(), set())
    inside = 0
    start, end = _sentence(scene)
    for place in range(start, end):
        tag = scene.tags[place]
        if tag in _BREAKS or scene.words[place] in _BREAK_WORDS:
            items.append(Item(*map(frozenset, parts)))
            parts, inside = (set(), set()), 0
        # "With" and "for each" end the list, but not before it began: "For each city, show the name and age".
        elif tag in _ENDS and (any(parts) or items):
            break
        elif tag == "OF" and parts[0]:
            inside = 1
        elif tag not in _EMPTY and (tag != "O" or scene.words[place] not in STOPWORDS):
            parts[inside].add(place)
    return [item for item in (*items, Item(*map(frozenset, parts))) if item.head]


def _sentence(scene: Scene) -> tuple[int, int]:
    """The last sentence that asks to show something, else the first. An introduction such as "for each city, …" is left
    out."""
    if not scene.words:
        return 0, 0
    ends = [place for place, word in enumerate(scene.words) if word in _SENTENCE_ENDS]
    bounds = list(pairwise([-1, *ends, len(scene.words)]))
    spans = [(before + 1, end) for before, end in bounds if end - before > 2] or [(0, len(scene.words))]
    # "There are many singers. Show their names." lists in its last sentence.
    start, end = next((span for span in reversed(spans) if scene.tags[span[0]] == "VERB"), spans[0])
    if scene.tags[start] in ("FOR", "EACH", "IN"):
        start = next((place + 1 for place in range(start, end) if scene.tags[place] == "COMMA"), start)
    return start, end


class ShownFeatures(NamedTuple):
    """How what is shown keeps to what was listed: number, order and place."""

    items: float
    more_than_listed: float
    items_not_shown: float
    shown_not_listed: float
    fit_in_order: float
    lost_by_order: float
    functions_left: float


class ListedFeatures(NamedTuple):
    names_someone: float
    entity_score: float
    first_table_score: float
    combined_alike: float
    either_in_place: float
    either_of_one_column: float
    grouped_as_said: float
    sort_distance: float
    extreme_distance: float


LISTED_FEATURE_NAMES = (*ShownFeatures._fields, *ListedFeatures._fields)


class Listing:
    """What one question lists, compared with what candidates show."""

    def __init__(self, scene: Scene) -> None:
        self.scene = scene
        self.schema = scene.schema
        self._known: dict[Term, set[int]] = {}
        self._fitting: dict[Term, list[float]] = {}
        self._shown_features: dict[tuple[Term, ...], ShownFeatures] = {}
        self.items = listed(scene)
        self.places = {place for item in self.items for place in item.places}
        self.asked = [self._functions_of(item) for item in self.items]
        self.owners = [self._owners_of(item) for item in self.items]
        self.said = {number: max(m.score for m in ms) for number, ms in scene.tables.items()}
        self.functions = sum(cue.tag in _FUNCTIONS and cue.start in self.places for cue in scene.cues)
        self.asks_who = bool(scene.words) and scene.words[0] in ("who", "whose")

    def vector(self, draft: Draft, tests: Sequence[ConditionOption]) -> Vector:
        either_in_place, either_of_one_column = self._either(draft, tests)
        sort_distance, extreme_distance = self._sorted_as_said(draft)
        return [
            *self._shown(draft.select),
            *ListedFeatures(
                names_someone=self._names_someone(draft),
                entity_score=self.said.get(draft.entity, 0.0),
                first_table_score=self._said_first(draft),
                combined_alike=self._alike(draft),
                either_in_place=either_in_place,
                either_of_one_column=either_of_one_column,
                grouped_as_said=self._grouped_as_said(draft),
                sort_distance=sort_distance,
                extreme_distance=extreme_distance,
            ),
        ]

    def _shown(self, select: tuple[Term, ...]) -> ShownFeatures:
        if select not in self._shown_features:
            self._shown_features[select] = self._compared(select)
        return self._shown_features[select]

    def _compared(self, select: tuple[Term, ...]) -> ShownFeatures:
        fits = [self._fits(term) for term in select]
        in_order = _best_in_order(fits, len(self.items))
        best = [max((row[item] for row in fits), default=0.0) for item in range(len(self.items))]
        return ShownFeatures(
            items=float(len(self.items)),
            more_than_listed=float(len(select) - len(self.items)),
            items_not_shown=float(sum(fit < _FITS for fit in best)),
            shown_not_listed=float(sum(max(row, default=0.0) < _FITS for row in fits)),
            fit_in_order=in_order / max(1, len(self.items), len(select)),
            lost_by_order=max(0.0, sum(best) - in_order),
            functions_left=float(self.functions - sum(term.function is not None for term in select)),
        )

    def _fits(self, term: Term) -> list[float]:
        """How well each item asks for the term."""
        if term not in self._fitting:
            self._fitting[term] = [self._fit(term, number) for number in range(len(self.items))]
        return self._fitting[term]

    def _fit(self, term: Term, number: int) -> float:
        item, asked = self.items[number], self.asked[number]
        spoken = self._spans(term._replace(function=None))
        touched = 1.0 if spoken & item.head else _OWNER if spoken & item.owner else 0.0
        if self._of_another(term, number):
            touched *= _OTHER_OWNER
        if term.function is None:
            return touched * _OTHER_USE if asked & {"COUNT", "AVG", "SUM"} else touched
        if asked.isdisjoint(FUNCTION_TAGS[term.function]):
            return touched * _OTHER_USE
        return 1.0 if term.column is None or touched or self._said_later(spoken, number) else _OWNER

    def _of_another(self, term: Term, number: int) -> bool:
        """The name of the movie is not that of its reviewer, when movies have one."""
        owners = self.owners[number]
        return bool(owners) and term.column is not None and self.schema.columns[term.column].table not in owners

    def _owners_of(self, item: Item) -> frozenset[int]:
        """The tables that the item names and that have what it names first."""
        named = {m.id for ms in self.scene.tables.values() for m in ms if m.score >= _SAID and m.start in item.places}
        having = {
            self.schema.columns[m.id].table
            for m in self.scene.links.columns
            if m.score >= _HINTED and not item.head.isdisjoint(range(m.start, m.end))
        }
        return frozenset(named & having)

    def _said_later(self, places: set[int], number: int) -> bool:
        """The minimum and maximum price: only the last item names the column."""
        return any(places & item.head for item in self.items[number + 1 :])

    def _functions_of(self, item: Item) -> frozenset[str]:
        tags = {tag for function in FUNCTION_TAGS.values() for tag in function}
        return frozenset(cue.tag for cue in self.scene.cues if cue.tag in tags and cue.start in item.places)

    def _spans(self, term: Term) -> set[int]:
        """The places that may speak of the term."""
        if term not in self._known:
            self._known[term] = self._found(term)
        return self._known[term]

    def _found(self, term: Term) -> set[int]:
        found: set[int] = set()
        if term.column is not None:
            view = self.schema.columns[term.column]
            found.update(self._places_of(self.scene.columns.get(term.column, ())))
            if self.schema.tables[view.table].display == term.column and not found:
                found.update(self._places_of(self.scene.tables.get(view.table, ())))
        if term.function is not None:
            tags = FUNCTION_TAGS[term.function]
            found.update(cue.start for cue in self.scene.cues if cue.tag in tags)
        return found

    def _places_of(self, mentions: Iterable) -> Iterable[int]:  # type: ignore[type-arg]
        return (place for m in mentions if m.score > 0.4 for place in range(m.start, m.end))

    def _names_someone(self, draft: Draft) -> float:
        """Who: a name is wanted, not a number."""
        if not self.asks_who or not draft.select:
            return 0.0
        column = draft.select[0].column
        named = column is not None and self.schema.tables[self.schema.columns[column].table].display == column
        return 1.0 if named and draft.select[0].function is None else -1.0

    def _said_first(self, draft: Draft) -> float:
        column = draft.select[0].column if draft.select else None
        return -1.0 if column is None else self.said.get(self.schema.columns[column].table, 0.0)

    def _alike(self, draft: Draft) -> float:
        """Combined queries show the same thing."""
        if draft.combination is None:
            return 0.0
        pairs = zip(draft.select, draft.combination.right.select, strict=False)
        return 1.0 if all(self._words(a) == self._words(b) for a, b in pairs) else -1.0

    def _words(self, term: Term) -> object:
        return None if term.column is None else self.schema.columns[term.column].words

    def _either(self, draft: Draft, tests: Sequence[ConditionOption]) -> tuple[float, float]:
        """Whether `or` stands between the conditions of which one must hold, and whether they are of one column."""
        clause = next((c for d in all_drafts(draft) for c in d.where if len(c) > 1), None)
        if clause is None:
            return 0.0, 0.0
        own = sorted((t.start, t.end) for t in tests if t.condition in clause)
        cues = [cue.start for cue in self.scene.cues_of("EITHER", "AND")]
        between = len(own) == 2 and any(own[0][1] <= cue <= own[1][0] for cue in cues)
        apart = sum(own[0][1] <= t.start < own[1][0] for t in tests) if len(own) == 2 else 9
        same = len({condition.left for condition in clause}) == 1
        return 1.0 if between and not apart else -1.0, 1.0 if same else -1.0

    def _grouped_as_said(self, draft: Draft) -> float:
        """What follows `each` is what rows are grouped by."""
        cues = self.scene.cues_of("EACH")
        column = draft.group[0].column if draft.group else None
        if not cues or column is None:
            return 0.0
        table = self.schema.columns[column].table
        mentions = (*self.scene.columns.get(column, ()), *self.scene.tables.get(table, ()))
        return 1.0 if any(0 <= m.start - cue.end <= 2 for m in mentions for cue in cues if m.score > 0.4) else -1.0

    def _sorted_as_said(self, draft: Draft) -> tuple[float, float]:
        """How near the column that rows are sorted by stands to the word that says so."""
        orders = [order for level in all_drafts(draft) for order in level.order]
        if not orders:
            return 0.0, 0.0
        return self._distance(orders[0], "SORT", "ASC", "DESC", "BY"), self._distance(orders[0], *_EXTREMES)

    def _distance(self, order: DraftOrder, *tags: str) -> float:
        cues = self.scene.cues_of(*tags)
        places = list(self._spans(order.term._replace(function=None)))
        distances = [abs(place - cue.start) for place in places for cue in cues]
        return float(min(distances, default=_FAR)) if cues else _FAR


def _best_in_order(fits: Sequence[Sequence[float]], items: int) -> float:
    """The best total fit of terms to items if both keep their order."""
    best = [0.0] * (items + 1)
    for row in fits:
        before = best[:]
        for number in range(items):
            best[number + 1] = max(best[number], before[number + 1], before[number] + row[number])
    return best[items]
