"""What the store keeps, each kind of thing behind its own short protocol: runs, events, threads and artifacts here,
the others in `protocols/`.

Every call of a user names a `Principal`; nothing of another tenant is ever returned, listed or changed. Within a tenant
everything can be read: which of its users may see what is for the layers above. An unknown id is a `NotFoundError`; a
store that cannot be used is an `OperatorError` with the remedy, and it can be used again once the cause is gone.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol

from answerable.core.context import Principal, RunContext
from answerable.core.errors import InternalError
from answerable.core.events import Event
from answerable.core.ids import ArtifactId, MessageId, RunId, ThreadId
from answerable.core.records import dataclass
from answerable.core.values import Json
from answerable.store.protocols.breakers import OpenBreakers
from answerable.store.protocols.outbox import Outbox

if TYPE_CHECKING:
    from answerable.store.protocols.budgets import Budgets
    from answerable.store.protocols.edits import Edits
    from answerable.store.protocols.evals import Evals
    from answerable.store.protocols.identities import Identities
    from answerable.store.protocols.keys import IdempotencyKeys
    from answerable.store.protocols.rates import RateRequests
    from answerable.store.protocols.retention import Retention
    from answerable.store.protocols.schedules import Schedules
    from answerable.store.protocols.seldom_parts import SeldomParts
    from answerable.store.protocols.versioned_texts import VersionedTexts

RunStatus = Literal["running", "done", "partial", "refused", "failed", "cancelled", "waiting", "paused"]
RequestKind = Literal["cancel", "decide", "pause", "resume"]


@dataclass(frozen=True, slots=True)
class Lease:
    """The right to write about a run. Every change of hands raises the token (a fencing token), and the store refuses
    what comes with an older one, so a process that was only slow cannot write about a run that it has lost."""

    run: RunId
    token: int


class LeaseLostError(InternalError):
    """Another process carries the run out by now. Nothing was written."""

    def __init__(self, run: RunId) -> None:
        super().__init__(f"Another process has taken over {run}.", code="lease_lost")


@dataclass(frozen=True, slots=True)
class RunResult:
    """What came of a run, as far as a listing shows it."""

    kind: str | None = None
    """Of its answer: `table`, `value`, `clarify`, …"""
    row_count: int | None = None
    tokens: int = 0
    cost: float | None = 0.0
    """Dollars; None if the price of the model is not known."""


@dataclass(frozen=True, slots=True)
class RunBeginning:
    """What is stored with a new run, in the same commit: a crash leaves all of it or nothing."""

    event: Event
    message: "Message | None" = None
    """The question. Its thread is created with the run if it is new."""
    title: str = ""
    """Of a new thread."""


@dataclass(frozen=True, slots=True)
class RunEnd:
    """How a run ended, or that it waits. Stored in the same commit as the run's last event."""

    status: RunStatus
    error_code: str | None = None
    result: RunResult | None = None
    message: "Message | None" = None
    """The answer in the run's thread. Stored once, even if the run ends twice; left out if the thread was deleted."""
    wake_at: float | None = None
    """When a run that waits is adoptable without a request, in seconds since the epoch."""


@dataclass(frozen=True, slots=True)
class RunRecord:
    run: RunId
    principal: Principal
    thread: ThreadId | None
    question: str | None
    status: RunStatus
    created_at: datetime
    finished_at: datetime | None = None
    request_id: str | None = None
    error_code: str | None = None
    owner: str | None = None
    """The process that carries it out, or did so last. None while the run waits for a decision."""
    token: int = 0
    """How often the run has changed hands: the number that its `Lease` must have."""
    deaths: int = 0
    """How many processes in a row died while they carried the run out, and none of its steps ended."""
    sources: tuple[str, ...] = ()
    """What was asked, by name."""
    mode: str | None = None
    """How: `auto`, `plan` or `react` for a question; `sql`, `python` or `plan` for a query."""
    at_once: int | None = None
    """How many runs of its graph may be carried out at the same time. None: any number."""
    priority: int = 0
    """Among the runs that wait to be carried out, those with a higher one come first."""
    graph_version: int | None = None
    """The version of the stored graph that it runs. None for a question, or a graph that is not stored."""
    result: RunResult | None = None

    @property
    def lease(self) -> Lease:
        """The lease of the process that created the run."""
        return Lease(self.run, self.token)


@dataclass(frozen=True, slots=True)
class QueuedRun:
    """A new run that waited for a worker, and belongs to this process now."""

    record: RunRecord
    started: Event
    """Its first event, and the only one."""


@dataclass(frozen=True, slots=True)
class RunRequest:
    """What somebody wants of a run that another process carries out."""

    request: str
    run: RunId
    kind: RequestKind
    body: Json


@dataclass(frozen=True, slots=True)
class RunFilter:
    """Which runs a listing shows; what is not said holds for all."""

    statuses: tuple[RunStatus, ...] = ()
    source: str | None = None
    mode: str | None = None
    text: str | None = None
    """Part of the question, whatever its case."""
    since: datetime | None = None
    until: datetime | None = None


