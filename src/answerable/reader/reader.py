"""Reads a question without a language model. The order of the stages is the order of `Reader.read`."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from itertools import islice, zip_longest
from typing import Any, NamedTuple

from answerable.answers.answer import Binding
from answerable.core.catalog import Catalog, Column, ValueLookup
from answerable.core.clock import Clock
from answerable.core.clock import today as today_of
from answerable.core.errors import UserError
from answerable.query.compiling import compiled
from answerable.query.nouns import Nouns
from answerable.query.plan import QueryPlan
from answerable.reader.everyday.request import COMPARING_WORDS
from answerable.reader.everyday.weighing import everyday_plans
from answerable.reader.experience import LIKE_AN_EXAMPLE, Example
from answerable.reader.explaining.bindings import BEFORE, bindings_of
from answerable.reader.explaining.sentence import sentence_with
from answerable.reader.explaining.stages import Stages, stages_of
from answerable.reader.grammar.dated_scene import DatedScene, Parse
from answerable.reader.grammar.follow_up import parse_follow_up, with_own_values
from answerable.reader.grammar.grammar import PLAIN_FORMS, parse_question
from answerable.reader.learned_questions import LearnedAnswer, LearnedQuestions
from answerable.reader.linking.lexicon import PERIODS, STOPWORDS
from answerable.reader.linking.scene import Scene, link_question, place_of_rows
from answerable.reader.linking.schema import TEMPORAL, Schema, build_schema
from answerable.reader.linking.tokens import tokenize
from answerable.reader.linking.unknown_words import (
    UnknownWords,
    asks_what_comes_near,
    empty_tables,
    no_rows_reply,
    unknown_words,
)
from answerable.reader.ranking.choices import (
    PARTLY_UNDERSTOOD,
    UnusedPhrase,
    answered_alone,
    answered_or_asked,
    choices_of,
    sensible,
    unused_phrases,
)
from answerable.reader.ranking.dry_run import Run, remembering
from answerable.reader.ranking.offers import OfferedReadings
from answerable.reader.ranking.plan_checks import (
    chooses_a_function,
    covers_cues,
    dropped_numbers,
    names_a_column,
    names_its_quantities,
)
from answerable.reader.ranking.pooling import Pool, Proposed, is_brief, is_same, pooled
from answerable.reader.ranking.rank import CandidateRanking, rank_candidates
from answerable.reader.reading import Read, Reading, Reply, Unsure
from answerable.reader.suggestions import suggested
from answerable.reader.time.date_phrases import find_dates
from answerable.reader.weights import OWN_WORDS, Weights, load_pool_weights, load_weights

MAX_READINGS = 5
GUESSED_CONFIDENCE = 0.5
EVERYDAY_CHOICES = 5
_MOST_OFFERED = 8
_MOSTLY = 0.6
# What is less likely is no real alternative, and would only distract from those that are.
_WORTH_CHOOSING = 0.02
_WORTH_OFFERING = 0.15
# An answer that the model of pooled answers thinks less likely is not called sure, or not given at all if a word of the
# question is unknown or if nothing else was left to choose.
_PROBABLE = 0.45
_FAIRLY_SURE = 0.6
_LONG_AGO = timedelta(days=100)
# High, so that the reader answers at once; below 1, because a form can still misread a question.
GRAMMAR_CONFIDENCE = 0.97
# Such a reading is answered too, but it is not called sure: the reader has chosen the quantity.
CHOSEN_CONFIDENCE = 0.84


@dataclass(frozen=True, slots=True)
class GrammarReading:
    """A reading that a form makes word for word."""

    reading: Reading
    certain: bool
    """The question speaks of measures or periods, where no other reading is likely. Otherwise the fitted candidates are
    tried first."""
    words: frozenset[int]
    """The places of the words that the form accounts for."""


class LikelyAnswer(NamedTuple):
    reading: Reading
    chance: float
    """How likely the user meant it."""
    explained: bool
    """A proposal gives it, and explains every word, none by a far-fetched meaning."""


class Reader:
    """Reads questions about one catalog. Pure computation: the optional dry run is a callable that is handed in."""

    def __init__(
        self,
        catalog: Catalog,
        values: ValueLookup,
        *,
        today: Callable[[], date] | Clock,
        weights: Weights | None = None,
        own_words: Weights | None = None,
    ) -> None:
        self._rebuilt_from = (catalog, values, today, weights, own_words)
        self.catalog = catalog
        self.values = values
        self.schema = build_schema(catalog, values)
        self.weights = weights or load_weights()
        self._today = today
        self._nouns = Nouns(catalog)
        self._offered = OfferedReadings(catalog, self.weights, self._sentence)
        self._own_words = own_words
        self._learned = LearnedQuestions(catalog, values)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickles only the arguments, and the receiving process builds the reader again: the arguments are small, the
        schema that is built from them is large."""
        return _rebuilt, self._rebuilt_from

    def today(self) -> date:
        return self._today() if callable(self._today) else today_of(self._today)

    def read(
        self,
        question: str,
        *,
        previous: QueryPlan | None = None,
        force: bool = False,
        run: Run | None = None,
    ) -> Reply:
        """Answers if sure, and asks back with readings to choose from if not. `previous` is the plan of the question
        before; `force` answers with the best reading, sure or not; `run` makes the dry run."""
        run = None if run is None else remembering(run)
        reply = self._read(question, previous, force, run)
        if isinstance(reply, Read) and not force:
            reply = answered_or_asked(reply, self._unused_content(reply.best, question), self.catalog)
        if not isinstance(reply, Unsure):
            return reply
        return self._answered_if_alone(self._with_choices(reply, question, run), question, run)

    def _unused_content(self, reading: Reading, question: str) -> list[UnusedPhrase]:
        """Content words that have no part in the reading. A follow-up accounts for all of its words."""
        unused = unused_phrases(reading)
        if not unused or any(binding.phrase == BEFORE for binding in reading.bindings):
            return []
        scene = self._linked(question).scene
        names, before = _places(scene, "TAB", "COL"), _places(scene, "COL", "BY")
        return [
            UnusedPhrase(token.text, describes=place + 1 in names or place - 1 in before)
            for place, (token, tag) in enumerate(zip(scene.tokens, scene.tags, strict=True))
            if token.text in unused and tag in ("O", "VAL", "TAB", "COL") and token.lower not in STOPWORDS
        ]

    def _answered_if_alone(self, reply: Unsure, question: str, run: Run | None) -> Reply:
        """Answers if only one reading is left to choose, it uses every word of the question, and it is likely."""
        if len(reply.readings) != 1 or reply.unknown:
            return reply
        dated = self._linked(question)
        only = self._with_bindings(reply.readings[0], question, dated)
        honoured = covers_cues(only.plan, dated.scene) and not dropped_numbers(only.plan, dated.scene)
        if not honoured or self._unused_content(only, question):
            return reply
        likely = run is None or self._is_likely(only, self.pool(question, run), run)
        return answered_alone(only) if likely else reply

    def _is_likely(self, reading: Reading, pool: Pool, run: Run) -> bool:
        """Whether the user may well have meant the reading, by the rows that it gives. If the dry run tells nothing,
        nobody knows better."""
        if not pool.was_run:
            return True
        if reading.sql and reading.sql not in pool.rows:
            pool.rows[reading.sql] = run([compiled(reading.plan, self.catalog)])[0]
        same = (one.chance for one in self._by_likelihood(pool) if is_same(pool, one.reading, reading))
        return max(same, default=0.0) >= _PROBABLE

    def _with_choices(self, reply: Unsure, question: str, run: Run | None) -> Unsure:
        """The few readings that are worth asking about, each with what it would answer."""
        words = [token.lower for token in tokenize(_marked(question)).tokens]
        readings = sensible(reply.readings, words, self.catalog)
        queries = [compiled(reading.plan, self.catalog) for reading in readings]
        results = [None] * len(queries) if run is None else run(queries)
        return reply.model_copy(update={"readings": choices_of(readings, results)})

    def _read(self, question: str, previous: QueryPlan | None, force: bool, run: Run | None) -> Reply:
        dated = self._linked(question)
        scene = dated.scene
        grammar = self._by_grammar(dated, previous)
        if grammar is not None and grammar.certain:
            return Read(best=self._with_bindings(grammar.reading, question, dated, previous, grammar.words))
        if grammar is None and (empty := empty_tables(scene)):
            return no_rows_reply(empty)
        unknown = _without_dates(unknown_words(scene), dated)
        if unknown.hopeless and not force:
            reply = self._rows_of_each_table(dated, unknown)
            return reply or self._in_own_words(question, unknown, (), run) or unknown.reply()
        ranking = self.rank(scene)
        # If the answer is forced, nobody chooses: one reading without a dry run is enough.
        readings = self._offered.best(ranking, None if force else run, wanted=1 if force else MAX_READINGS)
        if not readings:
            return unknown.reply()
        dropped = dropped_numbers(readings[0].plan, scene)
        unknown = _without_dates(replace(unknown, unknown=(*unknown.unknown, *dropped)), dated)
        understood = not (unknown.serious or dropped) and covers_cues(readings[0].plan, scene)
        if force or (understood and readings[0].confidence >= self.weights.threshold):
            best, *others = readings
            probable = force or self._is_probable(readings, question, scene, unknown, run)
            if unknown.unknown or not probable:
                best = best.model_copy(update={"confidence": min(best.confidence, PARTLY_UNDERSTOOD)})
            if probable or not unknown.unknown:
                return Read(best=self._with_bindings(best, question, dated), others=tuple(others))
        if grammar is not None:
            best = self._with_bindings(grammar.reading, question, dated, previous, grammar.words)
            # One reading less, because the reading of the grammar is offered as well.
            return Read(best=best, others=tuple(readings[:-1]))
        asked = Unsure(question=unknown.question(), readings=tuple(readings), unknown=unknown.unknown)
        return self._in_own_words(question, unknown, readings, run) or asked

    def _is_probable(
        self, readings: Sequence[Reading], question: str, scene: Scene, unknown: UnknownWords, run: Run | None
    ) -> bool:
        """Whether the best reading of the words as they are is likely for somebody who asks in few words. The models of
        these readings were fitted on full sentences, and are too sure of the others."""
        if run is None or not is_brief(scene):
            return True
        pool = self._pool(self._linked(question, guessing=True), unknown, readings, run)
        return self._is_likely(readings[0], pool, run)

    def _in_own_words(
        self,
        question: str,
        unknown: UnknownWords,
        readings: Sequence[Reading],
        run: Run | None,
    ) -> Reply | None:
        """Reads a question by proposals as well, with words taken for what they come near to in meaning. `readings`
        are those of the words as they are. None if that brings nothing new."""
        if unknown.truncated or not (readings or unknown.unknown):
            return None
        guessed = self._linked(question, guessing=True)
        pool = self._pool(guessed, unknown, readings, run)
        proposed = [one.reading for one in pool.proposals]
        if unknown.hopeless and not self._is_plausible(pool, run):
            return None
        brief = pool.was_run and is_brief(guessed.scene)
        if not unknown.unknown and not brief:
            # Sentences that are worded like the data are read best by models that were fitted on such questions.
            second = proposed[:1] if pool.proposals and not pool.proposals[0].left_over else []
            return self._offer(unknown, [*readings[:1], *second, *readings[1:], *proposed]) if readings else None
        if run is None:
            return self._offer(unknown, _in_turn(proposed, pool.in_own_words or readings))
        likely = self._by_likelihood(pool)
        best = likely[0] if likely else None
        if best is None or (unknown.hopeless and best.chance < _WORTH_OFFERING):
            return None
        if self._may_answer(best, guessed) and (unknown.unknown or not _contradicted(pool, best.reading)):
            confidence = min(best.chance, PARTLY_UNDERSTOOD)
            reading = best.reading.model_copy(update={"confidence": confidence})
            words = frozenset(range(len(guessed.words)))
            reading = self._with_bindings(reading, question, guessed, None, words)
            return Read(best=reading, others=tuple(one.reading for one in likely[1:MAX_READINGS]))
        if not unknown.unknown:
            return self._offer(unknown, _distinct([best.reading, *readings, *(one.reading for one in likely[1:])]))
        asked = _to_blame(unknown, self.schema)
        offer = self._offer(asked, [one.reading for one in likely if one is best or one.chance >= _WORTH_CHOOSING])
        return offer.model_copy(update={"question": asks_what_comes_near(asked)}) if best.explained else offer

    def _is_plausible(self, pool: Pool, run: Run | None) -> bool:
        """Whether proposals may be offered for a question of which next to nothing was understood as it is. Every word
        is near to some name of a large schema: without a dry run, only those of a single table are."""
        if not pool.proposals:
            return False
        best = pool.proposals[0]
        if run is None:
            return not best.left_over and len(self.schema.tables) == 1
        return best.explained >= _MOSTLY

    def pool(self, question: str, run: Run) -> Pool:
        """Every way of reading a question in people's own words: what the model that judges answers is fitted on."""
        dated, guessed = self._linked(question), self._linked(question, guessing=True)
        unknown = _without_dates(unknown_words(dated.scene), dated)
        readings = () if unknown.hopeless else self._offered.best(self.rank(dated.scene), run, wanted=MAX_READINGS)
        return self._pool(guessed, unknown, readings, run)

    def _pool(self, guessed: DatedScene, unknown: UnknownWords, readings: Sequence[Reading], run: Run | None) -> Pool:
        """What each way of reading makes of the question, with the rows of each reading."""
        scene = guessed.scene
        in_own_words: Sequence[Reading] = ()
        if unknown.unknown and not unknown_words(scene).hopeless:
            # Read from disk with the first question that needs them: most commands ask a single one.
            weights = self._own_words or load_weights(OWN_WORDS)
            offered = OfferedReadings(self.catalog, weights, self._sentence)
            in_own_words = offered.best(_ranked(scene, weights), run, wanted=MAX_READINGS)
        proposals = self._everyday(guessed)
        every = {one.sql: one for one in (*(p.reading for p in proposals), *in_own_words, *readings) if one.sql}
        rows = [] if run is None else run([compiled(one.plan, self.catalog) for one in every.values()])
        return Pool(scene, unknown, proposals, in_own_words, readings, dict(zip(every, rows, strict=False)))

    def _by_likelihood(self, pool: Pool) -> list[LikelyAnswer]:
        answers = pooled(pool)
        chances = load_pool_weights().trees.probabilities([answer.vector for answer in answers])
        found = [LikelyAnswer(a.reading, chance, a.explained) for a, chance in zip(answers, chances, strict=True)]
        likely: list[LikelyAnswer] = []
        for one in sorted(found, key=lambda one: -one.chance):
            if not any(is_same(pool, one.reading, better.reading) for better in likely):
                likely.append(one._replace(reading=_shown_as_asked(pool, one.reading)))
        return likely

    def _may_answer(self, best: LikelyAnswer, question: DatedScene) -> bool:
        """Whether the answer is likely and uses every word and number. If every guess stands for the rows themselves,
        or if the reader has chosen between a total and an average, that is not enough."""
        plan = best.reading.plan
        explained = best.explained and not dropped_numbers(plan, question.scene)
        said = names_a_column(plan) and not chooses_a_function(plan, question.scene)
        return explained and said and best.chance >= load_pool_weights().threshold

    def _everyday(self, question: DatedScene) -> list[Proposed]:
        """Readings of proposals, the likeliest first."""
        found: dict[str, Proposed] = {}
        for one in everyday_plans(question):
            try:
                sql = compiled(one.plan, self.catalog).text
            except UserError:
                continue
            if len(found) >= EVERYDAY_CHOICES:
                break
            reading = Reading(plan=one.plan, sentence=self._sentence(one.plan), confidence=GUESSED_CONFIDENCE, sql=sql)
            found.setdefault(sql, Proposed(reading, one.weight, one.left_over, one.explained, one.weakest))
        return list(found.values())

    def _offer(self, unknown: UnknownWords, readings: Sequence[Reading]) -> Unsure:
        return Unsure(question=unknown.question(), readings=tuple(readings[:_MOST_OFFERED]), unknown=unknown.unknown)

    def rank(self, scene: Scene) -> CandidateRanking:
        return _ranked(scene, self.weights)

    def unknown_words(self, question: str) -> UnknownWords:
        """Which words of the question mean nothing in this data."""
        return unknown_words(link_question(tokenize(_marked(question)), self.schema, self.values))

    def by_analogy(self, question: str, example: Example) -> Reading | None:
        """The question read like a saved one. None if they differ in more than a value or a period."""
        dated = self._linked(question)
        parse = with_own_values(dated, self._linked(example.question), example.plan)
        found = None if parse is None else self._grammar_reading(parse, certain=False)
        if found is None:
            return None
        reading = found.reading.model_copy(update={"confidence": LIKE_AN_EXAMPLE})
        return self._with_bindings(reading, question, dated, None, found.words)

    def learned(self, question: str) -> LearnedAnswer | None:
        """The statement of `semantic.yaml` that answers the question, or None."""
        return self._learned.answer(_marked(question), self._linked, self.today())

    def learned_like(self, question: str, most: int) -> tuple[str, ...]:
        """Questions of `semantic.yaml` that come near to this one."""
        return self._learned.alike(_marked(question), most)

    def answerable_questions(self, wanted: int, run: Run | None = None) -> tuple[str, ...]:
        """Questions about this data that were tried: the reader is sure of each and, after a dry run, it has rows."""
        return tuple(islice((text for text in suggested(self.catalog) if self._answers(text, run)), wanted))

    def _answers(self, question: str, run: Run | None) -> bool:
        reply = self.read(question, run=run)
        if not isinstance(reply, Read):
            return False
        rows = [[()]] if run is None else run([compiled(reply.best.plan, self.catalog)])
        return bool(rows[0])

    def bindings(self, question: str, plan: QueryPlan) -> tuple[Binding, ...]:
        """What each phrase of the question became in a plan that was chosen for it."""
        dated = self._linked(question)
        return bindings_of(_marked(question), dated.scene, plan, dated.dates)

    def explain_stages(self, question: str, run: Run | None = None) -> Stages:
        ranking = self.rank(link_question(tokenize(_marked(question)), self.schema, self.values))
        return stages_of(ranking, self._offered, run)

    def _linked(self, question: str, *, guessing: bool = False) -> DatedScene:
        scene = link_question(tokenize(_marked(question)), self.schema, self.values, guessing=guessing)
        today = self._last_day() if guessing else self.today()
        return DatedScene(scene, find_dates(scene.question.text, today))

    def _last_day(self) -> date:
        """Today or, for data that ended long ago, its last day: "in June" is then the June that the data has."""
        today = self.today()
        ends = [
            str(column.maximum)[:10] for table in self.catalog.tables for column in table.columns if _is_date(column)
        ]
        last = date.fromisoformat(max(ends)) if ends else today
        return last if today - last > _LONG_AGO else today

    def _by_grammar(self, question: DatedScene, previous: QueryPlan | None) -> GrammarReading | None:
        """What the grammar explains word for word: a follow-up, or a form of question."""
        # A question that was cut off may have lost the words that change its meaning.
        if question.scene.question.truncated:
            return None
        follow_up = parse_follow_up(question, previous) if previous is not None else None
        if follow_up is not None:
            return self._grammar_reading(follow_up, certain=True)
        found = parse_question(question)
        if found is None:
            return None
        certain = bool(previous or found.timely or self.catalog.measures)
        plain = found.form in PLAIN_FORMS and question.cue("DISTINCT") is None
        if not certain and not plain:
            return None
        reading = self._grammar_reading(found.parse, certain)
        if reading is None or not certain or names_its_quantities(found.parse.plan, question.scene):
            return reading
        return replace(reading, reading=reading.reading.model_copy(update={"confidence": CHOSEN_CONFIDENCE}))

    def _grammar_reading(self, parse: Parse, certain: bool) -> GrammarReading | None:
        try:
            sql = compiled(parse.plan, self.catalog).text
        except UserError:
            return None
        confidence = GRAMMAR_CONFIDENCE if certain else self.weights.threshold
        reading = Reading(plan=parse.plan, sentence=self._sentence(parse.plan), confidence=confidence, sql=sql)
        return GrammarReading(reading, certain, parse.words)

    def _rows_of_each_table(self, dated: DatedScene, unknown: UnknownWords) -> Unsure | None:
        """Asks which table is meant, if the question speaks of rows ("how many rows are there?") and there are
        several tables."""
        scene = dated.scene
        if unknown.linked or place_of_rows(scene.question, scene.links) is None:
            return None
        largest = sorted(self.schema.tables, key=lambda table: -(table.source.row_count or 0))
        tables = [table.id for table in largest[:MAX_READINGS]]
        scenes = [link_question(scene.question, self.schema, self.values, table) for table in tables]
        found = [self._by_grammar(DatedScene(one, dated.dates), None) for one in scenes]
        readings = [one.reading for one in found if one is not None]
        if not readings:
            return None
        return Unsure(question="Which table do you mean?", readings=tuple(readings))

    def _with_bindings(
        self,
        reading: Reading,
        question: str,
        dated: DatedScene,
        previous: QueryPlan | None = None,
        words: frozenset[int] = frozenset(),
    ) -> Reading:
        """Adds what each phrase of the question became. `words` are the places that a form accounts for."""
        bindings = bindings_of(
            _marked(question), dated.scene, reading.plan, dated.dates, accounted=words, previous=previous
        )
        return reading.model_copy(update={"bindings": bindings})

    def _sentence(self, plan: QueryPlan) -> str:
        return sentence_with(plan, self.catalog, self._nouns)


