"""OAuth 2 for applications: a signed assertion is exchanged for an access token with scopes."""

import json
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl

from starlette.requests import Request
from starlette.responses import JSONResponse

from answerable.okta.simulator.proofs import NonceError, ProofChecks, ProofError

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
    dpop: bool = False
    """Whether it must prove with each request that it has the key that its access token is for."""


@dataclass(frozen=True, slots=True)
class IssuedToken:
    scopes: frozenset[str]
    until: float
    key: str | None
    """Thumbprint of the key that must prove each use; None for whoever bears the token."""


@dataclass(slots=True)
class TokenEndpoint:
    applications: Mapping[str, Application]
    now: Callable[[], float]
    proofs: ProofChecks = field(init=False)
    issued: dict[str, IssuedToken] = field(default_factory=dict)
    used: set[str] = field(default_factory=set)
    """Assertions that were exchanged: each is good once."""

    def __post_init__(self) -> None:
        self.proofs = ProofChecks(self.now)

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
        key = None
        if application.dpop:
            try:
                key = self.proofs.thumbprint(request.headers.get("DPoP", ""), "POST", audience)
            except NonceError as error:
                nonce = {"dpop-nonce": self.proofs.new_nonce()}
                return _refused(400, "use_dpop_nonce", str(error), nonce)
            except ProofError as error:
                return _refused(400, "invalid_dpop_proof", str(error))
        token = secrets.token_urlsafe(32)
        self.issued[token] = IssuedToken(wanted, self.now() + LIFETIME, key)
        reply = {
            "token_type": "Bearer" if key is None else "DPoP",
            "expires_in": LIFETIME,
            "access_token": token,
            "scope": " ".join(sorted(wanted)),
        }
        return JSONResponse(reply, headers={"cache-control": "no-store"})

    def scopes_of(self, scheme: str, token: str, request: Request, url: str) -> frozenset[str] | None:
        """None for a token that was not issued, that has ended, or that is used without a proof it needs."""
        issued = self.issued.get(token)
        if issued is None or issued.until <= self.now():
            return None
        if issued.key is None:
            return issued.scopes if scheme == "Bearer" else None
        try:
            key = self.proofs.thumbprint(request.headers.get("DPoP", ""), request.method, url, token=token)
        except ProofError:
            return None
        return issued.scopes if scheme == "DPoP" and key == issued.key else None

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


def _refused(status: int, error: str, description: str, headers: Mapping[str, str] | None = None) -> JSONResponse:
    return JSONResponse({"error": error, "error_description": description}, status, headers)
