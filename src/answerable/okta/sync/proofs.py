"""Proofs that an access token is used by whom it was given to (DPoP, RFC 9449)."""

import secrets
import time
from base64 import urlsafe_b64encode
from hashlib import sha256
from urllib.parse import urlsplit, urlunsplit


def proven_url(url: str) -> str:
    """The address as proofs name it: without query and fragment."""
    parts = urlsplit(url)
    return urlunsplit((parts.scheme, parts.netloc, parts.path, "", ""))


def token_hash(token: str) -> str:
    return urlsafe_b64encode(sha256(token.encode("ascii")).digest()).rstrip(b"=").decode()


class ProofKey:
    """A key pair that lives as long as the process. Its private part goes nowhere."""

    def __init__(self) -> None:
        from joserfc.jwk import ECKey

        self._key = ECKey.generate_key("P-256")

    def proof(self, method: str, url: str, *, nonce: str | None, token: str | None = None) -> str:
        """A proof for one request. `token`: the access token that is sent with it; None where one is asked for."""
        from joserfc import jwt

        claims = {"htm": method, "htu": proven_url(url), "iat": int(time.time()), "jti": secrets.token_hex(16)}
        if nonce is not None:
            claims["nonce"] = nonce
        if token is not None:
            claims["ath"] = token_hash(token)
        header = {"typ": "dpop+jwt", "alg": "ES256", "jwk": self._key.as_dict(private=False)}
        return jwt.encode(header, claims, self._key)
