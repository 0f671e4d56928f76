"""An identity provider that exists only in memory, served with OpenID Connect: for trying Answerable without one.

It checks what a provider must check (client, redirect address, PKCE, codes that count once), and it can misbehave in
the ways of `FAULTS`.
"""

import asyncio
import base64
import hashlib
import hmac
import html
import secrets
import socket
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Literal
from urllib.parse import parse_qsl, urlencode

import orjson
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Route

CLIENT_ID = "answerable"
AUDIENCE = "api://answerable"
Fault = Literal[
    "down", "slow", "issuer", "audience", "nonce", "unsigned", "hmac", "oversized", "expired", "later", "foreign_key",
    "other_host", "issuer_of_document", "not_json", "redirects", "azp",
]  # fmt: skip
PEOPLE: Mapping[str, Mapping[str, Any]] = {
    "nora": {"name": "Nora Holm", "email": "nora@example.com", "groups": ["managers"], "region": []},
    "erik": {"name": "Erik Lund", "email": "erik@example.com", "groups": ["sellers"], "region": ["North"]},
    "lotte": {"name": "Lotte Berg", "email": "lotte@example.com", "groups": ["sellers"], "region": ["West", "South"]},
}


@dataclass(slots=True)
class Pending:
    """A code that was given out and not used."""

    user: str
    redirect_uri: str
    nonce: str
    challenge: str