@dataclass(frozen=True, slots=True)
class DayOfUse:
    """What runs that began on a day have used."""

    day: str
    runs: int
    failed: int
    tokens: int
    cost: float


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
    principal: Principal
    title: str
    created_at: datetime
    updated_at: datetime
    pinned: bool = False
    share_token: str | None = None
    """Whoever of the tenant knows it may read the thread."""
    last_run: RunId | None = None
    found: str | None = None
    """In a search: the first message that holds the text."""


@dataclass(frozen=True, slots=True)
class Capsule:
    """The stored whole of an answered run: answer, plan, code, fingerprints, artifacts. Enough to replay it."""

    run: RunId
    thread: ThreadId | None
    created_at: datetime
    body: Json = field(repr=False)


class Runs(Protocol):
    async def create(
        self,
        context: RunContext,
        question: str | None,
        *,
        sources: Sequence[str] = (),
        mode: str | None = None,
        beginning: RunBeginning | None = None,
        queued: bool = False,
        graph_version: int | None = None,
        at_once: int | None = None,
        priority: int = 0,
    ) -> RunRecord:
        """A new run, with the status `running`. `queued`: it has no owner until a worker claims it. If its thread
        belongs to another tenant, nothing is stored."""
        ...

    async def get(self, principal: Principal, run: RunId) -> RunRecord: ...

    async def some(self, principal: Principal, runs: Sequence[RunId]) -> Mapping[RunId, RunRecord]:
        """The runs of these ids, without those that do not exist."""
        ...

    async def recent(
        self,
        principal: Principal,
        *,
        limit: int = 50,
        before: RunId | None = None,
        thread: ThreadId | None = None,
        only: RunFilter | None = None,
    ) -> Sequence[RunRecord]:
        """Newest first, in the order in which they began and not by the clock; `before` continues a listing."""
        ...

    async def count(
        self, principal: Principal, *, thread: ThreadId | None = None, only: RunFilter | None = None
    ) -> int:
        """How many `recent` would list in all."""
        ...

    async def use(self, principal: Principal, since: datetime) -> Sequence[DayOfUse]:
        """What runs have used by day, the oldest first. Days without runs are left out."""
        ...

    async def claim_queued(self, most: int) -> Sequence[QueuedRun]:
        """Makes this process the owner of new runs of any tenant that wait for a worker, at most so many, those of the
        highest priority first. Runs that are bounded by a limit are left to `claim`. Several processes that ask at
        once get different runs."""
        ...

    async def adoptable(self, *, queued: bool = True) -> Sequence[RunRecord]:
        """Unfinished runs of all tenants that no living process carries out, the oldest first: those whose process
        died, and those that waited for a request that has come. `queued`: also those that `claim_queued` takes."""
        ...

    async def claim(
        self, record: RunRecord, *, most_of_tenant: int | None = None, to_end_it: bool = False
    ) -> Lease | None:
        """Makes this process the owner of an adoptable run; None if another was quicker or its owner lives. If the
        owner died at work, the same commit counts that, so that a run that kills its process is known by it. Also
        returns the lease of a run that this process owns without knowing, because the answer of the store was lost.
        `most_of_tenant`: how many runs of the same mode may be carried out for its tenant. `to_end_it`: no step of the
        run will be started, so it needs no room among the runs of its graph."""
        ...

    async def finish(self, lease: Lease, end: RunEnd) -> None:
        """Stores how the run ended, or raises `LeaseLostError`. `waiting` and `running` are not an end: such a run
        stays unfinished. One that waits has no owner until somebody claims it."""
        ...

    async def request(
        self,
        principal: Principal,
        run: RunId,
        kind: RequestKind,
        body: Json,
        *,
        request: str | None = None,
    ) -> bool:
        """Records what is wanted of a run, for the process that carries it out or will claim it. `request`: the id to
        give it. Returns False if a request of this id is there already; nothing is recorded then."""
        ...

    async def requested(self, principal: Principal, request: str) -> RunRequest | None:
        """The request of this id, also one that is carried out already; None if there is none."""
        ...

    async def requests(self) -> Sequence[RunRequest]:
        """Open requests to the runs of this process, in the order in which they were made."""
        ...

    async def take(self, request: RunRequest) -> None:
        """Marks a request as carried out."""
        ...


class Events(Protocol):
    """The journal. What `append` has returned from survives the death of the process."""

    async def append(self, events: Sequence[Event], lease: Lease, end: RunEnd | None = None) -> None:
        """All or none, of one run, in one commit; `end` comes with the last event of a run. Raises `LeaseLostError` if
        the lease is not the run's; a sequence number that exists already is an `InternalError`."""
        ...

    async def still_ours(self, lease: Lease) -> None:
        """Returns once it is certain that no other process has taken the run over, and that none will in the next
        moments; else raises `LeaseLostError`. Asks the store only if this was not known lately."""
        ...

    async def read(
        self, principal: Principal, run: RunId, *, after: int = 0, limit: int | None = None
    ) -> Sequence[Event]:
        """The events with a higher number than `after`, in order of number."""
        ...


