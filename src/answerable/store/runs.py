"""Runs and the capsules of those that were answered."""

# ruff: noqa: S608 - statements are put together from constants of this module; values are always parameters

import secrets
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta

import orjson

from answerable.core import codec
from answerable.core.clock import Clock
from answerable.core.codec import decode_body
from answerable.core.context import Principal, RunContext
from answerable.core.errors import AnswerableError, InternalError, NotFoundError
from answerable.core.ids import RunId, TenantId, ThreadId, UserId
from answerable.core.values import Json
from answerable.store.base import (
    Capsule,
    DayOfUse,
    Lease,
    LeaseLostError,
    QueuedRun,
    RequestKind,
    RunBeginning,
    RunEnd,
    RunFilter,
    RunRecord,
    RunRequest,
    RunResult,
    RunStatus,
)
from answerable.store.database import (
    OWN,
    Condition,
    NothingChangedError,
    Parameter,
    Row,
    RowExistsError,
    SqlDatabase,
    Statement,
    at_most,
    mentions,
    own,
    time_of,
    time_text,
)
from answerable.store.event_rows import Rows, event_inserts, insert_statements, moment_of
from answerable.store.leases import Leases
from answerable.store.run_owners import RunOwners
from answerable.store.threads import message_statements, thread_not_found, thread_statement

QUEUE = "queue"
"""Workers hear under this name, instead of that of a run, that a run waits for one of them."""
_ENDED: tuple[RunStatus, ...] = ("done", "partial", "refused", "failed", "cancelled")
_COLUMNS = (
    "run_id, tenant_id, user_id, thread_id, question, status, created_at, finished_at, request_id, error_code,"
    " owner, token, sources, mode, kind, row_count, tokens, cost, deaths, graph_version, at_once, priority"
)
_RUN = f"SELECT {_COLUMNS} FROM runs"


def run_not_found(run: RunId) -> NotFoundError:
    return NotFoundError(f"There is no run {run}.", code="run_not_found", hint="`answerable runs` lists them.")


