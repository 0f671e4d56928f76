"""Threads: conversations, found, named, pinned, shared, forked and deleted."""

import asyncio
import secrets
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Literal

from pydantic import Field

from answerable.answers.answer import Answer
from answerable.core.clock import Clock
from answerable.core.context import Principal
from answerable.core.errors import RefusedError, UserError
from answerable.core.ids import MessageId, RunId, ThreadId
from answerable.core.values import Frozen
from answerable.service.run_carrier import ended
from answerable.service.run_summary import RunSummary, run_summary
from answerable.service.runs import RunService
from answerable.sources.registry import SourceRegistry
from answerable.store.base import Message, RunRecord, Store, ThreadRecord
from answerable.store.conversation import LONGEST_TITLE, fork

RESTORABLE = timedelta(days=30)
"""For so long a deleted thread can be restored."""
ROWS_SHOWN = 20
"""Of an answer that comes along with its message; the others are fetched by range."""
EXCERPT = 120
MOST_TITLE = 4 * LONGEST_TITLE


class ThreadSummary(Frozen):
    thread_id: str
    title: str
    pinned: bool
    share_path: str | None = Field(description="The page that shows it to others; null while it is not shared.")
    created_at: datetime
    updated_at: datetime
    sources: list[str] = Field(description="Those that were asked last.")
    last_run_id: str | None
    last_status: str | None
    last_kind: str | None = Field(description="Of the last answer: `table`, `clarify`, …")
    excerpt: str | None = Field(description="In a search: the words around what was found in a message.")


class MessageView(Frozen):
    message_id: str
    role: Literal["user", "assistant"]
    content: str
    created_at: datetime
    run_id: str | None
    run: RunSummary | None
    answer: Answer | None = Field(description="Of an assistant's message, when answers were asked for.")


class SharedThread(Frozen):
    title: str
    created_at: datetime
    messages: list[MessageView]


