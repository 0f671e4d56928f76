"""The common part of all step kinds that query a source: describe it, check the query, run it, store the rows.

A kind for another query language is a config, a descriptor, and a function from the catalog to a checked query.
"""

from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping
from typing import Protocol, TypeVar

from answerable.answers.result_rows import RecentRows
from answerable.core.catalog import Catalog
from answerable.core.context import Principal
from answerable.core.progress import Progress
from answerable.core.records import dataclass
from answerable.engine.steps.descriptor import StepDescriptor
from answerable.engine.steps.produced import Produced
from answerable.engine.steps.stored_frame import stored_frame
from answerable.query.checked import CheckedQuery
from answerable.sources.base import Limits, Source
from answerable.store.base import Artifacts

Q = TypeVar("Q", bound=CheckedQuery)


class Sources(Protocol):
    async def get(self, name: str, principal: Principal) -> Source:
        """The source as this principal may see it."""
        ...


@dataclass(frozen=True, slots=True)
class SourceQueries:
    sources: Sources
    artifacts: Artifacts
    limits: Limits
    recent: RecentRows

    async def ask(
        self,
        descriptor: StepDescriptor,
        name: str,
        check: Callable[[Catalog], Awaitable[Q]],
        principal: Principal,
        on_code: Callable[[str], None],
        progress: Progress,
    ) -> tuple[Produced, Q, Catalog]:
        """Runs the query that `check` builds for the source's catalog. `on_code` gets the query before it runs."""
        source = await self.sources.get(name, principal)
        catalog = await source.describe(progress)
        query = await check(catalog)
        on_code(query.text)  # before it runs, so that people see the code of a query that is slow or fails
        result, frame = await stored_frame(
            lambda into: source.execute(query, into, self.limits, progress), self.artifacts, self.recent, principal
        )
        live = result.live
        said = tuple(f"{warning.subject}: {warning.message}" for warning in catalog.warnings)
        produced = Produced(
            kind=descriptor.name,
            language=descriptor.language,
            data_source_type=descriptor.data_source_type if live is None else "api",
            frame=frame,
            sources=(name,),
            code=query.text,
            duration_ms=result.duration_ms,
            fingerprint=catalog.fingerprint if live is None else live.fingerprint,
            last_sync=catalog.last_sync if live is None else live.at,
            findings=said if live is None else (live.text, *live.notes, *said),
        )
        return produced, query, catalog


def rules_met(tables: Collection[str], columns: Mapping[str, Collection[str]], catalog: Catalog) -> Iterator[str]:
    """How access rules shaped the result, so that nobody takes a part for the whole. Columns that the query does not
    read do not count."""
    for note in catalog.notes:
        if (note.column is None and note.table in tables) or note.column in columns.get(note.table, ()):
            yield f"{note.table}: {note.effect}, by rule {note.rule}."
