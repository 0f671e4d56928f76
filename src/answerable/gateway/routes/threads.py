"""Conversations."""

from typing import Annotated

from fastapi import APIRouter, Query

from answerable.gateway.access import ScopeOf, ServiceOf, ThreadPath
from answerable.gateway.problems import documented
from answerable.gateway.wire import API, MessageList, MessageView

router = APIRouter(prefix=API, tags=["threads"])


@router.get("/threads/{thread_id}/messages", responses=documented(404, 422))
async def messages(
    thread_id: ThreadPath,
    service: ServiceOf,
    scope: ScopeOf,
    last: Annotated[int | None, Query(ge=1, le=1_000)] = None,
) -> MessageList:
    """The messages of a thread in order of time; `last` keeps only the newest."""
    found = await service.store.threads.messages(scope, thread_id, last=last)
    views = [
        MessageView(
            message_id=message.message,
            role=message.role,
            content=message.content,
            created_at=message.created_at,
            run_id=message.run,
        )
        for message in found
    ]
    return MessageList(thread_id=thread_id, messages=views)