@dataclass
class SimulatedProvider:
    issuer: str
    people: dict[str, Mapping[str, Any]] = field(default_factory=lambda: dict(PEOPLE))
    now: Callable[[], datetime] = lambda: datetime.now(UTC)
    secret: str | None = None
    faults: set[Fault] = field(default_factory=set)
    pending: dict[str, Pending] = field(default_factory=dict)
    requests: list[str] = field(default_factory=list)
    """The paths of all requests, in their order."""

    def __post_init__(self) -> None:
        self.rotate()

    def rotate(self) -> None:
        """Signs with another key from now on, and forgets the old one."""
        from joserfc.jwk import RSAKey

        self.key = RSAKey.generate_key(2048, {"use": "sig", "alg": "RS256", "kid": secrets.token_hex(4)})

    def token(self, user: str, audience: str, **extra: Any) -> str:
        """A token of the provider, with what its faults do to it."""
        now = int(self.now().timestamp())
        claims = {
            "iss": "https://evil.example" if "issuer" in self.faults else self.issuer,
            "aud": "somebody-else" if "audience" in self.faults else audience,
            "sub": hashlib.sha256(user.encode()).hexdigest()[:24],
            "preferred_username": user,
            "iat": now + 600 if "later" in self.faults else now,
            "exp": now - 300 if "expired" in self.faults else now + 300,
            **self.people[user],
            **extra,
        }
        if "azp" in self.faults:
            claims |= {"aud": [audience, "another"], "azp": "another"}
        if "nonce" in self.faults:
            claims["nonce"] = "of-another-sign-in"
        if "oversized" in self.faults:
            claims["padding"] = "x" * 600_000
        return self._signed(claims)

    def _signed(self, claims: Mapping[str, Any]) -> str:
        from joserfc import jws
        from joserfc.jwk import RSAKey

        header: dict[str, Any] = {"alg": "RS256", "kid": self.key.kid}
        if "unsigned" in self.faults:
            return f"{_encoded(header | {'alg': 'none'})}.{_encoded(claims)}."
        if "hmac" in self.faults:  # signs with the public key as if it were a secret
            text = f"{_encoded(header | {'alg': 'HS256'})}.{_encoded(claims)}"
            signature = hmac.digest(self.key.as_pem(private=False), text.encode(), "sha256")
            return f"{text}.{base64.urlsafe_b64encode(signature).rstrip(b'=').decode()}"
        key = RSAKey.generate_key(2048) if "foreign_key" in self.faults else self.key
        return jws.serialize_compact(header, orjson.dumps(claims), key, algorithms=["RS256"])

    @property
    def app(self) -> Starlette:
        routes = [
            Route("/.well-known/openid-configuration", self._guarded(self._document)),
            Route("/keys", self._guarded(self._keys)),
            Route("/authorize", self._guarded(self._authorize)),
            Route("/token", self._guarded(self._exchange), methods=["POST"]),
        ]
        return Starlette(routes=routes)

    def _guarded(self, endpoint: Callable[[Request], Any]) -> Callable[[Request], Any]:
        async def guarded(request: Request) -> Response:
            self.requests.append(request.url.path)
            if "slow" in self.faults:
                await asyncio.sleep(60)
            if "down" in self.faults:
                return Response("no", status_code=503)
            if "not_json" in self.faults:
                return HTMLResponse("<h1>Maintenance</h1>")
            if "redirects" in self.faults:
                return RedirectResponse("http://127.0.0.1:9/elsewhere")
            reply: Response = await endpoint(request)
            return reply

        return guarded

    async def _document(self, request: Request) -> Response:
        other = "http://127.0.0.1:9" if "other_host" in self.faults else self.issuer
        return JSONResponse(
            {
                "issuer": "https://evil.example" if "issuer_of_document" in self.faults else self.issuer,
                "authorization_endpoint": f"{self.issuer}/authorize",
                "token_endpoint": f"{other}/token",
                "jwks_uri": f"{self.issuer}/keys",
                "response_types_supported": ["code"],
                "subject_types_supported": ["public"],
                "id_token_signing_alg_values_supported": ["RS256"],
                "code_challenge_methods_supported": ["S256"],
            }
        )

    async def _keys(self, request: Request) -> Response:
        return JSONResponse({"keys": [self.key.as_dict(private=False)]})

    async def _authorize(self, request: Request) -> Response:
        """A page with the people; a link of each signs them in. With `user` it is as if that link was followed."""
        asked = request.query_params
        problem = self._wrong_request(asked)
        if problem is not None:
            return Response(problem, status_code=400)
        user = asked.get("user")
        if user is None:
            query = html.escape(urlencode(dict(asked)))
            links = (f'<p><a href="/authorize?{query}&amp;user={name}">{name}</a></p>' for name in self.people)
            return HTMLResponse(f"<title>Simulated provider</title><h1>Who are you?</h1>{''.join(links)}")
        if user not in self.people:
            return RedirectResponse(_with(asked["redirect_uri"], error="access_denied", state=asked.get("state", "")))
        code = secrets.token_urlsafe(16)
        self.pending[code] = Pending(user, asked["redirect_uri"], asked["nonce"], asked["code_challenge"])
        return RedirectResponse(_with(asked["redirect_uri"], code=code, state=asked["state"], iss=self.issuer))

    def _wrong_request(self, asked: Mapping[str, str]) -> str | None:
        if asked.get("client_id") != CLIENT_ID or asked.get("response_type") != "code":
            return "unknown client"
        if asked.get("code_challenge_method") != "S256" or not asked.get("code_challenge"):
            return "PKCE is needed"
        if "openid" not in asked.get("scope", "").split() or not asked.get("state") or not asked.get("nonce"):
            return "state, nonce and the scope openid are needed"
        return None if asked.get("redirect_uri", "").endswith("/callback") else "unknown redirect address"

    async def _exchange(self, request: Request) -> Response:
        given = dict(parse_qsl((await request.body()).decode()))
        pending = self.pending.pop(given.get("code", ""), None)
        digest = hashlib.sha256(given.get("code_verifier", "").encode()).digest()
        challenge = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
        if (
            pending is None
            or pending.redirect_uri != given.get("redirect_uri")
            or pending.challenge != challenge
            or given.get("client_id") != CLIENT_ID
            or (self.secret is not None and given.get("client_secret") != self.secret)
        ):
            return JSONResponse({"error": "invalid_grant"}, status_code=400)
        return JSONResponse(
            {
                "access_token": self.token(pending.user, AUDIENCE),
                "id_token": self.token(pending.user, CLIENT_ID, nonce=pending.nonce),
                "token_type": "Bearer",
                "expires_in": 300,
            }
        )


def listening(port: int) -> socket.socket:
    """A socket on this machine alone."""
    opened = socket.socket()
    opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        opened.bind(("127.0.0.1", port))
    except OSError:
        opened.close()
        raise
    return opened


def _encoded(value: object) -> str:
    return base64.urlsafe_b64encode(orjson.dumps(value)).rstrip(b"=").decode()


def _with(address: str, **parameters: str) -> str:
    return f"{address}{'&' if '?' in address else '?'}{urlencode(parameters)}"
