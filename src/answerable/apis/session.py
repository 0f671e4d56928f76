"""The calls of one run to one API: checked, paced, counted against the run's budget, retried and recorded."""

from collections.abc import AsyncIterator, Callable, Iterable
from dataclasses import dataclass, replace
from urllib.parse import unquote

import httpx

from answerable.apis.call import ApiCall, ApiReply, BeforeWrite, Method, RequestRecord
from answerable.apis.http import HttpReply, HttpRequest, send
from answerable.apis.known_replies import KnownReplies
from answerable.apis.paging import next_page, redirected, rows_of
from answerable.apis.paths import checked_params, checked_path
from answerable.apis.rate import Concurrency, RateLimiter
from answerable.apis.secrets import SecretFilter
from answerable.apis.target import ApiTarget, Pages
from answerable.core.breaker import Breaker
from answerable.core.clock import Clock
from answerable.core.errors import (
    AnswerableError,
    LimitError,
    NotFoundError,
    OperatorError,
    RefusedError,
    SourceError,
    TransientError,
)
from answerable.core.retry import Schedule, retry
from answerable.core.values import Json

_SCHEDULE = Schedule(attempts=3, first=0.5)
_MAX_REDIRECTS = 3
_API_BUSY = "api_busy"
_BUSY = frozenset({429, 500, 502, 503, 504})
_REDIRECTS = frozenset({301, 302, 303, 307, 308})


@dataclass(frozen=True, slots=True)
class ApiHost:
    """What all sessions of one API share."""

    limiter: RateLimiter
    concurrency: Concurrency
    breaker: Breaker
    known_replies: KnownReplies


@dataclass(frozen=True, slots=True)
class FetchedPage:
    data: Json
    pages: Pages
    """Where its rows are, and how it leads to the next."""
    is_last: bool


@dataclass(slots=True)
class _Used:
    requests: int = 0
    bytes: int = 0


