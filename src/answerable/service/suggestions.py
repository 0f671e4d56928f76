"""Questions to begin with: first the golden questions of a source, then some that are built from its names. Each was
read and run, so whoever asks one gets an answer."""

from collections.abc import Sequence

from pydantic import Field

from answerable.agents.dry_run import peeked
from answerable.agents.reader_graphs import SURE
from answerable.agents.readers import Readers
from answerable.core.catalog import Catalog
from answerable.core.context import Principal, Visibility
from answerable.core.errors import AnswerableError
from answerable.core.values import Frozen, Json
from answerable.engine.steps.understand import Question
from answerable.evals.cases import BUNDLED
from answerable.query.compiling import compiled
from answerable.reader.explaining.brief_answer import brief_answer
from answerable.reader.reading import Read
from answerable.reader.suggestions import Suggestion, suggested
from answerable.service.evals import EvalService
from answerable.service.golden_cases import GoldenCase
from answerable.settings import Settings
from answerable.sources.base import Source
from answerable.sources.registry import SourceRegistry
from answerable.sources.statistics import plain

MOST, TRIED = 4, 12
SHOWN_ROWS = 60


class SuggestedQuestion(Frozen):
    question: str
    answer: str | None = Field(description="In a few words; null if the source is not asked beforehand.")
    rows: list[list[Json]] = Field(description=f"The first {SHOWN_ROWS} rows of the answer.")
    row_count: int


class SuggestionService:
    def __init__(self, registry: SourceRegistry, readers: Readers, evals: EvalService, settings: Settings) -> None:
        self._registry = registry
        self._readers = readers
        self._evals = evals
        self._settings = settings
        self._found: dict[tuple[Visibility, str], tuple[Catalog, list[SuggestedQuestion]]] = {}

    async def questions(self, name: str, principal: Principal) -> Sequence[SuggestedQuestion]:
        """A few questions that a source can answer, with their answers; tried once while the data stays as it is."""
        source = await self._registry.get(name, principal)
        catalog = await source.describe()
        golden = tuple(_varied(await self._golden(name, principal)))
        wanted = list(dict.fromkeys((*map(Suggestion, golden), *suggested(catalog))))[:TRIED]
        key = (self._registry.visibility(principal), name)
        known = self._found.get(key)
        if known is None or known[0] is not catalog or not {*golden[:MOST]} <= {each.question for each in known[1]}:
            self._found[key] = (catalog, await self._tried(wanted, source, catalog, principal))
        return self._found[key][1]

    async def _tried(
        self, questions: Sequence[Suggestion], source: Source, catalog: Catalog, principal: Principal
    ) -> list[SuggestedQuestion]:
        """The first few that say something. Those that are understood beyond doubt come before the others."""
        sure: list[SuggestedQuestion] = []
        doubted: list[SuggestedQuestion] = []
        for question in questions:
            if len(sure) == MOST:
                break
            tried = await self._answer(question.text, source, catalog, principal)
            if tried is None:
                continue
            answered, certain = tried
            if question.grouped and answered.answer is not None and _says_little(answered.rows):
                continue
            if answered.rows not in [each.rows for each in (*sure, *doubted) if each.rows]:
                (sure if certain else doubted).append(answered)
        return [*sure, *doubted][:MOST]

    async def _answer(
        self, text: str, source: Source, catalog: Catalog, principal: Principal
    ) -> tuple[SuggestedQuestion, bool] | None:
        """The question with its answer and whether that has high confidence, or None if nobody would get an answer."""
        try:
            reply = await self._readers.read(Question(text=text, source=source.name), principal)
            if not isinstance(reply, Read):
                return None
            [rows] = await peeked(source, [compiled(reply.best.plan, catalog)])
        except AnswerableError:  # a question that cannot be answered is not suggested
            return None
        certain = reply.best.confidence >= SURE
        if rows is None:
            unanswered = SuggestedQuestion(question=text, answer=None, rows=[], row_count=0)
            return None if source.is_local else (unanswered, certain)
        first = [[plain(value) for value in row] for row in rows[:SHOWN_ROWS]]
        answered = SuggestedQuestion(question=text, answer=brief_answer(rows), rows=first, row_count=len(rows))
        return (answered, certain) if rows else None

    async def _golden(self, name: str, principal: Principal) -> Sequence[GoldenCase]:
        """Returns the cases that users saved for this source, then the bundled ones. Follow-ups are left out."""
        suites = await self._evals.cases(principal)
        own = [case for suite in suites.values() for case in suite if case.case.source == name and not case.lead]
        bundled = name not in self._settings.sources and name in BUNDLED
        return [*own, *(suites.get(name, ()) if bundled else ())]


def _says_little(rows: Sequence[Sequence[Json]]) -> bool:
    """Whether rows are not names with figures to compare: a single row, the same figure in every one, other columns."""
    figures = {str(value) for row in rows for value in row if isinstance(value, int | float)}
    return len(rows) < 2 or any(len(row) != 2 for row in rows) or len(figures) == 1


def _varied(cases: Sequence[GoldenCase]) -> Sequence[str]:
    """Some from all over the list, one of each group, of those that give a table: it shows most of what an answer can
    be."""
    tables = [case.case for case in cases if case.case.after is None and _is_table(case)]
    first = {case.group or case.id: case.question for case in reversed(tables)}
    return list(reversed(first.values()))[:: max(1, len(first) // MOST)]


def _is_table(case: GoldenCase) -> bool:
    rows = case.case.gold_rows or ()
    return len(rows) > 1 and len(rows[0]) > 1
