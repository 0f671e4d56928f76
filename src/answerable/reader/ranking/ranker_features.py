"""What speaks for and against a candidate as a whole: one feature vector for each candidate of a question."""

from collections.abc import Collection, Iterable, Sequence
from math import log

from answerable.reader.candidates.composition import Candidate, ConditionOption
from answerable.reader.candidates.roles import Roles
from answerable.reader.fitted.features import Vector
from answerable.reader.linking.scene import Scene
from answerable.reader.plans.draft import Draft, Term, all_drafts, own_columns, own_terms
from answerable.reader.plans.draft_to_plan import tables_of
from answerable.reader.plans.joins import NoPath, join_tree
from answerable.reader.ranking.listed_items import Listing
from answerable.reader.ranking.ranker_feature_names import (
    CUES,
    CUES_ASKING,
    IS_VARIANT,
    UNCOVERED,
    CueUses,
    EvidenceFeatures,
    GenerationFeatures,
    MentionUse,
    QuestionLength,
    SelectChances,
    Structure,
    TableUse,
)


class CandidateFeaturizer:
    """Compares what one question says with what each of its candidates uses."""

    def __init__(self, scene: Scene, roles: Roles, candidates: Sequence[Candidate]) -> None:
        self.scene = scene
        self.schema = scene.schema
        self.roles = roles
        self.candidates = candidates
        self.top = candidates[0].score if candidates else 0.0
        self.listing = Listing(scene)
        # Many candidates of a question need the same joins.
        self._trees: dict[tuple[int, frozenset[int], frozenset[int]], set[int]] = {}
        self.cues = [float(tag in scene.cue_tags) for tag in CUES]
        self.asked_for = [not scene.cue_tags.isdisjoint(CUES_ASKING[use]) for use in CueUses._fields]
        self.likeliest = _Likeliest(roles)
        self.said = {number: max(m.score for m in ms) for number, ms in scene.columns.items()}
        self.guessed = {
            number: self.said[number]
            for number, mentions in scene.columns.items()
            if max(mentions, key=lambda m: m.score).guessed
        }
        self.full_spans = _full_spans(scene)
        # Tables that are named in full must hardly ever be left out: "orders of customers" needs both.
        self.full_tables = {m.id for m in scene.links.tables if m.score >= 0.9}
        self.column_spans = {number: [(m.start, m.end) for m in ms] for number, ms in scene.columns.items()}
        self.table_spans = {
            number: [(m.start, m.end) for m in ms if m.score > 0.45] for number, ms in scene.tables.items()
        }
        self.column_places = {number: _places(spans) for number, spans in self.column_spans.items()}
        self.table_places = {number: _places(spans) for number, spans in self.table_spans.items()}

    def vectors(self) -> list[Vector | None]:
        """One vector for each candidate, or None if its tables cannot be joined."""
        return [self._vector(candidate, number) for number, candidate in enumerate(self.candidates)]

    def _vector(self, candidate: Candidate, number: int) -> Vector | None:
        draft, evidence = candidate.draft, candidate.evidence
        drafts = all_drafts(draft)
        try:
            joined = [self._joined(d) for d in drafts]
        except NoPath:
            return None
        used = {column for one in drafts for column in own_columns(one)}
        tables = set().union(*joined)
        return [
            *GenerationFeatures(score=candidate.score, behind_best=self.top - candidate.score, number=float(number)),
            *candidate.scores,
            *EvidenceFeatures(
                select=evidence.select,
                where=evidence.where,
                order=evidence.order,
                having=evidence.having,
                group=evidence.group,
                dropped=float(evidence.dropped),
                weakest_condition=min((test.chance for test in evidence.tests), default=1.0),
            ),
            *IS_VARIANT[evidence.variant],
            *self._tables(joined[0], tables, used),
            *self._coverage(drafts, tables, used, evidence.tests),
            *self._cue_use(draft, drafts),
            *self._structure(draft, drafts, joined[0]),
            *self._selected(draft),
            *self._mentions(draft, drafts, tables, used),
            *self.listing.vector(draft, evidence.tests),
            *self.cues,
            *QuestionLength(
                tokens=float(len(self.scene.tokens)),
                values=float(len(self.scene.values)),
                numbers=float(len(self.scene.numbers)),
            ),
        ]

    def _joined(self, draft: Draft) -> set[int]:
        key = (draft.entity, frozenset(tables_of(draft, self.schema)), draft.avoid)
        if key not in self._trees:
            self._trees[key] = {draft.entity} | {edge.end for edge in join_tree(self.schema, *key)}
        return self._trees[key]

    def _tables(self, joined: set[int], tables: set[int], columns: set[int]) -> TableUse:
        chances = self.roles.tables
        named = {self.schema.columns[column].table for column in columns}
        missing = [chance for table, chance in enumerate(chances) if table not in tables]
        return TableUse(
            joined=float(len(joined)),
            tables=float(len(tables)),
            least_chance=min([chances[t] for t in tables]),
            log_chance=sum([log(max(chances[t], 0.01)) for t in tables]),
            log_chance_of_missing=sum([log(max(1.0 - chance, 0.01)) for chance in missing]),
            best_missing=max(missing, default=0.0),
            without_column=float(len(tables - named)),
            unmentioned=float(sum([t not in self.table_spans and t not in named for t in tables])),
            bridges=float(sum([self.schema.tables[t].bridge for t in tables])),
        )

    def _coverage(
        self, drafts: list[Draft], tables: set[int], columns: set[int], tests: Sequence[ConditionOption]
    ) -> Vector:
        places = [self.column_places[column] for column in columns if column in self.column_places]
        places += [self.table_places[table] for table in tables if table in self.table_places]
        covered = set().union(*places, *(range(test.start, test.end) for test in tests))
        numbers = {d.limit for d in drafts} | {
            c.right for d in drafts for c in d.having if not isinstance(c.right, tuple)
        }
        for place in self.scene.numbers:
            if self.scene.tokens[place].value in numbers:
                covered.add(place)
        counts = dict.fromkeys(UNCOVERED, 0.0)
        for place, tag in enumerate(self.scene.tags):
            if tag in counts and place not in covered:
                counts[tag] += 1.0
        return [*counts.values(), float(len(covered)) / max(1, len(self.scene.tokens))]

    def _cue_use(self, draft: Draft, drafts: list[Draft]) -> Vector:
        """For each kind of cue: said but unused, and used but unsaid."""
        terms = [term for d in drafts for term in own_terms(d)]
        functions = {term.function for term in terms}
        clauses = [clause for d in drafts for clause in d.where]
        operators = {c.operator for clause in clauses for c in clause} | {c.operator for d in drafts for c in d.having}
        uses = CueUses(
            counting="count" in functions,
            average="avg" in functions,
            sum="sum" in functions,
            extreme="max" in functions or "min" in functions or any(d.limit is not None for d in drafts),
            group=any(d.group for d in drafts),
            sort=draft.limit is None and any(d.order for d in drafts),
            negation=not operators.isdisjoint(("!=", "not_in")) or _excepts(draft),
            either=any(len(clause) > 1 for clause in clauses),
            combination=draft.combination is not None,
            greater=">" in operators or ">=" in operators,
            less="<" in operators or "<=" in operators,
            range="between" in operators,
            pattern=not operators.isdisjoint(("contains", "starts_with", "ends_with")),
            distinct=draft.distinct or bool(draft.group) or any(term.distinct for term in terms),
        )
        vector: Vector = []
        for asked, used in zip(self.asked_for, uses, strict=True):
            vector.append(float(asked and not used))
            vector.append(float(used and not asked))
        return vector

    def _structure(self, draft: Draft, drafts: list[Draft], joined: set[int]) -> Structure:
        columns = self.schema.columns
        group = draft.group[0].column if draft.group else None
        selected = {term.column for term in draft.select if term.function is None}
        order = draft.order[0].term if draft.order else None
        equal = [c for clause in draft.where for c in clause if c.operator == "="]
        sorted_by = columns[order.column] if order is not None and order.column is not None else None
        return Structure(
            selected=float(len(draft.select)),
            conditions=float(sum(len(clause) for clause in draft.where)),
            levels=float(len(drafts)),
            group_is_shown=float(group is not None and group in selected),
            group_is_key=float(group is not None and columns[group].key),
            group_is_row=float(group is not None and columns[group].source.unique and len(joined) == 1),
            group_in_only_table=float(group is not None and columns[group].table in joined and len(joined) == 1),
            order_is_shown=float(order is not None and order.column in selected),
            order_is_numeric=float(sorted_by is not None and sorted_by.numeric),
            order_looks_like_id=float(sorted_by is not None and sorted_by.looks_like_id),
            shows_what_is_fixed=float(any(c.left.column in selected for c in equal)),
            limit=float(draft.limit or 0),
            distinct=float(draft.distinct),
            shows_twice=float(len({t.column for t in draft.select}) < len(draft.select)),
            entity_is_mentioned=float(draft.entity in self.table_spans),
            entity_place=min((start for start, _ in self.table_spans.get(draft.entity, ())), default=40.0),
            shows_unique=float(all(columns[c].source.unique for c in selected if c is not None)),
            multiplies_rows=float(self._multiplies(draft, joined)),
            counts_one_row=float(self._counts_one(draft, joined)),
        )

    def _counts_one(self, draft: Draft, joined: set[int]) -> bool:
        """Rows of one table are counted that one of its unique values picks."""
        if len(joined) > 1 or not any(term.function == "count" for term in draft.select):
            return False
        tests = [clause[0] for clause in draft.where if len(clause) == 1 and clause[0].operator == "="]
        return any(t.left.column is not None and self.schema.columns[t.left.column].source.unique for t in tests)

    def _multiplies(self, draft: Draft, joined: set[int]) -> bool:
        """A join may repeat rows of the entity."""
        return any(
            edge.end in joined and not self.schema.columns[edge.pairs[0][1]].source.unique
            for edge in self.schema.edges.get(draft.entity, ())
        )

    def _selected(self, draft: Draft) -> SelectChances:
        inside = [self._term_chance(term) for term in draft.select]
        taken = {term.column for term in draft.select}
        order = draft.order[0].term.column if draft.order else None
        orders = self.roles.columns["order"]
        likeliest = self.likeliest
        return SelectChances(
            weakest=min(inside, default=0.0),
            strongest=max(inside, default=0.0),
            best_other=_first_other(likeliest.select, taken),
            best_other_aggregate=_first_other(likeliest.aggregate, taken),
            order=orders[order].probability if order is not None and order in orders else 0.0,
            best_other_order=_first_other(likeliest.order, {order}),
            best_group=_first_other(likeliest.group, ()),
            best_count=_first_other(likeliest.count, ()),
        )

    def _mentions(self, draft: Draft, drafts: list[Draft], tables: set[int], used: set[int]) -> MentionUse:
        selected = [self.said.get(t.column, 0.0) for t in draft.select if t.column is not None]
        tested = [
            self.said.get(c.left.column, 0.0)
            for d in drafts
            for clause in d.where
            for c in clause
            if c.left.column is not None and c.operator not in ("in", "not_in")
        ]
        ordered = [self.said.get(o.term.column, 0.0) for d in drafts for o in d.order if o.term.column is not None]
        covered = {span for column in used for span in self.column_spans.get(column, ())}
        unused = [span for span in self.full_spans if not any(a < span[1] and span[0] < b for a, b in covered)]
        guesses = [self.guessed[column] for column in used if column in self.guessed]
        return MentionUse(
            weakest_selected=min(selected, default=1.0),
            average_selected=sum(selected) / len(selected) if selected else 1.0,
            weakest_tested=min(tested, default=1.0),
            weakest_ordered=min(ordered, default=1.0),
            unused=float(len(unused)),
            unused_long=float(sum(end - start > 1 for start, end in unused)),
            unused_tables=float(sum(table not in tables for table in self.full_tables)),
            guessed=float(len(guesses)),
            best_guess=max(guesses, default=1.0),
            weakest_guess=min(guesses, default=1.0),
        )

    def _term_chance(self, term: Term) -> float:
        if term.column is None:
            return 1.0
        if term.function is None:
            chance = self.roles.columns["select"].get(term.column)
        elif term.function == "count":
            chance = self.roles.columns["count"].get(term.column)
        else:
            chance = self.roles.aggregates.get((term.function, term.column))
        return chance.probability if chance is not None else 0.0


