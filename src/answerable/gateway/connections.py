"""Connections that ask for nothing: how long one may take to send the head of a request, and how many one client may
have. Without bounds, a few slow clients hold every connection that the server can have."""

import asyncio
from collections import Counter
from typing import Any, ClassVar

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from answerable.gateway.framing import StrictConnection
from answerable.gateway.middleware.headers import secured
from answerable.gateway.middleware.observing import new_request_id
from answerable.gateway.problems import Problem
from answerable.gateway.tls import NAMES_IN_STATE, certificate_names

HEAD_SECONDS = 15.0
"""From the connection, or from the first byte of the next request, to the end of its head."""
MOST_PER_CLIENT = 1_200
"""Open connections from one address. A proxy is one client, and so are all programs of this machine."""
_LARGEST_HEAD = 65_536


class BoundedConnection(H11Protocol):
    head_seconds: ClassVar[float] = HEAD_SECONDS
    most_per_client: ClassVar[int] = MOST_PER_CLIENT
    # Shared by all connections: uvicorn creates one protocol object for each.
    _open: ClassVar[Counter[str]] = Counter()

    def connection_made(self, transport: Any) -> None:
        peer = transport.get_extra_info("peername")
        self._client = str(peer[0]) if peer else ""
        self._deadline: asyncio.TimerHandle | None = None
        self._open[self._client] += 1
        # Before the limit is checked: `connection_lost` follows an abort too, and undoes what uvicorn registers here.
        super().connection_made(transport)
        self.conn: StrictConnection = StrictConnection(_LARGEST_HEAD)
        if names := certificate_names(transport.get_extra_info("peercert")):
            self.app_state = {**self.app_state, NAMES_IN_STATE: names}
        if self._open[self._client] > self.most_per_client:
            transport.abort()  # nothing was asked yet, so there is nobody to answer
        else:
            self._expect_head()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self._is_answering():
            self._forget_deadline()
        elif self._deadline is None:
            self._expect_head()

    def connection_lost(self, exc: Exception | None) -> None:
        self._forget_deadline()
        self._open[self._client] -= 1
        # A Counter keeps keys whose count is 0, so the addresses of past clients would pile up.
        if not self._open[self._client]:
            del self._open[self._client]
        super().connection_lost(exc)

    def send_400_response(self, msg: str) -> None:
        """Replies to bytes that are no HTTP, so that no route and no middleware ever sees them."""
        if self.conn.our_state not in (h11.IDLE, h11.SEND_RESPONSE):
            self.transport.close()  # the reply has begun, or is complete
            return
        request_id = new_request_id()
        detail = self.conn.refusal or f"{msg.rstrip('.')}."
        problem = Problem(title="Bad Request", status=400, detail=detail, code="http_invalid", request_id=request_id)
        body = problem.model_dump_json(exclude_none=True).encode()
        own = [
            (b"content-type", b"application/problem+json"),
            (b"content-length", b"%d" % len(body)),
            (b"connection", b"close"),
            (b"x-request-id", request_id.encode()),
        ]
        head = h11.Response(status_code=400, headers=secured("", own), reason=b"Bad Request")
        for event in (head, h11.Data(data=body), h11.EndOfMessage()):
            self.transport.write(self.conn.send(event) or b"")
        self.transport.close()

    def _is_answering(self) -> bool:
        """Whether the head of a request has come and its answer is not yet complete: that may take its time."""
        return self.cycle is not None and not self.cycle.response_complete

    def _expect_head(self) -> None:
        self._deadline = self.loop.call_later(self.head_seconds, self._give_up)

    def _give_up(self) -> None:
        self._deadline = None
        if not self._is_answering():
            self.transport.close()

    def _forget_deadline(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None
