"""The client of an identity provider: discovery, keys that rotate, codes exchanged for tokens, tokens verified.

Nothing that the provider says is believed but what is signed by a key of its own set, and requests go to the configured
hosts only: whatever a discovery document names elsewhere is refused.
"""

import asyncio
import base64
import hashlib
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode, urlsplit

import httpx
import orjson

from answerable.core.clock import Clock
from answerable.core.errors import OperatorError, SignInError, TransientError
from answerable.identity.provider import Provider, is_safe_address
from answerable.identity.tokens import LARGEST, TokenRules, chosen_key, verified_claims

SECONDS = 5.0
MOST_BYTES = 512_000
KNOWN_FOR = 3600.0
"""Seconds for which the provider's addresses and keys are known."""
LOOK_AGAIN_AFTER = 10.0
"""A token that names an unknown key is a reason to fetch the keys anew, but not more often than this."""
_ALGORITHM_OF = {"RSA": "RS256", "P-256": "ES256", "P-384": "ES384", "P-521": "ES512", "Ed25519": "EdDSA"}


@dataclass(frozen=True, slots=True)
class Addresses:
    """What the provider's discovery document names."""

    authorization: str
    token: str
    keys: str


@dataclass(frozen=True, slots=True)
class Flow:
    """A sign-in that has begun. The browser is sent to the provider, and comes back with `state`."""

    state: str
    nonce: str
    verifier: str

    @classmethod
    def new(cls) -> "Flow":
        return cls(*(secrets.token_urlsafe(32) for _ in range(3)))

    @property
    def challenge(self) -> str:
        digest = hashlib.sha256(self.verifier.encode()).digest()
        return base64.urlsafe_b64encode(digest).rstrip(b"=").decode()


