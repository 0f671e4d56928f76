"""Candidates: clause options combined into drafts, the likeliest first, with their structural variants."""

import heapq
from collections.abc import Iterable, Iterator, Mapping
from itertools import combinations, islice, product
from math import exp, log
from typing import NamedTuple

from answerable.reader.candidates.clause_options import count_places
from answerable.reader.candidates.combinations import of_conditions, of_two_tables
from answerable.reader.candidates.options import (
    ClauseOptions,
    ConditionOption,
    HavingOption,
    SelectOption,
    SortOption,
    logit,
)
from answerable.reader.candidates.relations import related, relations_of
from answerable.reader.candidates.shape import (
    UNSEEN,
    Shape,
    ShapeScores,
    shape_of,
    shape_of_having,
    shape_of_limit,
    shape_of_order,
)
from answerable.reader.linking.scene import Scene
from answerable.reader.linking.schema import Schema
from answerable.reader.plans.draft import (
    ROWS,
    Clause,
    Combination,
    Draft,
    DraftCondition,
    Term,
    all_drafts,
    own_columns,
    own_terms,
)
from answerable.reader.plans.draft_to_plan import tables_of
from answerable.reader.plans.joins import NoPath, join_tree

MAX_CANDIDATES = 60
_SELECT_SETS = 16
_WHERE_SETS = 6
_BASES = 40
_LIKELY = 0.45

Chances = Mapping[str, Mapping[str, float]]


class SelectSet(NamedTuple):
    terms: tuple[Term, ...]
    score: float
    fit: float
    """How well their number and kinds fit the words."""


class WhereSet(NamedTuple):
    tests: tuple[ConditionOption, ...]
    score: float
    dropped: int


class Base(NamedTuple):
    select: SelectSet
    where: WhereSet
    sorting: SortOption | None
    having: HavingOption | None


class Evidence(NamedTuple):
    """What a candidate rests on, for the ranker."""

    select: float
    where: float
    order: float
    having: float
    group: float
    dropped: int
    tests: tuple[ConditionOption, ...]
    variant: str


class Candidate(NamedTuple):
    draft: Draft
    shape: Shape
    scores: tuple[float, ...]
    """Of the parts of the shape."""
    evidence: Evidence
    score: float


