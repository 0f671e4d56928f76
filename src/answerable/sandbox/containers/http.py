"""A small HTTP/1.1 client for the control interfaces of sandboxes: one request a connection, and upgrades to a stream.

The daemons are the operator's own. What they need and common clients lack is the unix socket and the connection that
turns into a plain stream.
"""

import asyncio
import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import orjson

from answerable.core.errors import OperatorError

_LARGEST = 16 << 20
_CONNECT_SECONDS = 10.0
_LOOK_SECONDS = 10.0
"""How long a daemon may take to say that it is there."""


class HttpError(Exception):
    """The daemon cannot be reached, or does not speak HTTP."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where a daemon listens: `unix:///path`, `http://host:port` or `https://host:port`."""

    url: str
    headers: Mapping[str, str] = field(default_factory=dict)
    tls: ssl.SSLContext | None = None

    async def connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        try:
            async with asyncio.timeout(_CONNECT_SECONDS):
                return await self._connected()
        except TimeoutError as error:
            raise HttpError("no connection in time") from error
        except OSError as error:
            raise HttpError(error.strerror or str(error)) from error

    async def _connected(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        parts = urlsplit(self.url)
        if parts.scheme == "unix":
            return await asyncio.open_unix_connection(parts.path)
        secure = (self.tls or ssl.create_default_context()) if parts.scheme == "https" else None
        port = parts.port or (443 if secure else 80)
        return await asyncio.open_connection(parts.hostname, port, ssl=secure)

    @property
    def host(self) -> str:
        return urlsplit(self.url).netloc or "localhost"

    @property
    def prefix(self) -> str:
        parts = urlsplit(self.url)
        return "" if parts.scheme == "unix" else parts.path.rstrip("/")


@dataclass(frozen=True, slots=True)
class Reply:
    status: int
    headers: Mapping[str, str]
    body: bytes = b""

    @property
    def json(self) -> Any:
        try:
            return orjson.loads(self.body) if self.body else None
        except orjson.JSONDecodeError as error:
            raise HttpError("the reply is not JSON") from error

    @property
    def complaint(self) -> str:
        """What went wrong, in the daemon's words."""
        try:
            message = self.json["message"]
        except (HttpError, KeyError, TypeError):
            message = self.body[:200].decode("utf-8", "replace")
        return f"{message or 'no reason given'} ({self.status})"


async def looked_up(endpoint: Endpoint, path: str) -> Reply:
    """As `call`, for somebody who waits for it."""
    try:
        async with asyncio.timeout(_LOOK_SECONDS):
            return await call(endpoint, "GET", path)
    except TimeoutError as error:
        raise HttpError("no reply in time") from error


async def call(endpoint: Endpoint, method: str, path: str, body: Any = None) -> Reply:
    """One request and its whole reply; `HttpError` if there is none."""
    reader, writer = await endpoint.connect()
    try:
        await _ask(endpoint, writer, method, path, {"Connection": "close"}, body)
        reply = await _head(reader)
        return Reply(reply.status, reply.headers, await _body(reader, reply))
    except (OSError, EOFError, ValueError) as error:
        raise HttpError(str(error) or "the connection was lost") from error
    finally:
        writer.close()


async def upgraded(
    endpoint: Endpoint, method: str, path: str, headers: Mapping[str, str]
) -> tuple[Reply, asyncio.StreamReader, asyncio.StreamWriter]:
    """What the daemon replied, and the connection as a plain stream, once it has agreed."""
    reader, writer = await endpoint.connect()
    try:
        await _ask(endpoint, writer, method, path, headers, None)
        reply = await _head(reader)
        if reply.status != 101:
            raise HttpError(Reply(reply.status, reply.headers, await _body(reader, reply)).complaint)
    except (OSError, EOFError, ValueError) as error:
        writer.close()
        raise HttpError(str(error) or "the connection was lost") from error
    except BaseException:
        writer.close()
        raise
    return reply, reader, writer


async def _ask(
    endpoint: Endpoint, writer: asyncio.StreamWriter, method: str, path: str, headers: Mapping[str, str], body: Any
) -> None:
    content = b"" if body is None else orjson.dumps(body)
    given = {"Host": endpoint.host, "Accept": "application/json", **endpoint.headers, **headers}
    if body is not None:
        given["Content-Type"] = "application/json"
    given["Content-Length"] = str(len(content))
    lines = [f"{method} {endpoint.prefix}{path} HTTP/1.1", *(f"{name}: {value}" for name, value in given.items())]
    writer.write("\r\n".join([*lines, "", ""]).encode("ascii") + content)
    await writer.drain()


async def _head(reader: asyncio.StreamReader) -> Reply:
    first, *lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
    words = first.split(" ", 2)
    if len(words) < 2 or not words[0].startswith("HTTP/1.") or not words[1].isdigit():
        raise ValueError("the reply is not HTTP")
    pairs = (line.partition(":") for line in lines if line)
    return Reply(int(words[1]), {name.strip().lower(): value.strip() for name, _, value in pairs})


async def _body(reader: asyncio.StreamReader, reply: Reply) -> bytes:
    if reply.headers.get("transfer-encoding", "").lower() == "chunked":
        return await _chunks(reader)
    if "content-length" in reply.headers:
        return await reader.readexactly(min(int(reply.headers["content-length"]), _LARGEST))
    if reply.status in (204, 304):
        return b""
    return await reader.read(_LARGEST)


async def _chunks(reader: asyncio.StreamReader) -> bytes:
    body = bytearray()
    while size := int((await reader.readline()).split(b";")[0], 16):
        if len(body) + size > _LARGEST:
            raise ValueError("the reply is too large")
        body += await reader.readexactly(size)
        await reader.readline()
    return bytes(body)


def unavailable(message: str, remedy: str) -> OperatorError:
    return OperatorError(message, code="sandbox_unavailable", hint=remedy)
