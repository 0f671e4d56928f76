"""Conversations: threads and their messages."""

from collections.abc import Sequence

from answerable.core.clock import Clock
from answerable.core.context import Scope
from answerable.core.errors import InternalError, NotFoundError
from answerable.core.ids import TenantId, ThreadId, UserId
from answerable.store.base import Message, ThreadRecord
from answerable.store.database import Database, Row, RowExistsError, at_most, time_of, time_text

_THREAD = "SELECT thread_id, tenant_id, user_id, title, created_at, updated_at FROM threads"
_INSERT_THREAD = (
    "INSERT INTO threads (thread_id, tenant_id, user_id, title, created_at, updated_at) VALUES (?, ?, ?, ?, ?, ?)"
    " ON CONFLICT (thread_id) DO NOTHING"
)
_MESSAGE = "SELECT message_id, thread_id, role, content, created_at, run_id FROM messages"
_TOUCH = "UPDATE threads SET updated_at = ? WHERE thread_id = ? AND tenant_id = ?"
_INSERT_MESSAGE = (
    "INSERT INTO messages (message_id, role, content, created_at, run_id, user_id, thread_id, tenant_id, position)"
    " SELECT ?, ?, ?, ?, ?, ?, thread_id, tenant_id,"
    " (SELECT COALESCE(MAX(position), 0) + 1 FROM messages WHERE thread_id = threads.thread_id)"
    " FROM threads WHERE thread_id = ? AND tenant_id = ?"
)


class SqlThreads:
    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    async def ensure(self, scope: Scope, thread: ThreadId, title: str) -> ThreadRecord:
        now = time_text(self._clock.now())
        await self._database.write((_INSERT_THREAD, (thread, scope.tenant, scope.user, title, now, now)))
        rows = await self._database.rows(f"{_THREAD} WHERE thread_id = ? AND tenant_id = ?", thread, scope.tenant)
        if not rows:
            raise _thread_not_found(thread)
        return _thread_record(rows[0])

    async def recent(self, scope: Scope, *, limit: int = 50) -> Sequence[ThreadRecord]:
        rows = await self._database.rows(
            f"{_THREAD} WHERE tenant_id = ? ORDER BY updated_at DESC, thread_id DESC LIMIT ?",
            scope.tenant,
            at_most(limit),
        )
        return [_thread_record(row) for row in rows]

    async def add_message(self, scope: Scope, message: Message) -> None:
        now = time_text(self._clock.now())
        created_at = time_text(message.created_at)
        row = (message.message, message.role, message.content, created_at, message.run, scope.user)
        try:
            # The update comes first: it locks the thread, so two messages never get the same position.
            touched, _ = await self._database.write(
                (_TOUCH, (now, message.thread, scope.tenant)),
                (_INSERT_MESSAGE, (*row, message.thread, scope.tenant)),
            )
        except RowExistsError as error:
            raise InternalError(f"The message {message.message} exists already.", code="message_exists") from error
        if not touched:
            raise _thread_not_found(message.thread)

    async def messages(self, scope: Scope, thread: ThreadId, *, last: int | None = None) -> Sequence[Message]:
        rows = await self._database.rows(
            f"{_MESSAGE} WHERE thread_id = ? AND tenant_id = ? ORDER BY created_at DESC, position DESC LIMIT ?",
            thread,
            scope.tenant,
            at_most(last),
        )
        if not rows:
            await self._check_exists(scope, thread)
        return [_message(row) for row in reversed(rows)]

    async def _check_exists(self, scope: Scope, thread: ThreadId) -> None:
        rows = await self._database.rows(f"{_THREAD} WHERE thread_id = ? AND tenant_id = ?", thread, scope.tenant)
        if not rows:
            raise _thread_not_found(thread)


def _thread_not_found(thread: ThreadId) -> NotFoundError:
    return NotFoundError(f"There is no thread {thread}.", code="thread_not_found")


def _thread_record(row: Row) -> ThreadRecord:
    thread, tenant, user, title, created_at, updated_at = row
    return ThreadRecord(
        thread=ThreadId(thread),
        scope=Scope(TenantId(tenant), UserId(user)),
        title=title,
        created_at=time_of(created_at),
        updated_at=time_of(updated_at),
    )


def _message(row: Row) -> Message:
    message, thread, role, content, created_at, run = row
    return Message(message=message, thread=thread, role=role, content=content, created_at=time_of(created_at), run=run)
