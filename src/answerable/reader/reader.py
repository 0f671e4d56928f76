"""Reads a question without a language model. The order of the stages is the order of `Reader._read`."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import date, datetime, time
from itertools import islice
from typing import TYPE_CHECKING, Any

from answerable.answers.answer import Binding
from answerable.core.catalog import Catalog, ValueLookup
from answerable.core.clock import Clock
from answerable.core.clock import today as today_of
from answerable.query.compiling import compiled
from answerable.query.nouns import Nouns
from answerable.query.plan import QueryPlan
from answerable.reader.experience import LIKE_AN_EXAMPLE, Example
from answerable.reader.explaining.bindings import BEFORE, bindings_of
from answerable.reader.explaining.sentence import sentence_with
from answerable.reader.explaining.stages import Stages, stages_of
from answerable.reader.form_readings import FormReading, FormReadings
from answerable.reader.grammar.dated_scene import DatedScene
from answerable.reader.grammar.follow_up import points_back, with_own_values
from answerable.reader.learned_questions import LearnedAnswer, LearnedQuestions
from answerable.reader.linking.lexicon import STOPWORDS
from answerable.reader.linking.scene import Scene, link_question
from answerable.reader.linking.schema import build_schema
from answerable.reader.linking.tokens import tokenize
from answerable.reader.linking.unknown_words import UnknownWords, empty_tables, no_rows_reply, unknown_words
from answerable.reader.own_words import MAX_READINGS, OwnWordsReadings, offer
from answerable.reader.plans.full_names import with_full_names
from answerable.reader.questions import AskedQuestion, QuestionLinker, marked, without_dates
from answerable.reader.ranking.choices import (
    PARTLY_UNDERSTOOD,
    UnusedPhrase,
    answered_alone,
    answered_or_asked,
    choices_of,
    counts_single_rows,
    sensible,
    unused_phrases,
)
from answerable.reader.ranking.dry_run import Run
from answerable.reader.ranking.offers import OfferedReadings
from answerable.reader.ranking.plan_checks import covers_cues, dropped_numbers, shows_nobody
from answerable.reader.ranking.pooling import Pool, is_brief
from answerable.reader.ranking.rank import CandidateRanking, rank_candidates
from answerable.reader.reading import Read, Reading, Reply, Unsure
from answerable.reader.suggestions import suggested
from answerable.reader.weights import Weights, load_weights

if TYPE_CHECKING:
    from answerable.reader.graph_words import PathAnswer

# On folds of databases, 97.5% of the Spider questions that were read so surely were read rightly, and all of GeoQuery;
# of those that are just likely enough to be answered, 93% and 97%.
_SURE_FROM = 0.95


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
        self._linker = QuestionLinker(catalog, values, self.schema, self.today)
        self._forms = FormReadings(catalog, values, self.schema, self._sentence, self.weights.threshold)
        self._offered = OfferedReadings(catalog, self.weights, self._sentence)
        self._own_words = OwnWordsReadings(catalog, self.schema, self._sentence, own_words)
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
        asked = AskedQuestion(question, self._linker, run)
        reply = self._read(asked, previous, force)
        if isinstance(reply, Read) and previous is not None:
            reply = _less_sure_if_it_points_back(reply, asked)
        if isinstance(reply, Read) and not force:
            reply = answered_or_asked(reply, self._unused_content(reply.best, asked), self.catalog)
        if not isinstance(reply, Unsure):
            return reply
        return self._answered_if_alone(self._with_choices(reply, asked), asked)

    def _read(self, question: AskedQuestion, previous: QueryPlan | None, force: bool) -> Reply:
        scene = question.dated.scene
        form = self._forms.best(question.dated, previous)
        if form is not None and previous is None and shows_nobody(form.reading.plan, scene):
            form = None
        if form is not None and previous is None and not force:
            form = self._doubted(form, question)
        if form is not None and form.certain:
            return Read(best=question.bound(form.reading, previous, form.words))
        if form is None and (empty := empty_tables(scene)):
            return no_rows_reply(empty)
        unknown = question.unknown
        if unknown.hopeless and not force:
            reply = self._forms.rows_of_each_table(question.dated, unknown)
            return reply or self._own_words.read(question, unknown, ()) or unknown.reply()
        # If the answer is forced, nobody chooses: of known words one reading without a dry run is enough.
        one_is_enough = force and not unknown.unknown
        readings = self._offered.best(
            self.rank(scene), None if one_is_enough else question.run, wanted=1 if one_is_enough else MAX_READINGS
        )
        if not readings:
            return unknown.reply()
        dropped = dropped_numbers(readings[0].plan, scene)
        unknown = without_dates(replace(unknown, unknown=(*unknown.unknown, *dropped)), question.dated)
        plan = readings[0].plan
        sensible_plan = covers_cues(plan, scene) and not counts_single_rows(plan, self.catalog)
        understood = sensible_plan and not (unknown.serious or dropped)
        if force and unknown.unknown and (best := self._own_words.likeliest(question, unknown, readings)):
            return Read(best=question.bound(best, guessing=True))
        if force or (understood and readings[0].confidence >= self.weights.threshold):
            answer = self._as_worded(readings, question, unknown, force)
            if answer is not None:
                return answer
        if form is not None:
            # One reading less, because the reading of the form is offered as well.
            return Read(best=question.bound(form.reading, previous, form.words), others=tuple(readings[:-1]))
        return self._own_words.read(question, unknown, readings) or offer(unknown, readings)

    def _doubted(self, form: FormReading, question: AskedQuestion) -> FormReading:
        """Not called sure if the model of pooled answers finds another answer likelier: a form may account for a word
        ("who made more") that it does nothing about. That model does not know measures."""
        if question.run is None or self.catalog.measures:
            return form
        if not self._own_words.finds_another_likelier(form.reading, self._pool(question), question):
            return form
        confidence = min(form.reading.confidence, PARTLY_UNDERSTOOD)
        return replace(form, reading=form.reading.model_copy(update={"confidence": confidence}))

    def _as_worded(
        self, readings: Sequence[Reading], question: AskedQuestion, unknown: UnknownWords, force: bool
    ) -> Read | None:
        """Answers with the best reading of the words as they are. The models of these readings were fitted on full
        sentences and are too sure of others, so the answer to a brief question is judged by the pooled answers, too:
        it is not called sure if another one is likelier, and not given if a word is unknown and it is unlikely."""
        best, *others = readings
        if not force:
            best = self._with_full_names(best, question)
        sure = not unknown.unknown
        if not force and question.run is not None and is_brief(question.dated.scene):
            pool = self._own_words.pool(question, unknown, readings)
            probable = self._own_words.is_likely(best, pool, question)
            if unknown.unknown and not probable:
                return None
            sure = sure and probable and not self._own_words.finds_another_likelier(best, pool, question)
        if not sure or best.confidence < _SURE_FROM:
            best = best.model_copy(update={"confidence": min(best.confidence, PARTLY_UNDERSTOOD)})
        return Read(best=question.bound(best), others=tuple(others))

    def _with_full_names(self, reading: Reading, question: AskedQuestion) -> Reading:
        """People are shown by their full names, unless the question asks for a part of them."""
        plan = with_full_names(reading.plan, question.dated.scene)
        if plan is reading.plan:
            return reading
        sql = question.query(plan).text
        return reading.model_copy(update={"plan": plan, "sentence": self._sentence(plan), "sql": sql})

    def _unused_content(self, reading: Reading, question: AskedQuestion) -> list[UnusedPhrase]:
        """Content words that have no part in the reading. A follow-up accounts for all of its words."""
        unused = unused_phrases(reading)
        if not unused or any(binding.phrase == BEFORE for binding in reading.bindings):
            return []
        scene = question.dated.scene
        names, before = _places(scene, "TAB", "COL"), _places(scene, "COL", "BY")
        return [
            UnusedPhrase(token.text, describes=place + 1 in names or place - 1 in before)
            for place, (token, tag) in enumerate(zip(scene.tokens, scene.tags, strict=True))
            if token.text in unused and tag in ("O", "VAL", "TAB", "COL") and token.lower not in STOPWORDS
        ]

    def _with_choices(self, reply: Unsure, question: AskedQuestion) -> Unsure:
        """The few readings that are worth asking about, each with what it would answer."""
        words = [token.lower for token in question.dated.scene.tokens]
        readings = sensible(reply.readings, words, self.catalog)
        queries = [question.query(reading.plan) for reading in readings]
        results = [None] * len(queries) if question.run is None else question.run(queries)
        return reply.model_copy(update={"readings": choices_of(readings, results)})

    def _answered_if_alone(self, reply: Unsure, question: AskedQuestion) -> Reply:
        """Answers if only one reading is left to choose, it uses every word of the question, and it is likely."""
        if len(reply.readings) != 1 or reply.unknown:
            return reply
        scene = question.dated.scene
        only = question.bound(reply.readings[0])
        honoured = covers_cues(only.plan, scene) and not dropped_numbers(only.plan, scene)
        if not honoured or self._unused_content(only, question):
            return reply
        likely = question.run is None or self._own_words.is_likely(only, self._pool(question), question)
        return answered_alone(only) if likely else reply

    def pool(self, question: str, run: Run) -> Pool:
        """Every way of reading a question in people's own words: what the model that judges answers is fitted on."""
        return self._pool(AskedQuestion(question, self._linker, run))

    def _pool(self, question: AskedQuestion) -> Pool:
        unknown = question.unknown
        readings: Sequence[Reading] = ()
        if not unknown.hopeless:
            readings = self._offered.best(self.rank(question.dated.scene), question.run, wanted=MAX_READINGS)
        return self._own_words.pool(question, unknown, readings)

    def rank(self, scene: Scene) -> CandidateRanking:
        return rank_candidates(scene, self.weights.roles, self.weights.shapes, self.weights.ranker)

    def linked(self, question: str, *, guessing: bool = False) -> DatedScene:
        """The question with its words linked to the data. `guessing`: also by their meaning."""
        return self._linker.linked(question, guessing=guessing)

    def unknown_words(self, question: str) -> UnknownWords:
        """Which words of the question mean nothing in this data."""
        return unknown_words(link_question(tokenize(marked(question)), self.schema, self.values))

    def by_analogy(self, question: str, example: Example) -> Reading | None:
        """The question read like a saved one. None if they differ in more than a value or a period."""
        asked = AskedQuestion(question, self._linker)
        parse = with_own_values(asked.dated, self.linked(example.question), example.plan)
        found = None if parse is None else self._forms.of_parse(parse, certain=False)
        if found is None:
            return None
        return asked.bound(found.reading.model_copy(update={"confidence": LIKE_AN_EXAMPLE}), None, found.words)

    def learned(self, question: str, *, has_live: bool = False, now: datetime | None = None) -> LearnedAnswer | None:
        """The statement of `semantic.yaml` that answers the question, or None. `has_live`: whether there is a source
        that can be asked what is so right now. `now`: the moment that hours count back from; else the end of today."""
        moment = now or datetime.combine(self.today(), time.max)
        return self._learned.answer(marked(question), self.linked, moment, has_live=has_live)

    def paths(self, question: str) -> "PathAnswer | None":
        """The query for a question about ways through a graph, or None."""
        if not any(table.connections for table in self.catalog.tables):
            return None
        from answerable.reader.path_questions import PathQuestions  # brings the writer of Cypher
        from answerable.reader.relationship_questions import RelationshipQuestions

        questions = (PathQuestions(self.catalog, self.values), RelationshipQuestions(self.catalog, self.values))
        return next((found for each in questions if (found := each.answer(question)) is not None), None)

    def learned_like(self, question: str, most: int) -> tuple[str, ...]:
        """Questions of `semantic.yaml` that come near to this one."""
        return self._learned.alike(marked(question), most)

    def answerable_questions(self, wanted: int, run: Run | None = None) -> tuple[str, ...]:
        """Questions about this data that were tried: the reader is sure of each and, after a dry run, it has rows."""
        return tuple(islice((each.text for each in suggested(self.catalog) if self._answers(each.text, run)), wanted))

    def _answers(self, question: str, run: Run | None) -> bool:
        reply = self.read(question, run=run)
        if not isinstance(reply, Read):
            return False
        rows = [[()]] if run is None else run([compiled(reply.best.plan, self.catalog)])
        return bool(rows[0])

    def bindings(self, question: str, plan: QueryPlan) -> tuple[Binding, ...]:
        """What each phrase of the question became in a plan that was chosen for it."""
        dated = self.linked(question)
        return bindings_of(marked(question), dated.scene, plan, dated.dates)

    def explain_stages(self, question: str, run: Run | None = None) -> Stages:
        ranking = self.rank(link_question(tokenize(marked(question)), self.schema, self.values))
        return stages_of(ranking, self._offered, run)

    def _sentence(self, plan: QueryPlan) -> str:
        return sentence_with(plan, self.catalog, self._nouns)


def _less_sure_if_it_points_back(reply: Read, question: AskedQuestion) -> Read:
    """An answer that takes nothing over from the question before, although "they" speaks of it, is not sure."""
    best = reply.best
    if not points_back(question.dated.words) or any(binding.phrase == BEFORE for binding in best.bindings):
        return reply
    confidence = min(best.confidence, PARTLY_UNDERSTOOD)
    return reply.model_copy(update={"best": best.model_copy(update={"confidence": confidence})})


def _places(scene: Scene, *tags: str) -> set[int]:
    return {place for place, tag in enumerate(scene.tags) if tag in tags}


def _rebuilt(
    catalog: Catalog,
    values: ValueLookup,
    today: Callable[[], date] | Clock,
    weights: Weights | None,
    own_words: Weights | None,
) -> Reader:
    return Reader(catalog, values, today=today, weights=weights, own_words=own_words)
