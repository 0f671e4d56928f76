"""Conversations: found, named, pinned, shared, forked and deleted."""

import asyncio
import secrets
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Annotated, Literal

from fastapi import APIRouter, Path, Query
from pydantic import Field

from answerable.answers.answer import Answer
from answerable.core.context import Principal
from answerable.core.ids import MessageId, RunId, ThreadId
from answerable.gateway.access import PrincipalOf, ServiceOf, ThreadPath
from answerable.gateway.problems import documented
from answerable.gateway.routes.runs import RunSummary, summary
from answerable.gateway.wire import API, MESSAGE_ID, THREAD_ID, Wire
from answerable.service import Service
from answerable.service.runs import ended
from answerable.store.base import Message, RunRecord, ThreadRecord
from answerable.store.conversation import LONGEST_TITLE

router = APIRouter(prefix=API, tags=["threads"])

ROWS_SHOWN = 20
"""Of an answer that comes along with its message; the others are fetched by range."""
EXCERPT = 120


class ThreadSummary(Wire):
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


class ThreadList(Wire):
    threads: list[ThreadSummary]
    next_cursor: str | None = Field(description="Give this as `cursor` for the next page; null at the end.")


class ThreadChange(Wire):
    title: str | None = Field(None, min_length=1, max_length=4 * LONGEST_TITLE)
    pinned: bool | None = None


class ForkRequest(Wire):
    message_id: str = Field(pattern=MESSAGE_ID)
    include: bool = Field(True, description="False takes only what came before the message, to ask it differently.")


class MessageView(Wire):
    message_id: str
    role: Literal["user", "assistant"]
    content: str
    created_at: datetime
    run_id: str | None
    run: RunSummary | None
    answer: Answer | None = Field(description="Of an assistant's message, when answers were asked for.")


class MessageList(Wire):
    thread_id: str
    messages: list[MessageView]


class SharedThread(Wire):
    title: str
    created_at: datetime
    messages: list[MessageView]


@router.get("/threads", responses=documented(404, 422))
async def threads(
    service: ServiceOf,
    principal: PrincipalOf,
    search: Annotated[str | None, Query(max_length=500, description="Part of a title or message.")] = None,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
    cursor: Annotated[str | None, Query(pattern=THREAD_ID)] = None,
) -> ThreadList:
    """Threads, pinned ones first, then by their last message."""
    before = ThreadId(cursor) if cursor else None
    records = await service.store.threads.recent(principal, limit=limit, before=before, search=search)
    runs = await service.store.runs.some(principal, [record.last_run for record in records if record.last_run])
    views = [_summary(record, runs.get(record.last_run) if record.last_run else None, search) for record in records]
    return ThreadList(threads=views, next_cursor=records[-1].thread if len(records) == limit else None)


@router.get("/threads/{thread_id}", responses=documented(404, 422))
async def thread(thread_id: ThreadPath, service: ServiceOf, principal: PrincipalOf) -> ThreadSummary:
    record = await service.store.threads.get(principal, thread_id)
    runs = await service.store.runs.some(principal, [record.last_run] if record.last_run else [])
    return _summary(record, next(iter(runs.values()), None))


@router.patch("/threads/{thread_id}", responses=documented(400, 404, 413, 422))
async def change(
    thread_id: ThreadPath, body: ThreadChange, service: ServiceOf, principal: PrincipalOf
) -> ThreadSummary:
    """Rename or pin."""
    await service.store.threads.change(principal, thread_id, title=body.title, pinned=body.pinned)
    return await thread(thread_id, service, principal)


@router.delete("/threads/{thread_id}", status_code=204, responses=documented(404, 422))
async def delete(thread_id: ThreadPath, service: ServiceOf, principal: PrincipalOf) -> None:
    """It can be restored for thirty days. Its runs stay in the record of runs."""
    await service.store.threads.delete(principal, thread_id)


@router.post("/threads/{thread_id}/restore", responses=documented(404, 422))
async def restore(thread_id: ThreadPath, service: ServiceOf, principal: PrincipalOf) -> ThreadSummary:
    """Undo a deletion."""
    await service.store.threads.restore(principal, thread_id)
    return await thread(thread_id, service, principal)


@router.post("/threads/{thread_id}/share", responses=documented(404, 422))
async def share(thread_id: ThreadPath, service: ServiceOf, principal: PrincipalOf) -> ThreadSummary:
    """Let others of the same tenant read it by a link that cannot be guessed."""
    record = await service.store.threads.get(principal, thread_id)
    if record.share_token is None:
        await service.store.threads.share(principal, thread_id, secrets.token_urlsafe(24))
    return await thread(thread_id, service, principal)


@router.delete("/threads/{thread_id}/share", responses=documented(404, 422))
async def unshare(thread_id: ThreadPath, service: ServiceOf, principal: PrincipalOf) -> ThreadSummary:
    """From then on the link leads nowhere; sharing again makes another one."""
    await service.store.threads.share(principal, thread_id, None)
    return await thread(thread_id, service, principal)


@router.get("/shared/{token}", responses=documented(404, 422))
async def shared(
    token: Annotated[str, Path(pattern=r"^[A-Za-z0-9_-]{32}$")], service: ServiceOf, principal: PrincipalOf
) -> SharedThread:
    """A shared thread, to be read only."""
    record = await service.store.threads.shared(principal, token)
    said = await service.store.threads.messages(principal, record.thread)
    views = await _views(service, principal, said, answers=True)
    return SharedThread(title=record.title, created_at=record.created_at, messages=views)


@router.post("/threads/{thread_id}/fork", status_code=201, responses=documented(400, 404, 413, 422))
async def fork(thread_id: ThreadPath, body: ForkRequest, service: ServiceOf, principal: PrincipalOf) -> ThreadSummary:
    """A new thread that begins like this one."""
    new = await service.threads.fork(thread_id, MessageId(body.message_id), principal, include=body.include)
    return await thread(new, service, principal)


@router.get("/threads/{thread_id}/messages", responses=documented(404, 422))
async def messages(
    thread_id: ThreadPath,
    service: ServiceOf,
    principal: PrincipalOf,
    last: Annotated[int | None, Query(ge=1, le=1_000)] = None,
    answers: Annotated[bool, Query(description="With the answers themselves, and their first rows.")] = False,
) -> MessageList:
    """The messages of a thread in order of time; `last` keeps only the newest."""
    found = await service.store.threads.messages(principal, thread_id, last=last)
    return MessageList(thread_id=thread_id, messages=await _views(service, principal, found, answers=answers))


async def _views(
    service: Service, principal: Principal, said: Sequence[Message], *, answers: bool
) -> list[MessageView]:
    runs = await service.store.runs.some(principal, list({message.run for message in said if message.run}))
    wanted = [run for run, record in runs.items() if ended(record)] if answers else []
    found = dict(
        zip(wanted, await asyncio.gather(*(service.runs.answer(run, principal) for run in wanted)), strict=True)
    )
    return [_view(message, runs, found) for message in said]


def _view(message: Message, runs: Mapping[RunId, RunRecord], answers: Mapping[RunId, Answer]) -> MessageView:
    record = runs.get(message.run) if message.run else None
    answer = answers.get(message.run) if message.run and message.role == "assistant" else None
    return MessageView(
        message_id=message.message,
        role=message.role,
        content=message.content,
        created_at=message.created_at,
        run_id=message.run,
        run=summary(record) if record else None,
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
