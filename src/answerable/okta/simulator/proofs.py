"""Checks proofs of possession as an authorization server and an API do (DPoP, RFC 9449)."""

import secrets
from collections.abc import Callable
from dataclasses import dataclass, field

from answerable.okta.sync.proofs import proven_url, token_hash

LIFETIME = 300.0
"""Seconds around the time of a proof in which it is good, and in which a nonce is."""
_ALGORITHMS = ["ES256", "RS256"]


class ProofError(Exception):
    """What is wrong with a proof."""


class NonceError(ProofError):
    """The proof must hold the nonce that goes with the refusal."""


@dataclass(slots=True)
class ProofChecks:
    now: Callable[[], float]
    nonces: dict[str, float] = field(default_factory=dict)
    used: set[str] = field(default_factory=set)

    def new_nonce(self) -> str:
        nonce = secrets.token_urlsafe(16)
        self.nonces[nonce] = self.now() + LIFETIME
        return nonce

    def thumbprint(self, proof: str, method: str, url: str, *, token: str | None = None) -> str:
        """The thumbprint of the key that made the proof. With `token` it must name that token, else a nonce. Raises
        `ProofError`."""
        from joserfc import jwt
        from joserfc.errors import JoseError
        from joserfc.jwk import JWKRegistry
        from joserfc.jws import extract_compact

        if not proof:
            raise ProofError("The DPoP proof JWT header is missing.")
        try:
            header = extract_compact(proof.encode()).headers()
            key = JWKRegistry.import_key(dict(header["jwk"]))
            claims = jwt.decode(proof, key, algorithms=_ALGORITHMS).claims
        except (JoseError, ValueError, KeyError, TypeError):
            raise ProofError("The DPoP proof JWT is not valid.") from None
        if header.get("typ") != "dpop+jwt" or key.is_private:
            raise ProofError("The DPoP proof JWT has a wrong header.")
        self._check(claims, method, url)
        if token is not None and claims.get("ath") != token_hash(token):
            raise ProofError("The DPoP proof JWT does not name the access token.")
        if token is None and self.nonces.get(str(claims.get("nonce")), 0.0) <= self.now():
            raise NonceError("Authorization server requires nonce in DPoP proof.")
        self.used.add(str(claims["jti"]))
        return key.thumbprint()

    def _check(self, claims: dict[str, object], method: str, url: str) -> None:
        if (claims.get("htm"), claims.get("htu")) != (method, proven_url(url)):
            raise ProofError("The DPoP proof JWT is for another request.")
        issued = claims.get("iat")
        if not isinstance(issued, int) or abs(issued - self.now()) > LIFETIME:
            raise ProofError("The DPoP proof JWT has expired.")
        if not claims.get("jti") or str(claims["jti"]) in self.used:
            raise ProofError("The DPoP proof JWT has already been used.")
