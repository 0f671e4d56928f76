"""Readings that a form of the grammar makes word for word."""

from collections.abc import Callable
from dataclasses import replace

from answerable.core.catalog import Catalog, ValueLookup
from answerable.core.errors import UserError
from answerable.core.records import dataclass
from answerable.query.compiling import compiled
from answerable.query.plan import QueryPlan
from answerable.reader.grammar.dated_scene import DatedScene, Parse
from answerable.reader.grammar.follow_up import parse_follow_up
from answerable.reader.grammar.grammar import PLAIN_FORMS, parse_question
from answerable.reader.linking.scene import link_question, place_of_rows
from answerable.reader.linking.schema import Schema
from answerable.reader.linking.unknown_words import UnknownWords
from answerable.reader.ranking.plan_checks import names_its_quantities
from answerable.reader.reading import Reading, Unsure

# High, so that the reader answers at once; below 1, because a form can still misread a question.
GRAMMAR_CONFIDENCE = 0.97
# Such a reading is answered too, but it is not called sure: the reader has chosen the quantity.
CHOSEN_CONFIDENCE = 0.84
_MOST_TABLES = 5


@dataclass(frozen=True, slots=True)
class FormReading:
    """A reading that a form makes word for word."""

    reading: Reading
    certain: bool
    """The question speaks of measures or periods, where no other reading is likely. Otherwise the fitted candidates are
    tried first."""
    words: frozenset[int]
    """The places of the words that the form accounts for."""


@dataclass(frozen=True, slots=True)
class FormReadings:
    """Reads questions about one catalog by the grammar."""

    catalog: Catalog
    values: ValueLookup
    schema: Schema
    sentence: Callable[[QueryPlan], str]
    threshold: float
    """How sure a reading is at least that is answered."""

    def best(self, question: DatedScene, previous: QueryPlan | None) -> FormReading | None:
        """What the grammar explains word for word: a follow-up, or a form of question."""
        # A question that was cut off may have lost the words that change its meaning.
        if question.scene.question.truncated:
            return None
        follow_up = parse_follow_up(question, previous) if previous is not None else None
        if follow_up is not None:
            return self.of_parse(follow_up, certain=True)
        found = parse_question(question)
        if found is None:
            return None
        certain = bool(previous or found.timely or self.catalog.measures)
        plain = found.form in PLAIN_FORMS and question.cue("DISTINCT") is None
        if not certain and not plain:
            return None
        reading = self.of_parse(found.parse, certain)
        if reading is None or not certain or names_its_quantities(found.parse.plan, question.scene):
            return reading
        return replace(reading, reading=reading.reading.model_copy(update={"confidence": CHOSEN_CONFIDENCE}))

    def of_parse(self, parse: Parse, certain: bool) -> FormReading | None:
        try:
            sql = compiled(parse.plan, self.catalog).text
        except UserError:
            return None
        confidence = GRAMMAR_CONFIDENCE if certain else self.threshold
        reading = Reading(plan=parse.plan, sentence=self.sentence(parse.plan), confidence=confidence, sql=sql)
        return FormReading(reading, certain, parse.words)

    def rows_of_each_table(self, dated: DatedScene, unknown: UnknownWords) -> Unsure | None:
        """Asks which table is meant, if the question speaks of rows ("how many rows are there?") and there are
        several tables."""
        scene = dated.scene
        if unknown.linked or place_of_rows(scene.question, scene.links) is None:
            return None
        largest = sorted(self.schema.tables, key=lambda table: -(table.source.row_count or 0))
        tables = [table.id for table in largest[:_MOST_TABLES]]
        scenes = [link_question(scene.question, self.schema, self.values, table) for table in tables]
        found = [self.best(DatedScene(one, dated.dates), None) for one in scenes]
        readings = [one.reading for one in found if one is not None]
        if not readings:
            return None
        return Unsure(question="Which table do you mean?", readings=tuple(readings))
