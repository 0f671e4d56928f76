"""Answers of every way of reading, pooled: readings that give the same rows are one answer, and a fitted model says how
likely each is what the user meant.

Proposals (`everyday/`) and fitted candidates are made in different ways. Where they agree, both are likely right, and
where a proposal explains every word, it is likelier than one that leaves words over. How much each of this counts is
fitted on questions in people's own words.
"""

from collections.abc import Sequence
from math import log1p
from typing import NamedTuple

from answerable.core.records import dataclass
from answerable.query.plan import And, Filter, QueryPlan
from answerable.reader.fitted.features import Vector
from answerable.reader.linking.scene import Scene
from answerable.reader.linking.unknown_words import UnknownWords
from answerable.reader.ranking.choices import FULL_SENTENCE
from answerable.reader.ranking.dry_run import Rows
from answerable.reader.ranking.plan_checks import covers_cues, dropped_numbers, names_a_column
from answerable.reader.reading import Reading

# A word that names one of two words of a column, or is less near to it in meaning, may as well mean another.
_WELL_EXPLAINED = 0.5
# The rank of an answer in a list that does not have it.
_ABSENT = 9.0


class Proposed(NamedTuple):
    """A reading of a question in people's own words."""

    reading: Reading
    weight: float
    """The logarithm of how likely it is by itself."""
    left_over: int
    """How many content words have no part in it."""
    explained: float
    """The share of the content words that have a part in it."""
    weakest: float
    """How well the word is explained that is explained worst."""


@dataclass(frozen=True, slots=True)
class Pool:
    """What was read in each way, the likeliest first, with the rows of each reading by its SQL."""

    scene: Scene
    unknown: UnknownWords
    proposals: Sequence[Proposed]
    in_own_words: Sequence[Reading]
    """Fitted candidates, with words linked by meaning."""
    as_worded: Sequence[Reading]
    """Fitted candidates of the words as they are."""
    rows: dict[str, Rows | None]

    @property
    def was_run(self) -> bool:
        """Whether the dry run told anything."""
        return any(rows is not None for rows in self.rows.values())


class ReadBy(NamedTuple):
    """Which ways of reading lead to the answer, and how surely."""

    proposal_rank: float
    proposal_gap: float
    proposal_weight: float
    left_over: float
    explained: float
    weakest: float
    own_words_rank: float
    own_words_confidence: float
    as_worded_rank: float
    as_worded_confidence: float
    agreeing: float
    shown_as_proposal: float


class RowFacts(NamedTuple):
    """What came out of the dry run."""

    known: float
    rows: float
    columns: float
    one_value: float
    void: float
    zero: float
    repeated: float


class PlanFacts(NamedTuple):
    tables: float
    conditions: float
    having: float
    grouped: float
    ordered: float
    limited: float
    distinct: float
    shown: float
    covers_cues: float
    dropped_numbers: float
    names_a_column: float


class QuestionFacts(NamedTuple):
    words: float
    unknown: float
    share_unknown: float
    hopeless: float
    tables: float
    columns: float
    values: float
    numbers: float
    proposals: float
    candidates: float
    second_proposal: float
    asks_who: float
    asks_count: float
    share: float
    average: float
    extreme: float
    each: float
    negation: float


POOL_FEATURE_NAMES = (
    *ReadBy._fields,
    *RowFacts._fields,
    *PlanFacts._fields,
    *(f"question.{n}" for n in QuestionFacts._fields),
)


class PooledAnswer(NamedTuple):
    reading: Reading
    vector: Vector
    explained: bool
    """A proposal gives it, and explains every word, none by a far-fetched meaning."""


def pooled(pool: Pool) -> list[PooledAnswer]:
    """One answer for each table of rows. Two that show more and less of the same rows are two answers: which of them is
    better is left to the model."""
    readings = [
        *(one.reading for one in pool.proposals),
        *pool.in_own_words,
        *pool.as_worded,
    ]
    answers: list[Reading] = []
    for reading in readings:
        if not any(_is_equal(pool, answer, reading) for answer in answers):
            answers.append(reading)
    question = _question_facts(pool)
    return [_answer(pool, reading, question) for reading in answers]


def is_brief(scene: Scene) -> bool:
    """Whether the question is of few words, as people type them who leave to the reader what they do not say."""
    return len(scene.tokens) < FULL_SENTENCE


def is_same(pool: Pool, one: Reading, other: Reading) -> bool:
    """Whether two readings give the same rows, of which one may show more."""
    if one.sql == other.sql:
        return True
    mine, theirs = pool.rows.get(one.sql or ""), pool.rows.get(other.sql or "")
    return bool(mine) and bool(theirs) and (_holds(mine or (), theirs or ()) or _holds(theirs or (), mine or ()))


def _is_equal(pool: Pool, one: Reading, other: Reading) -> bool:
    mine, theirs = pool.rows.get(one.sql or ""), pool.rows.get(other.sql or "")
    same_width = bool(mine) and bool(theirs) and len((mine or [()])[0]) == len((theirs or [()])[0])
    return one.sql == other.sql or (same_width and is_same(pool, one, other))


