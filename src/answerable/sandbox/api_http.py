"""One request to an API, and what came back: bounded in time and size, and without the credential in it.

The transport is used directly: it follows no redirect, keeps no cookie, reads no proxy from the environment, and writes
no address to a log.
"""

import asyncio
import base64
import json
import re
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from urllib.parse import quote, urlencode

import httpx
import orjson

from answerable.core.clock import Clock
from answerable.core.errors import LimitError, SourceError, TransientError
from answerable.core.values import Json
from answerable.sandbox.api_target import ApiTarget, HeaderCredential, QueryCredential

_HIDDEN = "[hidden]"


@dataclass(frozen=True, slots=True)
class Ask:
    """What is asked for, checked."""

    function: str
    method: str
    path: str
    """As it is sent."""
    params: tuple[tuple[str, str], ...] = ()
    body: Json = None


@dataclass(frozen=True, slots=True)
class Reply:
    status: int
    content: bytes
    links: Mapping[str, str] = field(default_factory=dict)
    """Addresses by what they are for: `next`."""
    location: str | None = None
    retry_after: float | None = None


async def exchanged(
    transport: httpx.AsyncBaseTransport, target: ApiTarget, ask: Ask, *, seconds: float, most: int, clock: Clock
) -> Reply:
    """Raises `TransientError` if the API cannot be reached in time, `LimitError` for more than `most` bytes."""
    request = _request(target, ask, seconds)
    try:
        async with asyncio.timeout(seconds):
            response = await transport.handle_async_request(request)
            try:
                return await _reply(response, most, clock)
            finally:
                await response.aclose()
    except (TimeoutError, httpx.TimeoutException):
        # never the exception's own words, here and below: they may hold the address, and that the credential
        raise TransientError(f"The API did not answer within {seconds:.0f} seconds.", code="api_unreachable") from None
    except httpx.HTTPError:
        raise TransientError("The API cannot be reached, or broke off.", code="api_unreachable") from None


def _request(target: ApiTarget, ask: Ask, seconds: float) -> httpx.Request:
    headers = {"Accept": "application/json", "Accept-Encoding": "gzip", "User-Agent": "answerable", **target.headers}
    params = list(ask.params)
    if isinstance(target.credential, HeaderCredential):
        headers[target.credential.name] = target.credential.value.get_secret_value()
    elif isinstance(target.credential, QueryCredential):
        params.append((target.credential.name, target.credential.value.get_secret_value()))
    query = f"?{urlencode(params, quote_via=quote)}" if params else ""
    content = None if ask.body is None else orjson.dumps(ask.body)
    if content is not None:
        headers["Content-Type"] = "application/json"
    timeout = httpx.Timeout(seconds).as_dict()
    return httpx.Request(
        ask.method, f"{target.url}{ask.path}{query}", headers=headers, content=content, extensions={"timeout": timeout}
    )


async def _reply(response: httpx.Response, most: int, clock: Clock) -> Reply:
    content = await _content(response, most)
    links = {kind: link["url"] for kind, link in response.links.items() if kind and "url" in link}
    return Reply(
        status=response.status_code,
        content=content,
        links=links,
        location=response.headers.get("Location"),
        retry_after=_seconds(response.headers.get("Retry-After"), clock),
    )


async def _content(response: httpx.Response, most: int) -> bytes:
    """Unpacked no further than allowed: a small answer may unpack to a very large one."""
    packing = response.headers.get("Content-Encoding", "identity").lower()
    if packing not in ("identity", "gzip", "deflate"):
        raise SourceError(f"The API packs its answer in an unknown way ({packing[:20]}).", code="api_failed")
    unpack = zlib.decompressobj(wbits=47) if packing != "identity" else None
    content = bytearray()
    async for piece in response.aiter_raw():
        try:
            content += piece if unpack is None else unpack.decompress(piece, max(1, most + 1 - len(content)))
        except zlib.error:
            raise SourceError("The API's answer is packed wrongly.", code="api_failed") from None
        if len(content) > most:
            raise LimitError(
                "The API's answers are larger than one run may read. Ask for fewer fields or rows.",
                code="api_budget_spent",
            )
    return bytes(content)


def _seconds(value: str | None, clock: Clock) -> float | None:
    """What `Retry-After` says: seconds, or a date."""
    if value is None:
        return None
    if value.strip().isdecimal():
        return float(value)
    try:
        return max(0.0, (parsedate_to_datetime(value) - clock.now()).total_seconds())
    except (TypeError, ValueError):
        return None


class Curtain:
    """Takes the credential out of whatever comes back: servers repeat what they were sent."""

    def __init__(self, secrets: tuple[str, ...]) -> None:
        forms = {form for secret in secrets for form in _forms(secret)}
        ordered = sorted(forms, key=len, reverse=True)
        self._pattern = re.compile("|".join(map(re.escape, ordered)), re.IGNORECASE) if ordered else None

    def text(self, text: str) -> str:
        return text if self._pattern is None else self._pattern.sub(_HIDDEN, text)

    def json(self, content: bytes) -> Json:
        """Raises `ValueError` if it is not JSON."""
        found = orjson.loads(content)
        if self._pattern is None:
            return found
        shown = content.decode("utf-8", "replace")
        return self._cleaned(found) if "\\" in shown or self._pattern.search(shown) else found

    def _cleaned(self, value: Json) -> Json:
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, list):
            return [self._cleaned(item) for item in value]
        if isinstance(value, dict):
            return {self.text(name): self._cleaned(item) for name, item in value.items()}
        return value


def _forms(secret: str) -> set[str]:
    packed = base64.b64encode(secret.encode()).decode().rstrip("=")
    return {secret, quote(secret), quote(secret, safe=""), json.dumps(secret)[1:-1], packed}
