"""What a question asks to be shown, item by item, and how well a candidate keeps to it: number, order and place."""

from collections.abc import Iterable, Sequence
from itertools import pairwise

from answerable.reader.draft import Draft, Order, Term, all_drafts
from answerable.reader.features import FUNCTION_TAGS, Vector
from answerable.reader.lexicon import STOPWORDS
from answerable.reader.pieces import Test
from answerable.reader.scene import Scene

_BREAKS = frozenset({"COMMA", "AND"})
_ENDS = frozenset(
    {"REL", "SORT", "EACH", "OF", "FOR", "IN", "BY", "BE", "MARK", "GT", "LT", "GE", "LE", "NEG", "STARTS"}
)
_EMPTY = frozenset({"THE", "BE", "WH", "VERB", "DISTINCT", "BOTH", "RESPECT"})
_FUNCTIONS = frozenset({"COUNT", "AVG", "SUM", "MAX", "MIN"})
_EXTREMES = ("MAX", "MIN", "MOST", "LEAST", "OLD", "YOUNG", "COMMON", "RARE")
_FAR = 12.0


def listed(scene: Scene) -> list[list[int]]:
    """The items that the question opens with, each as its places: the name, the age and the city of …"""
    items: list[list[int]] = []
    current: list[int] = []
    for place in range(_opening(scene), len(scene.tags)):
        tag = scene.tags[place]
        if tag in _BREAKS:
            items.append(current)
            current = []
        elif tag in _ENDS and (current or items):
            break
        elif tag not in _EMPTY and (tag != "O" or scene.tokens[place].lower not in STOPWORDS):
            current.append(place)
    return [item for item in (*items, current) if item]


def _opening(scene: Scene) -> int:
    """Behind what only sets the scene: for each city, …"""
    if not scene.tags or scene.tags[0] not in ("FOR", "EACH", "IN"):
        return 0
    return next((place + 1 for place, tag in enumerate(scene.tags) if tag == "COMMA"), 0)


class Listing:
    """Of one question."""

    def __init__(self, scene: Scene) -> None:
        self.scene = scene
        self.schema = scene.schema
        self._known: dict[Term, set[int]] = {}
        self.items = listed(scene)
        self.places = {place for item in self.items for place in item}
        self.said = {number: max(m.score for m in ms) for number, ms in scene.tables.items()}
        self.functions = sum(cue.tag in _FUNCTIONS and cue.start in self.places for cue in scene.cues)
        self.asks_who = bool(scene.words) and scene.words[0] in ("who", "whose")

    def vector(self, draft: Draft, tests: Sequence[Test]) -> Vector:
        spans = [self._spans(term) for term in draft.select]
        touched = {place for places in spans for place in places}
        starts = [min(places & self.places or places) for places in spans if places]
        return [
            float(len(self.items)),
            float(len(draft.select) - len(self.items)),
            float(sum(touched.isdisjoint(item) for item in self.items)),
            float(sum(a > b for a, b in pairwise(starts))),
            float(sum(self.places.isdisjoint(places) for places in spans)),
            float(self.functions - sum(term.function is not None for term in draft.select)),
            self._names_someone(draft),
            self.said.get(draft.entity, 0.0),
            self._said_first(draft),
            self._alike(draft),
            *self._either(draft, tests),
            self._grouped_as_said(draft),
            *self._sorted_as_said(draft),
        ]

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

    def _either(self, draft: Draft, tests: Sequence[Test]) -> Vector:
        """Whether `or` stands between the conditions of which one must hold, and whether they are of one column."""
        clause = next((c for d in all_drafts(draft) for c in d.where if len(c) > 1), None)
        if clause is None:
            return [0.0, 0.0]
        own = sorted((t.start, t.end) for t in tests if t.condition in clause)
        cues = [cue.start for cue in self.scene.cues_of("EITHER", "AND")]
        between = len(own) == 2 and any(own[0][1] <= cue <= own[1][0] for cue in cues)
        apart = sum(own[0][1] <= t.start < own[1][0] for t in tests) if len(own) == 2 else 9
        same = len({condition.left for condition in clause}) == 1
        return [1.0 if between and not apart else -1.0, 1.0 if same else -1.0]

    def _grouped_as_said(self, draft: Draft) -> float:
        """What follows `each` is what rows are grouped by."""
        cues = self.scene.cues_of("EACH")
        column = draft.group[0].column if draft.group else None
        if not cues or column is None:
            return 0.0
        table = self.schema.columns[column].table
        mentions = (*self.scene.columns.get(column, ()), *self.scene.tables.get(table, ()))
        return 1.0 if any(0 <= m.start - cue.end <= 2 for m in mentions for cue in cues if m.score > 0.4) else -1.0

    def _sorted_as_said(self, draft: Draft) -> Vector:
        """How near the column that rows are sorted by stands to the word that says so."""
        orders = [order for level in all_drafts(draft) for order in level.order]
        if not orders:
            return [0.0, 0.0]
        return [self._distance(orders[0], "SORT", "ASC", "DESC", "BY"), self._distance(orders[0], *_EXTREMES)]

    def _distance(self, order: Order, *tags: str) -> float:
        cues = self.scene.cues_of(*tags)
        places = list(self._spans(order.term._replace(function=None)))
        distances = [abs(place - cue.start) for place in places for cue in cues]
        return float(min(distances, default=_FAR)) if cues else _FAR
