"""The control interface of whatever makes the containers: the Docker daemon, the Kubernetes API.

The transport of httpx is used directly: it follows no redirect, keeps no cookie, reads no proxy from the environment,
and writes no address to a log.
"""

import asyncio
import ssl
from collections.abc import AsyncIterator, Awaitable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import urlsplit

import httpcore
import httpx
import orjson

from answerable.core.errors import OperatorError
from answerable.sandbox.base import Availability

_MAX_REPLY_BYTES = 16 << 20
CONNECT_SECONDS = 10.0
_LOOK_UP_SECONDS = 10.0
"""How long an interface may take to say that it is there."""
_READ_BYTES = 1 << 16


class ControlError(Exception):
    """The interface cannot be reached, does not speak HTTP, or refuses an upgrade."""


@dataclass(frozen=True, slots=True)
class ControlReply:
    status: int
    body: bytes = b""

    @property
    def json(self) -> Any:
        try:
            return orjson.loads(self.body) if self.body else None
        except orjson.JSONDecodeError as error:
            raise ControlError("the reply is not JSON") from error

    @property
    def complaint(self) -> str:
        """What went wrong, in the words of the interface."""
        try:
            message = self.json["message"]
        except (ControlError, KeyError, TypeError):
            message = self.body[:200].decode("utf-8", "replace")
        return f"{message or 'no reason given'} ({self.status})"


class UpgradedStream:
    """A connection that has stopped speaking HTTP: plain bytes both ways."""

    def __init__(self, stream: httpcore.AsyncNetworkStream) -> None:
        self._stream = stream

    async def send(self, data: bytes) -> None:
        try:
            await self._stream.write(data)
        except httpcore.NetworkError as error:
            raise ConnectionResetError(str(error)) from error

    async def receive(self, max_bytes: int = _READ_BYTES) -> bytes:
        """Some bytes, or none when the other side has ended."""
        try:
            return await self._stream.read(min(max_bytes, _READ_BYTES))
        except httpcore.NetworkError:
            return b""


@dataclass(frozen=True, slots=True)
class ControlApi:
    """Where the interface listens (`unix:///path`, `http://host:port` or `https://host:port`) and how to be let in."""

    url: str
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    tls: ssl.SSLContext | None = None

    @property
    def tls_context(self) -> ssl.SSLContext | None:
        """None if the interface is spoken to without TLS."""
        return (self.tls or ssl.create_default_context()) if self.url.startswith("https:") else None

    async def look_up(self, path: str) -> ControlReply:
        """A GET that somebody waits for, so it must be answered soon."""
        try:
            async with asyncio.timeout(_LOOK_UP_SECONDS):
                return await self.call("GET", path)
        except TimeoutError as error:
            raise ControlError("no reply in time") from error

    async def call(self, method: str, path: str, body: Any = None) -> ControlReply:
        """One request on a connection of its own, and its whole reply. Raises `ControlError`."""
        async with self._sent(method, path, {"Connection": "close"}, body) as response:
            return await _reply(response)

    @asynccontextmanager
    async def upgraded(self, method: str, path: str) -> AsyncIterator[UpgradedStream]:
        """The connection as a plain stream, once the interface has agreed. Raises `ControlError` if it does not."""
        async with self._sent(method, path, {"Connection": "Upgrade", "Upgrade": "tcp"}) as response:
            if response.status_code != 101:
                raise ControlError((await _reply(response)).complaint)
            yield UpgradedStream(response.extensions["network_stream"])

    @asynccontextmanager
    async def _sent(
        self, method: str, path: str, headers: Mapping[str, str], body: Any = None
    ) -> AsyncIterator[httpx.Response]:
        async with self._transport() as transport:
            try:
                response = await transport.handle_async_request(self._request(method, path, headers, body))
            except (httpx.HTTPError, httpx.InvalidURL) as error:
                raise ControlError(_reason(error)) from error
            try:
                yield response
            finally:
                await response.aclose()

    def _transport(self) -> httpx.AsyncHTTPTransport:
        parts = urlsplit(self.url)
        if parts.scheme == "unix":
            return httpx.AsyncHTTPTransport(uds=parts.path, verify=False)
        if parts.scheme == "https":
            return httpx.AsyncHTTPTransport(verify=self.tls or ssl.create_default_context())
        return httpx.AsyncHTTPTransport(verify=False)

    def _request(self, method: str, path: str, headers: Mapping[str, str], body: Any) -> httpx.Request:
        base = "http://localhost" if self.url.startswith("unix:") else self.url.rstrip("/")
        return httpx.Request(
            method,
            f"{base}{path}",
            headers={"Accept": "application/json", **self.headers, **headers},
            content=None if body is None else orjson.dumps(body),
            extensions={"timeout": httpx.Timeout(None, connect=CONNECT_SECONDS).as_dict()},
        )


async def _reply(response: httpx.Response) -> ControlReply:
    body = bytearray()
    try:
        async for piece in response.aiter_raw():
            body += piece
            if len(body) > _MAX_REPLY_BYTES:
                raise ControlError("the reply is too large")
    except httpx.HTTPError as error:
        raise ControlError(_reason(error)) from error
    return ControlReply(response.status_code, bytes(body))


def _reason(error: Exception) -> str:
    if isinstance(error, httpx.TimeoutException):
        return "no connection in time"
    if isinstance(error, httpx.RemoteProtocolError):
        return f"the reply is not HTTP as it should be: {error}"
    return str(error) or "the connection was lost"


async def availability(check: Awaitable[None], found: Availability) -> Availability:
    """`found`, or why the sandbox cannot run here if the check fails."""
    try:
        await check
    except OperatorError as error:
        return replace(found, available=False, detail=str(error), remedy=error.hint)
    return found


def unavailable(message: str, remedy: str) -> OperatorError:
    return OperatorError(message, code="sandbox_unavailable", hint=remedy)
