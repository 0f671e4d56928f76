"""What a tenant is asked with: an API token, or an access token that a private key is exchanged for."""

import json
import os
import secrets
import time

import httpx

from answerable.core.errors import OperatorError, SourceError, TransientError
from answerable.okta.sync.scopes import SCOPES

ASSERTION = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
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

    async def header(self, _client: httpx.AsyncClient) -> str:
        return f"SSWS {self._token}"

    def renew(self) -> bool:
        return False


class PrivateKey:
    """OAuth 2 with a signed assertion: the application's client id and its private key, as a JWK or PEM."""

    def __init__(self, client_id: str, key: str, name: str, scopes: tuple[str, ...] = SCOPES) -> None:
        self.name = name
        self._client_id = client_id
        self._key = key
        self._scopes = scopes
        self._token: str | None = None
        self._until = 0.0
        self._renewed = 0

    async def header(self, client: httpx.AsyncClient) -> str:
        if self._token is None or time.monotonic() >= self._until:
            await self._exchange(client)
        return f"Bearer {self._token}"

    def renew(self) -> bool:
        self._token, self._renewed = None, self._renewed + 1
        return self._renewed <= 3

    async def _exchange(self, client: httpx.AsyncClient) -> None:
        form = {
            "grant_type": "client_credentials",
            "scope": " ".join(self._scopes),
            "client_assertion_type": ASSERTION,
            "client_assertion": self._assertion(f"{str(client.base_url).rstrip('/')}/oauth2/v1/token"),
        }
        try:
            response = await client.post("/oauth2/v1/token", data=form)
        except httpx.HTTPError:
            raise TransientError("Okta cannot be reached for an access token.", code="okta_unreachable") from None
        try:
            reply = response.json()
        except ValueError:
            reply = {}
        if response.status_code != 200 or "access_token" not in reply:
            reason = str(reply.get("error_description") or reply.get("error") or f"status {response.status_code}")
            raise SourceError(
                f"Okta gives no access token to the application of {self.name}: {reason[:200]}",
                code="okta_token_invalid",
                hint="Check the client id, the public key of the application, and its Okta API Scopes.",
            )
        self._token = str(reply["access_token"])
        self._until = time.monotonic() + float(reply.get("expires_in", 3600)) - EARLY

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
