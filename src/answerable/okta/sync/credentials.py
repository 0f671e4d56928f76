"""What a tenant is asked with: an API token, or an access token that a private key is exchanged for."""

import asyncio
import json
import os
import secrets
import time
from collections.abc import Mapping
from typing import Any

import httpx

from answerable.core.errors import OperatorError, SourceError, TransientError
from answerable.okta.sync.proofs import ProofKey
from answerable.okta.sync.scopes import SCOPES

ASSERTION = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
TOKEN_PATH = "/oauth2/v1/token"  # noqa: S105 - a path
MOST_REFUSALS = 3
"""How often a token may be refused before it counts as wrong."""
EARLY = 60.0
"""Seconds before its end at which an access token is renewed."""


def from_environment(variable: str) -> str:
    value = os.environ.get(variable, "").strip()
    if not value:
        raise OperatorError(
            f"The environment variable {variable} is not set.",
            code="okta_token_missing",
            hint=f"Put an API token into {variable}, or name another variable with --token-from.",
        )
    # a key in PEM has several lines
    if not (value.isascii() and value.replace("\n", "").replace("\r", "").isprintable()):
        raise OperatorError(f"{variable} holds more than a token.", code="okta_token_missing", hint="Check its value.")
    return value


class ApiToken:
    def __init__(self, token: str, name: str) -> None:
        if not token.isprintable():
            raise OperatorError(f"{name} holds more than a token.", code="okta_token_missing", hint="Check its value.")
        self.name = name
        self._token = token

    async def headers(self, _client: httpx.AsyncClient, _path: str) -> Mapping[str, str]:
        return {"Authorization": f"SSWS {self._token}"}

    def refused(self, _response: httpx.Response) -> bool:
        return False


class PrivateKey:
    """OAuth 2 with a signed assertion: the application's client id and its private key, as a JWK or PEM. Where the
    tenant asks for proofs of possession (DPoP), each request carries one."""

    def __init__(self, client_id: str, key: str, name: str, scopes: tuple[str, ...] = SCOPES) -> None:
        self.name = name
        self._client_id = client_id
        self._key = key
        self._scopes = scopes
        self._token: str | None = None
        self._until = 0.0
        self._refusals = 0
        self._proofs: ProofKey | None = None
        self._nonce: str | None = None
        """What the API last asked to have in its proofs."""
        self._exchanging = asyncio.Lock()

    async def headers(self, client: httpx.AsyncClient, path: str) -> Mapping[str, str]:
        async with self._exchanging:
            if self._token is None or time.monotonic() >= self._until:
                self._token, self._until = await self._exchange(client)
            token = self._token
        if self._proofs is None:
            return {"Authorization": f"Bearer {token}"}
        proof = self._proofs.proof("GET", str(client.base_url.join(path)), nonce=self._nonce, token=token)
        return {"Authorization": f"DPoP {token}", "DPoP": proof}

    def refused(self, response: httpx.Response) -> bool:
        self._refusals += 1
        nonce = response.headers.get("DPoP-Nonce")
        if nonce is not None and nonce != self._nonce:
            self._nonce = nonce
        else:
            self._token = None
        return self._refusals <= MOST_REFUSALS

    async def _exchange(self, client: httpx.AsyncClient) -> tuple[str, float]:
        """An access token and its end. Proves the possession of a key, and says a nonce, once it is asked to."""
        nonce = None
        for _ in range(3):
            response = await self._asked(client, nonce)
            reply = _json(response)
            if response.status_code == 200 and "access_token" in reply:
                if str(reply.get("token_type", "")).lower() != "dpop":
                    self._proofs = None
                return str(reply["access_token"]), time.monotonic() + float(reply.get("expires_in", 3600)) - EARLY
            if reply.get("error") not in ("invalid_dpop_proof", "use_dpop_nonce"):
                break
            self._proofs = self._proofs or ProofKey()
            nonce = response.headers.get("DPoP-Nonce", nonce)
        reason = str(reply.get("error_description") or reply.get("error") or f"status {response.status_code}")
        raise SourceError(
            f"Okta gives no access token to the application of {self.name}: {reason[:200]}",
            code="okta_token_invalid",
            hint="Check the client id, the public key of the application, and its Okta API Scopes.",
        )

    async def _asked(self, client: httpx.AsyncClient, nonce: str | None) -> httpx.Response:
        address = f"{str(client.base_url).rstrip('/')}{TOKEN_PATH}"
        form = {
            "grant_type": "client_credentials",
            "scope": " ".join(self._scopes),
            "client_assertion_type": ASSERTION,
            "client_assertion": self._assertion(address),
        }
        headers = {} if self._proofs is None else {"DPoP": self._proofs.proof("POST", address, nonce=nonce)}
        try:
            return await client.post(TOKEN_PATH, data=form, headers=headers)
        except httpx.HTTPError:
            raise TransientError("Okta cannot be reached for an access token.", code="okta_unreachable") from None

    def _assertion(self, audience: str) -> str:
        from joserfc import jwt
        from joserfc.errors import JoseError
        from joserfc.jwk import RSAKey

        now = int(time.time())
        claims = {
            "aud": audience,
            "iss": self._client_id,
            "sub": self._client_id,
            "iat": now,
            "exp": now + 300,
            "jti": secrets.token_hex(16),
        }
        try:
            key = RSAKey.import_key(json.loads(self._key) if self._key.lstrip().startswith("{") else self._key)
            return jwt.encode({"alg": "RS256", **({"kid": key.kid} if key.kid else {})}, claims, key)
        except (ValueError, JoseError):
            # not the exception's text: it may quote the key
            raise OperatorError(
                f"The private key of {self.name} cannot be read.",
                code="okta_key_invalid",
                hint="Give an RSA key as JWK (JSON) or PEM.",
            ) from None


def _json(response: httpx.Response) -> Mapping[str, Any]:
    try:
        reply = response.json()
    except ValueError:
        return {}
    return reply if isinstance(reply, dict) else {}