class ApiSession:
    def __init__(
        self,
        api: str,
        target: ApiTarget,
        transport: httpx.AsyncBaseTransport,
        host: ApiHost,
        *,
        clock: Clock,
        record: Callable[[RequestRecord], None],
        seconds: float,
        before_write: BeforeWrite | None = None,
    ) -> None:
        self._before_write = before_write
        self._api = api
        self._target = target
        self._transport = transport
        self._host = host
        self._clock = clock
        self._record = record
        self._until = clock.monotonic() + seconds
        self._used = _Used()
        self._secrets = SecretFilter(target.secrets)

    @property
    def methods(self) -> tuple[Method, ...]:
        """The HTTP methods that this API may be called with."""
        return self._target.methods

    @property
    def requests(self) -> int:
        """How many HTTP requests were made so far."""
        return self._used.requests

    async def call(self, call: ApiCall) -> ApiReply:
        """Raises `RefusedError` or `UserError` for a call that is not allowed, and the API's failures by kind. The
        detail `may_have_acted` of a failure says whether the API may have carried the call out all the same."""
        request = self._checked(call)
        before = replace(self._used)
        data = await self._all_rows(request) if call.all_pages else self._json(await self._answer(request))
        return ApiReply(data, self._used.requests - before.requests, self._used.bytes - before.bytes)

    def _checked(self, call: ApiCall) -> HttpRequest:
        try:
            if call.method not in self._target.methods:
                raise RefusedError(f"The API may not be called with {call.method}.", code="api_path_refused")
            params = tuple(checked_params(call.params, self._target.reserved_parameter))
            path = checked_path(call.path, self._target.templates)
            return HttpRequest(call.method, path, params, call.body, call.key)
        except AnswerableError as error:
            refused = self._started(call.method, str(call.path)[:200], ())
            self._record(replace(refused, error=error.stable_code))
            raise

    def _started(self, method: Method, path: str, params: Iterable[tuple[str, str]]) -> RequestRecord:
        shown: dict[str, list[str]] = {}
        for name, value in params:
            shown.setdefault(self._secrets.text(name), []).append(self._secrets.text(value))
        return RequestRecord(self._api, method, self._secrets.text(path), shown)

    async def _all_rows(self, request: HttpRequest) -> list[Json]:
        pages = self._target.pages
        return [row async for page in self._pages(request, lambda _page: pages) for row in rows_of(page.data, pages)]

    def pages(self, call: ApiCall, rules: Callable[[Json], Pages]) -> AsyncIterator[FetchedPage]:
        """The pages of a list, one after the other. `rules` gets the first page and says how it leads to the next."""
        return self._pages(self._checked(call), rules)

    async def _pages(self, request: HttpRequest, rules: Callable[[Json], Pages]) -> AsyncIterator[FetchedPage]:
        asked: set[tuple[str, tuple[tuple[str, str], ...]]] = set()
        following: HttpRequest | None = request
        pages: Pages | None = None
        while following is not None:
            reply = await self._answer(following)
            data = self._json(reply)
            pages = pages or rules(data)
            asked.add((following.path, following.params))
            following = next_page(self._target, pages, following, reply, data)
            is_repeated = following is not None and (following.path, following.params) in asked
            if is_repeated and not rows_of(data, pages):
                # a list that can be followed for ever, such as a log, waits at its end for what comes next
                following = None
            elif is_repeated:
                raise SourceError(
                    "The API names a page as the next that it has sent already: its pages have no end.",
                    code="api_pages_endless",
                )
            yield FetchedPage(data, pages, is_last=following is None)

    async def _answer(self, request: HttpRequest) -> HttpReply:
        """A successful reply, after following redirects within the API."""
        for _ in range(_MAX_REDIRECTS + 1):
            reply = await self._with_retries(request)
            if reply.status not in _REDIRECTS or reply.location is None or request.method != "GET":
                self._check_status(reply)
                return reply
            request = redirected(self._target, request, reply.location)
        raise SourceError("The API redirects again and again.", code="api_failed")

    async def _with_retries(self, request: HttpRequest) -> HttpReply:
        async def attempted(_attempt: int) -> HttpReply:
            reply = await self._once(request)
            if reply.status in _BUSY:
                message = f"The API is busy or failing (status {reply.status})."
                raise TransientError(
                    message,
                    code=_API_BUSY,
                    status=reply.status,
                    retry_after=reply.retry_after,
                    may_have_acted=reply.status != 429,
                )
            return reply

        def may_pass(error: AnswerableError, _attempt: int, wait: float) -> bool:
            # A POST that failed with 5xx may have been carried out, so only "too many requests" is tried again, unless
            # the API recognises the repetition.
            recognised = request.key is not None and self._target.idempotency_header is not None
            repeatable = error.details.get("status") == 429 or request.method == "GET" or recognised
            in_time = self._clock.monotonic() + wait <= self._until
            return error.stable_code == _API_BUSY and repeatable and in_time

        return await retry(attempted, _SCHEDULE, self._clock, may_pass=may_pass)

    async def _once(self, request: HttpRequest) -> HttpReply:
        record = self._started(request.method, unquote(request.path), request.params)
        began = self._clock.monotonic()
        try:
            self._count_request()
            received = await self._in_turn(request)
            self._used.bytes += len(received.content)
            record = replace(record, status=received.status, byte_count=len(received.content))
            return self._host.known_replies.settled(request, received)
        except AnswerableError as error:
            record = replace(record, error=error.stable_code)
            raise
        finally:  # a cancelled request is recorded too
            self._record(replace(record, duration_ms=(self._clock.monotonic() - began) * 1e3))

    async def _in_turn(self, request: HttpRequest) -> HttpReply:
        host = self._host
        async with host.concurrency.place():
            await host.limiter.wait_for_turn(self._until)
            trial = self._entered(host.breaker)
            failed: bool | None = None
            try:
                reply = await self._sent(host.known_replies.conditional(request))
                failed = reply.status >= 500
            except TransientError:
                failed = True
                raise
            finally:
                host.breaker.leave(trial=trial, failed=failed, reason="The API fails or cannot be reached.")
        host.limiter.learn(reply.remaining, reply.reset)
        if reply.status == 429:
            host.concurrency.refused()
            host.limiter.pause(reply.retry_after or 0.0)
        else:
            host.concurrency.answered()
        return reply

    def _entered(self, breaker: Breaker) -> bool:
        try:
            return breaker.enter()
        except TransientError as error:
            raise TransientError(
                error.message, code=error.stable_code, hint=error.hint, **error.details, may_have_acted=False
            ) from None

    async def _sent(self, request: HttpRequest) -> HttpReply:
        left = self._until - self._clock.monotonic()
        if left <= 0:
            raise TransientError("There is no time left to ask the API.", code="api_unreachable", may_have_acted=False)
        return await send(
            self._transport,
            self._target,
            request,
            seconds=min(self._target.seconds, left),
            max_bytes=self._target.budget.bytes - self._used.bytes,
            clock=self._clock,
            before_sending=None if request.method == "GET" else self._before_write,
        )

    def _count_request(self) -> None:
        self._used.requests += 1
        if self._used.requests > self._target.budget.calls:
            raise LimitError(
                f"One run may ask the API {self._target.budget.calls:,} times. Ask for more at a time, or for less.",
                code="api_budget_spent",
            )

    def _check_status(self, reply: HttpReply) -> None:
        status = reply.status
        if status < 300:
            return
        if status in (401, 403):
            raise OperatorError(
                f"The API does not accept the host's credential for this path (status {status}).",
                code="api_unauthorised",
                hint="Check the credential of this API and what it may read.",
            )
        if status == 404:
            raise NotFoundError("The API has nothing at this path (status 404).", code="api_not_found")
        reason = self._secrets.text(reply.content[:2_000].decode("utf-8", "replace"))[:300]
        raise SourceError(f"The API did not answer (status {status}): {reason}", code="api_failed")

    def _json(self, reply: HttpReply) -> Json:
        if not reply.content:
            return None
        try:
            return self._secrets.json(reply.content)
        except ValueError:
            if reply.content.lstrip()[:1] == b"<":
                raise SourceError(
                    "The API answers with a web page (HTML) instead of data.",
                    code="api_html",
                    hint="Check the address of the API, and whether it wants one to sign in.",
                    may_have_acted=True,
                ) from None
            raise SourceError("The API's answer is not JSON.", code="api_failed", may_have_acted=True) from None
