"""Signed tokens (JWT): whether one was signed by whom we trust, is for us, and counts now.

The algorithm is what the key was made for, never what the token says. What is wrong with a token is told by a code; no
part of a token that was not verified is believed.
"""

import base64
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import Any

from answerable.core.errors import OperatorError, SignInError

LARGEST = 16_000
CLOCK_SKEW = 60.0
SHORTEST_RSA = 2048
_SMALL_PRIMES = tuple(n for n in range(3, 168) if all(n % divisor for divisor in range(2, n)))
ALGORITHMS = frozenset(f"{kind}{size}" for kind in ("HS", "RS", "PS", "ES") for size in (256, 384, 512)) | {"EdDSA"}
_COMPACT = re.compile(r"[A-Za-z0-9_-]+\.[A-Za-z0-9_-]*\.[A-Za-z0-9_-]+")
"""Three parts of base64url without padding. Decoders forgive other characters, and two texts would be one token."""


@dataclass(frozen=True, slots=True)
class TokenRules:
    """What a token must say to count."""

    algorithm: str
    """The one with which tokens of this key are signed."""
    issuer: str
    audience: str


def chosen_key(keys: Sequence[Mapping[str, Any]], kid: str | None) -> Mapping[str, Any]:
    """The key of a set that a token names. A set that leaves a doubt verifies nothing: two keys of one name, or secrets
    beside public keys."""
    if len({key.get("kty") == "oct" for key in keys}) > 1:
        raise _key_invalid("stands in a set of secrets and public keys")
    found = [key for key in keys if kid is None or key.get("kid") == kid]
    if len(found) != 1:
        raise _invalid("It does not name one of the keys.")
    return found[0]


def verified_signature(token: str, key: Mapping[str, Any], algorithm: str) -> bytes:
    """The payload of a token that was signed with this key (a JWK) by this algorithm."""
    from joserfc import jws
    from joserfc.errors import JoseError
    from joserfc.jwk import JWKRegistry

    if algorithm not in ALGORITHMS:
        raise OperatorError(f"{algorithm!r} is no algorithm for signed tokens.", code="token_key_invalid")
    if len(token) > LARGEST or not _COMPACT.fullmatch(token):
        raise _invalid("It has not the form of a signed token.")
    _check_key(key, algorithm)
    try:
        # Our own choice of algorithms is handed in: the header of the token decides nothing.
        return bytes(jws.deserialize_compact(token, JWKRegistry.import_key(dict(key)), algorithms=[algorithm]).payload)
    except (JoseError, ValueError, TypeError, KeyError) as error:
        raise _invalid("Its signature is not that of the key.") from error


def verified_claims(token: str, key: Mapping[str, Any], rules: TokenRules, now: datetime) -> Mapping[str, Any]:
    """The claims of a token that is signed, for us, and valid now. Clocks may differ by a minute."""
    import orjson

    try:
        claims = orjson.loads(verified_signature(token, key, rules.algorithm))
    except orjson.JSONDecodeError as error:
        raise _invalid("Its content is no JSON.") from error
    if not isinstance(claims, dict):
        raise _invalid("Its content is no object.")
    if claims.get("iss") != rules.issuer:
        raise _invalid("It comes from another issuer.")
    audience = claims.get("aud")
    if rules.audience not in (audience if isinstance(audience, list) else [audience]):
        raise _invalid("It is for somebody else.")
    if not isinstance(claims.get("sub"), str) or not claims["sub"]:
        raise _invalid("It names nobody.")
    _check_time(claims, now.timestamp())
    return claims


def _check_time(claims: Mapping[str, Any], now: float) -> None:
    for name in ("exp", "nbf", "iat"):
        value = claims.get(name)
        if value is not None and (isinstance(value, bool) or not isinstance(value, int | float)):
            raise _invalid(f"Its claim `{name}` is no time.")
    if claims.get("exp") is None:
        raise _invalid("It never expires.")
    if claims["exp"] + CLOCK_SKEW <= now:
        raise SignInError("The token has expired.", code="token_expired", hint="Sign in again.")
    if max(claims.get("nbf") or 0, claims.get("iat") or 0) - CLOCK_SKEW > now:
        raise _invalid("It counts only later.")


def _check_key(key: Mapping[str, Any], algorithm: str) -> None:
    """Refuses a key that was made for something else: for encryption, for another algorithm, or too short."""
    if key.get("use", "sig") != "sig" or "verify" not in key.get("key_ops", ("verify",)):
        raise _key_invalid("is not for signatures")
    if key.get("alg", algorithm) != algorithm:
        raise _key_invalid(f"is not for {algorithm}")
    if key.get("kty") == "oct":
        least = int(algorithm[-3:]) // 8 if algorithm.startswith("HS") else 0
        if len(_decoded(key.get("k"))) < least:
            raise _key_invalid(f"has fewer than {least} bytes, as many as the hash has")
    if key.get("kty") == "RSA":
        modulus = int.from_bytes(_decoded(key.get("n")))
        if modulus.bit_length() < SHORTEST_RSA:
            raise _key_invalid(f"has fewer than {SHORTEST_RSA} bits")
        if _is_guessable(modulus):
            raise _key_invalid("was made by a chip whose keys can be computed (CVE-2017-15361)")


def _is_guessable(modulus: int) -> bool:
    """Whether an RSA key has the mark of chips with the ROCA defect: their primes are powers of 65537 modulo all small
    primes, which hardly any other key is."""
    return all(modulus % prime in _powers_of_65537(prime) for prime in _SMALL_PRIMES)


@cache
def _powers_of_65537(prime: int) -> frozenset[int]:
    return frozenset(pow(65537, exponent, prime) for exponent in range(prime))


def _decoded(text: object) -> bytes:
    try:
        return base64.urlsafe_b64decode(f"{text}==")
    except ValueError as error:
        raise _key_invalid("cannot be read") from error


def _key_invalid(problem: str) -> OperatorError:
    return OperatorError(f"The key for signed tokens {problem}.", code="token_key_invalid")


def _invalid(problem: str) -> SignInError:
    return SignInError(f"The token does not count. {problem}", code="token_invalid", hint="Sign in again.")