class ThreadService:
    def __init__(self, store: Store, runs: RunService, registry: SourceRegistry, clock: Clock) -> None:
        self._store = store
        self._registry = registry
        self._runs = runs
        self._clock = clock

    async def list(
        self, principal: Principal, *, limit: int = 50, before: ThreadId | None = None, search: str | None = None
    ) -> Sequence[ThreadSummary]:
        """Threads, pinned ones first, then by their last message; `search` is part of a title or of a message."""
        records = await self._store.threads.recent(principal, limit=limit, before=before, search=search)
        runs = await self._store.runs.some(principal, [record.last_run for record in records if record.last_run])
        return [_summary(record, runs.get(record.last_run) if record.last_run else None, search) for record in records]

    async def get(self, thread: ThreadId, principal: Principal) -> ThreadSummary:
        record = await self._store.threads.get(principal, thread)
        runs = await self._store.runs.some(principal, [record.last_run] if record.last_run else [])
        return _summary(record, next(iter(runs.values()), None))

    async def change(
        self, thread: ThreadId, principal: Principal, *, title: str | None = None, pinned: bool | None = None
    ) -> ThreadSummary:
        """Renames or pins a thread; what is None stays as it is."""
        if title is not None and not 1 <= len(title.strip()) <= MOST_TITLE:
            raise UserError(f"A title has 1 to {MOST_TITLE} characters.", code="title_invalid")
        await self._store.threads.change(principal, thread, title=title, pinned=pinned)
        return await self.get(thread, principal)

    async def delete(self, thread: ThreadId, principal: Principal) -> None:
        """Deletes a thread, which can be restored for thirty days. Its runs stay in the record of runs."""
        await self._store.threads.delete(principal, thread)

    async def restore(self, thread: ThreadId, principal: Principal) -> ThreadSummary:
        """Undoes a deletion."""
        await self._store.threads.restore(principal, thread)
        return await self.get(thread, principal)

    async def share(self, thread: ThreadId, principal: Principal) -> ThreadSummary:
        """Lets others of the same tenant read a thread by a link that cannot be guessed."""
        record = await self._store.threads.get(principal, thread)
        if record.share_token is None:
            await self._store.threads.share(principal, thread, secrets.token_urlsafe(24))
        return await self.get(thread, principal)

    async def unshare(self, thread: ThreadId, principal: Principal) -> ThreadSummary:
        """Ends the sharing: the link leads nowhere from now on, and sharing again makes another one."""
        await self._store.threads.share(principal, thread, None)
        return await self.get(thread, principal)

    async def shared(self, token: str, principal: Principal) -> SharedThread:
        """A shared thread, to be read only."""
        record = await self._store.threads.shared(principal, token)
        owner = record.principal
        if principal.own_only and self._registry.visibility(principal) != self._registry.visibility(owner):
            raise RefusedError(
                "This thread holds answers from data that you may not see, or see in another way.",
                code="share_refused",
                hint="Ask the same questions yourself: the answers then come from what you may see.",
            )
        messages = await self._store.threads.messages(owner, record.thread)
        views = await self._views(messages, owner, answers=True)
        return SharedThread(title=record.title, created_at=record.created_at, messages=[*views])

    async def fork(
        self,
        thread: ThreadId,
        message: MessageId,
        principal: Principal,
        *,
        include: bool = True,
        new: ThreadId | None = None,
    ) -> ThreadSummary:
        """A new thread that begins like another one: up to a message, or up to just before it. `new`: the id to give
        it; a thread of that id that exists already is not made again."""
        forked = await fork(self._store.threads, principal, thread, message, include=include, new=new)
        return await self.get(forked, principal)

    async def messages(
        self, thread: ThreadId, principal: Principal, *, last: int | None = None, answers: bool = False
    ) -> Sequence[MessageView]:
        """The messages of a thread in order of time; `last` keeps only that many of the newest. With `answers`, the
        answers come along, with their first rows."""
        messages = await self._store.threads.messages(principal, thread, last=last)
        return await self._views(messages, principal, answers=answers)

    async def _views(
        self, messages: Sequence[Message], principal: Principal, *, answers: bool
    ) -> Sequence[MessageView]:
        runs = await self._store.runs.some(principal, list({message.run for message in messages if message.run}))
        wanted = [run for run, record in runs.items() if ended(record)] if answers else []
        found = await asyncio.gather(*(self._runs.answer(run, principal) for run in wanted))
        by_run = dict(zip(wanted, found, strict=True))
        return [_view(message, runs, by_run) for message in messages]


def _view(message: Message, runs: Mapping[RunId, RunRecord], answers: Mapping[RunId, Answer]) -> MessageView:
    record = runs.get(message.run) if message.run else None
    answer = answers.get(message.run) if message.run and message.role == "assistant" else None
    return MessageView(
        message_id=message.message,
        role=message.role,
        content=message.content,
        created_at=message.created_at,
        run_id=message.run,
        run=run_summary(record) if record else None,
        answer=answer.model_copy(update={"rows": answer.rows[:ROWS_SHOWN]}) if answer else None,
    )


def _summary(record: ThreadRecord, last: RunRecord | None, search: str | None = None) -> ThreadSummary:
    return ThreadSummary(
        thread_id=record.thread,
        title=record.title,
        pinned=record.pinned,
        share_path=f"/shared/{record.share_token}" if record.share_token else None,
        created_at=record.created_at,
        updated_at=record.updated_at,
        sources=list(last.sources) if last else [],
        last_run_id=record.last_run,
        last_status=last.status if last else None,
        last_kind=last.result.kind if last and last.result else None,
        excerpt=excerpt(record.found, search) if record.found and search else None,
    )


def excerpt(text: str, search: str) -> str:
    """The words around the first place that holds a text."""
    place = max(0, text.lower().find(search.lower()))
    start = max(0, place - EXCERPT // 3)
    cut = " ".join(text[start : start + EXCERPT].split())
    return f"{'… ' if start else ''}{cut}{' …' if start + EXCERPT < len(text) else ''}"
