"""Events as Server-Sent Events. The sequence number is the `id:`, so a client that reconnects misses nothing.

A piece of streamed text that is not stored yet has no `id:`: a client that reconnects gets it again, with the text that
followed it, as one event."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

from fastapi.responses import StreamingResponse

from answerable.core.codec import encode
from answerable.core.errors import UserError
from answerable.core.events import EVENT_TYPES, Event

HEARTBEAT_SECONDS = 15.0
_ID = "The number of the event in its run, from 1 without gaps. A piece of text that is not stored yet has none."
EVENT_STREAM: dict[str, Any] = {
    "description": "Events of the run",
    "content": {
        "text/event-stream": {
            "schema": {
                "type": "object",
                "required": ["event", "data"],
                "properties": {
                    "id": {"type": "string", "description": _ID},
                    "event": {"type": "string", "enum": sorted((*EVENT_TYPES, "stream.interrupted"))},
                    "data": {"type": "string", "contentMediaType": "application/json"},
                },
            }
        }
    },
}
"""How the OpenAPI document tells a stream."""
INTERRUPTED = (
    b'retry: 2000\nevent: stream.interrupted\ndata: {"type":"stream.interrupted","code":"server_stopping"}\n\n'
)
"""Ends the stream of a server that stops. It is no event of the run, so it has no `id:`; a client goes on with
`GET /runs/{id}/events` after the last number that it has."""
# nginx collects a response before it passes it on unless `X-Accel-Buffering` forbids it.
HEADERS = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}


def sse_response(
    events: AsyncIterator[Event], leaving: asyncio.Event, headers: dict[str, str] | None = None
) -> StreamingResponse:
    """`leaving`: set when the server is about to end."""
    frames = _frames(events, leaving)
    return StreamingResponse(frames, media_type="text/event-stream", headers={**HEADERS, **(headers or {})})


def resume_point(last_event_id: str | None) -> int:
    """The number after which to go on."""
    if last_event_id is None or last_event_id == "":
        return 0
    # `isdigit` alone accepts digits of other scripts and superscripts, which `int` may refuse.
    if not last_event_id.isascii() or not last_event_id.isdigit() or len(last_event_id) > 15:
        raise UserError("Last-Event-ID must be the number of an event.", code="event_id_invalid")
    return int(last_event_id)


async def _frames(events: AsyncIterator[Event], leaving: asyncio.Event) -> AsyncIterator[bytes]:
    """One frame an event, and a comment now and then so that proxies keep a quiet connection open."""
    pending = asyncio.ensure_future(anext(events, None))
    left = asyncio.ensure_future(leaving.wait())
    try:
        while True:
            waiting = (pending, left)
            done, _ = await asyncio.wait(waiting, timeout=HEARTBEAT_SECONDS, return_when=asyncio.FIRST_COMPLETED)
            # An event that is there already is still sent: it may be the last one of the run.
            if pending not in done and leaving.is_set():
                yield INTERRUPTED
                return
            if not done:
                yield b": still here\n\n"
                continue
            event = pending.result()
            if event is None:
                return
            number = b"id: %d\n" % event.seq if event.seq else b""
            yield b"%sevent: %s\ndata: %s\n\n" % (number, event.type.encode(), encode(event))
            pending = asyncio.ensure_future(anext(events, None))
    # A client that leaves closes this generator; what it waited for must not stay behind.
    finally:
        pending.cancel()
        left.cancel()