class Capsules(Protocol):
    async def put(self, principal: Principal, capsule: Capsule, lease: Lease) -> None:
        """Stores the capsule of a run of this tenant; a second one replaces the first. Raises `LeaseLostError` if the
        lease is not the run's."""
        ...

    async def get(self, principal: Principal, run: RunId) -> Capsule: ...

    async def latest(self, principal: Principal, thread: ThreadId) -> Capsule | None: ...


class Threads(Protocol):
    async def ensure(
        self, principal: Principal, thread: ThreadId, title: str, messages: Sequence[Message] = ()
    ) -> ThreadRecord:
        """The thread, created if it is new, with these messages added to it: all in one commit. A thread of another
        tenant is a `NotFoundError`."""
        ...

    async def get(self, principal: Principal, thread: ThreadId) -> ThreadRecord: ...

    async def recent(
        self, principal: Principal, *, limit: int = 50, before: ThreadId | None = None, search: str | None = None
    ) -> Sequence[ThreadRecord]:
        """Pinned ones first, then by their last message, newest first; `before` continues a listing. `search` is part
        of the title or of a message, whatever its case."""
        ...

    async def change(self, principal: Principal, thread: ThreadId, *, title: str | None, pinned: bool | None) -> None:
        """Changes what is not None."""
        ...

    async def share(self, principal: Principal, thread: ThreadId, token: str | None) -> None:
        """Sets the token by which the thread is shared; None ends the sharing."""
        ...

    async def shared(self, principal: Principal, token: str) -> ThreadRecord:
        """A thread of the same tenant by its token."""
        ...

    async def delete(self, principal: Principal, thread: ThreadId) -> None:
        """Hides the thread, as if it did not exist, until it is restored or purged."""
        ...

    async def restore(self, principal: Principal, thread: ThreadId) -> None: ...

    async def purge(self, before: datetime) -> int:
        """Removes what was deleted before then, of all tenants; tells how many threads."""
        ...

    async def add_message(self, principal: Principal, message: Message) -> None: ...

    async def messages(self, principal: Principal, thread: ThreadId, *, last: int | None = None) -> Sequence[Message]:
        """The messages in the order in which they were added; with `last`, only that many of the newest."""
        ...


class Artifacts(Protocol):
    """Content-addressed files beside the database. Adding the same content twice keeps one file."""

    def staging(self) -> Path:
        """A new path in the artifact folder, for a writer whose file is then adopted."""
        ...

    async def adopt(self, principal: Principal, path: Path) -> ArtifactId:
        """Moves a finished file from staging in under its hash; from then on it does not change."""
        ...

    async def path(self, principal: Principal, artifact: ArtifactId) -> Path:
        """The file, to be read only. Another tenant's is a `NotFoundError`."""
        ...


class News(Protocol):
    """How a process notices what others store about a run."""

    async def mark(self, run: str) -> int:
        """A mark to take before reading what is stored about a run, and to hand to `beyond` afterwards."""
        ...

    async def beyond(self, run: str, mark: int, seconds: float) -> None:
        """Returns when another process may have written about the run since the mark, or after `seconds`."""
        ...


@dataclass(frozen=True, slots=True)
class Store:
    """All of them over one database, closed together."""

    runs: Runs
    events: Events
    capsules: Capsules
    threads: Threads
    artifacts: Artifacts
    breakers: OpenBreakers
    outbox: Outbox
    seldom: "SeldomParts"
    news: News
    release: Callable[[], Awaitable[None]]
    """Gives up what this process holds, so that others can take it over at once."""
    stop_waiting: Callable[[], None]
    """Ends the patience of `patient`, before the process ends."""
    database: "Database"
    patient: "Store | None" = None
    """The same store for runs: while it cannot be used for a passing reason, calls wait instead of failing."""

    @property
    def budgets(self) -> "Budgets":
        return self.seldom.budgets

    @property
    def edits(self) -> "Edits":
        return self.seldom.edits

    @property
    def evals(self) -> "Evals":
        return self.seldom.evals

    @property
    def graphs(self) -> "VersionedTexts":
        return self.seldom.graphs

    @property
    def agents(self) -> "VersionedTexts":
        return self.seldom.agents

    @property
    def schedules(self) -> "Schedules":
        return self.seldom.schedules

    @property
    def retention(self) -> "Retention":
        return self.seldom.retention

    @property
    def keys(self) -> "IdempotencyKeys":
        return self.seldom.keys

    @property
    def identities(self) -> "Identities":
        return self.seldom.identities

    @property
    def rates(self) -> "RateRequests":
        return self.seldom.rates

    async def close(self) -> None:
        await self.release()
        await self.database.close()


class Database(Protocol):
    async def check(self) -> None:
        """Raises what keeps the store from being read or written now."""
        ...

    async def close(self) -> None: ...
