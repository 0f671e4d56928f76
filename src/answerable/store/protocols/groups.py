"""UserGroups of people that a provider's directory sends (SCIM)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from answerable.core.ids import TenantId


@dataclass(frozen=True, slots=True)
class GroupRecord:
    group_id: str
    name: str
    external_id: str | None = None
    members: tuple[str, ...] = ()
    """Names of users."""
    version: int = 0
    """Counts the changes of the record, so that nobody overwrites a change that they have not seen."""


class UserGroups(Protocol):
    async def list(self, tenant: TenantId) -> Sequence[GroupRecord]:
        """The groups, sorted by name."""
        ...

    async def find(self, tenant: TenantId, group_id: str) -> GroupRecord | None: ...

    async def save(self, tenant: TenantId, group: GroupRecord) -> GroupRecord:
        """Adds a record of version 0, or replaces the version that the record has. If somebody else was quicker,
        nothing is stored: `group_changed`."""
        ...

    async def remove(self, tenant: TenantId, group_id: str) -> bool: ...