class Composer:
    def __init__(self, scene: Scene, options: ClauseOptions, chances: Chances) -> None:
        self.scene = scene
        self.schema = scene.schema
        self.options = options
        self.chances = chances
        self._scores = ShapeScores(chances)
        self.distinct_is_likely = chances["distinct"].get("1", -9.0) > log(0.03)
        self.two_ways = _two_ways(self.schema)
        self.relations = relations_of(self.schema)
        self._trees: dict[tuple[int, frozenset[int]], frozenset[int] | None] = {}
        ranked = sorted(range(len(options.tables)), key=lambda t: -options.tables[t])
        self.likely_tables = sorted(t for t in ranked if options.tables[t] > _LIKELY)
        self.possible_tables = [t for t in ranked if 0.05 < options.tables[t] <= _LIKELY][:2]

    def candidates(self) -> list[Candidate]:
        best: dict[Draft, Candidate] = {}
        for draft, evidence in self._drafts():
            known = best.get(draft)
            if known is None:
                best[draft] = self._scored(draft, evidence)
            elif known.score < (score := _total(known.scores, evidence)):
                best[draft] = known._replace(evidence=evidence, score=score)
        ordered = sorted(best.values(), key=lambda candidate: -candidate.score)
        return list(islice((c for c in ordered if not self._is_void(c.draft)), MAX_CANDIDATES))

    def _is_void(self, draft: Draft) -> bool:
        """Whether nothing could come of it: a column equals two values, or groups of one row each are counted."""
        return any(
            contradicts(level)
            or beyond_all(level)
            or combines_figures(level)
            or _sorts_one_row(level)
            or _mixes_rows(level)
            or self._adds_other_than_numbers(level)
            or self._counts_single_rows(level)
            for level in all_drafts(draft)
        )

    def _adds_other_than_numbers(self, draft: Draft) -> bool:
        columns = self.schema.columns
        return any(
            term.function in ("sum", "avg") and term.column is not None and not columns[term.column].numeric
            for term in own_terms(draft)
        )

    def _counts_single_rows(self, draft: Draft) -> bool:
        if not draft.group or draft.group[0].column is None:
            return False
        group = self.schema.columns[draft.group[0].column]
        names_rows = group.key or group.id == self.schema.tables[group.table].display
        if not (group.source.unique and names_rows) or tables_of(draft, self.schema) != {group.table}:
            return False
        terms = [*draft.select, *(o.term for o in draft.order), *(c.left for c in draft.having)]
        return any(term == ROWS for term in terms)

    def _scored(self, draft: Draft, evidence: Evidence) -> Candidate:
        shape = shape_of(draft)
        scores = self._scores.of(shape)
        return Candidate(draft, shape, scores, evidence, _total(scores, evidence))

    def _drafts(self) -> Iterator[tuple[Draft, Evidence]]:
        possible = ((base, groups) for base in self._bases() if (groups := list(self._grouped(base))))
        for (select, where, sorting, having), groups in islice(possible, _BASES):
            for draft, group in groups:
                evidence = Evidence(
                    select.score,
                    where.score,
                    sorting_score(sorting),
                    having_score(having),
                    group,
                    where.dropped,
                    where.tests,
                    "",
                )
                for based in self._based(draft, where.tests):
                    for variant, name in self._variants(based, where.tests):
                        named = evidence._replace(variant=name) if name else evidence
                        yield variant, named
                        if self._may_be_distinct(variant):
                            yield variant._replace(distinct=True), named

    def _bases(self) -> list[Base]:
        """Ordered by the parts of the shape that are settled already."""
        selects = self._select_sets()
        wheres = self._where_sets()
        sortings = [(one, sorting_score(one), *self._sorting_fit(one)) for one in (None, *self.options.sortings)]
        havings = [(one, having_score(one), self._having_fit(one)) for one in (None, *self.options.havings)]
        scored = []
        for number, (select, sorted_by, kept) in enumerate(product(selects, sortings, havings)):
            sorting, order_score, order, limit = sorted_by
            having, group_score, group = kept
            rough = select.score + order_score + group_score + (select.fit + order + limit + group)
            for rank, where in enumerate(wheres):
                if having is None or not any(t.start <= having.place < t.end for t in where.tests):
                    scored.append((-rough - where.score, rank, number, Base(select, where, sorting, having)))
        return [base for *_, base in sorted(scored)]

    def _sorting_fit(self, sorting: SortOption | None) -> tuple[float, float]:
        """How well the order and the limit fit the words."""
        order, limit = (shape_of_order(sorting.order), shape_of_limit(sorting.limit)) if sorting else ("", "")
        return self.chances["order"].get(order, UNSEEN), self.chances["limit"].get(limit, UNSEEN)

    def _having_fit(self, having: HavingOption | None) -> float:
        return self.chances["having"].get(shape_of_having(having.condition) if having else "", UNSEEN)

    # Select

    def _select_sets(self) -> list[SelectSet]:
        parts = [*self.options.parts[:9], self._rows_part()]
        parts.sort(key=lambda part: -part.chance)
        sets: dict[tuple[Term, ...], float] = {}
        for chosen in _subsets(parts):
            score = sum(logit(part.chance) for part in chosen) * 0.6
            for terms, cost in self._orders(chosen):
                sets[terms] = max(score - cost, sets.get(terms, -99.0))
        sets[()] = 0.0
        found = [SelectSet(terms, score, self._scores.of_select(terms)) for terms, score in sets.items()]
        return sorted(found, key=lambda one: -one.score - one.fit)[:_SELECT_SETS]

    def _orders(self, chosen: list[SelectOption]) -> Iterator[tuple[tuple[Term, ...], float]]:
        """In the order of the question; also as they are listed at its end, and with one function for all."""
        first = tuple(part.term for part in sorted(chosen, key=lambda p: (p.place, -p.chance)))
        yield first, 0.0
        if len(chosen) > 1:
            yield tuple(part.term for part in sorted(chosen, key=lambda p: (p.last, p.place))), 0.4
            yield (*first[1:], first[0]), 0.3 if len(chosen) == 2 and _counts_one_of(first) else 1.2
            functions = {term.function for term in first if term.function not in (None, "count")}
            if len(functions) == 1 and any(term.function is None for term in first):
                function = functions.pop()
                yield tuple(Term(t.column, function) if t.function is None else t for t in first), 1.0

    def _rows_part(self) -> SelectOption:
        chance = sum(exp(value) for name, value in self.chances["kinds"].items() if "n" in name)
        first, last = count_places(self.scene)
        return SelectOption(ROWS, first, chance, last)

    # Where

    def _where_sets(self) -> list[WhereSet]:
        sets = [WhereSet((), 0.0, 0)]
        for phrase in self.options.tests:
            sets = heapq.nlargest(_WHERE_SETS, _extended(sets, phrase), key=lambda s: s.score)
        nested = self.options.nested[:3]
        with_nested = [
            WhereSet((*one.tests, test), one.score + 0.5 * logit(test.chance), one.dropped)
            for one in sets[:3]
            for test in nested
        ]
        return [*sets, *with_nested]

    # Group

    def _grouped(self, base: Base) -> Iterator[tuple[Draft, float]]:
        """The base with its possible groups; none if its parts do not go together."""
        select, _, sorting, having = base
        draft = Draft(
            entity=-1,
            select=select.terms,
            having=(having.condition,) if having else (),
            order=sorting.order if sorting else (),
            limit=sorting.limit if sorting else None,
        )
        plain = [term for term in select.terms if term.function is None]
        counted = any(term.function for term in select.terms)
        by_aggregate = any(order.term.function for order in draft.order)
        if having is None and not (plain and (counted or by_aggregate)) and not (by_aggregate and not counted):
            if by_aggregate:
                yield from self._unnamed_groups(draft)
            elif not (draft.order and counted and not plain) or draft.limit == 1:
                yield draft, 0.0
            if counted and not plain and having is None and "EACH" in self.scene.cue_tags:
                yield from self._shown_groups(draft)
            return
        for column, chance in self._group_columns(plain):
            yield draft._replace(group=(Term(column),)), 0.3 * logit(chance)

    def _unnamed_groups(self, draft: Draft) -> Iterator[tuple[Draft, float]]:
        """How many there are in the largest group, whichever that is."""
        for column, chance in self.options.groups[:3]:
            yield draft._replace(group=(Term(column),)), 0.3 * logit(chance)

    def _shown_groups(self, draft: Draft) -> Iterator[tuple[Draft, float]]:
        """What is calculated for each of something is shown beside it."""
        for column, chance in self.options.groups[:2]:
            key = Term(column)
            score = 0.3 * logit(chance)
            yield draft._replace(group=(key,), select=(key, *draft.select)), score
            yield draft._replace(group=(key,), select=(*draft.select, key)), score

    def _group_columns(self, plain: list[Term]) -> list[tuple[int, float]]:
        known = dict(self.options.groups)
        found: dict[int, float] = {}
        for term in plain[:1]:
            assert term.column is not None
            found[term.column] = known.get(term.column, 0.1)
            table = self.schema.tables[self.schema.columns[term.column].table]
            if table.key is not None and table.key != term.column:
                unique = self.schema.columns[term.column].source.unique
                found[table.key] = max(known.get(table.key, 0.1), 0.2 if unique else 0.1)
        for column, chance in self.options.groups[: 2 if plain else 3]:
            found.setdefault(column, chance)
        return sorted(found.items(), key=lambda item: -item[1])[:3]

    # Tables

    def _based(self, draft: Draft, tests: tuple[ConditionOption, ...]) -> Iterator[Draft]:
        """The tables that take part: only those of the named columns, or also the likely ones without a column."""
        draft = draft._replace(where=tuple((test.condition,) for test in tests))
        named = [self.schema.columns[c].table for c in own_columns(draft)]
        likely = frozenset(self._likely_for(draft)) - set(named)
        for entity in self._entities(draft, named):
            seen = set()
            for extra in ((), *((table,) for table in sorted(likely)), tuple(sorted(likely))):
                joined = self._joined(entity, frozenset((*named, *extra)))
                if joined is not None and joined not in seen:
                    seen.add(joined)
                    yield draft._replace(entity=entity, extra=frozenset(extra) - {entity, *named})

    def _likely_for(self, draft: Draft) -> list[int]:
        """Where rows are counted, what is counted may be a table that is hardly mentioned."""
        counted = draft.having or any(order.term == ROWS for order in draft.order) or ROWS in draft.select
        if not (draft.group and counted):
            return self.likely_tables
        return [*self.likely_tables, *self.possible_tables]

    def _joined(self, entity: int, needed: frozenset[int]) -> frozenset[int] | None:
        """All tables that take part once the needed ones are joined, or None if they cannot be joined."""
        key = (entity, needed)
        if key not in self._trees:
            try:
                edges = join_tree(self.schema, entity, needed)
                self._trees[key] = frozenset((entity, *(edge.end for edge in edges)))
            except NoPath:
                self._trees[key] = None
        return self._trees[key]

    def _entities(self, draft: Draft, named: list[int]) -> list[int]:
        if draft.select and draft.select[0].column is not None:
            return [self.schema.columns[draft.select[0].column].table]
        ranked = sorted(range(len(self.options.tables)), key=lambda t: (-self.options.tables[t], t))
        if named:
            return list(dict.fromkeys([named[0], *(t for t in ranked[:2] if self.options.tables[t] > 0.3)]))[:2]
        return ranked[:2]

    # Variants

    def _variants(self, draft: Draft, tests: tuple[ConditionOption, ...]) -> Iterator[tuple[Draft, str]]:
        yield draft, ""
        yield from self._pairs(draft, tests)
        yield from self._ties(draft)
        yield from self._nested_orders(draft)
        yield from self._inner_tests(draft, tests)
        yield from self._other_ways(draft)
        for member in self._memberships(draft):
            yield member
            yield from related(member[0], self.relations, self.scene)
        yield from related(draft, self.relations, self.scene)
        yield from of_two_tables(draft, self.scene)
        yield from of_conditions(draft, tests, self.scene)
        if "NEG" in self.scene.cue_tags:
            yield from self._negations(draft, tests)

    def _ties(self, draft: Draft) -> Iterator[tuple[Draft, str]]:
        """All rows that share the extreme value, where the first one alone would hide the others."""
        if draft.limit != 1 or len(draft.order) != 1 or draft.group or draft.combination:
            return
        term, down = draft.order[0]
        if term.function is not None or term.column is None:
            return
        table = self.schema.columns[term.column].table
        extreme = Draft(table, (Term(term.column, "max" if down else "min"),), where=draft.where)
        where = (*draft.where, (DraftCondition(term, "=", extreme),))
        yield draft._replace(where=where, order=(), limit=None), "ties"

    def _nested_orders(self, draft: Draft) -> Iterator[tuple[Draft, str]]:
        """The players from the largest college: the superlative picks a row of another table first."""
        if draft.limit != 1 or len(draft.order) != 1:
            return
        order = draft.order[0]
        if order.term.function is None and order.term.column is not None and not draft.group:
            yield from self._nest_first(draft, self.schema.columns[order.term.column].table)
        elif order.term == ROWS and draft.group and draft.group[0].column is not None:
            group = draft.group[0]
            assert group.column is not None
            inner = Draft(self.schema.columns[group.column].table, (group,), group=(group,), order=draft.order, limit=1)
            where = (*draft.where, (DraftCondition(group, "=", inner),))
            yield draft._replace(where=where, group=(), order=(), limit=None, extra=frozenset()), "nest_common"
            if draft.extra:
                outer = draft._replace(
                    where=(*draft.where, (DraftCondition(group, "=", inner._replace(extra=draft.extra)),))
                )
                yield outer._replace(group=(), order=(), limit=None, extra=frozenset()), "nest_common"

    def _nest_first(self, draft: Draft, table: int) -> Iterator[tuple[Draft, str]]:
        if table == draft.entity:
            return
        try:
            path = join_tree(self.schema, draft.entity, [table])
        except NoPath:
            return
        left, right = path[-1].pairs[0]
        own = tuple(c for c in draft.where if all(self._table_of(t) == table for t in c))
        rest = tuple(c for c in draft.where if c not in own)
        inner = Draft(table, (Term(right),), where=own, order=draft.order, limit=1)
        nested = draft._replace(where=(*rest, (DraftCondition(Term(left), "=", inner),)), order=(), limit=None)
        yield nested._replace(extra=draft.extra - {table}), "nest_first"
        for other in self.options.sortings[:3]:
            if other.limit == 1 and other.order != draft.order and other.order[0].term.function is None:
                yield nested._replace(extra=draft.extra - {table}, order=other.order, limit=1), "nest_first"

    def _table_of(self, condition: DraftCondition) -> int | None:
        column = condition.left.column
        return None if column is None else self.schema.columns[column].table

    def _inner_tests(self, draft: Draft, tests: tuple[ConditionOption, ...]) -> Iterator[tuple[Draft, str]]:
        """Above the average of the modern ones: what is said after the comparison belongs inside."""
        for number, test in enumerate(tests):
            inner = test.condition.right
            if not isinstance(inner, Draft):
                continue
            after = [i for i, other in enumerate(tests) if i != number and other.start >= test.start]
            if after:
                moved = inner._replace(where=tuple(draft.where[i] for i in after))
                where = tuple(c for i, c in enumerate(draft.where) if i != number and i not in after)
                yield draft._replace(where=(*where, (test.condition._replace(right=moved),))), "inner"

    def _memberships(self, draft: Draft) -> Iterator[tuple[Draft, str]]:
        """Conditions on a table that belongs to the entity, each row once: states that some such river runs through."""
        if draft.group or draft.combination or draft.distinct or not draft.where:
            return
        outside = {self._table_of(c[0]) for c in draft.where} - {draft.entity, None}
        elsewhere = {
            self.schema.columns[t.column].table
            for t in (*draft.select, *(o.term for o in draft.order))
            if t.column is not None
        }
        if len(outside) != 1 or elsewhere - {draft.entity}:
            return
        table = outside.pop()
        assert table is not None
        try:
            path = join_tree(self.schema, draft.entity, [table], self._compared(draft.where) & self.two_ways)
        except NoPath:
            return
        left, right = path[0].pairs[0]
        inner = tuple(c for c in draft.where if self._table_of(c[0]) == table)
        rest = tuple(c for c in draft.where if c not in inner)
        sub = Draft(path[0].end, (Term(right),), where=inner)
        yield draft._replace(where=(*rest, (DraftCondition(Term(left), "in", sub),)), extra=frozenset()), "member"

    def _compared(self, clauses: tuple[Clause, ...]) -> frozenset[int]:
        conditions = [c for clause in clauses for c in clause if c.operator == "="]
        return frozenset(c.left.column for c in conditions if c.left.column is not None)

    def _other_ways(self, draft: Draft) -> Iterator[tuple[Draft, str]]:
        """A table that points to another in two ways may be joined by the other one."""
        if not self.two_ways:
            return
        named = tables_of(draft, self.schema)
        tree = join_tree(self.schema, draft.entity, named, draft.avoid) if len(named) > 1 else []
        used = {column for edge in tree for pair in edge.pairs for column in pair}
        compared = self._compared(draft.where)
        for column in sorted(column for column in self.two_ways if column in used or column in compared):
            yield draft._replace(avoid=frozenset({column})), "avoid"

    def _may_be_distinct(self, draft: Draft) -> bool:
        return bool(
            self.distinct_is_likely
            and draft.select
            and draft.limit is None
            and draft.combination is None
            and not draft.group
            and all(term.function is None for term in draft.select)
            and all(order.term in draft.select for order in draft.order)
            and self._may_repeat(draft)
        )

    def _may_repeat(self, draft: Draft) -> bool:
        alone = tables_of(draft, self.schema) == {draft.entity}
        unique = any(t.column is not None and self.schema.columns[t.column].source.unique for t in draft.select)
        return not (alone and unique)

    def _pairs(self, draft: Draft, tests: tuple[ConditionOption, ...]) -> Iterator[tuple[Draft, str]]:
        """Two conditions on one column: either, or both at once by two rows."""
        for first in range(len(tests)):
            for second in range(first + 1, len(tests)):
                one, two = tests[first].condition, tests[second].condition
                rest = tuple(clause for i, clause in enumerate(draft.where) if i not in (first, second))
                same = one.left == two.left
                if same or "EITHER" in self.scene.cue_tags:
                    yield draft._replace(where=(*rest, (one, two))), "or"
                if (same and not draft.order) or ("BOTH" in self.scene.cue_tags and not draft.order):
                    right = draft._replace(where=(*rest, (two,)))
                    yield (
                        draft._replace(where=(*rest, (one,)), combination=Combination("intersect", right)),
                        "intersect",
                    )

    def _negations(self, draft: Draft, tests: tuple[ConditionOption, ...]) -> Iterator[tuple[Draft, str]]:
        negated = [i for i, test in enumerate(tests) if test.negated]
        if negated:
            flipped = tuple((_opposite(clause[0]),) if i in negated else clause for i, clause in enumerate(draft.where))
            if flipped != draft.where:
                yield draft._replace(where=flipped), "unequal"
        outer = tuple(clause for i, clause in enumerate(draft.where) if i not in negated)
        inner = tuple(clause for i, clause in enumerate(draft.where) if i in negated)
        yield from self._not_in(draft, outer, inner)
        if inner and len(draft.select) <= 2 and not draft.group and all(t.function is None for t in draft.select):
            left = draft._replace(where=outer, extra=frozenset())
            right = Draft(draft.entity, draft.select, where=inner, extra=draft.extra)
            yield left._replace(combination=Combination("except", right)), "except"

    def _not_in(
        self, draft: Draft, outer: tuple[tuple[DraftCondition, ...], ...], inner: tuple[tuple[DraftCondition, ...], ...]
    ) -> Iterator[tuple[Draft, str]]:
        entity = draft.entity
        start = min(cue.end for cue in self.scene.cues_of("NEG"))
        other_way = self._compared(inner) & self.two_ways
        for table in self._negated_tables(entity, start, inner):
            try:
                path = join_tree(self.schema, entity, [table], other_way)
            except NoPath:
                continue
            if not path:
                continue
            edge = path[0]
            left, right = edge.pairs[0]
            sub = Draft(edge.end, (Term(right),), where=inner, extra=frozenset({table} if table != edge.end else ()))
            kept = frozenset(t for t in draft.extra if t != table)
            where = (*outer, (DraftCondition(Term(left), "not_in", sub),))
            yield draft._replace(where=where, extra=frozenset()), "not_in"
            if kept:
                yield draft._replace(where=where, extra=kept), "not_in"

    def _negated_tables(self, entity: int, start: int, inner: tuple[tuple[DraftCondition, ...], ...]) -> list[int]:
        found = [
            self.schema.columns[c.left.column].table for clause in inner for c in clause if c.left.column is not None
        ]
        for number, mentions in self.scene.tables.items():
            if any(m.end > start for m in mentions) and self.options.tables[number] > 0.03:
                found.append(number)
        found.extend(t for t in self.likely_tables if t not in found)
        return [t for t in dict.fromkeys(found) if t != entity][:3]


