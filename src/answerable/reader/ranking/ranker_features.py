"""Ranking: what speaks for and against a candidate as a whole, and the model that weighs it."""

from collections.abc import Collection, Iterable, Sequence
from math import log

from answerable.reader.candidates.compose import Candidate
from answerable.reader.candidates.pieces import Test
from answerable.reader.candidates.role_features import Vector
from answerable.reader.candidates.roles import Roles
from answerable.reader.linking.scene import Scene
from answerable.reader.plans.draft import Draft, Term, all_drafts, own_columns, own_terms
from answerable.reader.plans.draft_to_plan import tables_of
from answerable.reader.plans.joins import NoPath, join_tree
from answerable.reader.ranking.listed_items import Listing

_VARIANTS = (
    "",
    "or",
    "intersect",
    "unequal",
    "not_in",
    "except",
    "nest_first",
    "nest_common",
    "inner",
    "avoid",
    "member",
    "ties",
    "union",
)
_CUES = (
    "COUNT",
    "AVG",
    "SUM",
    "MAX",
    "MIN",
    "MOST",
    "LEAST",
    "COMMON",
    "OLD",
    "YOUNG",
    "EACH",
    "SORT",
    "ASC",
    "DESC",
    "NEG",
    "BOTH",
    "EITHER",
    "DISTINCT",
    "GT",
    "LT",
    "GE",
    "LE",
    "BETWEEN",
    "LIKE",
    "REL",
    "THAN",
    "BY",
    "MUCH",
)
_USES = (
    {"COUNT"},
    {"AVG"},
    {"SUM"},
    {"MAX", "MIN", "MOST", "LEAST", "COMMON", "RARE", "OLD", "YOUNG"},
    {"EACH"},
    {"SORT", "ASC", "DESC"},
    {"NEG"},
    {"EITHER"},
    {"BOTH"},
    {"GT", "GE"},
    {"LT", "LE"},
    {"BETWEEN"},
    {"LIKE", "STARTS", "ENDS"},
    {"DISTINCT"},
)
"""The cues that ask for each of the uses that `_cue_use` looks for."""
_UNCOVERED = ("COL", "TAB", "VAL", "NUM", "QUOTE", "DATE", "O")
_IS_VARIANT = {variant: [float(variant == name) for name in _VARIANTS] for variant in _VARIANTS}


