"""The mind without a model. The order of the stages is the order of `Reader.read`."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import date
from itertools import islice
from typing import Any, NamedTuple

from answerable.answers.answer import Binding
from answerable.core.catalog import Catalog, ValueLookup
from answerable.core.clock import Clock
from answerable.core.clock import today as today_of
from answerable.core.errors import UserError
from answerable.query.checked import CheckedQuery
from answerable.query.plan import QueryPlan
from answerable.query.sql.to_sql import compiled, to_sql
from answerable.reader.explaining.bindings import bindings_of
from answerable.reader.explaining.nouns import Nouns
from answerable.reader.explaining.sentence import sentence_with
from answerable.reader.grammar.dated_scene import DatedScene, Parse
from answerable.reader.grammar.follow_up import parse_follow_up
from answerable.reader.grammar.grammar import PLAIN_FORMS, parse_question
from answerable.reader.linking.scene import Scene, link_question, place_of_rows
from answerable.reader.linking.schema import build_schema
from answerable.reader.linking.tokens import tokenize
from answerable.reader.linking.unknown_words import UnknownWords, unknown_words
from answerable.reader.pipeline import CandidateRanking, RankedCandidate, rank_candidates
from answerable.reader.plans.draft_to_plan import to_plan
from answerable.reader.plans.joins import NoPath
from answerable.reader.ranking.confidence import confidence_vector
from answerable.reader.ranking.dry_run import MORE_RUNS, RUNS, DryRunResult, Run, dry_run_result
from answerable.reader.ranking.meaning import diverse
from answerable.reader.ranking.plan_checks import covers_cues, dropped_numbers
from answerable.reader.reading import Read, Reading, Reply, Unsure
from answerable.reader.time.date_phrases import find_dates
from answerable.reader.weights import Weights, load_weights

MAX_READINGS = 5
GRAMMAR_CONFIDENCE = 0.97


@dataclass(frozen=True, slots=True)
class GrammarReading:
    """A reading that a form makes word for word."""

    reading: Reading
    certain: bool
    """The question speaks of measures or periods, where no other reading is likely. Otherwise the fitted candidates are
    tried first."""
    words: frozenset[int]
    """The places of the words that the form accounts for."""


class Compiled(NamedTuple):
    """A candidate that can run."""

    ranked: RankedCandidate
    plan: QueryPlan
    query: CheckedQuery

    @property
    def sql(self) -> str:
        return self.query.text


@dataclass(frozen=True, slots=True)
class Stages:
    """How a question was read, stage by stage; plain data for showing."""

    question: str
    tokens: tuple[dict[str, Any], ...]
    tables: tuple[dict[str, Any], ...]
    columns: tuple[dict[str, Any], ...]
    values: tuple[dict[str, Any], ...]
    unknown: tuple[str, ...]
    shapes: dict[str, tuple[tuple[str, float], ...]]
    candidates: tuple[dict[str, Any], ...]
    dry_run: tuple[dict[str, Any], ...]
    """For each reading that would be offered: how many rows it gave, and which earlier one gave the same rows."""
    confidence: float
    """How sure the best candidate is."""


class Reader:
    """Reads questions about one catalog. Pure computation: the optional dry run is a callable that is handed in."""

    def __init__(
        self,
        catalog: Catalog,
        values: ValueLookup,
        *,
        today: Callable[[], date] | Clock,
        weights: Weights | None = None,
    ) -> None:
        self._rebuilt_from = (catalog, values, today, weights)
        self.catalog = catalog
        self.values = values
        self.schema = build_schema(catalog, values)
        self.weights = weights or load_weights()
        self._today = today
        self._nouns = Nouns(catalog)

    def __reduce__(self) -> tuple[Any, ...]:
        """A process that gets a reader builds its own: the parts are small, and what is built of them is not."""
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
        dated = self._linked(question)
        scene = dated.scene
        grammar = self._by_grammar(dated, previous)
        if grammar is not None and grammar.certain:
            return Read(best=self._with_bindings(grammar.reading, question, dated, previous, grammar.words))
        unknown = unknown_words(scene)
        if unknown.hopeless and not force:
            return self._rows_of_each_table(dated, unknown) or unknown.reply()
        ranking = self.rank(scene)
        readings = self._readings(ranking, None if force else run, wanted=1 if force else MAX_READINGS)
        if not readings:
            return unknown.reply()
        dropped = dropped_numbers(readings[0].plan, scene)
        unknown = replace(unknown, unknown=(*unknown.unknown, *dropped))
        understood = not (unknown.serious or dropped) and covers_cues(readings[0].plan, scene)
        if force or (understood and readings[0].confidence >= self.weights.threshold):
            best, *others = readings
            return Read(best=self._with_bindings(best, question, dated), others=tuple(others))
        if grammar is not None:
            best = self._with_bindings(grammar.reading, question, dated, previous, grammar.words)
            return Read(best=best, others=tuple(readings[:-1]))
        return Unsure(question=unknown.question(), readings=tuple(readings), unknown=unknown.unknown)

    def _linked(self, question: str) -> DatedScene:
        scene = link_question(tokenize(question), self.schema, self.values)
        return DatedScene(scene, find_dates(scene.question.text, self.today()))

    def _rows_of_each_table(self, dated: DatedScene, unknown: UnknownWords) -> Unsure | None:
        """How many rows are there, with several tables: which one is meant?"""
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

    def unknown_words(self, question: str) -> UnknownWords:
        """Which words of the question mean nothing in this data."""
        return unknown_words(link_question(tokenize(question), self.schema, self.values))

    def bindings(self, question: str, plan: QueryPlan) -> tuple[Binding, ...]:
        """What each phrase of the question became in a plan that was chosen for it."""
        dated = self._linked(question)
        return bindings_of(question, dated.scene, plan, dated.dates)

    def _with_bindings(
        self,
        reading: Reading,
        question: str,
        dated: DatedScene,
        previous: QueryPlan | None = None,
        words: frozenset[int] = frozenset(),
    ) -> Reading:
        """The reading with what each phrase of the question became. `words` are the places that a form accounts for."""
        bindings = bindings_of(question, dated.scene, reading.plan, dated.dates, accounted=words, previous=previous)
        return reading.model_copy(update={"bindings": bindings})

    def _by_grammar(self, question: DatedScene, previous: QueryPlan | None) -> GrammarReading | None:
        """What the grammar explains word for word: a follow-up, or a form of question."""
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
        return self._grammar_reading(found.parse, certain) if certain or plain else None

    def _grammar_reading(self, parse: Parse, certain: bool) -> GrammarReading | None:
        try:
            sql = to_sql(parse.plan, self.catalog)
        except UserError:
            return None
        confidence = GRAMMAR_CONFIDENCE if certain else self.weights.threshold
        reading = Reading(plan=parse.plan, sentence=self._sentence(parse.plan), confidence=confidence, sql=sql)
        return GrammarReading(reading, certain, parse.words)

    def rank(self, scene: Scene) -> CandidateRanking:
        return rank_candidates(scene, self.weights.roles, self.weights.shapes, self.weights.ranker)

    def _readings(self, found: CandidateRanking, run: Run | None, wanted: int) -> list[Reading]:
        """Distinct readings, the best first; what cannot be compiled is left out. Where those that ran are too few to
        choose from, because several gave the same rows, some more are run."""
        compiled = self._compiled(found)
        options = list(islice(compiled, wanted if run is None else RUNS))
        if not options:
            return []
        ran = _dry_run(options, run)
        confidence = self._confidence(found, options, ran)
        distinct = _distinct(options, ran)
        if run is not None and len(distinct) < wanted and confidence < self.weights.threshold:
            more = list(islice(compiled, MORE_RUNS))
            distinct = _distinct([*options, *more], [*ran, *_dry_run(more, run)])
        return [
            self._reading(one, confidence if number == 0 else confidence * 0.5 / (1 + number))
            for number, one in enumerate(distinct[:wanted])
        ]

    def _compiled(self, found: CandidateRanking) -> Iterator[Compiled]:
        for one in diverse(found.ranked):
            try:
                plan = to_plan(one.candidate.draft, self.schema)
                yield Compiled(one, plan, compiled(plan, self.catalog))
            except (NoPath, UserError):
                continue

    def _confidence(
        self, found: CandidateRanking, options: Sequence[Compiled], ran: Sequence[DryRunResult | None]
    ) -> float:
        by_draft = {one.ranked.candidate.draft: outcome for one, outcome in zip(options, ran, strict=True)}
        tried = any(outcome is not None for outcome in ran)
        model = self.weights.confidence if tried else self.weights.untried_confidence
        return model.probabilities([confidence_vector(found, by_draft)])[0]

    def _reading(self, one: Compiled, confidence: float) -> Reading:
        return Reading(
            plan=one.plan,
            sentence=self._sentence(one.plan),
            confidence=round(confidence, 4),
            sql=one.sql,
        )

    def _sentence(self, plan: QueryPlan) -> str:
        return sentence_with(plan, self.catalog, self._nouns)

    def explain_stages(self, question: str, run: Run | None = None) -> Stages:
        scene = link_question(tokenize(question), self.schema, self.values)
        found = self.rank(scene)
        options = list(islice(self._compiled(found), RUNS))
        ran = _dry_run(options, run)
        return Stages(
            question=scene.question.text,
            tokens=tuple({"text": t.text, "tag": tag} for t, tag in zip(scene.tokens, scene.tags, strict=True)),
            tables=tuple({**asdict(m), "name": self.schema.tables[m.id].name} for m in scene.links.tables),
            columns=tuple({**asdict(m), "name": self._column_name(m.id)} for m in scene.links.columns),
            values=tuple({**asdict(v), "name": self._column_name(v.column)} for v in scene.links.values),
            unknown=unknown_words(scene).unknown,
            shapes={part: _top(chances) for part, chances in found.shapes.items()},
            candidates=tuple(self._candidate_record(one) for one in found.ranked[:20]),
            dry_run=tuple(_dry_run_records(options, ran)),
            confidence=round(self._confidence(found, options, ran), 4) if options else 0.0,
        )

    def _column_name(self, column: int) -> str:
        view = self.schema.columns[column]
        return f"{self.schema.tables[view.table].name}.{view.name}"

    def _candidate_record(self, one: RankedCandidate) -> dict[str, Any]:
        try:
            reading_sql = to_sql(to_plan(one.candidate.draft, self.schema), self.catalog)
        except (NoPath, UserError) as error:
            reading_sql = f"cannot run: {error}"
        return {
            "score": round(one.score, 4),
            "shape": one.candidate.shape._asdict(),
            "variant": one.candidate.evidence.variant,
            "sql": reading_sql,
        }


def _rebuilt(
    catalog: Catalog, values: ValueLookup, today: Callable[[], date] | Clock, weights: Weights | None
) -> Reader:
    return Reader(catalog, values, today=today, weights=weights)


def _top(chances: dict[str, float]) -> tuple[tuple[str, float], ...]:
    return tuple(sorted(chances.items(), key=lambda item: -item[1])[:4])


def _dry_run(options: Sequence[Compiled], run: Run | None) -> list[DryRunResult | None]:
    if run is None or not options:
        return [None] * len(options)
    results = run([option.query for option in options])
    return [
        None if rows is None else dry_run_result(rows, ordered=bool(option.plan.order_by))
        for option, rows in zip(options, results, strict=True)
    ]


def _distinct(options: Sequence[Compiled], ran: Sequence[DryRunResult | None]) -> list[Compiled]:
    """The likeliest of those with the same rows."""
    found: dict[object, Compiled] = {}
    for option, outcome in zip(options, ran, strict=True):
        found.setdefault(option.sql if outcome is None else outcome.key, option)
    return list(found.values())


def _dry_run_records(options: Sequence[Compiled], ran: Sequence[DryRunResult | None]) -> Iterator[dict[str, Any]]:
    first: dict[object, int] = {}
    for number, (option, outcome) in enumerate(zip(options, ran, strict=True), 1):
        record: dict[str, Any] = {"sql": option.sql, "rows": outcome and outcome.rows}
        if outcome is not None and first.setdefault(outcome.key, number) != number:
            record["same_as"] = first[outcome.key]
        yield record
