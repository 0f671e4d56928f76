"""Signed tokens: no vector of Wycheproof is wrongly accepted, and nothing but a right token counts."""

import base64
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from joserfc import jws
from joserfc.errors import JoseError
from joserfc.jwk import ECKey, OctKey, RSAKey

from answerable.core.errors import OperatorError, SignInError
from answerable.identity.tokens import ALGORITHMS, TokenRules, chosen_key, verified_claims, verified_signature

VECTORS = Path(__file__).parents[3] / "shared" / "data" / "jwt_wycheproof" / "testvectors_v1"
NOW = datetime(2026, 1, 1, tzinfo=UTC)
RULES = TokenRules("ES256", "https://issuer.example", "answerable")
KEY = ECKey.generate_key("P-256", {"alg": "ES256", "use": "sig"})
CLAIMS = {
    "iss": RULES.issuer,
    "aud": RULES.audience,
    "sub": "ana",
    "iat": NOW.timestamp(),
    "exp": (NOW + timedelta(minutes=5)).timestamp(),
}


def signed(claims: object, key: Any = KEY, algorithm: str = "ES256", **header: object) -> str:
    content = json.dumps(claims)
    return jws.serialize_compact({"alg": algorithm, **header}, content, key, algorithms=[algorithm])


def counts(token: str, key: dict[str, Any], algorithm: str) -> bool:
    try:
        verified_signature(token, key, algorithm)
    except (SignInError, OperatorError):
        return False
    return True


def counts_by_set(token: str, keys: list[dict[str, Any]]) -> bool:
    try:
        key = dict(
            chosen_key(keys, jws.extract_compact(token.encode()).headers().get("kid") if len(keys) > 1 else None)
        )
    except (SignInError, OperatorError, JoseError, ValueError):
        return False
    tried = [key["alg"]] if key.get("alg") in ALGORITHMS else sorted(ALGORITHMS)
    return any(counts(token, key, algorithm) for algorithm in tried)


@pytest.mark.skipif(not VECTORS.is_dir(), reason="the vectors of Wycheproof are not on this machine")
def test_no_vector_of_wycheproof_is_wrongly_accepted() -> None:
    """Every vector under the algorithm of its key, and where the key has none, under every algorithm.

    Vectors 367 and 370 of the signatures have, to the byte, the text and the key of 357, which is valid. Nobody can
    refuse them and accept 357, so a text that is valid in its group is no wrong accept.
    """
    wrong, right = [], 0
    for file in ("json_web_signature_test.json", "json_web_key_test.json", "json_web_crypto_test.json"):
        for group in json.loads((VECTORS / file).read_text())["testGroups"]:
            keys = group.get("public") or group.get("private")
            valid = {str(test.get("jws")) for test in group["tests"] if test["result"] == "valid"}
            for test in group["tests"]:
                token = test.get("jws")
                if not isinstance(token, str) or keys is None:
                    continue
                accepted = counts_by_set(token, keys.get("keys", [keys]))
                right += accepted and token in valid
                if accepted and token not in valid:
                    wrong.append((file, group.get("comment"), test["tcId"], test["comment"]))
    assert wrong == []
    assert right >= 30


def test_a_right_token_counts() -> None:
    assert verified_claims(signed(CLAIMS), KEY.as_dict(private=False), RULES, NOW)["sub"] == "ana"
    several = {**CLAIMS, "aud": ["other", RULES.audience]}
    assert verified_claims(signed(several), KEY.as_dict(private=False), RULES, NOW)["sub"] == "ana"


@pytest.mark.parametrize(
    "change",
    [
        {"iss": "https://evil.example"},
        {"iss": None},
        {"aud": "another"},
        {"aud": []},
        {"aud": {"answerable": 1}},
        {"sub": ""},
        {"sub": 7},
        {"exp": None},
        {"exp": "tomorrow"},
        {"exp": True},
        {"exp": (NOW - timedelta(minutes=2)).timestamp()},
        {"nbf": (NOW + timedelta(minutes=2)).timestamp()},
        {"iat": (NOW + timedelta(minutes=2)).timestamp()},
    ],
)
def test_a_token_with_another_claim_does_not_count(change: dict[str, object]) -> None:
    with pytest.raises(SignInError):
        verified_claims(signed({**CLAIMS, **change}), KEY.as_dict(private=False), RULES, NOW)


@pytest.mark.parametrize("seconds", [-59, 59])
def test_clocks_may_differ_by_a_minute(seconds: int) -> None:
    shifted = {**CLAIMS, "iat": NOW.timestamp() + seconds, "exp": NOW.timestamp() + seconds}
    if seconds < 0:
        assert verified_claims(signed(shifted), KEY.as_dict(private=False), RULES, NOW)
    else:
        assert verified_claims(signed({**shifted, "exp": CLAIMS["exp"]}), KEY.as_dict(private=False), RULES, NOW)


def _part(value: object) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).rstrip(b"=").decode()


def test_forged_tokens_do_not_count() -> None:
    public = KEY.as_dict(private=False)
    whole = signed(CLAIMS)
    head, body, mark = whole.split(".")
    other = ECKey.generate_key("P-256", {"alg": "ES256"})
    as_secret = OctKey.import_key(json.dumps(public).ljust(64).encode())
    forged = [
        f"{_part({'alg': 'none'})}.{body}.",
        f"{_part({'alg': 'none'})}.{body}.{mark}",
        f"{_part({'alg': 'None', 'typ': 'JWT'})}.{body}.",
        signed(CLAIMS, as_secret, "HS256"),
        signed(CLAIMS, other),
        signed(CLAIMS, other, jwk=other.as_dict(private=False)),
        signed(CLAIMS, RSAKey.generate_key(2048), "RS256"),
        f"{head}.{_part({**CLAIMS, 'sub': 'boss'})}.{mark}",
        f"{head}.{body}.{mark[:-4]}",
        f"{head}.{body}",
        f"{head}.{body}.{mark}.x",
        f"{head}.{body}=.{mark}",
        f"{head}.{body}.{mark}\n",
        f" {whole}",
        whole.replace(".", ".\u200b", 1),
        "",
        "..",
        "x" * 20_000,
        signed({**CLAIMS, "pad": "x" * 20_000}),
        signed(["no", "object"]),
    ]
    for token in forged:
        with pytest.raises(SignInError):
            verified_claims(token, public, RULES, NOW)


@pytest.mark.parametrize(
    "key",
    [
        {**KEY.as_dict(private=False), "use": "enc"},
        {**KEY.as_dict(private=False), "key_ops": ["encrypt"]},
        {**KEY.as_dict(private=False), "alg": "ES384"},
    ],
)
def test_a_key_for_something_else_verifies_nothing(key: dict[str, Any]) -> None:
    with pytest.raises(OperatorError):
        verified_claims(signed(CLAIMS), key, RULES, NOW)


def test_a_short_secret_is_none() -> None:
    short = OctKey.import_key(b"x" * 20)
    rules = TokenRules("HS256", RULES.issuer, RULES.audience)
    with pytest.raises(OperatorError, match="fewer than 32 bytes"):
        verified_claims(signed(CLAIMS, OctKey.import_key(b"x" * 32), "HS256"), short.as_dict(), rules, NOW)
    for name in ("none", "RSA-OAEP", ""):
        with pytest.raises(OperatorError):
            verified_signature(signed(CLAIMS), KEY.as_dict(private=False), name)
