"""One HTTP request to an API and its reply, bounded in time and size.

The transport is used directly: it follows no redirect, keeps no cookie, reads no proxy from the environment, and writes
no address to a log.
"""

import asyncio
import zlib
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote, urlencode

import httpx
import orjson

from answerable.apis.call import BeforeWrite, Method
from answerable.apis.server_time import moment, server_time
from answerable.apis.target import ApiTarget, HeaderCredential, QueryCredential
from answerable.core.clock import Clock
from answerable.core.errors import LimitError, SourceError, TransientError
from answerable.core.values import Json


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """A request whose path and parameters have been checked. The credential is added when it is sent."""

    method: Method
    path: str
    """Encoded, as it is sent."""
    params: tuple[tuple[str, str], ...] = ()
    body: Json = None
    key: str | None = None
    """The idempotency key."""
    etag: str | None = None
    """Of the reply that is known already: the API answers 304 if nothing has changed since."""


@dataclass(frozen=True, slots=True)
class HttpReply:
    status: int
    content: bytes
    links: Mapping[str, str] = field(default_factory=dict)
    """Addresses in the `Link` header by their relation, such as `next`."""
    location: str | None = None
    retry_after: float | None = None
    """In seconds."""
    etag: str | None = None
    remaining: int | None = None
    """How many requests the API still allows until `reset`."""
    reset: float | None = None
    """Seconds until the API allows more requests."""


async def send(
    transport: httpx.AsyncBaseTransport,
    target: ApiTarget,
    request: HttpRequest,
    *,
    seconds: float,
    max_bytes: int,
    clock: Clock,
    before_sending: BeforeWrite | None = None,
) -> HttpReply:
    """Raises `TransientError` if the API cannot be reached in time, `LimitError` for more than `max_bytes`."""
    try:
        async with asyncio.timeout(seconds):
            asked = _with_credential(target, request, seconds)
            if before_sending is not None:
                await before_sending()
                asked.extensions["trace"] = _trace(before_sending)
            response = await transport.handle_async_request(asked)
            try:
                return await _reply(response, max_bytes, clock)
            finally:
                await response.aclose()
    except (httpx.ConnectError, httpx.ConnectTimeout):
        raise TransientError("The API cannot be reached.", code="api_unreachable", may_have_acted=False) from None
    except (TimeoutError, httpx.TimeoutException):
        # The exception's own text is never shown, here and below: it may hold the address, and that the credential.
        raise TransientError(f"The API did not answer within {seconds:.0f} seconds.", code="api_unreachable") from None
    except httpx.HTTPError:
        raise TransientError("The API cannot be reached, or broke off.", code="api_unreachable") from None


_SENDING = (".send_request_headers.started", ".send_request_body.started")


def _trace(before_sending: BeforeWrite) -> Callable[[str, Mapping[str, Any]], Awaitable[None]]:
    """Called by the transport with what it is about to do: connecting may have taken long."""

    async def trace(event: str, _information: Mapping[str, Any]) -> None:
        if event.endswith(_SENDING):
            await before_sending()

    return trace


def _with_credential(target: ApiTarget, request: HttpRequest, seconds: float) -> httpx.Request:
    headers = {"Accept": "application/json", "Accept-Encoding": "gzip", "User-Agent": "answerable", **target.headers}
    params = list(request.params)
    if isinstance(target.credential, HeaderCredential):
        headers[target.credential.name] = target.credential.value.get_secret_value()
    elif isinstance(target.credential, QueryCredential):
        params.append((target.credential.name, target.credential.value.get_secret_value()))
    if request.etag is not None:
        headers["If-None-Match"] = request.etag
    query = f"?{urlencode(params, quote_via=quote)}" if params else ""
    content = None if request.body is None else orjson.dumps(request.body)
    if content is not None:
        headers["Content-Type"] = "application/json"
    if request.key is not None and target.idempotency_header is not None:
        headers[target.idempotency_header] = request.key
    url = f"{target.url}{request.path}{query}"
    extensions = {"timeout": httpx.Timeout(seconds).as_dict()}
    return httpx.Request(request.method, url, headers=headers, content=content, extensions=extensions)


async def _reply(response: httpx.Response, max_bytes: int, clock: Clock) -> HttpReply:
    content = await _content(response, max_bytes)
    now = server_time(response.headers, clock)
    links = {relation: link["url"] for relation, link in response.links.items() if relation and "url" in link}
    return HttpReply(
        status=response.status_code,
        content=content,
        links=links,
        location=response.headers.get("Location"),
        retry_after=_seconds(response.headers.get("Retry-After"), now),
        etag=response.headers.get("ETag"),
        remaining=_count(_first(response.headers, _REMAINING)),
        reset=_until(_first(response.headers, _RESET), now),
    )


_REMAINING = ("X-Rate-Limit-Remaining", "X-RateLimit-Remaining", "RateLimit-Remaining")
_RESET = ("X-Rate-Limit-Reset", "X-RateLimit-Reset", "RateLimit-Reset")
_A_MOMENT = 1_000_000_000
"""A greater number is no count of seconds but a moment, in seconds since 1970."""


def _first(headers: Mapping[str, str], names: tuple[str, ...]) -> str | None:
    return next((headers[name] for name in names if name in headers), None)


def _count(text: str | None) -> int | None:
    return int(text) if text is not None and text.strip().isdecimal() else None


def _until(text: str | None, now: float) -> float | None:
    number = _count(text)
    if number is None:
        return None
    return max(0.0, number - now) if number > _A_MOMENT else float(number)


async def _content(response: httpx.Response, max_bytes: int) -> bytes:
    """Decompresses no further than allowed: a small body may decompress to a very large one."""
    encoding = response.headers.get("Content-Encoding", "identity").lower()
    if encoding not in ("identity", "gzip", "deflate"):
        raise SourceError(f"The API packs its answer in an unknown way ({encoding[:20]}).", code="api_failed")
    decompressor = zlib.decompressobj(wbits=47) if encoding != "identity" else None
    content = bytearray()
    async for piece in response.aiter_raw():
        try:
            left = max(1, max_bytes + 1 - len(content))
            content += piece if decompressor is None else decompressor.decompress(piece, left)
        except zlib.error:
            raise SourceError("The API's answer is packed wrongly.", code="api_failed", may_have_acted=True) from None
        if len(content) > max_bytes:
            raise LimitError(
                "The API's answers are larger than one run may read. Ask for fewer fields or rows.",
                code="api_budget_spent",
                may_have_acted=True,
            )
    return bytes(content)


def _seconds(retry_after: str | None, now: float) -> float | None:
    """`Retry-After` holds seconds or a date. Returns None for anything else."""
    if retry_after is None:
        return None
    if retry_after.strip().isdecimal():
        return float(retry_after)
    until = moment(retry_after)
    return None if until is None else max(0.0, until - now)
