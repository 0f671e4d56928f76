"""What the role models look at: one feature vector for each table, column, value and number of a question."""

from collections.abc import Sequence

from answerable.reader.candidates.role_feature_names import (
    CUES_BEFORE,
    FAR,
    NO_COMPETITION,
    NO_CONTEXT,
    OFFSETS,
    QUESTION_TAGS,
    TAGS_AFTER,
    TYPES,
    WIDTH,
    ColumnFeatures,
    Competition,
    FunctionFeatures,
    MentionFeatures,
    NumberFeatures,
    NumberRoleFeatures,
    QuestionSize,
    TableDistances,
    TableFeatures,
    ValueFeatures,
    ValueTableDistances,
)
from answerable.reader.fitted.features import Vector
from answerable.reader.linking.cues import FUNCTION_TAGS, TAG_IDS
from answerable.reader.linking.links import Mention, ValueMention
from answerable.reader.linking.scene import CLAUSES, Scene
from answerable.reader.linking.schema import ColumnView


class RoleFeaturizer:
    """Computes the vectors of one question. Parts that vectors share are computed once."""

    def __init__(self, scene: Scene) -> None:
        self.scene = scene
        self.schema = scene.schema
        # `assign_roles` fills it in after the tables: their own vectors do not contain it.
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
            *(float(tag in present) for tag in QUESTION_TAGS),
            *QuestionSize(
                tokens=float(len(scene.tokens)),
                values=float(len(scene.values)),
                numbers=float(len(scene.numbers)),
                tables_named=float(sum(max(m.score for m in ms) > 0.9 for ms in scene.tables.values())),
                columns_named=float(sum(max(m.score for m in ms) > 0.9 for ms in scene.columns.values())),
                asks_who=float(scene.asks_who),
                asks_where=float("where" in scene.words[:2]),
                asks_when=float("when" in scene.words[:2]),
            ),
        ]

    def context(self, start: int, end: int) -> Vector:
        """The tags around a span, and the clause it is in."""
        # Many vectors share a context: all unmentioned columns of a table stand where the table is mentioned.
        cached = self.context_of.get((start, end))
        if cached is not None:
            return cached
        scene = self.scene
        vector = [0.0] * (WIDTH * len(OFFSETS))
        count = len(scene.tags)
        for slot, offset in enumerate(OFFSETS):
            place = start + offset if offset < 0 else end - 1 + offset
            tag = scene.tags[place] if 0 <= place < count else "NONE"
            vector[slot * WIDTH + TAG_IDS[tag]] = 1.0
        clause = scene.clause[start]
        vector.extend(float(clause == kind) for kind in CLAUSES)
        vector.append(float(start - scene.clause_start[start]))
        vector.append(start / max(1, count))
        vector.append(float(start))
        vector.append(float(count - end))
        vector.extend(self._nearest(start, tags) for tags in CUES_BEFORE.values())
        vector.extend(self._following(end, tags) for tags in TAGS_AFTER.values())
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
            *self._at_mention(best),
            *TableFeatures(
                mentions=float(len(mentions)),
                better_rival=self._other_table_better(best),
                columns_named=float(len({m.id for m in exact})),
                columns_named_alone=float(len({m.id for m in unique})),
                best_column_score=max((m.score for c in columns for m in scene.columns.get(c, ())), default=0.0),
                has_chosen_value=float(number in self.value_tables),
                has_possible_value=float(any(r.column in columns for rs in scene.rivals.values() for r in rs)),
                chosen_values=float(sum(v.column in columns for v in scene.values)),
                neighbours=float(len(neighbours)),
                neighbours_named=float(sum(self.table_score[n] > 0.9 for n in neighbours)),
                neighbours_with_values=float(len(neighbours & self.value_tables)),
                is_bridge=float(view.bridge),
                columns=float(len(columns)),
                tables=float(len(self.schema.tables)),
                tables_named=float(sum(s > 0.9 for s in self.table_score)),
            ),
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

    def _at_mention(self, mention: Mention | None) -> Vector:
        if mention is None:
            return [*NO_CONTEXT, *MentionFeatures(score=0.0, length=0.0, exists=0.0, guessed=0.0)]
        described = MentionFeatures(
            score=mention.score,
            length=float(mention.end - mention.start),
            exists=1.0,
            guessed=float(mention.guessed),
        )
        return [*self.context(mention.start, mention.end), *described]

    # Columns

    def column(self, number: int, mention: Mention | None) -> Vector:
        """The vector of a column at one of its mentions; an unmentioned column stands where its table is mentioned."""
        view = self.schema.columns[number]
        place = mention or self.table_mention(view.table)
        return [
            *self._at_mention(place),
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
            *(float(source.type == kind) for kind in TYPES),
            *ColumnFeatures(
                is_key=float(view.key),
                is_foreign_key=float(view.foreign),
                names_rows=float(table.display == view.id),
                looks_like_id=float(view.looks_like_id),
                is_unique=float(source.unique),
                distinct_share=(source.distinct_count or 0) / rows if rows else 0.0,
                name_words=float(len(view.words)),
                position=float(view.id - table.columns[0]),
                table_is_bridge=float(table.bridge),
                has_chosen_value=float(view.id in self.value_columns),
                table_chance=float(self.table_chance[view.table]),
                table_score=self.table_score[view.table],
                table_is_named_first=float(self.first_table is not None and self.first_table.id == view.table),
                called_like_table=float(view.words == table.words),
                names_a_row=float(view.id in table.row_names),
                is_place=float(view.place),
                table_of_people=float(table.people),
            ),
        ]

    def _beside_table(self, view: ColumnView, mention: Mention | None) -> TableDistances:
        if mention is None:
            return TableDistances(own_before=FAR, own_after=FAR, other_before=FAR, other_after=FAR)
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
        return TableDistances(own_before=before, own_after=after, other_before=other_before, other_after=other_after)

    def _competition(self, view: ColumnView, mention: Mention | None) -> Competition:
        if mention is None:
            named = [c for c in self.schema.tables[view.table].columns if c in self.scene.columns]
            return NO_COMPETITION._replace(mentions=float(len(named)))
        overlapping = [m for m in self._overlapping(mention) if m.id != view.id]
        equal = [m for m in overlapping if abs(m.score - mention.score) <= 0.03]
        better = [m for m in overlapping if m.score > mention.score + 0.03]
        chance = self.table_chance[view.table]
        columns = self.schema.columns
        return Competition(
            equal=float(len(equal)),
            better=float(len(better)),
            equal_in_likelier_tables=float(sum(self.table_chance[columns[m.id].table] > chance for m in equal)),
            best_better=max((m.score * (m.end - m.start) for m in better), default=0.0),
            better_in_own_table=float(sum(columns[m.id].table == view.table for m in better)),
            mentions=float(len(self.scene.columns.get(view.id, ()))),
        )

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
            *FunctionFeatures(
                cue_before=float(before),
                cue_after=float(after),
                cues=float(len(cues)),
                has_main_cue=float(any(cue.tag == tags[0] for cue in cues)),
                first_cue=float(min((cue.start for cue in cues), default=FAR)),
            ),
        ]

    # Values and numbers

    def value(self, value: ValueMention) -> Vector:
        columns = self.schema.columns
        view = columns[value.column]
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
            *ValueFeatures(
                score=value.score,
                quoted=float(value.quoted),
                length=float(value.end - value.start),
                characters=float(len(value.value)),
                rivals=float(len(rivals)),
                better_rivals=float(sum(r.score > value.score for r in rivals)),
                best_rival_table_chance=float(
                    max(self.table_chance[self.schema.columns[r.column].table] for r in rivals)
                ),
                chosen=float(chosen),
                column_distance=float(near),
                capital=float(any(token.capital for token in tokens)),
                column_score=self._column_score(value.column),
                column_lead=self._column_score(value.column) - max(self._column_score(r.column) for r in rivals),
            ),
            *self._about(view),
            *self._near_table(view.table, value.start, value.end),
            *self.question,
        ]

    def _column_score(self, column: int) -> float:
        return max((m.score for m in self.scene.columns.get(column, ())), default=0.0)

    def _near_table(self, table: int, start: int, end: int) -> ValueTableDistances:
        before = after = FAR
        for mention in self.scene.tables.get(table, ()):
            if mention.end <= start:
                before = min(before, float(start - mention.end))
            elif mention.start >= end:
                after = min(after, float(mention.start - end))
        return ValueTableDistances(before=before, after=after)

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
            *NumberFeatures(
                within_range=float(inside and low <= value <= high),  # type: ignore[operator]
                has_range=float(inside),
                size=float(value or 0) if (value or 0) < 1e6 else 1e6,
                may_be_year=float(isinstance(value, int) and 1800 <= value <= 2100),
                is_number=float(self.scene.tokens[place].kind == "number"),
                is_date=float(self.scene.tokens[place].kind == "date"),
                gap=gap,
                distance=abs(gap),
                mention_score=float(mention.score if mention else 0.0),
            ),
            *(self.context(mention.start, mention.end) if mention else NO_CONTEXT),
            *self._about(view),
            *self._competition(view, mention),
            *self.question,
        ]

    def number_role(self, place: int) -> Vector:
        value = self.scene.tokens[place].value or 0
        return [
            *self.context(place, place + 1),
            *NumberRoleFeatures(
                size=float(value) if value < 1e6 else 1e6,
                may_be_year=float(isinstance(value, int) and 1800 <= value <= 2100),
                is_number=float(self.scene.tokens[place].kind == "number"),
                is_date=float(self.scene.tokens[place].kind == "date"),
            ),
            *self.question,
        ]