class SqlRuns:
    def __init__(self, database: SqlDatabase, clock: Clock, leases: Leases, owners: RunOwners) -> None:
        self._database = database
        self._clock = clock
        self._leases = leases
        self._owners = owners
        self._claiming = False
        """Whether the store was asked for queued runs and has not answered."""
        self._claim_queued = _CLAIM_QUEUED.replace(_LOCKED, database.skip_locked)
        self._abandoned = f"NOT {leases.lives('runs.owner')}"

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
        record = RunRecord(
            run=context.run,
            principal=context.principal,
            thread=context.thread,
            question=question,
            status="running",
            created_at=self._clock.now() if beginning is None else moment_of(beginning.event),
            request_id=context.request_id,
            owner=None if queued else self._leases.owner,
            token=0 if queued else 1,
            sources=tuple(sources),
            mode=mode,
            graph_version=graph_version,
            at_once=at_once,
            priority=priority,
        )
        conversation, first = self._beginning(context, beginning)
        asked = self._leases.moment()
        insert = (_INSERT_RUN, _run_row(record))
        try:
            if queued and not conversation:  # this process holds nothing of it
                await self._database.change_fenced(insert, *first)
            else:
                # The conversation comes first: a thread of another tenant refuses the whole commit.
                required = (2,) if conversation else ()
                statements = (*conversation, insert, *insert_statements(first))
                await self._database.write(self._leases.renewal(), *statements, required=required)
        except NothingChangedError as error:
            assert context.thread is not None
            raise thread_not_found(context.thread) from error
        except RowExistsError as error:
            raise InternalError(f"The run {context.run} exists already.", code="run_exists") from error
        if queued:
            self._database.announce(QUEUE)
        else:
            self._leases.renewed(asked)
            self._leases.took(record.lease)
        return record

    def _beginning(
        self, context: RunContext, beginning: RunBeginning | None
    ) -> tuple[Sequence[Statement], Sequence[Rows]]:
        """The statements for the run's conversation, and its first event."""
        if beginning is None:
            return (), ()
        first = event_inserts([beginning.event], context.principal.tenant, context.principal.user)
        if beginning.message is None:
            return (), first
        principal, message, now = context.principal, beginning.message, time_text(self._clock.now())
        thread = thread_statement(principal, message.thread, beginning.title, now)
        return (thread, *message_statements(principal, message, now, once=True)), first

    async def get(self, principal: Principal, run: RunId) -> RunRecord:
        rows = await self._database.rows(f"{_RUN} WHERE run_id = ? AND {OWN}", run, *own(principal))
        if not rows:
            raise run_not_found(run)
        return _run_record(rows[0])

    async def some(self, principal: Principal, runs: Sequence[RunId]) -> Mapping[RunId, RunRecord]:
        if not runs:
            return {}
        marks = ", ".join("?" * len(runs))
        rows = await self._database.rows(f"{_RUN} WHERE {OWN} AND run_id IN ({marks})", *own(principal), *runs)
        return {record.run: record for record in map(_run_record, rows)}

    async def recent(
        self,
        principal: Principal,
        *,
        limit: int = 50,
        before: RunId | None = None,
        thread: ThreadId | None = None,
        only: RunFilter | None = None,
    ) -> Sequence[RunRecord]:
        conditions = _conditions(principal, thread, only)
        if before is not None:
            await self.get(principal, before)  # raises if there is no such run
            conditions.append((f"(position, run_id) < ({_POSITION})", (before,)))
        where, parameters = _joined(conditions)
        sql = f"{_RUN} WHERE {where} ORDER BY position DESC, run_id DESC LIMIT ?"
        rows = await self._database.rows(sql, *parameters, at_most(limit))
        return [_run_record(row) for row in rows]

    async def count(
        self, principal: Principal, *, thread: ThreadId | None = None, only: RunFilter | None = None
    ) -> int:
        where, parameters = _joined(_conditions(principal, thread, only))
        [(count,)] = await self._database.rows(f"{_COUNT} WHERE {where}", *parameters)
        return int(count)

    async def use(self, principal: Principal, since: datetime) -> Sequence[DayOfUse]:
        rows = await self._database.rows(_USE, *own(principal), time_text(since))
        return [
            DayOfUse(day, int(runs), int(failed), int(tokens), float(cost)) for day, runs, failed, tokens, cost in rows
        ]

    async def claim_queued(self, most: int) -> Sequence[QueuedRun]:
        asked = self._leases.moment()
        if self._claiming:  # the answer to the last claim was lost: its runs belong to a living process, to this one
            rows = await self._database.rows(_CLAIMED, self._leases.owner)
        else:
            self._claiming = True
            first = () if self._leases.fresh else (self._leases.renewal(),)
            rows = await self._database.written(*first, (self._claim_queued, (most, self._leases.owner)))
            self._leases.renewed(asked if first else None)
        self._claiming = False
        return [queued for row in rows if (queued := self._taken(row)) is not None]

    def _taken(self, row: Row) -> QueuedRun | None:
        record = _run_record(row[:-2])
        if self._leases.holds(record.lease):
            return None
        self._leases.took(record.lease)
        self._owners.remember(record.run, record.principal.tenant, record.principal.user)
        return QueuedRun(record, decode_body("run.started", record.run, 1, *row[-2:]))

    async def adoptable(self, *, queued: bool = True) -> Sequence[RunRecord]:
        order = "ORDER BY priority DESC, created_at, run_id"
        now = time_text(self._clock.now())
        rows = await self._database.rows(
            f"{_RUN} WHERE {_ADOPTABLE} AND {self._abandoned} AND {_HAS_ROOM}"
            f"{'' if queued else f' AND NOT ({_QUEUED})'} {order}",
            now,
        )
        return [_run_record(row) for row in rows]

    async def claim(
        self, record: RunRecord, *, most_of_tenant: int | None = None, to_end_it: bool = False
    ) -> Lease | None:
        """Checks in the same transaction that the run is still abandoned: its owner may have been late, not dead."""
        claim = f"{_CLAIM_RUN} AND {_ADOPTABLE} AND {self._abandoned}"
        if not to_end_it:
            claim = f"{claim} AND {_HAS_ROOM}"
        parameters: tuple[str | int, ...] = (
            self._leases.owner,
            record.run,
            record.token,
            time_text(self._clock.now()),
        )
        if most_of_tenant is not None:
            claim, parameters = f"{claim} AND {_OF_TENANT} < ?", (*parameters, most_of_tenant)
        counted = record.at_once is not None or most_of_tenant is not None
        lock = self._database.lock if counted else None
        # Two that count at the same time would both find room for one.
        first: list[Statement] = [(lock, (f"runs of {record.principal.tenant}",))] if lock else []
        asked = self._leases.moment()
        *_, changed = await self._database.write(*first, self._leases.renewal(), (claim, parameters))
        if changed:
            lease = Lease(record.run, record.token + 1)
            self._leases.renewed(asked)
            self._leases.took(lease)
            return lease
        owned = await self._owned_unknowingly(record.run)
        if owned is not None:
            self._leases.hold(owned)
        return owned

    async def _owned_unknowingly(self, run: RunId) -> Lease | None:
        rows = await self._database.rows(_OWNED, run, self._leases.owner)
        lease = Lease(run, rows[0][0]) if rows else None
        return None if lease is None or self._leases.holds(lease) else lease

    async def finish(self, lease: Lease, end: RunEnd) -> None:
        rows = await self._database.rows("SELECT tenant_id, user_id FROM runs WHERE run_id = ?", lease.run)
        if not rows:
            raise await self._refused(lease)
        statements = end_statements(Principal(*rows[0]), lease, end, self._clock.now(), self._leases.owner)
        try:
            await self._database.write(*statements, required=(0,))
        except NothingChangedError:
            raise await self._refused(lease) from None
        if end.status != "running":
            self._leases.drop(lease)
        self._database.announce(lease.run)

    async def _refused(self, lease: Lease) -> AnswerableError:
        self._leases.drop(lease)
        known = await self._database.rows("SELECT 1 FROM runs WHERE run_id = ?", lease.run)
        return LeaseLostError(lease.run) if known else run_not_found(lease.run)

    async def request(
        self,
        principal: Principal,
        run: RunId,
        kind: RequestKind,
        body: Json,
        *,
        request: str | None = None,
    ) -> bool:
        text = codec.json_bytes(body, f"The request to {run}").decode()
        row = (request or secrets.token_hex(12), principal.user, kind, text, time_text(self._clock.now()))
        try:
            [inserted] = await self._database.write((_REQUEST, (*row, run, *own(principal))))
        except RowExistsError:
            return False
        if not inserted:
            raise run_not_found(run)
        return True

    async def requested(self, principal: Principal, request: str) -> RunRequest | None:
        rows = await self._database.rows(_REQUESTED_BEFORE, request, principal.tenant)
        return _run_request(rows[0]) if rows else None

    async def requests(self) -> Sequence[RunRequest]:
        rows = await self._database.rows(_REQUESTS, self._leases.owner)
        return [_run_request(row) for row in rows]

    async def take(self, request: RunRequest) -> None:
        await self._database.write((_TAKE, (time_text(self._clock.now()), request.request)))


