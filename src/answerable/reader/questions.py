"""A question on its way through the stages: its words are linked once, and each of its plans is compiled once, however
many stages look at them."""

from collections.abc import Callable
from dataclasses import replace
from datetime import date, timedelta
from functools import cached_property

from answerable.core.catalog import Catalog, Column, ValueLookup
from answerable.core.records import dataclass
from answerable.query.checked import CheckedQuery
from answerable.query.compiling import compiled
from answerable.query.plan import QueryPlan
from answerable.reader.explaining.bindings import bindings_of
from answerable.reader.grammar.dated_scene import DatedScene
from answerable.reader.linking.scene import link_question
from answerable.reader.linking.schema import TEMPORAL, Schema
from answerable.reader.linking.tokens import tokenize
from answerable.reader.linking.unknown_words import UnknownWords, unknown_words
from answerable.reader.ranking.dry_run import Run, remembering
from answerable.reader.reading import Reading
from answerable.reader.time.date_phrases import find_dates

_LONG_AGO = timedelta(days=100)


def marked(question: str) -> str:
    """The question with one question mark at its end, as most questions have that the models were fitted on, so that
    leaving it out changes nothing."""
    bare = question.rstrip(" ?\n")
    return bare if bare.endswith((".", "!")) else f"{bare}?"


@dataclass(frozen=True, slots=True)
class QuestionLinker:
    """Links the words of questions to one catalog."""

    catalog: Catalog
    values: ValueLookup
    schema: Schema
    today: Callable[[], date]

    def linked(self, question: str, *, guessing: bool = False) -> DatedScene:
        """`guessing`: words are also taken for names that they come near to in meaning."""
        scene = link_question(tokenize(marked(question)), self.schema, self.values, guessing=guessing)
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


def _is_date(column: Column) -> bool:
    return column.type in TEMPORAL and isinstance(column.maximum, str) and len(column.maximum) >= 10


class AskedQuestion:
    """One question while it is read."""

    def __init__(self, text: str, linker: QuestionLinker, run: Run | None = None) -> None:
        self.text = text
        self.run = None if run is None else remembering(run)
        """Makes the dry run."""
        self._linker = linker
        self._queries: dict[int, tuple[QueryPlan, CheckedQuery]] = {}

    @cached_property
    def dated(self) -> DatedScene:
        """The words as they are."""
        return self._linker.linked(self.text)

    @cached_property
    def guessed(self) -> DatedScene:
        """Words also taken for names that they come near to in meaning."""
        return self._linker.linked(self.text, guessing=True)

    @cached_property
    def unknown(self) -> UnknownWords:
        return without_dates(unknown_words(self.dated.scene), self.dated)

    def query(self, plan: QueryPlan) -> CheckedQuery:
        """The plan as a query that may run. The same plan is compiled once."""
        known = self._queries.get(id(plan))
        if known is None:
            known = self._queries[id(plan)] = (plan, compiled(plan, self._linker.catalog))
        return known[1]

    def bound(
        self,
        reading: Reading,
        previous: QueryPlan | None = None,
        words: frozenset[int] = frozenset(),
        *,
        guessing: bool = False,
    ) -> Reading:
        """Adds what each phrase of the question became. `words` are the places that a form accounts for."""
        dated = self.guessed if guessing else self.dated
        bindings = bindings_of(
            marked(self.text), dated.scene, reading.plan, dated.dates, accounted=words, previous=previous
        )
        return reading.model_copy(update={"bindings": bindings})


def without_dates(unknown: UnknownWords, question: DatedScene) -> UnknownWords:
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
