"""What the role models look at: one list of numbers for each thing that could take a role in the query."""

from collections.abc import Sequence

from answerable.reader.linking.cues import TAG_IDS, TAGS
from answerable.reader.linking.links import Mention, ValueMention
from answerable.reader.linking.scene import CLAUSES, Scene
from answerable.reader.linking.schema import ColumnView

Vector = list[float]

_OFFSETS = (-1, -2, -3, 1, 2)
_WIDTH = len(TAGS)
CONTEXT_SIZE = _WIDTH * len(_OFFSETS)
_QUESTION_TAGS = tuple(tag for tag in TAGS if tag not in ("OF", "IN", "THE", "BE", "O", "NONE", "MARK"))
_TYPES = ("text", "integer", "number", "boolean", "date", "datetime", "time")
FAR = 30.0

FUNCTION_TAGS: dict[str, tuple[str, ...]] = {
    "avg": ("AVG",),
    "sum": ("SUM", "MUCH"),
    "max": ("MAX", "OLD", "MOST", "YOUNG"),
    "min": ("MIN", "YOUNG", "LEAST", "OLD"),
    "count": ("COUNT",),
}
EXTREMES = ("MAX", "MIN", "OLD", "YOUNG", "MOST", "LEAST", "COMMON", "RARE")


class Featurizer:
    """Of one question. Shared pieces are computed once."""

    def __init__(self, scene: Scene) -> None:
        self.scene = scene
        self.schema = scene.schema
        self.table_chance: list[float] = [0.0] * len(self.schema.tables)
        self.context_of: dict[tuple[int, int], Vector] = {}
        self.question = self._question()
        self.table_score = [0.0] * len(self.schema.tables)
        for mention in scene.links.tables:
            self.table_score[mention.id] = max(self.table_score[mention.id], mention.score)
        self.value_tables = {self.schema.columns[value.column].table for value in scene.values}
        self.value_columns = {value.column for value in scene.values}
        self.first_table = min((m for m in scene.links.tables if m.score > 0.9), key=lambda m: m.start, default=None)

    def _question(self) -> Vector:
        scene = self.scene
        present = set(scene.tags) | scene.cue_tags
        return [
            *(float(tag in present) for tag in _QUESTION_TAGS),
            float(len(scene.tokens)),
            float(len(scene.values)),
            float(len(scene.numbers)),
            float(sum(max(m.score for m in ms) > 0.9 for ms in scene.tables.values())),
            float(sum(max(m.score for m in ms) > 0.9 for ms in scene.columns.values())),
        ]

    def context(self, start: int, end: int) -> Vector:
        """The tags around a span, and the clause it is in."""
        cached = self.context_of.get((start, end))
        if cached is not None:
            return cached
        scene = self.scene
        vector = [0.0] * CONTEXT_SIZE
        count = len(scene.tags)
        for slot, offset in enumerate(_OFFSETS):
            place = start + offset if offset < 0 else end - 1 + offset
            tag = scene.tags[place] if 0 <= place < count else "NONE"
            vector[slot * _WIDTH + TAG_IDS[tag]] = 1.0
        clause = scene.clause[start]
        vector.extend(float(clause == kind) for kind in CLAUSES)
        vector.append(float(start - scene.clause_start[start]))
        vector.append(start / max(1, count))
        vector.append(float(start))
        vector.append(float(count - end))
        vector.extend(
            self._nearest(start, tags)
            for tags in (("SORT",), ("EACH",), EXTREMES, ("COUNT",), ("NEG",), ("THAN", "GT", "LT", "GE", "LE"))
        )
        vector.extend(
            self._following(end, tags)
            for tags in (("GT", "LT", "GE", "LE", "EQ"), ("NUM",), ("VAL", "QUOTE"), EXTREMES)
        )
        self.context_of[(start, end)] = vector
        return vector

    def _nearest(self, start: int, tags: Sequence[str]) -> float:
        """How many tokens before the span such a cue ends."""
        best = FAR
        for cue in self.scene.cues:
            if cue.tag in tags and cue.end <= start:
                best = min(best, float(start - cue.end))
        return best

    def _following(self, end: int, tags: Sequence[str]) -> float:
        for distance, tag in enumerate(self.scene.tags[end : end + 8]):
            if tag in tags:
                return float(distance)
        return FAR

    # Tables

    def table(self, number: int) -> Vector:
        scene, view = self.scene, self.schema.tables[number]
        mentions = scene.tables.get(number, [])
        best = max(mentions, key=lambda m: (m.score, -m.start), default=None)
        columns = view.columns
        exact = [m for c in columns for m in scene.columns.get(c, ()) if m.score > 0.9]
        unique = [m for m in exact if self._rivals(m) == 0]
        neighbours = {edge.end for edge in self.schema.edges.get(number, ())}
        return [
            *self._span_or_nothing(best),
            float(len(mentions)),
            self._other_table_better(best),
            float(len({m.id for m in exact})),
            float(len({m.id for m in unique})),
            max((m.score for c in columns for m in scene.columns.get(c, ())), default=0.0),
            float(number in self.value_tables),
            float(any(r.column in columns for rs in scene.rivals.values() for r in rs)),
            float(sum(v.column in columns for v in scene.values)),
            float(len(neighbours)),
            float(sum(self.table_score[n] > 0.9 for n in neighbours)),
            float(len(neighbours & self.value_tables)),
            float(view.bridge),
            float(len(columns)),
            float(len(self.schema.tables)),
            float(sum(s > 0.9 for s in self.table_score)),
            *self.question,
        ]

    def _other_table_better(self, mention: Mention | None) -> float:
        if mention is None:
            return 0.0
        return max(
            (
                other.score * (other.end - other.start)
                for other in self.scene.links.tables
                if other.id != mention.id and other.start < mention.end and mention.start < other.end
            ),
            default=0.0,
        )

    def _rivals(self, mention: Mention) -> int:
        return sum(
            other.id != mention.id and other.score >= mention.score - 0.02 for other in self._overlapping(mention)
        )

    def _overlapping(self, mention: Mention) -> list[Mention]:
        return [m for m in self.scene.links.columns if m.start < mention.end and mention.start < m.end]

    def _span_or_nothing(self, mention: Mention | None) -> Vector:
        if mention is None:
            return [0.0] * (CONTEXT_SIZE + 21 + 3)
        return [*self.context(mention.start, mention.end), mention.score, float(mention.end - mention.start), 1.0]

    # Columns

    def column(self, number: int, mention: Mention | None) -> Vector:
        """Of a column at one of its mentions; an unmentioned column stands where its table is mentioned."""
        view = self.schema.columns[number]
        place = mention or self.table_mention(view.table)
        return [
            *self._span_or_nothing(place),
            float(mention is not None),
            *self._about(view),
            *self._beside_table(view, mention),
            *self._competition(view, mention),
            *self.question,
        ]

    def table_mention(self, table: int) -> Mention | None:
        return max(self.scene.tables.get(table, ()), key=lambda m: (m.score, -m.start), default=None)

    def _about(self, view: ColumnView) -> Vector:
        source, table = view.source, self.schema.tables[view.table]
        rows = table.source.row_count or 0
        return [
            *(float(source.type == kind) for kind in _TYPES),
            float(view.key),
            float(view.foreign),
            float(table.display == view.id),
            float(view.looks_like_id),
            float(source.unique),
            (source.distinct_count or 0) / rows if rows else 0.0,
            float(len(view.words)),
            float(view.id - table.columns[0]),
            float(table.bridge),
            float(view.id in self.value_columns),
            float(self.table_chance[view.table]),
            self.table_score[view.table],
            float(self.first_table is not None and self.first_table.id == view.table),
            float(view.words == table.words),
        ]

    def _beside_table(self, view: ColumnView, mention: Mention | None) -> Vector:
        """How near the next mention of the column's own table is, before and after."""
        if mention is None:
            return [FAR, FAR, FAR, FAR]
        before = after = other_before = other_after = FAR
        for table in self.scene.links.tables:
            if table.score < 0.8:
                continue
            own = table.id == view.table
            if table.start >= mention.end:
                gap = float(table.start - mention.end)
                after = min(after, gap) if own else after
                other_after = other_after if own else min(other_after, gap)
            elif table.end <= mention.start:
                gap = float(mention.start - table.end)
                before = min(before, gap) if own else before
                other_before = other_before if own else min(other_before, gap)
        return [before, after, other_before, other_after]

    def _competition(self, view: ColumnView, mention: Mention | None) -> Vector:
        if mention is None:
            named = [c for c in self.schema.tables[view.table].columns if c in self.scene.columns]
            return [0.0, 0.0, 0.0, 0.0, 0.0, float(len(named))]
        overlapping = [m for m in self._overlapping(mention) if m.id != view.id]
        equal = [m for m in overlapping if abs(m.score - mention.score) <= 0.03]
        better = [m for m in overlapping if m.score > mention.score + 0.03]
        chance = self.table_chance[view.table]
        columns = self.schema.columns
        return [
            float(len(equal)),
            float(len(better)),
            float(sum(self.table_chance[columns[m.id].table] > chance for m in equal)),
            max((m.score * (m.end - m.start) for m in better), default=0.0),
            float(sum(columns[m.id].table == view.table for m in better)),
            float(len(self.scene.columns.get(view.id, ()))),
        ]

    def function(self, function: str, mention: Mention | None, table: int) -> Vector:
        """How an aggregate's cue stands to the mention."""
        place = mention or self.table_mention(table)
        start = place.start if place else 0
        tags = FUNCTION_TAGS[function]
        cues = [cue for cue in self.scene.cues if cue.tag in tags]
        before = min((start - cue.end for cue in cues if cue.end <= start), default=FAR)
        after = min((cue.start - start for cue in cues if cue.start >= start), default=FAR)
        return [
            *(float(function == name) for name in FUNCTION_TAGS),
            float(before),
            float(after),
            float(len(cues)),
            float(any(cue.tag == tags[0] for cue in cues)),
            float(min((cue.start for cue in cues), default=FAR)),
        ]

    # Values and numbers

    def value(self, value: ValueMention) -> Vector:
        view = self.schema.columns[value.column]
        rivals = self.scene.rivals[(value.start, value.end)]
        near = min(
            (
                min(abs(m.start - value.end), abs(value.start - m.end))
                for m in self.scene.columns.get(value.column, ())
                if m.score > 0.45
            ),
            default=FAR,
        )
        chosen = any(v.start == value.start and v.end == value.end for v in self.scene.values)
        tokens = self.scene.tokens[value.start : value.end]
        return [
            *self.context(value.start, value.end),
            value.score,
            float(value.quoted),
            float(value.end - value.start),
            float(len(value.value)),
            float(len(rivals)),
            float(sum(r.score > value.score for r in rivals)),
            float(max(self.table_chance[self.schema.columns[r.column].table] for r in rivals)),
            float(chosen),
            float(near),
            float(any(token.capital for token in tokens)),
            self._said(value.column),
            self._said(value.column) - max(self._said(rival.column) for rival in rivals),
            *self._about(view),
            *self._near_table(view.table, value.start, value.end),
            *self.question,
        ]

    def _said(self, column: int) -> float:
        return max((m.score for m in self.scene.columns.get(column, ())), default=0.0)

    def _near_table(self, table: int, start: int, end: int) -> Vector:
        before = after = FAR
        for mention in self.scene.tables.get(table, ()):
            if mention.end <= start:
                before = min(before, float(start - mention.end))
            elif mention.start >= end:
                after = min(after, float(mention.start - end))
        return [before, after]

    def number(self, place: int, column: int, mention: Mention | None) -> Vector:
        view = self.schema.columns[column]
        value = self.scene.tokens[place].value
        low, high = view.source.minimum, view.source.maximum
        inside = isinstance(low, int | float) and isinstance(high, int | float) and value is not None
        gap = FAR
        if mention is not None:
            gap = float(mention.start - place) if mention.start > place else float(mention.end - 1 - place)
        return [
            *self.context(place, place + 1),
            float(inside and low <= value <= high),  # type: ignore[operator]
            float(inside),
            float(value or 0) if (value or 0) < 1e6 else 1e6,
            float(isinstance(value, int) and 1800 <= value <= 2100),
            float(self.scene.tokens[place].kind == "number"),
            float(self.scene.tokens[place].kind == "date"),
            gap,
            abs(gap),
            float(mention.score if mention else 0.0),
            *(self.context(mention.start, mention.end) if mention else [0.0] * (CONTEXT_SIZE + 21)),
            *self._about(view),
            *self._competition(view, mention),
            *self.question,
        ]

    def number_role(self, place: int) -> Vector:
        value = self.scene.tokens[place].value or 0
        return [
            *self.context(place, place + 1),
            float(value) if value < 1e6 else 1e6,
            float(isinstance(value, int) and 1800 <= value <= 2100),
            float(self.scene.tokens[place].kind == "number"),
            float(self.scene.tokens[place].kind == "date"),
            *self.question,
        ]
