"""Conversations: threads and their messages."""

# ruff: noqa: S608 - statements are put together from constants of this module; values are always parameters

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from itertools import chain

from answerable.core.clock import Clock
from answerable.core.context import Principal
from answerable.core.errors import InternalError, NotFoundError
from answerable.core.ids import TenantId, ThreadId, UserId
from answerable.store.base import Message, ThreadRecord
from answerable.store.database import (
    OWN,
    Condition,
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

_LAST_RUN = (
    "(SELECT run_id FROM messages WHERE messages.thread_id = threads.thread_id AND run_id IS NOT NULL"
    " ORDER BY position DESC LIMIT 1)"
)
_THREAD = f"SELECT thread_id, tenant_id, user_id, title, created_at, updated_at, pinned_at, share_token, {_LAST_RUN}"
_PINNED = "CASE WHEN pinned_at IS NULL THEN 0 ELSE 1 END"
_MINE = f"thread_id = ? AND {OWN} AND deleted_at IS NULL"
_INSERT_THREAD = (
    "INSERT INTO threads (thread_id, tenant_id, user_id, title, created_at, updated_at) VALUES (?, ?, ?, ?, ?, ?)"
    " ON CONFLICT (thread_id) DO NOTHING"
)
_MESSAGE = "SELECT message_id, thread_id, role, content, created_at, run_id FROM messages"
_TOUCH = f"UPDATE threads SET updated_at = CASE WHEN updated_at < ? THEN ? ELSE updated_at END WHERE {_MINE}"
"""A clock that was set back does not move the thread down in the list."""
_INSERT_MESSAGE = (
    "INSERT INTO messages (message_id, role, content, created_at, run_id, user_id, thread_id, tenant_id, position)"
    " SELECT ?, ?, ?, ?, ?, ?, thread_id, tenant_id,"
    " (SELECT COALESCE(MAX(position), 0) + 1 FROM messages WHERE thread_id = threads.thread_id)"
    f" FROM threads WHERE {_MINE}"
)
_INSERT_MESSAGE_ONCE = f"{_INSERT_MESSAGE} ON CONFLICT (message_id) DO NOTHING"
_GONE = "SELECT thread_id FROM threads WHERE deleted_at < ?"


def thread_statement(principal: Principal, thread: ThreadId, title: str, now: str) -> Statement:
    """Creates the thread if it is new."""
    return _INSERT_THREAD, (thread, principal.tenant, principal.user, title, now, now)


def message_statements(principal: Principal, message: Message, now: str, *, once: bool) -> tuple[Statement, Statement]:
    """Marks the thread as changed, then adds the message. The first changes no row if there is no such thread.

    The update comes first because it locks the thread, so two messages never get the same position. With `once`, a
    message that is there already stays as it is: a process that repeats its work says nothing twice.
    """
    place = (message.thread, *own(principal))
    created_at = time_text(message.created_at)
    row = (message.message, message.role, message.content, created_at, message.run, principal.user)
    return (_TOUCH, (now, now, *place)), (_INSERT_MESSAGE_ONCE if once else _INSERT_MESSAGE, (*row, *place))


class SqlThreads:
    def __init__(self, database: SqlDatabase, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    async def ensure(
        self, principal: Principal, thread: ThreadId, title: str, messages: Sequence[Message] = ()
    ) -> ThreadRecord:
        now = time_text(self._clock.now())
        added = [message_statements(principal, message, now, once=False) for message in messages]
        with _known_messages_refused():
            await self._database.write(thread_statement(principal, thread, title, now), *chain.from_iterable(added))
        return await self.get(principal, thread)

    async def get(self, principal: Principal, thread: ThreadId) -> ThreadRecord:
        rows = await self._database.rows(f"{_THREAD} FROM threads WHERE {_MINE}", thread, *own(principal))
        if not rows:
            raise thread_not_found(thread)
        return _thread_record(rows[0])

    async def recent(
        self, principal: Principal, *, limit: int = 50, before: ThreadId | None = None, search: str | None = None
    ) -> Sequence[ThreadRecord]:
        found, found_values = _found(search) if search else ("NULL", ())
        conditions: list[Condition] = [(f"{OWN} AND deleted_at IS NULL", own(principal))]
        if search:
            in_title, in_title_values = mentions("title", search)
            conditions.append((f"({in_title} OR {found} IS NOT NULL)", (*in_title_values, *found_values)))
        if before is not None:
            last = await self.get(principal, before)
            key = (int(last.pinned), time_text(last.updated_at), last.thread)
            conditions.append((f"({_PINNED}, updated_at, thread_id) < (?, ?, ?)", key))
        where = " AND ".join(text for text, _ in conditions)
        order = f"ORDER BY {_PINNED} DESC, updated_at DESC, thread_id DESC LIMIT ?"
        parameters = (*found_values, *(value for _, values in conditions for value in values), at_most(limit))
        rows = await self._database.rows(f"{_THREAD}, {found} FROM threads WHERE {where} {order}", *parameters)
        return [_thread_record(row) for row in rows]

    async def change(self, principal: Principal, thread: ThreadId, *, title: str | None, pinned: bool | None) -> None:
        """A thread that is renamed or pinned keeps its place in time."""
        pin = {None: "pinned_at", True: "COALESCE(pinned_at, ?)", False: "NULL"}[pinned]
        moment = (time_text(self._clock.now()),) if pinned else ()
        await self._update(principal, thread, f"title = COALESCE(?, title), pinned_at = {pin}", title, *moment)

    async def share(self, principal: Principal, thread: ThreadId, token: str | None) -> None:
        await self._update(principal, thread, "share_token = ?", token)

    async def shared(self, principal: Principal, token: str) -> ThreadRecord:
        where = "share_token = ? AND tenant_id = ? AND deleted_at IS NULL"
        rows = await self._database.rows(f"{_THREAD} FROM threads WHERE {where}", token, principal.tenant)
        if not rows:
            raise NotFoundError("There is no thread behind this link, or it is shared no longer.", code="share_unknown")
        return _thread_record(rows[0])

    async def delete(self, principal: Principal, thread: ThreadId) -> None:
        await self._update(principal, thread, "deleted_at = ?", time_text(self._clock.now()))

    async def restore(self, principal: Principal, thread: ThreadId) -> None:
        sql = f"UPDATE threads SET deleted_at = NULL WHERE thread_id = ? AND {OWN}"
        [changed] = await self._database.write((sql, (thread, *own(principal))))
        if not changed:
            raise thread_not_found(thread)

    async def purge(self, before: datetime) -> int:
        moment = (time_text(before),)
        _, gone = await self._database.write(
            (f"DELETE FROM messages WHERE thread_id IN ({_GONE})", moment),
            (f"DELETE FROM threads WHERE thread_id IN ({_GONE})", moment),
        )
        return gone

    async def add_message(self, principal: Principal, message: Message) -> None:
        now = time_text(self._clock.now())
        with _known_messages_refused():
            touched, _ = await self._database.write(*message_statements(principal, message, now, once=False))
        if not touched:
            raise thread_not_found(message.thread)

    async def messages(self, principal: Principal, thread: ThreadId, *, last: int | None = None) -> Sequence[Message]:
        rows = await self._database.rows(
            f"{_MESSAGE} WHERE thread_id IN (SELECT thread_id FROM threads WHERE {_MINE})"
            " ORDER BY position DESC LIMIT ?",
            *(thread, *own(principal), at_most(last)),
        )
        if not rows:
            await self.get(principal, thread)
        return [_message(row) for row in reversed(rows)]

    async def _update(self, principal: Principal, thread: ThreadId, change: str, *values: Parameter) -> None:
        statement = (f"UPDATE threads SET {change} WHERE {_MINE}", (*values, thread, *own(principal)))
        [changed] = await self._database.write(statement)
        if not changed:
            raise thread_not_found(thread)


@contextmanager
def _known_messages_refused() -> Iterator[None]:
    try:
        yield
    except RowExistsError as error:
        raise InternalError("A message with this id exists already.", code="message_exists") from error


def _found(search: str) -> Condition:
    """The first message that holds the text."""
    condition, values = mentions("content", search)
    first = f"SELECT content FROM messages WHERE messages.thread_id = threads.thread_id AND {condition}"
    return f"({first} ORDER BY position LIMIT 1)", values


def thread_not_found(thread: ThreadId) -> NotFoundError:
    return NotFoundError(f"There is no thread {thread}.", code="thread_not_found")


def _thread_record(row: Row) -> ThreadRecord:
    thread, tenant, user, title, created_at, updated_at, pinned_at, share_token, last_run, *found = row
    return ThreadRecord(
        thread=ThreadId(thread),
        principal=Principal(TenantId(tenant), UserId(user)),
        title=title,
        created_at=time_of(created_at),
        updated_at=time_of(updated_at),
        pinned=pinned_at is not None,
        share_token=share_token,
        last_run=last_run,
        found=found[0] if found else None,
    )


def _message(row: Row) -> Message:
    message, thread, role, content, created_at, run = row
    return Message(message=message, thread=thread, role=role, content=content, created_at=time_of(created_at), run=run)
