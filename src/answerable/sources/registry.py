"""The sources of an installation by name, opened when first used and closed together."""

import asyncio
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from answerable.core.errors import AnswerableError, NotFoundError
from answerable.sources.base import Source
from answerable.sources.open import open_source, shown_location

if TYPE_CHECKING:
    from answerable.sources.federation import FederatedSources


class SourceRegistry:
    """`any_location` lets a path or URL stand for a source: for a person at their machine, never for the network."""

    def __init__(
        self, named: Mapping[str, str], cache: Path, *, any_location: bool, semantic: Path | None = None
    ) -> None:
        """`semantic`: a folder for what is said about named sources that have no place of their own for it."""
        self._named = dict(named)
        self._semantic = semantic
        self._cache = cache
        self._any_location = any_location
        self._open: dict[str, asyncio.Task[Source]] = {}
        self._federated: dict[tuple[str, ...], FederatedSources] = {}
        self._expected: asyncio.Task[None] | None = None
        self._full: dict[str, str] = {}
        """URLs with their passwords, by what they are known as."""

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._named)

    def instead_of(self, asked: Collection[str]) -> tuple[str, ...]:
        """Which others might be asked; none where a question can name any place, for there it names its own."""
        return () if self._any_location else tuple(name for name in self._named if name not in asked)

    def location(self, name: str) -> str:
        """Where a named source is, as it may be shown."""
        return shown_location(self._location(name))

    def add(self, name: str, location: str) -> None:
        """From now on it can be asked by this name."""
        self._named[name] = location

    async def remove(self, name: str) -> None:
        """From now on nobody can ask it."""
        self._named.pop(name, None)
        await self.release(name)

    def _semantic_file(self, name: str) -> Path | None:
        if self._semantic is None or name not in self._named:
            return None
        return self._semantic / f"{quote(name, safe='')}.yaml"

    def known_as(self, name: str) -> str:
        """What a source is called wherever it is recorded or shown: of a URL, that is all but its password."""
        if name in self._named:
            return name
        shown = shown_location(name)
        if shown != name and self._any_location:
            self._full[shown] = name
        return shown

    async def get(self, name: str) -> Source:
        name = self.known_as(name)
        opening = self._open.get(name)
        if opening is None:
            location = self._location(name)
            said = self._semantic_file(name)
            opening = self._open[name] = asyncio.create_task(
                open_source(location, name=name, cache=self._cache, semantic=said)
            )
        try:
            return await asyncio.shield(opening)
        except asyncio.CancelledError:
            raise
        except BaseException:
            self._open.pop(name, None)  # what could not be opened now is tried again next time
            raise

    async def federated(self, names: Sequence[str]) -> "FederatedSources":
        """Several sources as one."""
        from answerable.sources.federation import FederatedSources  # brings the SQL parser

        names = [self.known_as(name) for name in names]
        known = self._federated.get(tuple(names))
        if known is None:
            sources = {name: await self.get(name) for name in names}
            known = self._federated[tuple(names)] = FederatedSources(sources)
        return known

    def expect(self, name: str) -> None:
        """Begins to open and describe a source that is about to be asked. What is wrong with it is told when it is."""
        self._expected = asyncio.create_task(self._ready(name))

    async def _ready(self, name: str) -> None:
        with suppress(AnswerableError):
            await (await self.get(name)).describe()

    def _location(self, name: str) -> str:
        if name in self._named:
            return self._named[name]
        if self._any_location:
            return self._full.get(name) or self._with_password(name) or name
        near = get_close_matches(name, self._named, n=1)
        raise NotFoundError(
            f"There is no source named {name!r}.",
            code="source_unknown",
            hint=f"Did you mean {near[0]!r}?" if near else f"Sources are: {', '.join(self._named)}.",
        )

    def _with_password(self, shown: str) -> str | None:
        """A run knows its database without the password; a configured source may be that very one."""
        return next((location for location in self._named.values() if shown_location(location) == shown), None)

    async def release(self, name: str) -> None:
        """Closes one source that nobody uses at the moment; it is opened again when it is asked for."""
        name = self.known_as(name)
        opening = self._open.pop(name, None)
        self._federated = {names: sources for names, sources in self._federated.items() if name not in names}
        if opening is not None:
            await (await opening).close()

    async def close(self) -> None:
        if self._expected is not None:
            self._expected.cancel()
            await asyncio.wait([self._expected])
        opened, self._open, self._federated = list(self._open.values()), {}, {}
        for result in await asyncio.gather(*opened, return_exceptions=True):
            if not isinstance(result, BaseException):
                await result.close()
