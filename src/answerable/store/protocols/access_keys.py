"""Keys with which programs ask as somebody. Only digests are stored."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from answerable.core.ids import TenantId


@dataclass(frozen=True, slots=True)
class KeyRecord:
    key_id: str
    """To speak about the key. Whoever knows it cannot use the key."""
    user: str
    name: str
    """What the key is for."""
    scopes: tuple[str, ...]
    """The permissions that the key gives, as far as the user has them."""
    created_at: datetime
    expires_at: datetime
    used_at: datetime | None = None
    revoked_at: datetime | None = None


class AccessKeys(Protocol):
    async def add(self, tenant: TenantId, digest: str, key: KeyRecord) -> None: ...

    async def find(self, tenant: TenantId, digest: str) -> KeyRecord | None:
        """The key, unless it has expired, was revoked, or belongs to somebody who is disabled."""
        ...

    async def get(self, tenant: TenantId, key_id: str) -> KeyRecord | None:
        """The key, whether or not it still counts."""
        ...

    async def list(self, tenant: TenantId, user: str | None) -> Sequence[KeyRecord]:
        """The keys of a user, or with None of everybody: the newest first, those that no longer count too."""
        ...

    async def note_use(self, tenant: TenantId, digest: str, used_at: datetime) -> None: ...

    async def replace(self, tenant: TenantId, old: str, until: datetime, digest: str, key: KeyRecord) -> bool:
        """Adds `key` and lets the key of the id `old` count until a moment at most. Returns False, and stores nothing,
        if the old one no longer counts."""
        ...

    async def revoke(self, tenant: TenantId, user: str | None, key_id: str | None) -> int:
        """Ends a key, or all of a user with None for its id. Returns how many counted until now."""
        ...
