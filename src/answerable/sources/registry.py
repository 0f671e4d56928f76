"""The sources of an installation by name, opened when first used and closed together."""

import asyncio
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from difflib import get_close_matches
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING
from urllib.parse import quote

from answerable.access.file import AccessFile
from answerable.core.catalog import Catalog
from answerable.core.context import Principal, Visibility
from answerable.core.errors import AnswerableError, NotFoundError
from answerable.core.ids import TenantId
from answerable.sources.added import AddedSources, tenant_home
from answerable.sources.base import Source
from answerable.sources.open import open_source, shown_location
from answerable.sources.sql.backend import SourceOptions
from answerable.sources.sql.postgres_access import AllowedHosts

if TYPE_CHECKING:
    from answerable.access.view import AccessView, SourceAccess
    from answerable.sources.federation import FederatedSources


class SourceRegistry:
    """The sources that a principal may ask: those that everybody may, and those that the principal's tenant has added.

    A source is opened once for each visibility, so that its catalog and its index of values, in memory and on disk, are
    never shared by principals who may see different things. `any_location` lets a path or URL stand for a source: for a
    person at their machine, never for the network.
    """

    def __init__(
        self,
        named: Mapping[str, str],
        home: Path,
        *,
        any_location: bool,
        hosts: AllowedHosts | None = None,
        options: SourceOptions | None = None,
    ) -> None:
        """`named`: locations of the sources that everybody may ask. `home`: the home folder of the installation.
        `hosts`: those whose databases may be added over HTTP; by default none. `options`: what each source may use;
        their workers share its places."""
        self.options = options or SourceOptions()
        self._hosts = hosts or AllowedHosts()
        self._named = dict(named)
        self._home = home
        self._any_location = any_location
        # Another process may remove a source and add one of the same name elsewhere, so the location is part of the
        # key. The one that was open before stays open until it is released: a query may still be reading it.
        self._open: dict[tuple[Visibility, str, str], asyncio.Task[Source]] = {}
        self._federated: dict[tuple[Visibility, tuple[tuple[str, str], ...]], FederatedSources] = {}
        self._expected: asyncio.Task[None] | None = None
        self._full: dict[tuple[Visibility, str], str] = {}
        """URLs with their passwords, by what they are known as."""
        self._access: dict[TenantId, AccessFile] = {}

    def access(self, tenant: TenantId) -> AccessFile:
        """The access rules of a tenant."""
        if tenant not in self._access:
            self._access[tenant] = AccessFile(tenant_home(self._home, tenant))
        return self._access[tenant]

    def view(self, principal: Principal) -> "AccessView | None":
        """What the principal may see and do, by the rules as they are now; None for all."""
        return self.access(principal.tenant).view(principal)

    def require_tool(self, name: str, principal: Principal) -> None:
        """Raises `RefusedError` if a rule keeps the principal from a tool."""
        view = self.view(principal)
        if view is not None:
            view.require_tool(name)

    def visibility(self, principal: Principal) -> Visibility:
        view = self.view(principal)
        return Visibility(principal.tenant, view.key if view is not None else "")

    def names(self, principal: Principal) -> tuple[str, ...]:
        view = self.view(principal)
        known = dict.fromkeys((*self._named, *self._added(principal)))
        return tuple(name for name in known if view is None or view.shows(name))

    def _added(self, principal: Principal) -> Mapping[str, str]:
        """Read anew each time: another process may have added or removed a source."""
        added = AddedSources(tenant_home(self._home, principal.tenant)).all()
        return {name: one.location for name, one in added.items()}

    def instead_of(self, asked: Collection[str], principal: Principal) -> tuple[str, ...]:
        """Which others might be asked; none where a question can name any place, for there it names its own."""
        return () if self._any_location else tuple(name for name in self.names(principal) if name not in asked)

    def location(self, name: str, principal: Principal) -> str:
        """Where a named source is, as it may be shown."""
        return shown_location(self._location(name, principal))

    def _named_location(self, name: str, principal: Principal) -> str | None:
        return self._named[name] if name in self._named else self._added(principal).get(name)

    def known_as(self, name: str, principal: Principal) -> str:
        """What a source is called wherever it is recorded or shown: of a URL, that is all but its password."""
        if self._named_location(name, principal) is not None:
            return name
        shown = shown_location(name)
        if shown != name and self._any_location:
            self._full[self.visibility(principal), shown] = name
        return shown

    async def get(self, name: str, principal: Principal) -> Source:
        """The source as this principal may see it, opened when it is first asked for."""
        name = self.known_as(name, principal)
        location = self._location(name, principal)
        key = (self.visibility(principal), name, location)
        opening = self._open.get(key)
        if opening is None:
            opening = self._open[key] = asyncio.create_task(self._opened(name, location, principal))
        try:
            return await asyncio.shield(opening)
        except asyncio.CancelledError:
            raise
        except BaseException:
            self._open.pop(key, None)  # what could not be opened now is tried again next time
            raise

    async def _opened(self, name: str, location: str, principal: Principal) -> Source:
        home = tenant_home(self._home, principal.tenant)
        access = self._access_to(name, principal)
        is_named = self._named_location(name, principal) is not None
        semantic = home / "semantic" / f"{quote(name, safe='')}.yaml" if is_named else None
        hosts = None if self._is_operators(name, principal) else self._hosts
        try:
            return await open_source(
                location,
                name=name,
                cache=home / "cache",
                options=self.options,
                semantic=semantic,
                hosts=hosts,
                access=access,
            )
        except NotFoundError as error:
            if self._any_location:
                raise
            # The hint names what lies beside a missing file: that is for the person at the machine.
            raise NotFoundError(error.message, code=error.stable_code) from None

    async def tried(self, location: str) -> tuple[str, Catalog]:
        """Opens and reads a location that is no source yet, and forgets it. Returns its kind and its catalog."""
        hosts = None if self._any_location else self._hosts
        with TemporaryDirectory(prefix="answerable-try-") as cache:
            source = await open_source(location, cache=Path(cache), options=self.options, hosts=hosts)
            try:
                return source.kind, await source.describe()
            finally:
                await source.close()

    def _access_to(self, name: str, principal: Principal) -> "SourceAccess | None":
        view = self.view(principal)
        if view is None:
            return None
        from answerable.access.view import SourceAccess

        return SourceAccess(view.of(name), self.access(principal.tenant).secret())

    def _is_operators(self, name: str, principal: Principal) -> bool:
        """Whether the operator named this location: in the settings, on the command line, or in a program."""
        added = AddedSources(tenant_home(self._home, principal.tenant)).get(name)
        return name in self._named or added is None or added.by_operator

    async def federated(self, names: Sequence[str], principal: Principal) -> "FederatedSources":
        """The sources as one, as this principal may see them."""
        from answerable.sources.federation import FederatedSources  # brings the SQL parser

        names = [self.known_as(name, principal) for name in names]
        key = (self.visibility(principal), tuple((name, self._location(name, principal)) for name in names))
        known = self._federated.get(key)
        if known is None:
            sources = {name: await self.get(name, principal) for name in names}
            known = self._federated[key] = FederatedSources(sources)
        return known

    def expect(self, name: str, principal: Principal) -> None:
        """Begins to open and describe a source that is about to be asked. Drops errors: the question raises them."""
        self._expected = asyncio.create_task(self._ready(name, principal))

    async def _ready(self, name: str, principal: Principal) -> None:
        with suppress(AnswerableError):
            await (await self.get(name, principal)).describe()

    def _location(self, name: str, principal: Principal) -> str:
        named, view = self._named_location(name, principal), self.view(principal)
        if view is not None and (named is not None or self._any_location):
            view.require_source(name)
        if named is not None:
            return named
        if self._any_location:
            return self._full.get((self.visibility(principal), name)) or self._with_password(name, principal) or name
        raise self._unknown(name, principal)

    def check_named(self, name: str, principal: Principal) -> None:
        """Raises `NotFoundError` if no source has this name, even where a path or URL could stand for one."""
        if self._named_location(name, principal) is None:
            raise self._unknown(name, principal)

    def _unknown(self, name: str, principal: Principal) -> NotFoundError:
        names = self.names(principal)
        near = get_close_matches(name, names, n=1)
        return NotFoundError(
            f"There is no source named {shown_location(name)!r}.",
            code="source_unknown",
            hint=f"Did you mean {near[0]!r}?" if near else f"Sources are: {', '.join(names)}.",
        )

    def _with_password(self, shown: str, principal: Principal) -> str | None:
        """A run knows its database without the password; a named source may be that very one."""
        named = (*self._named.values(), *self._added(principal).values())
        wanted = shown_location(shown)  # runs of older versions know it in another form
        return next((location for location in named if shown_location(location) == wanted), None)

    async def release(self, name: str, principal: Principal) -> None:
        """Closes one source that nobody uses at the moment; it is opened again when it is asked for."""
        name = self.known_as(name, principal)
        visibility = self.visibility(principal)
        opened = [self._open.pop(key) for key in list(self._open) if key[:2] == (visibility, name)]
        self._federated = {
            key: sources for key, sources in self._federated.items() if key[0] != visibility or name not in dict(key[1])
        }
        for opening in opened:
            await (await opening).close()

    async def close(self) -> None:
        if self._expected is not None:
            self._expected.cancel()
            await asyncio.wait([self._expected])
        opened, self._open, self._federated = list(self._open.values()), {}, {}
        for result in await asyncio.gather(*opened, return_exceptions=True):
            if not isinstance(result, BaseException):
                await result.close()
