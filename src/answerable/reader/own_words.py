"""Questions in people's own words: every way of reading them is pooled, and a fitted model says how likely each answer
is meant (`ranking/pooling.py`)."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import zip_longest
from typing import NamedTuple

from answerable.core.catalog import Catalog
from answerable.core.errors import UserError
from answerable.core.records import dataclass
from answerable.query.plan import Arithmetic, QueryPlan
from answerable.reader.everyday.request import COMPARING_WORDS
from answerable.reader.everyday.weighing import everyday_plans
from answerable.reader.linking.lexicon import PERIODS
from answerable.reader.linking.schema import Schema
from answerable.reader.linking.unknown_words import UnknownWords, asks_what_comes_near, unknown_words
from answerable.reader.questions import AskedQuestion
from answerable.reader.ranking.choices import MOST_CHOICES, PARTLY_UNDERSTOOD, counts_single_rows
from answerable.reader.ranking.offers import OfferedReadings
from answerable.reader.ranking.plan_checks import (
    chooses_a_function,
    covers_cues,
    dropped_numbers,
    names_a_column,
    shows_nobody,
    uses_number,
)
from answerable.reader.ranking.pooling import Pool, Proposed, is_brief, is_same, pooled
from answerable.reader.ranking.rank import rank_candidates
from answerable.reader.reading import Read, Reading, Reply, Unsure
from answerable.reader.weights import OWN_WORDS, Weights, load_pool_weights, load_weights

MAX_READINGS = 5
GUESSED_CONFIDENCE = 0.5
EVERYDAY_CHOICES = 5
_MOST_OFFERED = 8
# What is less likely is no real alternative, and would only distract from those that are.
_WORTH_CHOOSING = 0.02
_WORTH_OFFERING = 0.15
_WORTH_OFFERING_IF_ASKED = 0.1
_MOSTLY = 0.6
_ASKING = frozenset({"MAX", "MIN", "MOST", "LEAST", "OLD", "YOUNG", "COMMON", "RARE", "EACH", "BY"})
# An answer that the model of pooled answers thinks less likely is not called sure, or not given at all if a word of the
# question is unknown or if nothing else was left to choose.
_PROBABLE = 0.45
_FAIRLY_SURE = 0.6


class LikelyAnswer(NamedTuple):
    reading: Reading
    chance: float
    """How likely the user meant it."""
    explained: bool
    """A proposal gives it, and explains every word, none by a far-fetched meaning."""


@dataclass(frozen=True, slots=True)
class OwnWordsReadings:
    """Reads questions about one catalog with words taken for what they come near to in meaning."""

    catalog: Catalog
    schema: Schema
    sentence: Callable[[QueryPlan], str]
    weights: Weights | None
    """None for those that ship."""

    def read(self, question: AskedQuestion, unknown: UnknownWords, readings: Sequence[Reading]) -> Reply | None:
        """Answers, or asks with what every way of reading found. `readings` are those of the words as they are. None if
        that brings nothing new."""
        if unknown.truncated or not (readings or unknown.unknown or unknown.hopeless):
            return None
        pool = self.pool(question, unknown, readings)
        if unknown.hopeless and not pool.was_run and not self._is_plausible(pool):
            return None
        if not unknown.unknown and not (pool.was_run and is_brief(pool.scene)):
            return self._offer_as_worded(pool, unknown, readings)
        if not pool.was_run:
            proposed = [one.reading for one in pool.proposals]
            return offer(unknown, _in_turn(proposed, pool.in_own_words or readings))
        likely = self.likely(pool)
        best = likely[0] if likely else None
        if best is None or (unknown.hopeless and not _is_worth_offering(best.chance, pool)):
            return None
        if self._may_answer(best, pool) and (unknown.unknown or not _contradicted(pool, best.reading)):
            return self._answer(question, likely)
        if not unknown.unknown:
            # The best of the words as they are is a real alternative, however likely the pooled answers are.
            return offer(unknown, _distinct([best.reading, *readings[:1], *(one.reading for one in likely[1:])]))
        asked = _to_blame(unknown, self.schema)
        if pool.in_own_words and not is_brief(pool.scene):
            offered = offer(asked, _as_ranked(pool))
        else:
            offered = offer(asked, [one.reading for one in likely if one is best or one.chance >= _WORTH_CHOOSING])
        return offered.model_copy(update={"question": asks_what_comes_near(asked)}) if best.explained else offered

    def likeliest(self, question: AskedQuestion, unknown: UnknownWords, readings: Sequence[Reading]) -> Reading | None:
        """The best of all ways of reading, however unlikely it is."""
        pool = self.pool(question, unknown, readings)
        if pool.in_own_words and not (pool.was_run and is_brief(pool.scene)):
            return pool.in_own_words[0]
        return next((one.reading for one in self.likely(pool)), None) if pool.was_run else None

    def _offer_as_worded(self, pool: Pool, unknown: UnknownWords, readings: Sequence[Reading]) -> Unsure | None:
        """Sentences that are worded like the data are read best by models that were fitted on such questions."""
        proposed = [one.reading for one in pool.proposals]
        second = proposed[:1] if pool.proposals and not pool.proposals[0].left_over else []
        offered = [*readings[:1], *second, *readings[1:], *proposed]
        # What does nothing about a share, a superlative or a negation is no answer to a question that asks for it.
        offered.sort(key=lambda reading: not covers_cues(reading.plan, pool.scene))
        return offer(unknown, offered) if readings else None

    def _answer(self, question: AskedQuestion, likely: Sequence[LikelyAnswer]) -> Read:
        best, *others = likely
        reading = best.reading.model_copy(update={"confidence": min(best.chance, PARTLY_UNDERSTOOD)})
        words = frozenset(range(len(question.guessed.words)))
        return Read(
            best=question.bound(reading, None, words, guessing=True),
            others=tuple(one.reading for one in others[: MAX_READINGS - 1]),
        )

    def _is_plausible(self, pool: Pool) -> bool:
        """Whether proposals may be offered without a dry run for a question of which next to nothing was understood as
        it is. Every word is near to some name of a large schema: only those of a single table are."""
        return bool(pool.proposals) and not pool.proposals[0].left_over and len(self.schema.tables) == 1

    def pool(self, question: AskedQuestion, unknown: UnknownWords, readings: Sequence[Reading]) -> Pool:
        """What each way of reading makes of the question, with the rows of each reading."""
        scene = question.guessed.scene
        in_own_words: Sequence[Reading] = ()
        if unknown.unknown and not unknown_words(scene).hopeless:
            # Read from disk with the first question that needs them: most commands ask a single one.
            weights = self.weights or load_weights(OWN_WORDS)
            offered = OfferedReadings(self.catalog, weights, self.sentence)
            ranking = rank_candidates(scene, weights.roles, weights.shapes, weights.ranker)
            in_own_words = offered.best(ranking, question.run, wanted=MAX_READINGS)
        proposals = self._proposals(question)
        every = {one.sql: one for one in (*(p.reading for p in proposals), *in_own_words, *readings) if one.sql}
        rows = [] if question.run is None else question.run([question.query(one.plan) for one in every.values()])
        return Pool(scene, unknown, proposals, in_own_words, readings, dict(zip(every, rows, strict=False)))

    def _proposals(self, question: AskedQuestion) -> list[Proposed]:
        """Readings of proposals, the likeliest first."""
        found: dict[str, Proposed] = {}
        for one in everyday_plans(question.guessed):
            try:
                sql = question.query(one.plan).text
            except UserError:
                continue
            if len(found) >= EVERYDAY_CHOICES:
                break
            reading = Reading(plan=one.plan, sentence=self.sentence(one.plan), confidence=GUESSED_CONFIDENCE, sql=sql)
            found.setdefault(sql, Proposed(reading, one.weight, one.left_over, one.explained, one.weakest))
        return list(found.values())

    def likely(self, pool: Pool) -> list[LikelyAnswer]:
        """The answers of the pool, each once, the likeliest first."""
        answers = pooled(pool)
        chances = load_pool_weights().trees.probabilities([answer.vector for answer in answers])
        found = [LikelyAnswer(a.reading, chance, a.explained) for a, chance in zip(answers, chances, strict=True)]
        likely: list[LikelyAnswer] = []
        for one in sorted(found, key=lambda one: -one.chance):
            if counts_single_rows(one.reading.plan, self.catalog) or shows_nobody(one.reading.plan, pool.scene):
                continue
            if not any(is_same(pool, one.reading, better.reading) for better in likely):
                likely.append(one._replace(reading=_shown_as_asked(pool, one.reading)))
        return _grouped_if_asked(likely, pool)

    def _may_answer(self, best: LikelyAnswer, pool: Pool) -> bool:
        """Whether the answer is likely and uses every word and number. If every guess stands for the rows themselves,
        or if the reader has chosen between a total and an average, that is not enough."""
        plan = best.reading.plan
        explained = best.explained and not dropped_numbers(plan, pool.scene)
        said = names_a_column(plan) and not chooses_a_function(plan, pool.scene)
        return explained and said and best.chance >= load_pool_weights().threshold

    def is_likely(self, reading: Reading, pool: Pool, question: AskedQuestion) -> bool:
        """Whether the user may well have meant the reading, by the rows that it gives. If the dry run tells nothing,
        nobody knows better."""
        if not pool.was_run:
            return True
        same = (one.chance for one in self.likely(pool) if gives_the_same(pool, one.reading, reading, question))
        return max(same, default=0.0) >= _PROBABLE

    def finds_another_likelier(self, reading: Reading, pool: Pool, question: AskedQuestion) -> bool:
        likely = self.likely(pool) if pool.was_run else []
        return bool(likely) and not gives_the_same(pool, likely[0].reading, reading, question)


def _grouped_if_asked(likely: list[LikelyAnswer], pool: Pool) -> list[LikelyAnswer]:
    """ "Per driver" and "each month" are never dropped: they ask for groups, or for one number divided by another."""
    if not pool.scene.cues_of("EACH"):
        return likely
    return [one for one in likely if one.reading.plan.group_by or _divides(one.reading.plan)] or likely


def _divides(plan: QueryPlan) -> bool:
    return any(isinstance(item.expr, Arithmetic) and item.expr.op == "/" for item in plan.select)


def gives_the_same(pool: Pool, one: Reading, other: Reading, question: AskedQuestion) -> bool:
    """`other` need not be one of the pool."""
    if other.sql and other.sql not in pool.rows and question.run is not None:
        pool.rows[other.sql] = question.run([question.query(other.plan)])[0]
    return is_same(pool, one, other)


def offer(unknown: UnknownWords, readings: Sequence[Reading]) -> Unsure:
    """Asks which of the readings is meant, and names the words that were not understood."""
    # A number or year that a choice uses was understood, even if the first thought did not use it.
    used = [word for word in unknown.unknown if any(uses_number(one.plan, word) for one in readings[:MOST_CHOICES])]
    readings = sorted(readings, key=lambda one: not all(uses_number(one.plan, word) for word in used))
    unknown = replace(unknown, unknown=tuple(word for word in unknown.unknown if word not in used))
    return Unsure(question=unknown.question(), readings=tuple(readings[:_MOST_OFFERED]), unknown=unknown.unknown)


def _is_worth_offering(chance: float, pool: Pool) -> bool:
    """Whether to offer an answer to a question of which next to nothing was understood: its words are mostly explained,
    or it asks for something that data has (a number, a value, a superlative, groups) in other words."""
    asks = (
        pool.scene.numbers or pool.scene.values or pool.scene.links.parts or not _ASKING.isdisjoint(pool.scene.cue_tags)
    )
    if asks and chance >= _WORTH_OFFERING_IF_ASKED:
        return True
    explained = bool(pool.proposals) and pool.proposals[0].explained >= _MOSTLY
    return explained and chance >= _WORTH_OFFERING


def _shown_as_asked(pool: Pool, reading: Reading) -> Reading:
    """A full sentence says what it wants to see, and candidates show just that. A fragment leaves it open: then a
    proposal shows more, such as the number that it ranks by. Of candidates, the one that shows the least."""
    proposals = [one.reading for one in pool.proposals if is_same(pool, one.reading, reading)]
    candidates = sorted(
        (one for one in pool.in_own_words if is_same(pool, one, reading)), key=lambda one: len(one.plan.select)
    )
    ways = (proposals, candidates) if is_brief(pool.scene) else (candidates, proposals)
    return next((one for way in ways for one in way), reading)


def _to_blame(unknown: UnknownWords, schema: Schema) -> UnknownWords:
    """Words that need no name in the data are not to blame: "vs", and days and months of data with dates."""
    dated = any(view.temporal for view in schema.columns)
    words = (word for word in unknown.unknown if not (dated and word.lower() in PERIODS))
    return replace(unknown, unknown=tuple(word for word in words if word.lower() not in COMPARING_WORDS))


def _contradicted(pool: Pool, best: Reading) -> bool:
    """Whether the models that were fitted on questions worded like the data are fairly sure of another reading."""
    worded = pool.as_worded[0] if pool.as_worded else None
    return worded is not None and worded.confidence >= _FAIRLY_SURE and not is_same(pool, worded, best)


def _as_ranked(pool: Pool) -> list[Reading]:
    """The candidates of a full sentence in their own order. The model of pooled answers was fitted on brief questions:
    on folds of Spider-Syn it has the right reading among the first three for 110 of 229, this order for 133."""
    first, rest = pool.in_own_words[:2], pool.in_own_words[2:]
    proposed = [one.reading for one in pool.proposals]
    explained = proposed[:1] if pool.proposals and not pool.proposals[0].left_over else []
    return _distinct([*first, *explained, *pool.as_worded[:1], *rest, *proposed])


def _distinct(readings: Sequence[Reading]) -> list[Reading]:
    return list({one.sql: one for one in readings}.values())


def _in_turn(proposed: Sequence[Reading], readings: Sequence[Reading]) -> list[Reading]:
    """The two best proposals, then one of each kind in turn; no query twice."""
    rest = (one for pair in zip_longest(readings, proposed[2:]) for one in pair if one is not None)
    return _distinct([*proposed[:2], *rest])
