"""Describes several sources as one, for a question about all of them. Each source still runs its own queries."""

import asyncio
from collections.abc import Mapping, Sequence

from answerable.core.catalog import Catalog, ValueHit, ValueLookup
from answerable.core.progress import Progress, no_progress
from answerable.query.merged import Merged, merged
from answerable.sources.base import Source


class FederatedSources:
    def __init__(self, sources: Mapping[str, Source]) -> None:
        self.name = "\n".join(sources)
        self._sources = sources
        self._known: tuple[tuple[Catalog, ...], Merged] | None = None

    async def describe(self, progress: Progress = no_progress) -> Catalog:
        return (await self.merged(progress)).catalog

    async def merged(self, progress: Progress = no_progress) -> Merged:
        """Returns the same object as before for as long as nothing has changed."""
        catalogs = tuple(await asyncio.gather(*(source.describe(progress) for source in self._sources.values())))
        if self._known is None or any(a is not b for a, b in zip(self._known[0], catalogs, strict=True)):
            self._known = (catalogs, merged(dict(zip(self._sources, catalogs, strict=True))))
        return self._known[1]

    async def values(self, progress: Progress = no_progress) -> ValueLookup:
        lookups = {name: await source.values(progress) for name, source in self._sources.items()}
        origins = (await self.merged()).origins.items()
        return _Values(lookups, {(origin.source, origin.table): name for name, origin in origins})


class _Values:
    """Looks a phrase up in every source."""

    def __init__(self, lookups: Mapping[str, ValueLookup], names: Mapping[tuple[str, str], str]) -> None:
        self._lookups = lookups
        self._names = names

    def find(self, phrase: str, limit: int = 8, least: float = 0.0) -> Sequence[ValueHit]:
        hits = [
            hit.model_copy(update={"table": self._names[source, hit.table]})
            for source, lookup in self._lookups.items()
            for hit in lookup.find(phrase, limit, least)
            if (source, hit.table) in self._names
        ]
        return sorted(hits, key=lambda hit: -hit.score)[:limit]