class ProviderClient:
    def __init__(self, provider: Provider, clock: Clock) -> None:
        self.provider = provider
        self._clock = clock
        self._addresses: tuple[float, Addresses] | None = None
        self._keys: tuple[float, Sequence[Mapping[str, Any]]] | None = None
        self._transport: httpx.AsyncHTTPTransport | None = None

    async def close(self) -> None:
        if self._transport is not None:
            await self._transport.aclose()

    async def authorization_url(self, flow: Flow, redirect_uri: str) -> str:
        addresses = await self.addresses()
        parameters = {
            "response_type": "code",
            "client_id": self.provider.client_id,
            "redirect_uri": redirect_uri,
            "scope": " ".join(self.provider.scopes),
            "state": flow.state,
            "nonce": flow.nonce,
            "code_challenge": flow.challenge,
            "code_challenge_method": "S256",
        }
        joint = "&" if urlsplit(addresses.authorization).query else "?"
        return addresses.authorization + joint + urlencode(parameters)

    async def claims_for(self, code: str, nonce: str, verifier: str, redirect_uri: str) -> Mapping[str, Any]:
        """The claims of the ID token that a code stands for."""
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": redirect_uri,
            "client_id": self.provider.client_id,
            "code_verifier": verifier,
        }
        secret = self.provider.secret()
        if secret is not None:
            form["client_secret"] = secret
        reply = await self._fetched("POST", (await self.addresses()).token, form)
        token = reply.get("id_token")
        if not isinstance(token, str):
            raise _refused("The provider sent no ID token.")
        claims = await self.verified(token, self.provider.client_id)
        if not secrets.compare_digest(str(claims.get("nonce", "")).encode(), nonce.encode()):
            raise _refused("The provider's token belongs to another sign-in.")
        audience = claims.get("aud")
        if isinstance(audience, list) and len(audience) > 1 and claims.get("azp") != self.provider.client_id:
            raise _refused("The provider's token was made for another application.")
        return claims

    async def verified(self, token: str, audience: str) -> Mapping[str, Any]:
        """The claims of a token that the provider signed for this audience."""
        key = await self._key(_named_key(token))
        rules = TokenRules(_algorithm_of(key), self.provider.issuer, audience)
        return verified_claims(token, key, rules, self._clock.now())

    async def addresses(self) -> Addresses:
        now = self._clock.monotonic()
        if self._addresses is None or now - self._addresses[0] > KNOWN_FOR:
            self._addresses = (now, await self._discovered())
        return self._addresses[1]

    async def keys(self) -> Sequence[Mapping[str, Any]]:
        """The provider's public keys for signatures, as they are known now."""
        now = self._clock.monotonic()
        if self._keys is None or now - self._keys[0] > KNOWN_FOR:
            self._keys = (now, await self._fetched_keys())
        return self._keys[1]

    async def _key(self, kid: str | None) -> Mapping[str, Any]:
        keys = await self.keys()
        assert self._keys is not None
        is_known = any(kid is None or key.get("kid") == kid for key in keys)
        now = self._clock.monotonic()
        if not is_known and now - self._keys[0] >= LOOK_AGAIN_AFTER:
            self._keys = (now, keys := await self._fetched_keys())
        return chosen_key(keys, kid)

    async def _fetched_keys(self) -> Sequence[Mapping[str, Any]]:
        reply = await self._fetched("GET", (await self.addresses()).keys)
        keys = reply.get("keys")
        if not isinstance(keys, list) or not all(isinstance(key, dict) for key in keys):
            raise _lies(self.provider, "its set of keys is none")
        # A set may hold keys for encryption beside those for signatures. Secrets have no place in a public set.
        public = [key for key in keys if key.get("use", "sig") == "sig" and key.get("kty") in ("RSA", "EC", "OKP")]
        if not public:
            raise _lies(self.provider, "it has no public key for signatures")
        return public

    async def _discovered(self) -> Addresses:
        issuer = self.provider.issuer
        document = await self._fetched("GET", f"{issuer.rstrip('/')}/.well-known/openid-configuration")
        if document.get("issuer") != issuer:
            raise _lies(self.provider, f"it calls itself {str(document.get('issuer'))[:200]!r}")
        names = ("authorization_endpoint", "token_endpoint", "jwks_uri")
        for name in names:
            self._check_address(str(document.get(name, "")), name)
        return Addresses(*(str(document[name]) for name in names))

    def _check_address(self, url: str, name: str) -> None:
        if not is_safe_address(url) or urlsplit(url).netloc.lower() not in self.provider.allowed_hosts:
            raise OperatorError(
                f"The identity provider's `{name}` is {url[:200]!r}, which is not at an allowed host.",
                code="provider_host_refused",
                hint="If the provider really uses this host, name it under `hosts` of the provider.",
            )

    async def _fetched(self, method: str, url: str, form: Mapping[str, str] | None = None) -> Mapping[str, Any]:
        """A JSON object of the provider. Follows no redirect, reads no proxy from the environment, and stops reading at
        a bound of time and size."""
        try:
            async with asyncio.timeout(SECONDS):
                self._transport = self._transport or httpx.AsyncHTTPTransport()
                headers = {"Accept": "application/json", "User-Agent": "answerable"}
                timeout = {"timeout": httpx.Timeout(SECONDS).as_dict()}
                request = httpx.Request(method, url, data=form, headers=headers, extensions=timeout)
                response = await self._transport.handle_async_request(request)
                try:
                    status, content = response.status_code, await _bounded(response)
                finally:
                    await response.aclose()
        except (TimeoutError, httpx.HTTPError):
            raise TransientError(
                "The identity provider cannot be reached.",
                code="provider_unreachable",
                hint="Try again in a while. Sessions that are open go on.",
            ) from None
        if status != 200:
            if method == "POST":
                raise _refused("The provider does not accept this sign-in: its code was used, or is too old.")
            raise TransientError(f"The identity provider answers with {status}.", code="provider_unreachable")
        try:
            reply = orjson.loads(content)
        except orjson.JSONDecodeError:
            reply = None
        if not isinstance(reply, dict):
            raise _lies(self.provider, "it answers with something else than a JSON object")
        return reply


async def _bounded(response: httpx.Response) -> bytes:
    chunks, size = [], 0
    async for chunk in response.aiter_bytes():
        chunks.append(chunk)
        size += len(chunk)
        if size > MOST_BYTES:
            raise OperatorError(f"The identity provider sends more than {MOST_BYTES:,} bytes.", code="provider_lies")
    return b"".join(chunks)


def _named_key(token: str) -> str | None:
    """The name of the key in the header of a token. Nothing else of a token is read before it is verified."""
    try:
        part = token[:LARGEST].partition(".")[0]
        header = orjson.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))
    except ValueError:
        return None
    kid = header.get("kid") if isinstance(header, dict) else None
    return kid if isinstance(kid, str) else None


def _algorithm_of(key: Mapping[str, Any]) -> str:
    """The algorithm that a key of the set is for: what it says itself, else the usual one of its kind."""
    kind = str(key.get("crv") if key.get("kty") in ("EC", "OKP") else key.get("kty"))
    algorithm = str(key.get("alg") or _ALGORITHM_OF.get(kind, ""))
    if algorithm.startswith("HS") or not algorithm:
        raise OperatorError("The key for signed tokens is no public key.", code="token_key_invalid")
    return algorithm


def _lies(provider: Provider, problem: str) -> OperatorError:
    return OperatorError(
        f"The identity provider {provider.issuer} cannot be trusted: {problem}.",
        code="provider_lies",
        hint="Compare `issuer` in settings.yaml with the provider's own description.",
    )


def _refused(problem: str) -> SignInError:
    return SignInError(problem, code="sign_in_refused", hint="Begin once more on the page.")
