"""Conversations: found, named, pinned, shared, forked and deleted."""

from typing import Annotated

from fastapi import APIRouter, Path, Query
from pydantic import Field

from answerable.core.ids import MessageId, ThreadId, thread_of
from answerable.gateway.access import AttemptOf, PrincipalOf, ServiceOf, ThreadPath, within
from answerable.gateway.middleware.idempotency import OnceRoute
from answerable.gateway.problems import documented
from answerable.gateway.wire import API, MESSAGE_ID, THREAD_ID, Wire
from answerable.service.threads import MOST_TITLE, MessageView, SharedThread, ThreadSummary

router = APIRouter(prefix=API, tags=["threads"], route_class=OnceRoute, dependencies=[within("ask")])


class ThreadList(Wire):
    threads: list[ThreadSummary]
    next_cursor: str | None = Field(description="Give this as `cursor` for the next page; null at the end.")


class ThreadChange(Wire):
    title: str | None = Field(None, min_length=1, max_length=MOST_TITLE)
    pinned: bool | None = None


class ForkRequest(Wire):
    message_id: str = Field(pattern=MESSAGE_ID)
    include: bool = Field(True, description="False takes only what came before the message, to ask it differently.")


class MessageList(Wire):
    thread_id: str
    messages: list[MessageView]


@router.get("/threads", responses=documented(404, 422))
async def threads(
    service: ServiceOf,
    principal: PrincipalOf,
    search: Annotated[str | None, Query(max_length=500, description="Part of a title or message.")] = None,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
    cursor: Annotated[str | None, Query(pattern=THREAD_ID)] = None,
) -> ThreadList:
    """List the threads: pinned ones first, then by their last message."""
    before = ThreadId(cursor) if cursor else None
    found = await service.threads.list(principal, limit=limit, before=before, search=search)
    return ThreadList(threads=[*found], next_cursor=found[-1].thread_id if len(found) == limit else None)


@router.get("/threads/{thread_id}", responses=documented(404, 422))
async def thread(thread_id: ThreadPath, service: ServiceOf, principal: PrincipalOf) -> ThreadSummary:
    """Show one thread, without its messages."""
    return await service.threads.get(thread_id, principal)


@router.patch("/threads/{thread_id}", responses=documented(400, 404, 413, 422))
async def change(
    thread_id: ThreadPath, body: ThreadChange, service: ServiceOf, principal: PrincipalOf
) -> ThreadSummary:
    """Rename or pin a thread."""
    return await service.threads.change(thread_id, principal, title=body.title, pinned=body.pinned)


@router.delete("/threads/{thread_id}", status_code=204, responses=documented(404, 422))
async def delete(thread_id: ThreadPath, service: ServiceOf, principal: PrincipalOf) -> None:
    """Delete a thread. It can be restored for thirty days. Its runs stay in the list of runs."""
    await service.threads.delete(thread_id, principal)


@router.post("/threads/{thread_id}/restore", responses=documented(404, 422))
async def restore(thread_id: ThreadPath, service: ServiceOf, principal: PrincipalOf) -> ThreadSummary:
    """Restore a deleted thread."""
    return await service.threads.restore(thread_id, principal)


@router.post("/threads/{thread_id}/share", responses=documented(404, 422))
async def share(thread_id: ThreadPath, service: ServiceOf, principal: PrincipalOf) -> ThreadSummary:
    """Share a thread: others of the same tenant can read it by a link that cannot be guessed."""
    return await service.threads.share(thread_id, principal)


@router.delete("/threads/{thread_id}/share", responses=documented(404, 422))
async def unshare(thread_id: ThreadPath, service: ServiceOf, principal: PrincipalOf) -> ThreadSummary:
    """Stop sharing a thread. The link no longer works; sharing again makes a new one."""
    return await service.threads.unshare(thread_id, principal)


@router.get("/shared/{token}", responses=documented(404, 422))
async def shared(
    token: Annotated[str, Path(pattern=r"^[A-Za-z0-9_-]{32}$")], service: ServiceOf, principal: PrincipalOf
) -> SharedThread:
    """Read a shared thread."""
    return await service.threads.shared(token, principal)


@router.post("/threads/{thread_id}/fork", status_code=201, responses=documented(400, 404, 413, 422))
async def fork(
    thread_id: ThreadPath, body: ForkRequest, service: ServiceOf, principal: PrincipalOf, attempt: AttemptOf
) -> ThreadSummary:
    """Copy a thread up to a message into a new thread."""
    new = thread_of(attempt.run) if attempt is not None else None
    return await service.threads.fork(thread_id, MessageId(body.message_id), principal, include=body.include, new=new)


@router.get("/threads/{thread_id}/messages", responses=documented(404, 422))
async def messages(
    thread_id: ThreadPath,
    service: ServiceOf,
    principal: PrincipalOf,
    last: Annotated[int | None, Query(ge=1, le=1_000)] = None,
    answers: Annotated[bool, Query(description="With the answers themselves, and their first rows.")] = False,
) -> MessageList:
    """List the messages of a thread, oldest first. With `last`, only the newest ones."""
    found = await service.threads.messages(thread_id, principal, last=last, answers=answers)
    return MessageList(thread_id=thread_id, messages=[*found])