class Ranker:
    """Of one question: knows what was said, and compares it with what each candidate uses."""

    def __init__(self, scene: Scene, roles: Roles, candidates: Sequence[Candidate]) -> None:
        self.scene = scene
        self.schema = scene.schema
        self.roles = roles
        self.candidates = candidates
        self.top = candidates[0].score if candidates else 0.0
        self.listing = Listing(scene)
        self._trees: dict[tuple[int, frozenset[int], frozenset[int]], set[int]] = {}
        self.cues = [float(tag in scene.cue_tags) for tag in _CUES]
        self.asked_for = [not scene.cue_tags.isdisjoint(tags) for tags in _USES]
        self.likeliest = _Likeliest(roles)
        self.said = {number: max(m.score for m in ms) for number, ms in scene.columns.items()}
        self.full_spans = _full_spans(scene)
        self.full_tables = {m.id for m in scene.links.tables if m.score >= 0.9}
        self.column_spans = {number: [(m.start, m.end) for m in ms] for number, ms in scene.columns.items()}
        self.table_spans = {
            number: [(m.start, m.end) for m in ms if m.score > 0.45] for number, ms in scene.tables.items()
        }
        self.column_places = {number: _places(spans) for number, spans in self.column_spans.items()}
        self.table_places = {number: _places(spans) for number, spans in self.table_spans.items()}

    def vectors(self) -> list[Vector | None]:
        """Nothing for a candidate whose tables cannot be joined."""
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
            candidate.score,
            self.top - candidate.score,
            float(number),
            *candidate.scores,
            evidence.select,
            evidence.where,
            evidence.order,
            evidence.having,
            evidence.group,
            float(evidence.dropped),
            min((test.chance for test in evidence.tests), default=1.0),
            *_IS_VARIANT[evidence.variant],
            *self._tables(joined[0], tables, used),
            *self._coverage(drafts, tables, used, evidence.tests),
            *self._cue_use(draft, drafts),
            *self._form(draft, drafts, joined[0]),
            *self._selected(draft),
            *self._mentions(draft, drafts, tables, used),
            *self.listing.vector(draft, evidence.tests),
            *self.cues,
            float(len(self.scene.tokens)),
            float(len(self.scene.values)),
            float(len(self.scene.numbers)),
        ]

    def _joined(self, draft: Draft) -> set[int]:
        key = (draft.entity, frozenset(tables_of(draft, self.schema)), draft.avoid)
        if key not in self._trees:
            self._trees[key] = {draft.entity} | {edge.end for edge in join_tree(self.schema, *key)}
        return self._trees[key]

    def _tables(self, joined: set[int], tables: set[int], columns: set[int]) -> Vector:
        chances = self.roles.tables
        named = {self.schema.columns[column].table for column in columns}
        missing = [chance for table, chance in enumerate(chances) if table not in tables]
        return [
            float(len(joined)),
            float(len(tables)),
            min([chances[t] for t in tables]),
            sum([log(max(chances[t], 0.01)) for t in tables]),
            sum([log(max(1.0 - chance, 0.01)) for chance in missing]),
            max(missing, default=0.0),
            float(len(tables - named)),
            float(sum([t not in self.table_spans and t not in named for t in tables])),
            float(sum([self.schema.tables[t].bridge for t in tables])),
        ]

    def _coverage(self, drafts: list[Draft], tables: set[int], columns: set[int], tests: Sequence[Test]) -> Vector:
        places = [self.column_places[column] for column in columns if column in self.column_places]
        places += [self.table_places[table] for table in tables if table in self.table_places]
        covered = set().union(*places, *(range(test.start, test.end) for test in tests))
        numbers = {d.limit for d in drafts} | {
            c.right for d in drafts for c in d.having if not isinstance(c.right, tuple)
        }
        for place in self.scene.numbers:
            if self.scene.tokens[place].value in numbers:
                covered.add(place)
        counts = dict.fromkeys(_UNCOVERED, 0.0)
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
        uses = (
            "count" in functions,
            "avg" in functions,
            "sum" in functions,
            "max" in functions or "min" in functions or any(d.limit is not None for d in drafts),
            any(d.group for d in drafts),
            draft.limit is None and any(d.order for d in drafts),
            not operators.isdisjoint(("!=", "not_in")) or _excepts(draft),
            any(len(clause) > 1 for clause in clauses),
            draft.combination is not None,
            ">" in operators or ">=" in operators,
            "<" in operators or "<=" in operators,
            "between" in operators,
            not operators.isdisjoint(("contains", "starts_with", "ends_with")),
            draft.distinct or bool(draft.group) or any(term.distinct for term in terms),
        )
        vector: Vector = []
        for asked, used in zip(self.asked_for, uses, strict=True):
            vector.append(float(asked and not used))
            vector.append(float(used and not asked))
        return vector

    def _form(self, draft: Draft, drafts: list[Draft], joined: set[int]) -> Vector:
        columns = self.schema.columns
        group = draft.group[0].column if draft.group else None
        selected = {term.column for term in draft.select if term.function is None}
        order = draft.order[0].term if draft.order else None
        return [
            float(len(draft.select)),
            float(sum(len(clause) for clause in draft.where)),
            float(len(drafts)),
            float(group is not None and group in selected),
            float(group is not None and columns[group].key),
            float(group is not None and columns[group].source.unique and len(joined) == 1),
            float(group is not None and columns[group].table in joined and len(joined) == 1),
            float(order is not None and order.column in selected),
            float(order is not None and order.column is not None and columns[order.column].numeric),
            float(order is not None and order.column is not None and columns[order.column].looks_like_id),
            float(any(c.left.column in selected and c.operator == "=" for clause in draft.where for c in clause)),
            float(draft.limit or 0),
            float(draft.distinct),
            float(len({t.column for t in draft.select}) < len(draft.select)),
            float(draft.entity in self.table_spans),
            min((start for start, _ in self.table_spans.get(draft.entity, ())), default=40.0),
            float(all(columns[c].source.unique for c in selected if c is not None)),
            float(self._multiplies(draft, joined)),
            float(self._counts_one(draft, joined)),
        ]

    def _counts_one(self, draft: Draft, joined: set[int]) -> bool:
        """Rows of one table are counted that one of its unique values picks."""
        if len(joined) > 1 or not any(term.function == "count" for term in draft.select):
            return False
        tests = [clause[0] for clause in draft.where if len(clause) == 1 and clause[0].operator == "="]
        return any(t.left.column is not None and self.schema.columns[t.left.column].source.unique for t in tests)

    def _multiplies(self, draft: Draft, joined: set[int]) -> bool:
        """A join may show one row of the entity several times."""
        return any(
            edge.end in joined and not self.schema.columns[edge.pairs[0][1]].source.unique
            for edge in self.schema.edges.get(draft.entity, ())
        )

    def _selected(self, draft: Draft) -> Vector:
        """Of the weakest selected column: its chance, and the best chance of one that was left out."""
        inside = [self._term_chance(term) for term in draft.select]
        taken = {term.column for term in draft.select}
        order = draft.order[0].term.column if draft.order else None
        orders = self.roles.columns["order"]
        likeliest = self.likeliest
        return [
            min(inside, default=0.0),
            max(inside, default=0.0),
            _first_other(likeliest.select, taken),
            _first_other(likeliest.aggregate, taken),
            orders[order].probability if order is not None and order in orders else 0.0,
            _first_other(likeliest.order, {order}),
            _first_other(likeliest.group, ()),
            _first_other(likeliest.count, ()),
        ]

    def _mentions(self, draft: Draft, drafts: list[Draft], tables: set[int], used: set[int]) -> Vector:
        """How well the used columns are said, and how many that are said in full go unused."""
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
        return [
            min(selected, default=1.0),
            sum(selected) / len(selected) if selected else 1.0,
            min(tested, default=1.0),
            min(ordered, default=1.0),
            float(len(unused)),
            float(sum(end - start > 1 for start, end in unused)),
            float(sum(table not in tables for table in self.full_tables)),
        ]

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
    """Of each role: the chances of columns, the best first."""

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
    values = {place for value in scene.values for place in range(value.start, value.end)}
    spans = {(m.start, m.end) for m in scene.links.columns if m.score >= 0.88 and m.start not in values}
    return sorted(s for s in spans if not any(o != s and o[0] <= s[0] and s[1] <= o[1] for o in spans))
