"""Texts that people keep in versions: one row for each text, and one for each of its versions."""

from collections.abc import Sequence
from dataclasses import dataclass

import orjson

from answerable.core.clock import Clock
from answerable.core.context import Principal
from answerable.core.errors import NotFoundError, UserError
from answerable.core.ids import TenantId, UserId
from answerable.store.database import (
    NothingChangedError,
    Row,
    RowExistsError,
    SqlDatabase,
    Statement,
    at_most,
    time_of,
    time_text,
)
from answerable.store.protocols.versioned_texts import TextRecord, TextVersion

_TEXT = "SELECT name, tenant_id, owner_id, tags, version, created_at, updated_at FROM versioned_texts"
_VERSION = "SELECT name, version, tenant_id, user_id, made_at, note, body FROM text_versions"
_INSERT_TEXT = (
    "INSERT INTO versioned_texts (tenant_id, noun, name, owner_id, tags, version, created_at, updated_at) "
    "VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
)
_UPDATE_TEXT = (
    "UPDATE versioned_texts SET version = ?, tags = ?, updated_at = ? "
    "WHERE tenant_id = ? AND noun = ? AND name = ? AND version = ?"
)
_INSERT_VERSION = (
    "INSERT INTO text_versions (tenant_id, noun, name, version, user_id, made_at, note, body) "
    "VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
)


@dataclass(frozen=True, slots=True)
class Noun:
    """What the texts are, and the codes of what can be wrong about one."""

    name: str
    not_found: str
    version_not_found: str
    changed: str
    listing: str
    """The command that lists them."""


GRAPH = Noun("graph", "graph_not_found", "graph_version_not_found", "graph_changed", "answerable graph list")
AGENT = Noun("agent", "agent_unknown", "agent_version_not_found", "agent_changed", "answerable agents list")


class SqlVersionedTexts:
    def __init__(self, database: SqlDatabase, clock: Clock, noun: Noun) -> None:
        self._noun = noun
        self._database = database
        self._clock = clock

    async def save(
        self,
        principal: Principal,
        name: str,
        text: str,
        *,
        note: str,
        tags: Sequence[str] | None = None,
        expected: int | None = None,
    ) -> TextVersion:
        noun = self._noun.name
        known = await self._find(principal, name)
        number = known.version if known is not None else 0
        if expected is not None and expected != number:
            raise self._changed(name, number)
        new_tags = tuple(tags) if tags is not None else known.tags if known is not None else ()
        now = self._clock.now()
        moment, labels = time_text(now), orjson.dumps(list(new_tags)).decode()
        new = number + 1
        record: Statement
        if known is not None:
            current = await self.version(principal, name, number)
            if current.text == text:
                if new_tags != known.tags:
                    row = (number, labels, moment, principal.tenant, noun, name, number)
                    await self._database.write((_UPDATE_TEXT, row))
                return current
            record = (_UPDATE_TEXT, (new, labels, moment, principal.tenant, noun, name, number))
        else:
            record = (_INSERT_TEXT, (principal.tenant, noun, name, principal.user, labels, new, moment, moment))
        version = (_INSERT_VERSION, (principal.tenant, noun, name, new, principal.user, moment, note, text))
        try:
            await self._database.write(record, version, required=(0,))
        except (RowExistsError, NothingChangedError) as error:  # somebody else was quicker
            raise self._changed(name, number) from error
        return TextVersion(name, new, Principal(principal.tenant, principal.user), now, note, text)

    async def get(self, principal: Principal, name: str) -> TextRecord:
        found = await self._find(principal, name)
        if found is None:
            raise NotFoundError(
                f"There is no {self._noun.name} {name!r}.",
                code=self._noun.not_found,
                hint=f"See `{self._noun.listing}`.",
            )
        return found

    async def list(self, principal: Principal, *, tag: str | None = None) -> Sequence[TextRecord]:
        rows = await self._database.rows(
            f"{_TEXT} WHERE tenant_id = ? AND noun = ? ORDER BY name", principal.tenant, self._noun.name
        )
        return [found for found in map(_record, rows) if tag is None or tag in found.tags]

    async def version(self, principal: Principal, name: str, version: int | None = None) -> TextVersion:
        number = version if version is not None else (await self.get(principal, name)).version
        where = "WHERE tenant_id = ? AND noun = ? AND name = ? AND version = ?"
        rows = await self._database.rows(f"{_VERSION} {where}", principal.tenant, self._noun.name, name, number)
        if not rows:
            newest = (await self.get(principal, name)).version
            raise NotFoundError(
                f"The {self._noun.name} {name!r} has no version {number}; the newest is {newest}.",
                code=self._noun.version_not_found,
            )
        return _version(rows[0])

    async def versions(self, principal: Principal, name: str, *, limit: int = 100) -> Sequence[TextVersion]:
        await self.get(principal, name)
        where = "WHERE tenant_id = ? AND noun = ? AND name = ? ORDER BY version DESC LIMIT ?"
        key = (principal.tenant, self._noun.name, name)
        rows = await self._database.rows(f"{_VERSION} {where}", *key, at_most(limit))
        return [_version(row) for row in rows]

    async def delete(self, principal: Principal, name: str) -> None:
        await self.get(principal, name)
        key = (principal.tenant, self._noun.name, name)
        await self._database.write(
            ("DELETE FROM text_versions WHERE tenant_id = ? AND noun = ? AND name = ?", key),
            ("DELETE FROM versioned_texts WHERE tenant_id = ? AND noun = ? AND name = ?", key),
        )

    async def _find(self, principal: Principal, name: str) -> TextRecord | None:
        where = "WHERE tenant_id = ? AND noun = ? AND name = ?"
        rows = await self._database.rows(f"{_TEXT} {where}", principal.tenant, self._noun.name, name)
        return _record(rows[0]) if rows else None

    def _changed(self, name: str, version: int) -> UserError:
        return UserError(
            f"The {self._noun.name} {name!r} was changed meanwhile: version {version} counts now.",
            code=self._noun.changed,
            hint="Look at the new version, then save yours again.",
        )


def _record(row: Row) -> TextRecord:
    name, tenant, owner, tags, version, created_at, updated_at = row
    principal = Principal(TenantId(tenant), UserId(owner))
    return TextRecord(name, principal, tuple(orjson.loads(tags)), version, time_of(created_at), time_of(updated_at))


def _version(row: Row) -> TextVersion:
    name, version, tenant, user, made_at, note, body = row
    return TextVersion(name, version, Principal(TenantId(tenant), UserId(user)), time_of(made_at), note, body)
