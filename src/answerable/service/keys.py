"""Keys with which programs ask as somebody: limited to some permissions, for some time."""

import secrets
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, get_args

from pydantic import Field

from answerable.access.policy import Action, digest_of, new_key
from answerable.core.clock import Clock
from answerable.core.context import Principal, person
from answerable.core.errors import NotFoundError, RefusedError, UserError
from answerable.core.ids import TenantId
from answerable.core.values import Frozen
from answerable.sources.registry import SourceRegistry
from answerable.store.protocols.access_keys import AccessKeys, KeyRecord

if TYPE_CHECKING:
    from answerable.access.view import AccessView

NOTE_USE_EVERY = timedelta(minutes=1)
"""The use of a key is written to the store at most so often."""
LONGEST_DAYS = 3650
SCOPES: tuple[str, ...] = get_args(Action)


class KeyView(Frozen):
    """A key, without the key itself."""

    key_id: str
    user: str
    name: str
    scopes: list[str] = Field(description="The permissions that the key gives, as far as the user has them.")
    created_at: datetime
    expires_at: datetime
    used_at: datetime | None
    counts: bool = Field(description="False once it has expired or was revoked.")


class NewKey(Frozen):
    key: str = Field(description="Shown this once. Programs send it as `Authorization: Bearer KEY`.", repr=False)
    view: KeyView


class KeyService:
    def __init__(self, keys: AccessKeys, registry: SourceRegistry, clock: Clock) -> None:
        self._keys = keys
        self._registry = registry
        self._clock = clock

    async def person_with(self, key: str, tenant: TenantId) -> Principal | None:
        """The person whose key this is, limited to the scopes of the key; None if it does not count."""
        digest = digest_of(key)
        found = await self._keys.find(tenant, digest)
        if found is None:
            return None
        now = self._clock.now()
        if found.used_at is None or now - found.used_at > NOTE_USE_EVERY:
            await self._keys.note_use(tenant, digest, now)
        return person(found.user, tenant, scopes=frozenset(found.scopes))

    async def list(self, principal: Principal, *, user: str | None = None) -> list[KeyView]:
        """One's own keys, the newest first. An administrator may ask for those of `user`; the person at the machine
        gets those of everybody without it."""
        if user is not None and user != principal.user:
            self._require_administrator(principal)
        whose = user if user is not None or principal.is_at_the_machine else principal.user
        return [self._view(key) for key in await self._keys.list(principal.tenant, whose)]

    async def add(
        self,
        principal: Principal,
        *,
        user: str | None = None,
        name: str = "key",
        scopes: Sequence[str] = ("ask",),
        days: int = 90,
    ) -> NewKey:
        """Makes a key for oneself, or for an administrator one for `user`. It gives at most what that user may do."""
        owner = user or principal.user
        self._may_manage(owner, principal)
        view = self._owners_view(owner, principal.tenant)
        key_id, now = "kid_" + secrets.token_hex(8), self._clock.now()
        record = KeyRecord(
            key_id, owner, _checked_name(name), _checked_scopes(scopes, view), now, now + _checked_days(days)
        )
        key, digest = new_key()
        await self._keys.add(principal.tenant, digest, record)
        return NewKey(key=key, view=self._view(record))

    async def rotate(self, key_id: str, principal: Principal, *, grace_hours: int = 0) -> NewKey:
        """Makes a new key with the scopes and the lifetime of another, which counts for `grace_hours` more."""
        if not 0 <= grace_hours <= 24 * 30:
            raise UserError("The old key can count for 0 to 720 hours more.", code="key_invalid")
        old = await self._own(key_id, principal)
        now = self._clock.now()
        record = replace(
            old,
            key_id="kid_" + secrets.token_hex(8),
            created_at=now,
            expires_at=now + (old.expires_at - old.created_at),
            used_at=None,
        )
        key, digest = new_key()
        until = now + timedelta(hours=grace_hours)
        if not await self._keys.replace(principal.tenant, key_id, until, digest, record):
            raise UserError(
                f"The key {key_id} no longer counts, so it cannot be rotated.",
                code="key_ended",
                hint="Make a new key.",
            )
        return NewKey(key=key, view=self._view(record))

    async def revoke(self, key_id: str, principal: Principal) -> None:
        """Ends a key, at once. One that has ended already stays so."""
        key = await self._own(key_id, principal)
        await self._keys.revoke(principal.tenant, key.user, key_id)

    async def revoke_all(self, principal: Principal, *, user: str | None = None) -> int:
        """Ends all of one's own keys, or for an administrator those of `user`. Returns how many."""
        owner = user or principal.user
        self._may_manage(owner, principal)
        return await self._keys.revoke(principal.tenant, owner, None)

    async def _own(self, key_id: str, principal: Principal) -> KeyRecord:
        """The key, if the person may change it. The key of somebody else does not exist for others."""
        found = await self._keys.get(principal.tenant, key_id)
        view = self._registry.view(principal)
        administers = view is None or "administer" in view.actions
        if found is None or (found.user != principal.user and not administers):
            raise NotFoundError(f"There is no key {key_id}.", code="key_not_found")
        self._may_manage(found.user, principal)
        return found

    def _may_manage(self, owner: str, principal: Principal) -> None:
        """Somebody who came with a key could give themselves more than it allows, so that needs `administer`."""
        if owner != principal.user or principal.scopes is not None:
            self._require_administrator(principal)
        self._registry.access(principal.tenant).required_policy()

    def _require_administrator(self, principal: Principal) -> None:
        view = self._registry.view(principal)
        if view is not None:
            view.require("administer")

    def _owners_view(self, owner: str, tenant: TenantId) -> "AccessView":
        view = self._registry.view(person(owner, tenant))
        assert view is not None  # there are rules: `_may_manage` has looked
        return view

    def _view(self, key: KeyRecord) -> KeyView:
        return KeyView(
            key_id=key.key_id,
            user=key.user,
            name=key.name,
            scopes=list(key.scopes),
            created_at=key.created_at,
            expires_at=key.expires_at,
            used_at=key.used_at,
            counts=key.revoked_at is None and key.expires_at > self._clock.now(),
        )


def _checked_scopes(scopes: Sequence[str], view: "AccessView") -> tuple[str, ...]:
    chosen = tuple(dict.fromkeys(scopes))
    if not chosen:
        raise UserError("A key needs at least one scope.", code="key_invalid", hint=f"Scopes are {', '.join(SCOPES)}.")
    for scope in chosen:
        if scope not in SCOPES:
            raise UserError(
                f"There is no scope {scope!r}.", code="key_invalid", hint=f"Scopes are {', '.join(SCOPES)}."
            )
        if scope not in view.actions:
            raise RefusedError(
                f"{view.user!r} has no permission `{scope}`, so no key of theirs can have it.",
                code="key_scope_refused",
                hint=f"They may {', '.join(sorted(view.actions)) or 'do nothing'}.",
            )
    return chosen


def _checked_days(days: int) -> timedelta:
    if not 1 <= days <= LONGEST_DAYS:
        raise UserError(f"A key counts for 1 to {LONGEST_DAYS} days.", code="key_invalid")
    return timedelta(days=days)


def _checked_name(name: str) -> str:
    name = name.strip()
    if not name or len(name) > 200 or not name.isprintable():
        raise UserError("A key needs a name of 1 to 200 characters.", code="key_invalid")
    return name
