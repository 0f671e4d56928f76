"""The standard streams of a pod, over the WebSocket of `attach`. The first byte of each message names the stream."""

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidStatus
from websockets.typing import Subprotocol

from answerable.sandbox.containers.control import CONNECT_SECONDS, ControlApi, ControlError, ControlReply

_PROTOCOLS = (Subprotocol("v5.channel.k8s.io"), Subprotocol("v4.channel.k8s.io"))
_STDIN, _STDOUT = b"\0", 1
_SEND_BYTES = 1 << 20
_MAX_MESSAGE_BYTES = 64 << 20
_CLOSE_SECONDS = 1.0
_SILENT = logging.Logger("websockets", level=logging.CRITICAL + 1)
"""The library logs the headers of its requests, and they hold the token."""


class _ConnectOnce(connect):
    """Follows no redirect: the token goes to nobody but the cluster."""

    def process_redirect(self, exc: Exception) -> Exception:
        return exc


class AttachedPod:
    def __init__(self, socket: ClientConnection) -> None:
        self._socket = socket

    async def send(self, data: bytes) -> None:
        try:
            for start in range(0, len(data), _SEND_BYTES):
                await self._socket.send(_STDIN + data[start : start + _SEND_BYTES])
        except ConnectionClosed as error:
            raise ConnectionResetError(str(error)) from error

    async def receive(self) -> bytes:
        try:
            while True:
                message = await self._socket.recv(decode=False)
                if len(message) > 1 and message[0] == _STDOUT:
                    return message[1:]
        except ConnectionClosed:
            return b""


@asynccontextmanager
async def attached(cluster: ControlApi, path: str) -> AsyncIterator[AttachedPod]:
    """Raises `ControlError` if the cluster cannot be reached or does not agree."""
    opening = _ConnectOnce(
        "ws" + cluster.url.removeprefix("http").rstrip("/") + path,
        subprotocols=_PROTOCOLS,
        additional_headers=dict(cluster.headers),
        compression=None,
        proxy=None,
        open_timeout=CONNECT_SECONDS,
        close_timeout=_CLOSE_SECONDS,
        ping_interval=None,  # a pod may compute for long without a word; the run's own limits end it
        max_size=_MAX_MESSAGE_BYTES,
        logger=_SILENT,
        ssl=cluster.tls_context,
    )
    try:
        socket = await opening
    except InvalidStatus as error:
        refused = ControlReply(error.response.status_code, bytes(error.response.body))
        raise ControlError(refused.complaint) from error
    except InvalidHandshake as error:
        raise ControlError(f"the server does not speak WebSocket: {error}") from error
    except TimeoutError as error:
        raise ControlError("no connection in time") from error
    except OSError as error:
        raise ControlError(error.strerror or str(error)) from error
    try:
        yield AttachedPod(socket)
    finally:
        await socket.close()