def end_statements(principal: Principal, lease: Lease, end: RunEnd, now: datetime, owner: str) -> list[Statement]:
    """How a run ended, and what it says in its thread. The first statement is the fence: it changes no row if the lease
    is not the run's. On PostgreSQL it also locks the run, so that a claim comes either before this commit or after."""
    moment = time_text(now)
    result = end.result
    shown = (result.kind, result.row_count, result.tokens, result.cost) if result else (None, None, None, None)
    finished_at = moment if end.status in _ENDED else None
    holder = None if end.status in ("waiting", "paused") else owner
    fence = (lease.run, lease.token)
    wake_at = None if end.wake_at is None else time_text(datetime.fromtimestamp(end.wake_at, UTC))
    inserts = message_statements(principal, end.message, moment, once=True) if end.message else ()
    return [(_FINISH_RUN, (end.status, end.error_code, finished_at, holder, *shown, wake_at, *fence)), *inserts]


_OWNED = "SELECT token FROM runs WHERE run_id = ? AND owner = ? AND finished_at IS NULL"
_OPEN_REQUEST = "SELECT 1 FROM run_requests q WHERE q.run_id = runs.run_id AND q.taken_at IS NULL"
_REQUESTED = f"EXISTS ({_OPEN_REQUEST})"
_WANTED = f"EXISTS ({_OPEN_REQUEST} AND q.kind IN ('resume', 'cancel'))"
_ADOPTABLE = (
    "finished_at IS NULL AND (status NOT IN ('waiting', 'paused')"
    f" OR (status = 'waiting' AND (wake_at <= ? OR {_REQUESTED})) OR (status = 'paused' AND {_WANTED}))"
)
"""The parameter is the time now. A decision about a run that is paused counts once it is resumed."""
_WORKING = (
    "(SELECT count(*) FROM runs r WHERE r.tenant_id = runs.tenant_id AND r.mode = runs.mode AND r.run_id <> runs.run_id"
    " AND r.finished_at IS NULL AND r.status = 'running' AND r.owner IS NOT NULL"
)
_OF_TENANT = f"{_WORKING})"
"""How many other runs of its kind are carried out for its tenant."""
_HAS_ROOM = f"(at_once IS NULL OR {_WORKING} AND r.question = runs.question) < at_once)"
_INSERT_RUN = (
    "INSERT INTO runs (run_id, tenant_id, user_id, thread_id, question, status, created_at, request_id, owner,"
    " token, sources, mode, graph_version, at_once, priority, position)"
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?,"
    " (SELECT COALESCE(MAX(position), 0) + 1 FROM runs WHERE tenant_id = ?))"
)
"""The clock may be set back, so the order of runs is counted and not taken from their times. On PostgreSQL, runs that
begin in the same moment may get the same position; then their ids decide."""
_POSITION = "SELECT position, run_id FROM runs WHERE run_id = ?"
_GOT_ON = (
    "EXISTS (SELECT 1 FROM events e WHERE e.run_id = runs.run_id AND e.seq > runs.claimed_seq"
    " AND e.type IN ('step.finished', 'step.failed'))"
)
"""Whether a step has ended since the run was last claimed: then it is not what killed the process that had it."""
_NO_DEATH = (
    "(status = 'waiting' OR owner IS NULL"
    " OR EXISTS (SELECT 1 FROM owners o WHERE o.owner = runs.owner AND o.seconds = 0))"
)
"""A process that ended in good order has released what it held."""
_CLAIM_RUN = (
    f"UPDATE runs SET deaths = CASE WHEN {_GOT_ON} THEN 0 ELSE deaths END + CASE WHEN {_NO_DEATH} THEN 0 ELSE 1 END,"
    " claimed_seq = (SELECT COALESCE(MAX(e.seq), 0) FROM events e WHERE e.run_id = runs.run_id),"
    " owner = ?, token = token + 1, status = 'running' WHERE run_id = ? AND token = ?"
)
_QUEUED = (
    "finished_at IS NULL AND status = 'running' AND owner IS NULL AND token = 0 AND at_once IS NULL"
    f" AND NOT {_REQUESTED}"
)
"""New runs that no limit bounds and of which nobody wants anything else: nothing must be looked at before a claim."""
_LOCKED = " -- locked"
_FIRST_EVENT = "FROM events e WHERE e.run_id = runs.run_id AND e.seq = 1"
_STARTED = f"(SELECT e.at {_FIRST_EVENT}), (SELECT e.body {_FIRST_EVENT})"
_CLAIM_QUEUED = (
    f"WITH queued AS MATERIALIZED (SELECT run_id FROM runs WHERE {_QUEUED}"
    f" ORDER BY priority DESC, created_at, run_id LIMIT ?{_LOCKED})"
    " UPDATE runs SET owner = ?, token = 1, claimed_seq = 1 WHERE run_id IN (SELECT run_id FROM queued)"
    f" RETURNING {_COLUMNS}, {_STARTED}"
)
_CLAIMED = (
    f"SELECT {_COLUMNS}, {_STARTED} FROM runs"
    " WHERE owner = ? AND finished_at IS NULL AND status = 'running' AND token = 1 AND claimed_seq = 1"
)
_FINISH_RUN = (
    "UPDATE runs SET status = ?, error_code = ?, finished_at = ?, owner = ?, kind = ?, row_count = ?, tokens = ?,"
    " cost = ?, wake_at = ? WHERE run_id = ? AND token = ?"
)
_REQUEST = (
    "INSERT INTO run_requests (request_id, user_id, kind, body, made_at, run_id, tenant_id)"
    f" SELECT ?, ?, ?, ?, ?, run_id, tenant_id FROM runs WHERE run_id = ? AND {OWN}"
)
_REQUESTED_BEFORE = "SELECT request_id, run_id, kind, body FROM run_requests WHERE request_id = ? AND tenant_id = ?"
_REQUESTS = (
    "SELECT q.request_id, q.run_id, q.kind, q.body FROM run_requests q JOIN runs r ON r.run_id = q.run_id"
    " WHERE q.taken_at IS NULL AND r.owner = ? AND r.finished_at IS NULL ORDER BY q.made_at, q.request_id"
)
_TAKE = "UPDATE run_requests SET taken_at = ? WHERE request_id = ?"
_COUNT = "SELECT count(*) FROM runs"
_USE = (
    "SELECT substr(created_at, 1, 10) AS day, count(*), sum(CASE WHEN status = 'failed' THEN 1 ELSE 0 END),"
    f" coalesce(sum(tokens), 0), coalesce(sum(cost), 0) FROM runs WHERE {OWN} AND created_at >= ?"
    " GROUP BY substr(created_at, 1, 10) ORDER BY day"
)