def _holds(rows: Rows, others: Rows) -> bool:
    """Whether the columns of the others are among those of the rows: a proposal also shows what it ranks by."""
    if not others or len(rows) != len(others):
        return False
    columns = {tuple(sorted(map(repr, column))) for column in zip(*rows, strict=True)}
    return all(tuple(sorted(map(repr, column))) in columns for column in zip(*others, strict=True))


def _answer(pool: Pool, reading: Reading, question: QuestionFacts) -> PooledAnswer:
    rows = pool.rows.get(reading.sql or "")
    proposals = [(rank, one) for rank, one in enumerate(pool.proposals, 1) if is_same(pool, reading, one.reading)]
    best = proposals[0] if proposals else None
    own, as_worded = _rank(pool, reading, pool.in_own_words), _rank(pool, reading, pool.as_worded)
    read_by = ReadBy(
        proposal_rank=float(best[0]) if best else _ABSENT,
        proposal_gap=pool.proposals[0].weight - best[1].weight if best else _ABSENT,
        proposal_weight=best[1].weight if best else -2 * _ABSENT,
        left_over=float(best[1].left_over) if best else _ABSENT,
        explained=best[1].explained if best else -1.0,
        weakest=best[1].weakest if best else -1.0,
        own_words_rank=own,
        own_words_confidence=_confidence(pool.in_own_words, own),
        as_worded_rank=as_worded,
        as_worded_confidence=_confidence(pool.as_worded, as_worded),
        agreeing=float((best is not None and best[0] == 1) + (own == 1.0) + (as_worded == 1.0)),
        shown_as_proposal=float(best is not None),
    )
    vector = [*read_by, *_row_facts(rows), *_plan_facts(pool.scene, reading.plan), *question]
    return PooledAnswer(reading, vector, best is not None and best[1].weakest >= _WELL_EXPLAINED)


def _rank(pool: Pool, answer: Reading, readings: Sequence[Reading]) -> float:
    return next((float(rank) for rank, one in enumerate(readings, 1) if is_same(pool, answer, one)), _ABSENT)


def _confidence(readings: Sequence[Reading], rank: float) -> float:
    """That of the best reading, and its opposite for the others: it is fitted for the best alone."""
    best = readings[0].confidence if readings else 0.0
    return best if rank == 1.0 else -best


def _row_facts(rows: Rows | None) -> RowFacts:
    values = [value for row in rows or () for value in row]
    return RowFacts(
        known=float(rows is not None),
        rows=log1p(len(rows or ())),
        columns=float(len(rows[0])) if rows else 0.0,
        one_value=float(len(values) == 1),
        void=float(rows is not None and all(value is None for value in values)),
        zero=float(len(values) == 1 and values[0] == 0),
        repeated=float(len({tuple(row) for row in rows or ()}) < len(rows or ())),
    )


def _plan_facts(scene: Scene, plan: QueryPlan) -> PlanFacts:
    return PlanFacts(
        tables=float(1 + len(plan.joins)),
        conditions=float(_conditions(plan.where)),
        having=float(plan.having is not None),
        grouped=float(len(plan.group_by)),
        ordered=float(bool(plan.order_by)),
        limited=float(plan.limit is not None),
        distinct=float(plan.distinct),
        shown=float(len(plan.select)),
        covers_cues=float(covers_cues(plan, scene)),
        dropped_numbers=float(len(dropped_numbers(plan, scene))),
        names_a_column=float(names_a_column(plan)),
    )


def _conditions(where: Filter | None) -> int:
    if where is None:
        return 0
    return len(where.parts) if isinstance(where, And) else 1


def _question_facts(pool: Pool) -> QuestionFacts:
    scene, tags = pool.scene, pool.scene.cue_tags
    weights = [one.weight for one in pool.proposals]
    return QuestionFacts(
        words=float(len(scene.tokens)),
        unknown=float(len(pool.unknown.unknown)),
        share_unknown=pool.unknown.share,
        hopeless=float(pool.unknown.hopeless),
        tables=float(len(scene.schema.tables)),
        columns=float(len(scene.schema.columns)),
        values=float(len(scene.values)),
        numbers=float(len(scene.numbers)),
        proposals=float(len(pool.proposals)),
        candidates=float(len(pool.in_own_words)),
        second_proposal=weights[0] - weights[1] if len(weights) > 1 else _ABSENT,
        asks_who=float(scene.asks_who),
        asks_count=float("COUNT" in tags),
        share=float("SHARE" in tags),
        average=float("AVG" in tags),
        extreme=float(not tags.isdisjoint(("MAX", "MIN", "MOST", "LEAST", "OLD", "YOUNG", "COMMON", "RARE"))),
        each=float(not tags.isdisjoint(("EACH", "BY"))),
        negation=float("NEG" in tags),
    )
