"""A model that says again what was recorded: an OpenAI-compatible server on the loopback, with real streams.

It is the tape at the same time: what it is asked must be what was asked when its replies were recorded.
"""

import asyncio
import json
import re
import time
from collections import deque
from collections.abc import Iterable, Iterator
from difflib import unified_diff
from typing import Any, Self

from pydantic_ai.messages import ModelResponse

from answerable.core.errors import UserError
from answerable.core.values import Json
from answerable.models.tape import Exchange
from answerable.models.tokens import likely

_PIECE = 24
"""Characters in a piece of a streamed text."""
_CONTEXT = 1
_SHOWN = 24
"""Lines of a difference that are shown."""


class Playback:
    def __init__(self, *, strict: bool = True) -> None:
        """`strict`: whether what is asked must be what was asked."""
        self._strict = strict
        self.exchanges: list[Exchange] = []
        """What was asked since `play`, with the recorded replies."""
        # Two queues: the tape checks a request before the client sends it, so they advance at different times.
        self._asked: deque[Exchange] = deque()
        self._replies: deque[Exchange] = deque()
        self._server: asyncio.Server | None = None

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._server is not None
        self._server.close()
        await self._server.wait_closed()

    @property
    def base_url(self) -> str:
        assert self._server is not None
        return f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}/v1"

    def play(self, exchanges: Iterable[Exchange]) -> None:
        """Replies with these exchanges from now on."""
        self.exchanges.clear()
        self._asked = deque(exchanges)
        self._replies = deque(self._asked)

    @property
    def left(self) -> int:
        """How many of the recorded replies nobody has asked for."""
        return len(self._asked)

    def asked(self, text: str) -> None:
        if not self._asked:
            raise _stale("The model is asked once more than when this was recorded:\n" + _shortened(text.splitlines()))
        recorded = self._asked.popleft()
        self.exchanges.append(recorded.model_copy(update={"asked": text}))
        then, now = _compared(recorded.asked), _compared(text)
        if self._strict and then != now:
            lines = unified_diff(then, now, "recorded", "now", n=_CONTEXT, lineterm="")
            raise _stale("What the model is told is not what it was told then:\n" + _shortened(list(lines)))

    def replied(self, text: str, response: ModelResponse) -> None:
        """Does nothing: the reply is the recorded one."""

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
            length = int(head.partition("content-length:")[2].split("\r\n", 1)[0] or 0)
            request = json.loads(await reader.readexactly(length)) if length else {}
            writer.write(_response(request, _counted(self._replies.popleft(), request) if self._replies else None))
            await writer.drain()
        finally:
            writer.close()


def _compared(text: str) -> list[str]:
    """How the reader reads a question is left out: it changes with the reader, and no reply should depend on it. So are
    the versions of libraries, which are those of the machine."""
    return re.sub(r"<(reading|libraries)((?:-\w+)?)>.*?</\1\2>", r"<\1>", text, flags=re.DOTALL).splitlines()


def _stale(message: str) -> UserError:
    return UserError(
        message,
        code="transcript_stale",
        hint="Record it again: answerable agents record AGENT --case ID; with --same-replies if the replies still fit.",
    )


def _shortened(lines: list[str]) -> str:
    more = [f"… and {len(lines) - _SHOWN} lines more"] if len(lines) > _SHOWN else []
    return "\n".join([*lines[:_SHOWN], *more])


def _counted(exchange: Exchange, request: Json) -> Exchange:
    """The exchange with its tokens; those of what is sent now, if none were recorded."""
    if exchange.input_tokens:
        return exchange
    sent = likely(json.dumps([request.get("messages"), request.get("tools")], ensure_ascii=False))
    replied = likely(json.dumps(_message(exchange), ensure_ascii=False))
    return exchange.model_copy(update={"input_tokens": sent, "output_tokens": replied})


def _response(request: Json, exchange: Exchange | None) -> bytes:
    if exchange is None:
        return _http(400, "application/json", json.dumps({"error": {"message": "nothing more was recorded"}}))
    if request.get("stream"):
        return _http(200, "text/event-stream", "".join(_stream(exchange)))
    choice = {"index": 0, "message": _message(exchange), "finish_reason": _reason(exchange)}
    return _http(
        200, "application/json", json.dumps({**_head("chat.completion"), "choices": [choice], **_usage(exchange)})
    )


def _http(status: int, kind: str, body: str) -> bytes:
    content = body.encode()
    head = f"HTTP/1.1 {status} -\r\nContent-Type: {kind}\r\nContent-Length: {len(content)}\r\nConnection: close\r\n\r\n"
    return head.encode() + content


def _stream(exchange: Exchange) -> Iterator[str]:
    message = _message(exchange)
    text = message.pop("content") or ""
    pieces = [{"content": text[start : start + _PIECE]} for start in range(0, len(text), _PIECE)]
    for delta in [{**message, "content": ""}, *pieces]:
        yield _event({"choices": [{"index": 0, "delta": delta, "finish_reason": None}]})
    yield _event({"choices": [{"index": 0, "delta": {}, "finish_reason": _reason(exchange)}]})
    yield _event({"choices": [], **_usage(exchange)})
    yield "data: [DONE]\n\n"


def _event(more: dict[str, Any]) -> str:
    return f"data: {json.dumps({**_head('chat.completion.chunk'), **more})}\n\n"


def _head(kind: str) -> dict[str, Any]:
    return {"id": "recorded", "object": kind, "created": int(time.time()), "model": "recorded"}


def _message(exchange: Exchange) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": exchange.text or None}
    if exchange.calls:
        message["tool_calls"] = [
            {
                "index": number,
                "id": f"call_{number}",
                "type": "function",
                "function": {"name": call.name, "arguments": json.dumps(call.arguments)},
            }
            for number, call in enumerate(exchange.calls)
        ]
    return message


def _reason(exchange: Exchange) -> str:
    return "tool_calls" if exchange.calls else "stop"


def _usage(exchange: Exchange) -> dict[str, Any]:
    sent, received = exchange.input_tokens, exchange.output_tokens
    return {"usage": {"prompt_tokens": sent, "completion_tokens": received, "total_tokens": sent + received}}
