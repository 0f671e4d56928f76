"""OAuth 2 for applications: a signed assertion is exchanged for an access token with scopes."""

import json
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl

from starlette.requests import Request
from starlette.responses import JSONResponse

TOKEN_PATH = "/oauth2/v1/token"  # noqa: S105 - a path
ASSERTION = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
LIFETIME = 3600
LONGEST_ASSERTION = 3600


@dataclass(slots=True)
class Application:
    """An API service application of the tenant."""

    public_key: Mapping[str, Any]
    """As a JWK."""
    scopes: frozenset[str]
    """Those that were granted to it."""


@dataclass(slots=True)
class TokenEndpoint:
    applications: Mapping[str, Application]
    now: Callable[[], float]
    issued: dict[str, tuple[frozenset[str], float]] = field(default_factory=dict)
    """Scopes and end of each access token."""
    used: set[str] = field(default_factory=set)
    """Assertions that were exchanged: each is good once."""

    async def exchange(self, request: Request) -> JSONResponse:
        form = dict(parse_qsl((await request.body()).decode()))
        if form.get("grant_type") != "client_credentials" or form.get("client_assertion_type") != ASSERTION:
            return _refused(400, "invalid_request", "A 'client_credentials' request needs a client assertion.")
        audience = f"{request.url.scheme}://{request.headers.get('Host', 'localhost')}{TOKEN_PATH}"
        application, problem = self._proven(str(form.get("client_assertion", "")), audience)
        if application is None:
            return _refused(401, "invalid_client", problem)
        wanted = frozenset(str(form.get("scope", "")).split())
        if not wanted or not wanted <= application.scopes:
            return _refused(400, "invalid_scope", "One or more scopes are not configured for the application.")
        token = secrets.token_urlsafe(32)
        self.issued[token] = (wanted, self.now() + LIFETIME)
        reply = {
            "token_type": "Bearer",
            "expires_in": LIFETIME,
            "access_token": token,
            "scope": " ".join(sorted(wanted)),
        }
        return JSONResponse(reply, headers={"cache-control": "no-store"})

    def scopes_of(self, token: str) -> frozenset[str] | None:
        """None for a token that was not issued, or that has ended."""
        scopes, until = self.issued.get(token, (frozenset(), 0.0))
        return scopes if until > self.now() else None

    def _proven(self, assertion: str, audience: str) -> tuple[Application | None, str]:
        """The application that signed the assertion, or None and what is wrong."""
        from joserfc import jwt
        from joserfc.errors import JoseError
        from joserfc.jwk import RSAKey

        application = self.applications.get(_issuer(assertion))
        if application is None:
            return None, "Invalid value for 'client_id' parameter."
        try:
            claims = jwt.decode(assertion, RSAKey.import_key(dict(application.public_key)), algorithms=["RS256"]).claims
        except (JoseError, ValueError):
            return None, "The client_assertion signature is invalid."
        now = self.now()
        if claims.get("aud") != audience:
            return None, "The audience claim for client_assertion must be the endpoint invoked for the request."
        if claims.get("iss") != claims.get("sub"):
            return None, "The 'iss' and 'sub' claims of client_assertion must be the client_id."
        if not now < float(claims.get("exp", 0)) <= now + LONGEST_ASSERTION:
            return None, "The client_assertion token is expired, or is valid for too long."
        if str(claims.get("jti")) in self.used:
            return None, "The client_assertion token has already been used."
        self.used.add(str(claims.get("jti")))
        return application, ""


def _issuer(assertion: str) -> str:
    """The issuer that the assertion names, before its signature is checked."""
    from base64 import urlsafe_b64decode

    try:
        payload = assertion.split(".")[1]
        return str(json.loads(urlsafe_b64decode(payload + "=" * (-len(payload) % 4))).get("iss"))
    except (IndexError, ValueError, AttributeError):
        return ""


def _refused(status: int, error: str, description: str) -> JSONResponse:
    return JSONResponse({"error": error, "error_description": description}, status)
