"""The history of the access rules, and what people ask to be allowed."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, Protocol

from answerable.core.ids import TenantId

RequestState = Literal["open", "approved", "denied"]


@dataclass(frozen=True, slots=True)
class AccessVersion:
    """The text of `access.yaml` as it was from some moment on."""

    version: int
    user: str | None
    """Who wrote it through Answerable; None for a file that was edited by other means."""
    seen_at: datetime
    note: str
    body: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class AccessRequest:
    request_id: str
    user: str
    wanted: str
    reason: str
    asked_at: datetime
    state: RequestState = "open"
    decided_by: str | None = None
    decided_at: datetime | None = None
    role: str | None = None
    """The role that was given, until `expires_at`."""
    expires_at: datetime | None = None
    note: str = ""


class AccessRecords(Protocol):
    async def versions(self, tenant: TenantId, *, limit: int = 100) -> Sequence[AccessVersion]:
        """Newest first."""
        ...

    async def add_version(self, tenant: TenantId, version: AccessVersion) -> bool:
        """False if somebody else has just added one of that number."""
        ...

    async def add_request(self, tenant: TenantId, request: AccessRequest) -> None: ...

    async def request(self, tenant: TenantId, request_id: str) -> AccessRequest | None: ...

    async def requests(self, tenant: TenantId, user: str | None, *, limit: int = 200) -> Sequence[AccessRequest]:
        """The requests of a user, or of everybody if `user` is None, the newest first."""
        ...

    async def decide(self, tenant: TenantId, request: AccessRequest) -> bool:
        """Stores a decision about a request that is open. False if it is not."""
        ...

    async def given(self, tenant: TenantId, at: datetime) -> Sequence[tuple[str, str]]:
        """Users and the roles that requests of theirs give them at a moment."""
        ...