def _conditions(principal: Principal, thread: ThreadId | None, only: RunFilter | None) -> list[Condition]:
    of_thread: list[Condition] = [("thread_id = ?", (thread,))] if thread is not None else []
    return [(OWN, own(principal)), *of_thread, *_filters(only or RunFilter())]


def _joined(conditions: Sequence[Condition]) -> Condition:
    where = " AND ".join(text for text, _ in conditions)
    return where, tuple(value for _, values in conditions for value in values)


def _filters(only: RunFilter) -> Sequence[Condition]:
    found: list[Condition] = []
    if only.statuses:
        found.append((f"status IN ({', '.join('?' * len(only.statuses))})", only.statuses))
    if only.source is not None:
        found.append(mentions("sources", f"\n{only.source}\n"))
    if only.mode is not None:
        found.append(("mode = ?", (only.mode,)))
    if only.text:
        found.append(mentions("question", only.text))
    if only.since is not None:
        found.append(("created_at >= ?", (time_text(only.since),)))
    if only.until is not None:
        found.append(("created_at < ?", (time_text(only.until),)))
    return found


def _run_row(record: RunRecord) -> tuple[Parameter, ...]:
    owner = record.principal
    created_at = time_text(record.created_at)
    return (
        record.run,
        owner.tenant,
        owner.user,
        record.thread,
        record.question,
        record.status,
        created_at,
        record.request_id,
        record.owner,
        record.token,
        _listed(record.sources),
        record.mode,
        record.graph_version,
        record.at_once,
        record.priority,
        owner.tenant,
    )


