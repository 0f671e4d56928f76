"""Who can sign in, who is signed in, and who tried to. Secrets are stored as digests only."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol

from answerable.core.ids import TenantId
from answerable.store.protocols.access_keys import AccessKeys
from answerable.store.protocols.access_records import AccessRecords
from answerable.store.protocols.groups import UserGroups


@dataclass(frozen=True, slots=True)
class UserRecord:
    """Somebody who can sign in. Their roles and attributes count beside those that `access.yaml` gives to the name."""

    name: str
    origin: str
    """`local` for a password of ours, else the name of the provider that vouches for the person."""
    roles: tuple[str, ...] = ()
    attributes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    password_hash: str | None = field(default=None, repr=False)
    disabled_at: datetime | None = None
    created_at: datetime | None = None
    """None before the record is stored."""
    profile: Mapping[str, Any] | None = None
    """What a directory (SCIM) says of the user; None if no directory manages the user."""
    subject: str | None = None
    """What the provider calls the account; None for a local user."""
    version: int = 0
    """Counts the changes of the record, so that nobody overwrites a change that they have not seen."""


@dataclass(frozen=True, slots=True)
class SessionRecord:
    """Somebody who is signed in at one client."""

    session_id: str
    """To speak about the session. Whoever knows it cannot use the session."""
    user: str
    client: str
    """What the client says about itself."""
    created_at: datetime
    used_at: datetime
    expires_at: datetime


@dataclass(frozen=True, slots=True)
class InvitationRecord:
    """A link that can be used once, to choose a password."""

    user: str | None
    """None for the link of the first administrator, who chooses a name too."""
    roles: tuple[str, ...]
    expires_at: datetime


@dataclass(frozen=True, slots=True)
class FlowRecord:
    """A sign-in at a provider that has begun in some browser."""

    provider: str
    browser_digest: str
    nonce: str = field(repr=False)
    verifier: str = field(repr=False)
    redirect_uri: str
    expires_at: datetime


class Users(Protocol):
    async def list(self, tenant: TenantId) -> Sequence[UserRecord]:
        """The users, sorted by name."""
        ...

    async def find(self, tenant: TenantId, name: str) -> UserRecord | None: ...

    async def save(self, tenant: TenantId, user: UserRecord) -> UserRecord:
        """Adds a record of version 0, or replaces the version that the record has. If somebody else was quicker,
        nothing is stored: `user_changed`."""
        ...


class Sessions(Protocol):
    async def begin(self, tenant: TenantId, digest: str, session: SessionRecord) -> None: ...

    async def find(self, tenant: TenantId, digest: str) -> SessionRecord | None:
        """The session, unless it has expired or was ended."""
        ...

    async def renew(self, tenant: TenantId, digest: str, *, used_at: datetime, expires_at: datetime) -> None:
        """Lets a session that is used live longer. One that was ended stays so."""
        ...

    async def of_user(self, tenant: TenantId, user: str) -> Sequence[SessionRecord]:
        """The sessions of a user that have not ended, the newest first."""
        ...

    async def end(self, tenant: TenantId, user: str, session_id: str | None) -> int:
        """Ends one session of a user, or all with None. Returns how many."""
        ...


class Invitations(Protocol):
    async def add(self, tenant: TenantId, digest: str, invitation: InvitationRecord) -> None:
        """Replaces earlier invitations for the same user."""
        ...

    async def find(self, tenant: TenantId, digest: str) -> InvitationRecord | None:
        """The invitation, unless it has expired or was used."""
        ...

    async def use(self, tenant: TenantId, digest: str) -> bool:
        """Whether the caller is the one who uses it."""
        ...


class Flows(Protocol):
    async def begin(self, tenant: TenantId, state_digest: str, flow: FlowRecord) -> None: ...

    async def use(self, tenant: TenantId, state_digest: str) -> FlowRecord | None:
        """The sign-in, for the caller alone: it can be finished once. None if it has expired or was used."""
        ...


class SignInAttempts(Protocol):
    async def state(self, tenant: TenantId, name: str) -> tuple[int, datetime] | None:
        """How many attempts failed in a row, and from when on the next one is allowed."""
        ...

    async def count(self, tenant: TenantId, name: str, *, failures: int, open_at: datetime) -> bool:
        """Counts an attempt as failed: `failures` is the new number. Returns False if another attempt was counted
        meanwhile; then nothing is stored."""
        ...

    async def forget(self, tenant: TenantId, name: str) -> None:
        """Forgets the failed attempts of somebody who has signed in."""
        ...


@dataclass(frozen=True, slots=True)
class Identities:
    users: Users
    sessions: Sessions
    invitations: Invitations
    attempts: SignInAttempts
    keys: AccessKeys
    flows: Flows
    groups: UserGroups
    records: AccessRecords
