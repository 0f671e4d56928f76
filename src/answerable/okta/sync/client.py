"""Asks a tenant of Okta: with its credential, as fast as it may be asked, and again where that may help."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol
from urllib.parse import urljoin, urlsplit

import httpx
import orjson

from answerable.apis.server_time import server_time
from answerable.core.clock import Clock
from answerable.core.errors import AnswerableError, RefusedError, SourceError, TransientError, UserError
from answerable.core.retry import Schedule, retry
from answerable.okta.sync.pace import RequestPace, endpoint_of

SCHEDULE = Schedule(attempts=6, first=0.5, longest=30.0)
REFUSALS = 10
"""How often one request may be refused because of the rate limit."""
LONGEST_WAIT = 900.0
"""Seconds until the limit of an endpoint allows the next request; the limits of Okta are for a minute."""
SECONDS = 60.0

_LATER = "Sync again later: it goes on where it stopped."


def _rate_limited() -> TransientError:
    return TransientError(
        "Okta keeps refusing requests because of its rate limit.",
        code="okta_rate_limited",
        hint=f"{_LATER} Other programs may use up the same limit.",
    )


def _may_pass(error: AnswerableError, _attempt: int, _wait: float) -> bool:
    return isinstance(error, TransientError) and error.stable_code != "okta_rate_limited"


class Credential(Protocol):
    name: str
    """What errors call it, such as the environment variable that holds it. Never the secret."""

    async def headers(self, client: httpx.AsyncClient, path: str) -> Mapping[str, str]:
        """The header `Authorization`, and whatever goes with it, for a GET request of a path."""
        ...

    def refused(self, response: httpx.Response) -> bool:
        """Takes note of a reply 401. Returns whether the next attempt may pass."""
        ...


@dataclass(frozen=True, slots=True)
class OktaPage:
    items: Any
    next_path: str | None
    """Path and query of the next page; None for the last."""


class StaleCursorError(Exception):
    """The tenant no longer knows the cursor of a page: the list must be read from its beginning."""


class GoneError(Exception):
    """What the path names does not exist, or no longer."""


class FeatureMissingError(Exception):
    """The tenant lacks the feature that the path belongs to."""


def tenant_url(text: str) -> str:
    """The address of a tenant without a slash at the end. Raises `UserError` if it is none that can be asked."""
    text = text if "://" in text else f"https://{text}"
    text = f"https{text.removeprefix('okta')}" if text.startswith("okta://") else text
    try:
        parts = urlsplit(text)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        host, port = "", None
    is_here = host in ("localhost", "127.0.0.1", "::1")
    if not host or parts.username or parts.path.strip("/") or parts.query:
        raise UserError(
            "That is not the address of an Okta tenant.",
            code="okta_address_invalid",
            hint="Write it as https://acme.okta.com, without a path, and never with a token.",
        )
    if parts.scheme not in ("https", "http") or (parts.scheme == "http" and not is_here):
        raise UserError(
            f"{host} must be asked over https.", code="okta_address_invalid", hint="http is for this machine only."
        )
    return f"{parts.scheme}://{f'[{host}]' if ':' in host else host}{f':{port}' if port else ''}"


class OktaClient:
    def __init__(self, url: str, credential: Credential, clock: Clock) -> None:
        self.url = url
        self.requests = 0
        self.waited = 0.0
        self._credential = credential
        self._clock = clock
        self._pace = RequestPace()
        self._turn = asyncio.Condition()
        limits = httpx.Limits(max_connections=40, max_keepalive_connections=40)
        self._http = httpx.AsyncClient(base_url=url, timeout=SECONDS, limits=limits, trust_env=False)

    async def close(self) -> None:
        await self._http.aclose()

    @property
    def at_once(self) -> int:
        return self._pace.at_once

    async def page(self, path: str, scope: str) -> OktaPage:
        """Gets one page. `scope`: what a token needs for it, for the error that says so. Raises `StaleCursorError`,
        `GoneError` and `FeatureMissingError`."""
        return await retry(lambda _: self._attempt(path, scope), SCHEDULE, self._clock, may_pass=_may_pass)

    async def _attempt(self, path: str, scope: str) -> OktaPage:
        for refusal in range(REFUSALS):
            await self._wait_for_turn(endpoint_of(path))
            response = await self._send(path)
            if response.status_code != 429:
                problem = self._problem(response, scope)
                if problem is not None:
                    raise problem
                return self._read(response)
            if "x-rate-limit-reset" not in response.headers:  # else the pace knows how long to wait
                await self._clock.sleep(min(30.0, 2.0**refusal))
        raise _rate_limited()

    async def _wait_for_turn(self, endpoint: str) -> None:
        started = self._clock.monotonic()
        async with self._turn:
            while (wait := self._pace.wait(endpoint, self._clock.monotonic())) != 0.0:
                if wait is None:
                    await self._turn.wait()
                    continue
                if wait > LONGEST_WAIT:
                    raise _rate_limited()
                self._turn.release()
                try:
                    await self._clock.sleep(wait)
                finally:
                    await self._turn.acquire()
            self._pace.sent(endpoint, self._clock.monotonic())
        self.waited += self._clock.monotonic() - started

    async def _send(self, path: str) -> httpx.Response:
        """Raises `TransientError` if no reply comes."""
        endpoint = endpoint_of(path)
        self.requests += 1
        response: httpx.Response | None = None
        try:
            headers = await self._credential.headers(self._http, path)
            response = await self._http.get(path, headers={**headers, "Accept": "application/json"})
            return response
        except httpx.HTTPError:
            # not the exception's own text: it may hold an address with a secret
            raise TransientError(
                f"{self.url} cannot be reached, or broke off.", code="okta_unreachable", hint=_LATER
            ) from None
        finally:
            async with self._turn:
                if response is None:
                    self._pace.lost(endpoint)
                else:
                    times = self._clock.monotonic(), server_time(response.headers, self._clock)
                    self._pace.replied(endpoint, response.status_code, response.headers, *times)
                self._turn.notify_all()

    def _problem(self, response: httpx.Response, scope: str) -> AnswerableError | None:
        """What is wrong with a reply, or None. A `TransientError` may be gone with the next attempt."""
        status, code = response.status_code, _error_code(response)
        if status == 200:
            return None if _is_json(response) else self._not_okta()
        if code == "E0000015":
            raise FeatureMissingError
        if status == 404:
            raise GoneError
        if status == 401 and self._credential.refused(response):
            return TransientError("The access token has expired.", code="okta_token_invalid")
        if status == 401:
            return SourceError(
                f"Okta does not accept the token of {self._credential.name}.",
                code="okta_token_invalid",
                hint="It has expired, was revoked, or is of another tenant. Create one under Security > API > Tokens.",
            )
        if status == 403:
            return SourceError(
                f"The token of {self._credential.name} lacks the scope {scope}.",
                code="okta_scope_missing",
                hint=f"Grant {scope} to the application under Okta API Scopes; an API token has the rights of the "
                "administrator who made it, who needs at least the role Read-Only Administrator.",
            )
        if status == 400 and code in ("E0000029", "E0000031"):
            raise StaleCursorError
        if status >= 500:
            return TransientError(f"Okta failed with status {status}.", code="okta_unreachable", hint=_LATER)
        return SourceError(f"Okta refused a request with status {status} ({code or 'no code'}).", code="okta_refused")

    def _not_okta(self) -> TransientError:
        return TransientError(
            f"{self.url} answers with something else than JSON.",
            code="okta_not_json",
            hint="Check the address; a proxy or a login page may stand in between.",
        )

    def _read(self, response: httpx.Response) -> OktaPage:
        try:
            body = orjson.loads(response.content)
        except ValueError:
            raise self._not_okta() from None
        following = response.links.get("next", {}).get("url") or _link_in(body)
        return OktaPage(body, self._same_tenant(following) if following else None)

    def _same_tenant(self, address: str) -> str:
        target, home = urlsplit(urljoin(self.url, address)), urlsplit(self.url)
        if (target.scheme, target.netloc) != (home.scheme, home.netloc):
            raise RefusedError(
                "Okta's reply points to another host, where nothing is followed.", code="okta_link_refused"
            )
        return f"{target.path}?{target.query}" if target.query else target.path


def _link_in(body: Any) -> str | None:
    """Some endpoints name their next page in the body."""
    links = body.get("_links") if isinstance(body, Mapping) else None
    following = links.get("next") if isinstance(links, Mapping) else None
    return str(following["href"]) if isinstance(following, Mapping) and "href" in following else None


def _is_json(response: httpx.Response) -> bool:
    kind: str = response.headers.get("Content-Type", "")
    return kind.partition(";")[0].strip().endswith("json")


def _error_code(response: httpx.Response) -> str | None:
    try:
        body = orjson.loads(response.content)
    except ValueError:
        return None
    return str(body["errorCode"]) if isinstance(body, dict) and "errorCode" in body else None