def _run_request(row: Row) -> RunRequest:
    request, run, kind, body = row
    return RunRequest(request, RunId(run), kind, orjson.loads(body))


def _listed(names: Sequence[str]) -> str | None:
    """A line break before and after each, so that a name is found as a whole."""
    return "\n" + "\n".join(names) + "\n" if names else None


def _run_record(row: Row) -> RunRecord:
    run, tenant, user, thread, question, status, created_at, finished_at, request, error_code, owner, *rest = row
    token, sources, mode, kind, row_count, tokens, cost, deaths, graph_version, at_once, priority = rest
    return RunRecord(
        run=RunId(run),
        principal=Principal(TenantId(tenant), UserId(user)),
        thread=thread,
        question=question,
        status=status,
        created_at=time_of(created_at),
        finished_at=finished_at and time_of(finished_at),
        request_id=request,
        error_code=error_code,
        owner=owner,
        token=token,
        deaths=deaths,
        sources=tuple(sources.strip("\n").split("\n")) if sources else (),
        mode=mode,
        graph_version=graph_version,
        at_once=at_once,
        priority=priority,
        result=None if tokens is None else RunResult(kind, row_count, tokens, cost),
    )


class SqlCapsules:
    def __init__(self, database: SqlDatabase) -> None:
        self._database = database

    async def put(self, principal: Principal, capsule: Capsule, lease: Lease) -> None:
        """Once more for the same run replaces it: a continued run may have been answered before it was stopped."""
        latest = await self.latest(principal, capsule.thread) if capsule.thread is not None else None
        created_at = capsule.created_at
        if latest is not None and latest.run != capsule.run:
            # Answers of a thread are ordered by time. This one comes last even if the clock was set back in between.
            created_at = max(created_at, latest.created_at + timedelta(microseconds=1))
        body = codec.json_bytes(capsule.body, f"The capsule of {capsule.run}").decode()
        row = (principal.user, capsule.thread, time_text(created_at), body)
        statement = (_PUT_CAPSULE, (*row, capsule.run, principal.tenant, lease.token))
        [changed] = await self._database.write(statement)
        if not changed:
            known = await self._database.rows(_KNOWN, capsule.run, principal.tenant)
            raise LeaseLostError(capsule.run) if known else run_not_found(capsule.run)

    async def get(self, principal: Principal, run: RunId) -> Capsule:
        rows = await self._database.rows(f"{_CAPSULE} WHERE run_id = ? AND {OWN}", run, *own(principal))
        if not rows:
            raise NotFoundError(f"There is no answer of run {run}.", code="capsule_not_found")
        return _capsule(rows[0])

    async def latest(self, principal: Principal, thread: ThreadId) -> Capsule | None:
        rows = await self._database.rows(
            f"{_CAPSULE} WHERE {_OF_THREAD} ORDER BY created_at DESC, run_id DESC LIMIT 1",
            *(*own(principal), thread, principal.tenant, thread),
        )
        return _capsule(rows[0]) if rows else None


_KNOWN = "SELECT 1 FROM runs WHERE run_id = ? AND tenant_id = ?"
_CAPSULE = "SELECT run_id, thread_id, created_at, body FROM capsules"
_OF_THREAD = (
    f"{OWN} AND (thread_id = ? OR run_id IN (SELECT run_id FROM messages WHERE tenant_id = ? AND thread_id = ?))"
)
"""Includes runs of the thread that this one was forked from: the fork has their messages, not their runs."""
_PUT_CAPSULE = (
    "INSERT INTO capsules (run_id, tenant_id, user_id, thread_id, created_at, body)"
    " SELECT run_id, tenant_id, ?, ?, ?, ? FROM runs WHERE run_id = ? AND tenant_id = ? AND token = ?"
    " ON CONFLICT (run_id) DO UPDATE SET user_id = excluded.user_id, thread_id = excluded.thread_id,"
    " created_at = CASE WHEN capsules.created_at < excluded.created_at THEN excluded.created_at"
    " ELSE capsules.created_at END, body = excluded.body"
)


def _capsule(row: Row) -> Capsule:
    run, thread, created_at, body = row
    return Capsule(run=run, thread=thread, created_at=time_of(created_at), body=orjson.loads(body))
