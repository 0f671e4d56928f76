"""A question about several sources: the plan that queries each source where it is, and combines their rows."""

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Protocol

from answerable.agents.execution_plan import ExecutionPlan, PlanStep
from answerable.core.catalog import Catalog, ValueLookup
from answerable.core.context import Principal, Visibility
from answerable.core.progress import Progress, no_progress
from answerable.engine.steps.source_query import Sources
from answerable.engine.steps.understand import Question
from answerable.reader.reading import Reading

if TYPE_CHECKING:
    from answerable.query.merged import Merged
    from answerable.query.sql.split import Together
    from answerable.sources.federation import FederatedSources

COMBINED = "combined"
ROWS = "rows"


class Readable(Protocol):
    """The part of a source, or of several sources read as one, that a reader needs."""

    name: str

    async def describe(self, progress: Progress = no_progress) -> Catalog: ...

    async def values(self, progress: Progress = no_progress) -> ValueLookup: ...


class SourceLookup(Sources, Protocol):
    async def federated(self, names: Sequence[str], principal: Principal) -> "FederatedSources": ...

    def visibility(self, principal: Principal) -> Visibility:
        """What the principal may see, as the key of caches."""
        ...

    def instead_of(self, asked: Collection[str], principal: Principal) -> tuple[str, ...]: ...

    def require_tool(self, name: str, principal: Principal) -> None: ...


def by_label(question: Question) -> dict[str, str]:
    """The sources of a question by the label that a model sees. Models see no locations: these may hold passwords."""
    from answerable.query.merged import short_names

    sources = question.sources or (question.source,)
    return {label: source for source, label in short_names(sources).items()}


def reading_plan(question: Question, reading: Reading, merged: "Merged | None") -> ExecutionPlan:
    """The steps of a reading: one query, or one for each table of several sources and one that combines their rows."""
    return ExecutionPlan(
        question=question.text,
        source=question.source,
        steps=_steps(question, reading, merged),
        reasoning=reading.sentence,
    )


def unrelated_note(merged: "Merged | None") -> str:
    """Why a question cannot combine rows of some of the sources, or an empty text if it can combine all."""
    if merged is None:
        return ""
    sources = dict.fromkeys(origin.source for origin in merged.origins.values())
    ends = [(merged.origins[each.from_table], merged.origins[each.to_table]) for each in merged.catalog.relationships]
    # Relationships inside one source do not help to combine it with others.
    linked = {end.source for pair in ends if pair[0].source != pair[1].source for end in pair}
    alone = [source for source in sources if source not in linked]
    if not alone:
        return ""
    return (
        f" Nothing says how rows of {' and '.join(alone)} belong to those of the other sources:"
        " declare a relationship in semantic.yaml."
    )


def _steps(question: Question, reading: Reading, merged: "Merged | None") -> tuple[PlanStep, ...]:
    if merged is None:
        return (PlanStep(id=ROWS, tool="sql", source=question.source, query=reading.plan, context=reading.sentence),)
    # Imported here, because it brings the SQL parser, and most questions are about a single source.
    from answerable.query.sql.split import Alone, split

    parts = split(reading.plan, merged)
    # All tables of the reading are in one source: a single query there is faster than fetching tables.
    if isinstance(parts, Alone):
        return (PlanStep(id=ROWS, tool="sql", source=parts.source, query=parts.plan, context=reading.sentence),)
    return fetching_steps(parts, reading.sentence)


def fetching_steps(parts: "Together", meaning: str | None = None) -> tuple[PlanStep, ...]:
    """One step for each table, and one that combines their rows. `meaning` describes the combined rows."""
    fetched = [PlanStep(id=each.name, tool="sql", source=each.source, query=each.plan) for each in parts.fetches]
    names = tuple(step.id for step in fetched)
    return (*fetched, PlanStep(id=COMBINED, tool="combine", code=parts.sql, after=names, context=meaning))