class _Likeliest:
    """For each role the chances of columns, the best first."""

    def __init__(self, roles: Roles) -> None:
        self.select, self.order, self.group, self.count = (
            _best_first((chance.probability, column) for column, chance in roles.columns[role].items())
            for role in ("select", "order", "group", "count")
        )
        self.aggregate = _best_first((chance.probability, column) for (_, column), chance in roles.aggregates.items())


def _best_first(chances: Iterable[tuple[float, int]]) -> list[tuple[float, int]]:
    return sorted(chances, reverse=True)


def _first_other(chances: list[tuple[float, int]], taken: Collection[int | None]) -> float:
    return next((chance for chance, column in chances if column not in taken), 0.0)


def _excepts(draft: Draft) -> bool:
    return draft.combination is not None and draft.combination.operator == "except"


def _places(spans: Iterable[tuple[int, int]]) -> set[int]:
    return {place for start, end in spans for place in range(start, end)}


def _full_spans(scene: Scene) -> list[tuple[int, int]]:
    """Where a column is said in full and no longer name or value covers the place."""
    # The word "York" in the value "New York" names no column, even if one is called so.
    values = {place for value in scene.values for place in range(value.start, value.end)}
    spans = {(m.start, m.end) for m in scene.links.columns if m.score >= 0.88 and m.start not in values}
    return sorted(s for s in spans if not any(o != s and o[0] <= s[0] and s[1] <= o[1] for o in spans))
