"""The input of composing (the options for each clause, in a `Composition`) and its output (a `Candidate`)."""

from collections.abc import Callable, Iterator, Mapping
from functools import cache, partial
from math import log
from typing import NamedTuple, TypeAlias

from answerable.core.records import dataclass
from answerable.reader.candidates.shape import Shape, ShapeScores
from answerable.reader.linking.scene import Scene
from answerable.reader.linking.schema import Schema
from answerable.reader.plans.draft import Clause, Draft, DraftCondition, DraftOrder, Term
from answerable.reader.plans.joins import NoPath, join_tree

# An option below one in seventy is not worth the drafts that it would cost.
LEAST_CHANCE = 0.015


class SelectOption(NamedTuple):
    """A piece of the query with the place in the question that it comes from."""

    term: Term
    place: float
    chance: float
    last: float = 0.0
    """The last place where it could come from; lists of what to show often stand at the end."""


class ConditionOption(NamedTuple):
    """A condition with the tokens that it accounts for."""

    condition: DraftCondition
    start: int
    end: int
    chance: float
    negated: bool = False
    """Stands in the scope of a negation."""


class SortOption(NamedTuple):
    order: tuple[DraftOrder, ...]
    limit: int | None
    chance: float


class HavingOption(NamedTuple):
    condition: DraftCondition
    place: int
    chance: float


@dataclass
class ClauseOptions:
    parts: list[SelectOption]
    tests: list[list[ConditionOption]]
    """For each phrase its possible conditions; one of them, or none, is used."""
    nested: list[ConditionOption]
    """Comparisons with other rows or columns; at most one is used."""
    sortings: list[SortOption]
    havings: list[HavingOption]
    tables: list[float]
    groups: list[tuple[int, float]]


def logit(chance: float) -> float:
    # Limits the result to about 6 in either direction, so that one sure option cannot outweigh all others.
    bounded = min(max(chance, 0.002), 0.998)
    return log(bounded / (1.0 - bounded))


# A table above this chance joins in even where none of its columns is used: "customers who ordered" names orders.
_LIKELY_TABLE = 0.45
# Below this chance a table is only noise: with 40 tables, most of them have a chance of one or two in a hundred.
_POSSIBLE_TABLE = 0.05
# DISTINCT doubles the number of drafts, so it is tried only where the words make it at least this likely.
_LEAST_DISTINCT = log(0.03)

Chances: TypeAlias = Mapping[str, Mapping[str, float]]
"""For each part of the shape the logarithm of the probability of each of its values."""
Tests: TypeAlias = tuple[ConditionOption, ...]


class Evidence(NamedTuple):
    """How likely the options of a candidate are. The ranker weighs it."""

    select: float
    where: float
    order: float
    having: float
    group: float
    dropped: int
    """How many phrases with a possible condition were left without one."""
    tests: Tests
    variant: str
    """The name of the variant that the draft is, or an empty text for the plain draft."""


class UnscoredCandidate(NamedTuple):
    draft: Draft
    evidence: Evidence


class Candidate(NamedTuple):
    draft: Draft
    shape: Shape
    scores: tuple[float, ...]
    """How well each part of the shape fits the words."""
    evidence: Evidence
    score: float


class Relation(NamedTuple):
    """A table with two columns that both point to one other table: a border has two states."""

    table: int
    here: int
    there: int
    to: int
    """The table whose rows are related."""
    key: int


@dataclass(frozen=True, slots=True)
class Composition:
    """The data that the steps of composing read. It belongs to one question and does not change."""

    scene: Scene
    schema: Schema
    options: ClauseOptions
    chances: Chances
    shape_scores: ShapeScores
    relations: tuple[Relation, ...]
    parallel_keys: frozenset[int]
    """Columns of relationships that run beside another one between the same tables: home team and away team."""
    likely_tables: tuple[int, ...]
    possible_tables: tuple[int, ...]
    distinct_is_likely: bool
    joined: Callable[[int, frozenset[int]], frozenset[int] | None]
    """The tables of a join from one table to the others, or None if they are not connected."""


Step: TypeAlias = Callable[[UnscoredCandidate, Composition], Iterator[UnscoredCandidate]]
"""Turns one draft into the drafts that go on, in order of plausibility."""
Variant: TypeAlias = Callable[[Draft, Tests, Composition], Iterator[tuple[Draft, str]]]
"""Yields other structures for a draft, each with the name that the ranker knows the variant by."""


def composition_of(scene: Scene, options: ClauseOptions, chances: Chances) -> Composition:
    ranked = sorted(range(len(options.tables)), key=lambda table: -options.tables[table])
    possible = [table for table in ranked if _POSSIBLE_TABLE < options.tables[table] <= _LIKELY_TABLE]
    return Composition(
        scene=scene,
        schema=scene.schema,
        options=options,
        chances=chances,
        shape_scores=ShapeScores(chances),
        relations=relations_of(scene.schema),
        parallel_keys=_parallel_keys(scene.schema),
        likely_tables=tuple(sorted(table for table in ranked if options.tables[table] > _LIKELY_TABLE)),
        # Two at most, because each of them adds a draft to every counted group.
        possible_tables=tuple(possible[:2]),
        distinct_is_likely=chances["distinct"].get("1", -9.0) > _LEAST_DISTINCT,
        # Hundreds of drafts of one question ask for the same few joins.
        joined=cache(partial(_joined, scene.schema)),
    )


def _joined(schema: Schema, entity: int, needed: frozenset[int]) -> frozenset[int] | None:
    try:
        edges = join_tree(schema, entity, needed)
    except NoPath:
        return None
    return frozenset((entity, *(edge.end for edge in edges)))


def relations_of(schema: Schema) -> tuple[Relation, ...]:
    """Every relation of rows of one table with each other, in both directions."""
    found = []
    for table, edges in schema.edges.items():
        for one in edges:
            for two in edges:
                # A draft compares single columns, so only the first pair of a compound key counts.
                (here, key), (there, other) = one.pairs[0], two.pairs[0]
                if one.end == two.end != table and here != there and key == other:
                    found.append(Relation(table, here, there, one.end, key))
    return tuple(found)


def _parallel_keys(schema: Schema) -> frozenset[int]:
    seen: dict[tuple[int, int], set[int]] = {}
    for edges in schema.edges.values():
        for edge in edges:
            seen.setdefault((edge.start, edge.end), set()).add(edge.pairs[0][0])
    return frozenset(column for columns in seen.values() if len(columns) > 1 for column in columns)


def compared_columns(clauses: tuple[Clause, ...]) -> frozenset[int]:
    """The columns that some condition says are equal to something."""
    conditions = [c for clause in clauses for c in clause if c.operator == "="]
    return frozenset(c.left.column for c in conditions if c.left.column is not None)