def _total(scores: tuple[float, ...], evidence: Evidence) -> float:
    return sum(scores) + 0.7 * (evidence.select + evidence.where + evidence.order + evidence.having + evidence.group)


def _counts_one_of(terms: tuple[Term, ...]) -> bool:
    """A column and what is calculated beside it: either may come first."""
    return (terms[0].function is None) != (terms[1].function is None)


def _mixes_rows(draft: Draft) -> bool:
    """Without groups, what is calculated over all rows cannot stand beside a column of one of them."""
    terms = [*draft.select, *(order.term for order in draft.order)]
    calculated = any(term.function for term in terms)
    return calculated and not draft.group and any(term.function is None for term in terms)


def _sorts_one_row(draft: Draft) -> bool:
    return bool(draft.order) and not draft.group and any(term.function for term in draft.select)


def combines_figures(draft: Draft) -> bool:
    """What two figures have in common tells nobody anything: rows are combined first, and counted then."""
    return draft.combination is not None and not draft.group and any(term.function for term in draft.select)


def beyond_all(draft: Draft) -> bool:
    """More than the most there is, of all or of those above a number."""
    return any(
        (condition.operator, *(term.function for term in condition.right.select)) in ((">", "max"), ("<", "min"))
        and {condition.left.column} == set(own_columns(condition.right))
        for clause in draft.where
        if len(clause) == 1
        for condition in clause
        if isinstance(condition.right, Draft)
    )


