"""What the store keeps, each kind of thing behind its own short protocol.

Every call of a user names a `Scope`; nothing of another tenant is ever returned, listed or changed. Within a tenant
everything can be read: which of its users may see what is for the layers above. An unknown id is a `NotFoundError`; a
store that cannot be used is an `OperatorError` with the remedy, and it can be used again once the cause is gone.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Literal, Protocol

from answerable.core.context import RunContext, Scope
from answerable.core.events import Event
from answerable.core.ids import ArtifactId, MessageId, RunId, TenantId, ThreadId
from answerable.core.values import Json

RunStatus = Literal["running", "done", "partial", "failed", "cancelled", "waiting"]


@dataclass(frozen=True, slots=True)
class RunRecord:
    run: RunId
    scope: Scope
    thread: ThreadId | None
    question: str | None
    status: RunStatus
    created_at: datetime
    finished_at: datetime | None = None
    request: str | None = None
    error_code: str | None = None
    owner: str | None = None
    """The process that carries it out, or did so last."""


@dataclass(frozen=True, slots=True)
class Message:
    message: MessageId
    thread: ThreadId
    role: Literal["user", "assistant"]
    content: str
    created_at: datetime
    run: RunId | None = None


@dataclass(frozen=True, slots=True)
class ThreadRecord:
    thread: ThreadId
    scope: Scope
    title: str
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, slots=True)
class Capsule:
    """The stored whole of an answered run: answer, plan, code, fingerprints, artifacts. Enough to replay it."""

    run: RunId
    thread: ThreadId | None
    created_at: datetime
    body: Json = field(repr=False)


class Runs(Protocol):
    async def create(self, context: RunContext, question: str | None) -> RunRecord:
        """A new run, with the status `running`."""
        ...

    async def get(self, scope: Scope, run: RunId) -> RunRecord: ...

    async def recent(
        self, scope: Scope, *, limit: int = 50, before: RunId | None = None, thread: ThreadId | None = None
    ) -> Sequence[RunRecord]:
        """Newest first; `before` continues a listing."""
        ...

    async def unfinished(self) -> Sequence[RunRecord]:
        """Of all scopes: what a starting process has to continue. Runs that another living process carries out are
        not among them."""
        ...

    async def claim(self, record: RunRecord) -> bool:
        """Makes this process the owner of an unfinished run; false when another was quicker."""
        ...

    async def finish(self, run: RunId, status: RunStatus, error_code: str | None = None) -> None:
        """Sets the status. `waiting` and `running` are not an end: such a run stays unfinished."""
        ...


class Events(Protocol):
    """The journal. What `append` has returned from survives the death of the process."""

    async def append(self, events: Sequence[Event]) -> None:
        """All or none, of one run, in one commit. A sequence number that exists already is an `InternalError`."""
        ...

    async def read(self, scope: Scope, run: RunId, *, after: int = 0, limit: int | None = None) -> Sequence[Event]:
        """In order of number, those with a higher number than `after`."""
        ...


class Capsules(Protocol):
    async def put(self, scope: Scope, capsule: Capsule) -> None:
        """Of a run of this tenant. Once more for the same run replaces it."""
        ...

    async def get(self, scope: Scope, run: RunId) -> Capsule: ...

    async def latest(self, scope: Scope, thread: ThreadId) -> Capsule | None: ...


class Threads(Protocol):
    async def ensure(self, scope: Scope, thread: ThreadId, title: str) -> ThreadRecord:
        """The thread, made if it is new. A thread of another tenant is a `NotFoundError`."""
        ...

    async def recent(self, scope: Scope, *, limit: int = 50) -> Sequence[ThreadRecord]:
        """By their last message, newest first."""
        ...

    async def add_message(self, scope: Scope, message: Message) -> None: ...

    async def messages(self, scope: Scope, thread: ThreadId, *, last: int | None = None) -> Sequence[Message]:
        """In order of time; `last` keeps only that many of the newest."""
        ...


class Artifacts(Protocol):
    """Content-addressed files beside the database. Adding the same content twice keeps one file."""

    def staging(self) -> Path:
        """A new path in the artifact folder, for a writer whose file is then adopted."""
        ...

    async def adopt(self, scope: Scope, path: Path) -> ArtifactId:
        """Moves a finished file from staging in under its hash; from then on it does not change."""
        ...

    async def path(self, scope: Scope, artifact: ArtifactId) -> Path:
        """The file, to be read only. Another tenant's is a `NotFoundError`."""
        ...


@dataclass(frozen=True, slots=True)
class Amount:
    tokens: int = 0
    cost: int = 0
    """Billionths of a dollar: whole numbers, so that sums are exact."""


@dataclass(frozen=True, slots=True)
class Account:
    tenant: TenantId
    name: str
    """`run:…`, `thread:…`, `user:…` or `tenant`."""
    period: str = ""
    """A day (`2026-11-16`), a month (`2026-11`), or empty for all time."""


@dataclass(frozen=True, slots=True)
class AccountLimit:
    account: Account
    tokens: int | None = None
    cost: int | None = None


@dataclass(frozen=True, slots=True)
class Balance:
    account: Account
    tokens_limit: int | None = None
    cost_limit: int | None = None
    spent: Amount = Amount()
    reserved: Amount = Amount()


class Budgets(Protocol):
    """Of all processes that share the store together. An account never has more spent and reserved than its limit,
    unless more was spent than had been reserved."""

    async def reserve(self, reservation: str, limits: Sequence[AccountLimit], amount: Amount) -> bool:
        """In all of the accounts, or in none if one of them has too little left."""
        ...

    async def settle(self, reservation: str, spent: Amount | None) -> None:
        """Ends a reservation at what was really spent; nothing means all of it. One that is not there is left so."""
        ...

    async def reconcile(self) -> int:
        """Settles what dead processes had reserved, in full: their calls may have been paid for. Tells how many."""
        ...

    async def balances(self, accounts: Sequence[Account]) -> Sequence[Balance]: ...


@dataclass(frozen=True, slots=True)
class Store:
    """All of them over one database, closed together."""

    runs: Runs
    events: Events
    capsules: Capsules
    threads: Threads
    artifacts: Artifacts
    budgets: Budgets
    database: "Database"

    async def close(self) -> None:
        await self.database.close()


class Database(Protocol):
    async def close(self) -> None: ...
