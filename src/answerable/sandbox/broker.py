"""The credential broker: code asks the host for a path of an API, and the host decides, adds the credential, and asks.

Inside the sandbox there is neither a token nor an address. Everything that the code says is checked against what the
operator allowed; everything that comes back is bounded and has the credential taken out; every request is told.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import SplitResult, parse_qsl, unquote, urljoin, urlsplit

import httpx

from answerable.core.clock import Clock, SystemClock
from answerable.core.errors import (
    AnswerableError,
    LimitError,
    NotFoundError,
    OperatorError,
    RefusedError,
    SourceError,
    TransientError,
    UserError,
)
from answerable.core.values import Json
from answerable.sandbox.api_http import Ask, Curtain, Reply, exchanged
from answerable.sandbox.api_paths import checked_params, checked_path
from answerable.sandbox.api_target import ApiTarget, CursorPages, NumberedPages, QueryCredential
from answerable.sandbox.base import HostCalls, HostFunction

_GET = "def api_get(path: str, params: dict[str, Any] | None = None, paginate: bool = False) -> Any: ..."
_POST = "def api_post(path: str, body: Any = None, params: dict[str, Any] | None = None) -> Any: ..."
_ATTEMPTS = 3
_BACK_OFF = 0.5
_REDIRECTS = 3
_BUSY = frozenset({429, 500, 502, 503, 504})
_MOVED = frozenset({301, 302, 303, 307, 308})


class Broker:
    """The APIs that are configured, with their connections and rates. One for the process; a run gets its `calls`."""

    def __init__(
        self,
        targets: Mapping[str, ApiTarget],
        transport: httpx.AsyncBaseTransport | None = None,
        clock: Clock | None = None,
    ) -> None:
        self._targets = targets
        self._clock = clock or SystemClock()
        self._transport = transport
        self._buckets = {name: _Bucket(target, self._clock) for name, target in targets.items()}

    def calls(self, api: str, tell: Callable[[Json], None] = lambda _call: None, *, seconds: float = 30.0) -> HostCalls:
        """The functions of one run, whose budget starts now. `tell` hears of every request:
        `{"function", "target", "path", "params", "status", "duration_ms", "bytes", "error"}`.
        """
        target = self._targets.get(api)
        if target is None:
            there = ", ".join(sorted(self._targets)) or "none"
            raise UserError(f"There is no API {api!r}.", code="api_unknown", hint=f"There are: {there}.")
        if self._transport is None:
            self._transport = httpx.AsyncHTTPTransport()
        run = _Run(api, target, self._transport, self._buckets[api], self._clock, tell, seconds)
        functions: dict[str, tuple[HostFunction, str]] = {
            "api_get": (run.api_get, _GET),
            "api_post": (run.api_post, _POST),
        }
        allowed = {name: each for name, each in functions.items() if name[4:].upper() in target.methods}
        stubs = "\n".join(stub for _, stub in allowed.values())
        return HostCalls({name: function for name, (function, _) in allowed.items()}, stubs)

    async def close(self) -> None:
        if self._transport is not None:
            await self._transport.aclose()


class _Bucket:
    """Lets requests through at a rate; those that must wait do so in the order in which they came."""

    def __init__(self, target: ApiTarget, clock: Clock) -> None:
        self._rate = target.rate
        self._clock = clock
        self._tokens = float(target.rate.burst)
        self._at = clock.monotonic()

    async def take(self, until: float) -> None:
        now = self._clock.monotonic()
        self._tokens = min(self._rate.burst, self._tokens + (now - self._at) * self._rate.per_second)
        self._at = now
        wait = (1 - self._tokens) / self._rate.per_second
        if now + wait > until:
            raise TransientError("The API is asked as often as it may be; the turn came too late.", code="api_busy")
        self._tokens -= 1
        if wait > 0:
            await self._clock.sleep(wait)


@dataclass(slots=True)
class _Spent:
    calls: int = 0
    bytes: int = 0


class _Run:
    """The functions that one run may call."""

    def __init__(
        self,
        name: str,
        target: ApiTarget,
        transport: httpx.AsyncBaseTransport,
        bucket: _Bucket,
        clock: Clock,
        tell: Callable[[Json], None],
        seconds: float,
    ) -> None:
        self._name = name
        self._target = target
        self._transport = transport
        self._bucket = bucket
        self._clock = clock
        self._tell = tell
        self._until = clock.monotonic() + seconds
        self._spent = _Spent()
        self._curtain = Curtain(target.secrets)
        self._reserved = target.credential.name if isinstance(target.credential, QueryCredential) else None

    async def api_get(self, path: Json, params: Json = None, paginate: Json = False) -> Json:
        ask = self._checked("api_get", "GET", path, params)
        if paginate:
            return await self._all_pages(ask)
        return self._json(await self._answer(ask))

    async def api_post(self, path: Json, body: Json = None, params: Json = None) -> Json:
        ask = self._checked("api_post", "POST", path, params)
        return self._json(await self._answer(replace(ask, body=body)))

    def _checked(self, function: str, method: str, path: Json, params: Json) -> Ask:
        try:
            pairs = checked_params(params, self._reserved)
            return Ask(function, method, checked_path(path, self._target.templates), tuple(pairs))
        except AnswerableError as error:
            self._tell(self._entry(function, str(path)[:200], ()) | {"error": error.stable_code})
            raise

    def _entry(self, function: str, path: str, params: Iterable[tuple[str, str]]) -> dict[str, Json]:
        shown: dict[str, list[str]] = {}
        for name, value in params:
            shown.setdefault(self._curtain.text(name), []).append(self._curtain.text(value))
        empty = {"status": None, "duration_ms": 0.0, "bytes": 0, "error": None}
        return {"function": function, "target": self._name, "path": self._curtain.text(path), "params": shown, **empty}

    # Pages

    async def _all_pages(self, ask: Ask) -> list[Json]:
        rows: list[Json] = []
        following: Ask | None = ask
        while following is not None:
            reply = await self._answer(following)
            page = self._json(reply)
            found = _at(page, self._target.pages.items)
            if not isinstance(found, list):
                raise SourceError("The API's answer is not a page with a list of rows.", code="api_failed")
            rows += found
            following = self._next(following, reply, page, found)
        return rows

    def _next(self, ask: Ask, reply: Reply, page: Json, found: list[Json]) -> Ask | None:
        pages = self._target.pages
        if isinstance(pages, CursorPages):
            cursor = _at(page, pages.field)
            return _with(ask, pages.parameter, str(cursor)) if isinstance(cursor, str | int) and cursor else None
        if isinstance(pages, NumberedPages):
            return _with(ask, pages.parameter, str(_number(ask, pages) + pages.step)) if found else None
        return self._moved(ask, reply.links["next"]) if "next" in reply.links else None

    def _moved(self, ask: Ask, address: str) -> Ask:
        """The same question at an address that the API gave: of the same API, and allowed like any other path."""
        try:
            url = urlsplit(urljoin(f"{self._target.url}{ask.path}", address))
            home = urlsplit(self._target.url)
            same = _origin(url) == _origin(home) and url.path.startswith(home.path)
        except ValueError:
            same = False
        if not same:
            raise RefusedError("The API points to another place, where nothing is followed.", code="api_path_refused")
        segments = [unquote(segment) for segment in url.path.removeprefix(home.path).split("/")]
        if any("/" in segment for segment in segments):
            raise RefusedError("The API points to a path that is not allowed.", code="api_path_refused")
        pairs = [pair for pair in parse_qsl(url.query, keep_blank_values=True) if pair[0] != self._reserved]
        return replace(ask, path=checked_path("/".join(segments), self._target.templates), params=tuple(pairs))

    # Requests

    async def _answer(self, ask: Ask) -> Reply:
        """A good answer, after as many redirects and second tries as are due."""
        for _ in range(_REDIRECTS + 1):
            reply = await self._patient(ask)
            if reply.status not in _MOVED or reply.location is None or ask.method != "GET":
                self._check_status(reply)
                return reply
            ask = self._moved(ask, reply.location)
        raise SourceError("The API redirects again and again.", code="api_failed")

    async def _patient(self, ask: Ask) -> Reply:
        for attempt in range(1, _ATTEMPTS + 1):
            reply = await self._once(ask)
            again = reply.status == 429 or (reply.status in _BUSY and ask.method == "GET")
            delay = reply.retry_after if reply.retry_after is not None else _BACK_OFF * 2 ** (attempt - 1)
            if not again or attempt == _ATTEMPTS or self._clock.monotonic() + delay > self._until:
                break
            await self._clock.sleep(delay)
        return reply

    async def _once(self, ask: Ask) -> Reply:
        entry = self._entry(ask.function, unquote(ask.path), ask.params)
        began = self._clock.monotonic()
        try:
            self._count_call()
            await self._bucket.take(self._until)
            reply = await self._exchanged(ask)
            self._spent.bytes += len(reply.content)
            entry |= {"status": reply.status, "bytes": len(reply.content)}
            return reply
        except AnswerableError as error:
            entry["error"] = error.stable_code
            raise
        finally:
            entry["duration_ms"] = (self._clock.monotonic() - began) * 1e3
            self._tell(entry)

    async def _exchanged(self, ask: Ask) -> Reply:
        left = self._until - self._clock.monotonic()
        if left <= 0:
            raise TransientError("There is no time left to ask the API.", code="api_unreachable")
        return await exchanged(
            self._transport,
            self._target,
            ask,
            seconds=min(self._target.seconds, left),
            most=self._target.budget.bytes - self._spent.bytes,
            clock=self._clock,
        )

    def _count_call(self) -> None:
        self._spent.calls += 1
        if self._spent.calls > self._target.budget.calls:
            raise LimitError(
                f"One run may ask the API {self._target.budget.calls:,} times. Ask for more at a time, or for less.",
                code="api_budget_spent",
            )

    # Answers

    def _check_status(self, reply: Reply) -> None:
        status = reply.status
        if status < 300:
            return
        said = self._curtain.text(reply.content[:2_000].decode("utf-8", "replace"))[:300]
        if status in _BUSY:
            raise TransientError(f"The API is busy or failing (status {status}).", code="api_busy")
        if status in (401, 403):
            raise OperatorError(
                f"The API does not accept the host's credential for this path (status {status}).",
                code="api_unauthorised",
                hint="Check the credential of this API and what it may read.",
            )
        if status == 404:
            raise NotFoundError("The API has nothing at this path (status 404).", code="api_not_found")
        raise SourceError(f"The API did not answer (status {status}): {said}", code="api_failed")

    def _json(self, reply: Reply) -> Json:
        if not reply.content:
            return None
        try:
            return self._curtain.json(reply.content)
        except ValueError:
            raise SourceError("The API's answer is not JSON.", code="api_failed") from None


def _at(page: Json, field: str | None) -> Any:
    for name in field.split(".") if field else ():
        page = page.get(name) if isinstance(page, dict) else None
    return page


def _number(ask: Ask, pages: NumberedPages) -> int:
    asked = dict(ask.params).get(pages.parameter, str(pages.start))
    if not asked.isdecimal():
        raise UserError(f"The parameter {pages.parameter!r} is the number of a page.", code="api_params_invalid")
    return int(asked)


def _origin(url: SplitResult) -> tuple[str, str | None, int]:
    return url.scheme, url.hostname, url.port or (443 if url.scheme == "https" else 80)


def _with(ask: Ask, parameter: str, value: str) -> Ask:
    others = tuple(pair for pair in ask.params if pair[0] != parameter)
    return replace(ask, params=(*others, (parameter, value)))
