"""The credential broker: a caller names a path of an API; the host checks it, adds the credential and sends it.

The caller sees neither the credential nor the address. Every path is checked against what the operator allowed, every
reply is bounded and has the credential taken out, and every request is recorded.
"""

from collections.abc import Callable, Mapping
from urllib.parse import urlsplit

import httpx

from answerable.apis.call import BeforeWrite, RequestRecord
from answerable.apis.known_replies import KnownReplies
from answerable.apis.rate import Concurrency, RateLimiter
from answerable.apis.session import ApiHost, ApiSession
from answerable.apis.target import ApiTarget
from answerable.core.breaker import Breaker
from answerable.core.clock import Clock, SystemClock
from answerable.core.errors import UserError

_BREAKER_FAILURES = 10
_BREAKER_SECONDS = 30.0


class Broker:
    """The configured APIs with their connections and rates. One for the process; each run opens a session."""

    def __init__(
        self,
        targets: Mapping[str, ApiTarget],
        transport: httpx.AsyncBaseTransport | None = None,
        clock: Clock | None = None,
    ) -> None:
        self._targets = targets
        self._clock = clock or SystemClock()
        self._transport = transport
        self._hosts = {name: self._host(target) for name, target in targets.items()}

    def _host(self, target: ApiTarget) -> ApiHost:
        name = urlsplit(target.url).netloc
        return ApiHost(
            limiter=RateLimiter(target.rate, self._clock),
            concurrency=Concurrency(),
            breaker=Breaker(name, self._clock, _BREAKER_FAILURES, _BREAKER_SECONDS),
            known_replies=KnownReplies(),
        )

    def session(
        self,
        api: str,
        record: Callable[[RequestRecord], None] = lambda _record: None,
        *,
        seconds: float = 30.0,
        before_write: BeforeWrite | None = None,
    ) -> ApiSession:
        """A session whose budget and time start now. `record` receives every request when it has ended."""
        target = self._targets.get(api)
        if target is None:
            there = ", ".join(sorted(self._targets)) or "none"
            raise UserError(f"There is no API {api!r}.", code="api_unknown", hint=f"There are: {there}.")
        if self._transport is None:
            self._transport = httpx.AsyncHTTPTransport()
        return ApiSession(
            api,
            target,
            self._transport,
            self._hosts[api],
            clock=self._clock,
            record=record,
            seconds=seconds,
            before_write=before_write,
        )

    async def close(self) -> None:
        if self._transport is not None:
            await self._transport.aclose()