def contradicts(draft: Draft) -> bool:
    """Conditions on one column that no row can meet together."""
    alone = [clause[0] for clause in draft.where if len(clause) == 1]
    for number, one in enumerate(alone):
        for two in alone[number + 1 :]:
            if one.left == two.left and _excludes(one, two):
                return True
    return False


def _excludes(one: DraftCondition, two: DraftCondition) -> bool:
    if one.operator == two.operator == "=":
        return one.right != two.right and not isinstance(one.right, Draft) and not isinstance(two.right, Draft)
    if not isinstance(one.right, int | float) or not isinstance(two.right, int | float):
        return False
    low, high = (one, two) if one.operator in (">", ">=") else (two, one)
    if low.operator not in (">", ">=") or high.operator not in ("<", "<="):
        return False
    return float(low.right) > float(high.right)  # type: ignore[arg-type]


def _two_ways(schema: Schema) -> frozenset[int]:
    """Columns of relationships that run beside another one between the same tables."""
    seen: dict[tuple[int, int], set[int]] = {}
    for edges in schema.edges.values():
        for edge in edges:
            seen.setdefault((edge.start, edge.end), set()).add(edge.pairs[0][0])
    return frozenset(column for columns in seen.values() if len(columns) > 1 for column in columns)


def _subsets(parts: list[SelectOption]) -> Iterator[list[SelectOption]]:
    """The likely ones together, each change of one or two of them, and each alone."""
    base = [part for part in parts if part.chance > 0.5] or parts[:1]
    yield base
    for part in parts:
        yield [part]
        toggled = [p for p in base if p is not part] if part in base else [*base, part]
        if toggled:
            yield toggled
        for other in base:
            if part not in base:
                yield [part if p is other else p for p in base]
    ranked = parts[:7]
    for size in range(2, 6):
        yield ranked[:size]
    for size in (2, 3):
        yield from map(list, combinations(ranked, size))


def _extended(sets: list[WhereSet], phrase: list[ConditionOption]) -> Iterator[WhereSet]:
    none = max(0.01, 1.0 - sum(test.chance for test in phrase))
    for one in sets:
        yield WhereSet(one.tests, one.score + log(none), one.dropped + 1)
        for test in phrase:
            yield WhereSet((*one.tests, test), one.score + log(max(test.chance, 0.005)), one.dropped)


def _opposite(condition: DraftCondition) -> DraftCondition:
    return condition._replace(operator="!=") if condition.operator == "=" else condition


def sorting_score(sorting: SortOption | None) -> float:
    return 0.0 if sorting is None else 0.4 * logit(sorting.chance)


def having_score(having: HavingOption | None) -> float:
    return 0.0 if having is None else 0.4 * logit(having.chance)


def tokens_of(tests: Iterable[ConditionOption]) -> set[int]:
    return {place for test in tests for place in range(test.start, test.end)}