def _ranked(scene: Scene, weights: Weights) -> CandidateRanking:
    return rank_candidates(scene, weights.roles, weights.shapes, weights.ranker)


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


def _is_date(column: Column) -> bool:
    return column.type in TEMPORAL and isinstance(column.maximum, str) and len(column.maximum) >= 10


def _marked(question: str) -> str:
    """The question with one question mark at its end, as most questions have that the models were fitted on, so that
    leaving it out changes nothing."""
    bare = question.rstrip(" ?\n")
    return bare if bare.endswith((".", "!")) else f"{bare}?"


def _places(scene: Scene, *tags: str) -> set[int]:
    return {place for place, tag in enumerate(scene.tags) if tag in tags}


def _without_dates(unknown: UnknownWords, question: DatedScene) -> UnknownWords:
    """Words of a date were understood. They are not named if another word was not."""
    dated = {
        token.text
        for token in question.scene.tokens
        for span in question.dates
        if token.start < span.end_char and span.start_char < token.end
    }
    others = tuple(word for word in unknown.unknown if word not in dated)
    named = tuple(word for word in unknown.named if word not in dated)
    return replace(unknown, unknown=others, named=named) if others else unknown


def _contradicted(pool: Pool, best: Reading) -> bool:
    """Whether the models that were fitted on questions worded like the data are fairly sure of another reading."""
    worded = pool.as_worded[0] if pool.as_worded else None
    return worded is not None and worded.confidence >= _FAIRLY_SURE and not is_same(pool, worded, best)


def _distinct(readings: Sequence[Reading]) -> list[Reading]:
    return list({one.sql: one for one in readings}.values())


def _in_turn(proposed: Sequence[Reading], readings: Sequence[Reading]) -> list[Reading]:
    """The two best proposals, then one of each kind in turn; no query twice."""
    rest = (one for pair in zip_longest(readings, proposed[2:]) for one in pair if one is not None)
    return _distinct([*proposed[:2], *rest])


def _rebuilt(
    catalog: Catalog,
    values: ValueLookup,
    today: Callable[[], date] | Clock,
    weights: Weights | None,
    own_words: Weights | None,
) -> Reader:
    return Reader(catalog, values, today=today, weights=weights, own_words=own_words)
