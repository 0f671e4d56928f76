"""An application with a private key: the simulator checks its assertion, and a sync runs with the access token."""

import asyncio
import json
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

import httpx
import pytest
from joserfc.jwk import RSAKey
from starlette.responses import Response

from answerable.core.clock import SystemClock
from answerable.core.errors import AnswerableError
from answerable.okta.simulator.oauth import Application
from answerable.okta.simulator.populate import simulated_tenant
from answerable.okta.simulator.server import Simulator, served
from answerable.okta.sync.client import OktaClient, OktaPage
from answerable.okta.sync.credentials import PrivateKey, from_environment
from answerable.okta.sync.proofs import ProofKey
from answerable.okta.sync.run import SyncRecord, sync
from answerable.okta.sync.scopes import SCOPES

CLIENT, OTHER = "0oaSimulated", "0oaSomebodyElse"
KEY = RSAKey.generate_key(2048, auto_kid=True)
JWK = json.dumps(KEY.as_dict(private=True))
PEM = KEY.as_pem(private=True).decode()


def synced(folder: Path, client_id: str, key: str, granted: frozenset[str], *, dpop: bool = False) -> SyncRecord:
    application = Application(KEY.as_dict(private=False), granted, dpop)
    tenant = simulated_tenant(10, 3, datetime(2026, 11, 16, tzinfo=UTC), groups=0)

    async def inside(url: str) -> SyncRecord:
        client = OktaClient(url, PrivateKey(client_id, key, "OKTA_PRIVATE_KEY"), SystemClock())
        try:
            return await sync(folder, client, SystemClock())
        finally:
            await client.close()

    with served(Simulator(tenant, applications={CLIENT: application})) as url:
        return asyncio.run(inside(url))


@pytest.mark.parametrize("key", [JWK, PEM], ids=["jwk", "pem"])
def test_a_private_key_syncs_a_tenant(tmp_path: Path, key: str) -> None:
    record = synced(tmp_path, CLIENT, key, frozenset(SCOPES))
    assert (record.status, record.error) == ("complete", None)


@pytest.mark.parametrize(
    ("client_id", "key", "granted", "told"),
    [
        (OTHER, JWK, frozenset(SCOPES), "client_id"),
        (CLIENT, json.dumps(RSAKey.generate_key(2048).as_dict(private=True)), frozenset(SCOPES), "signature"),
        (CLIENT, JWK, frozenset({"okta.users.read"}), "scopes"),
    ],
    ids=["unknown application", "another key", "a scope is missing"],
)
def test_what_is_wrong_is_told(tmp_path: Path, client_id: str, key: str, granted: frozenset[str], told: str) -> None:
    with pytest.raises(AnswerableError, match=told) as refused:
        synced(tmp_path, client_id, key, granted)
    assert refused.value.stable_code == "okta_token_invalid"
    assert key[:40] not in str(refused.value)


def test_possession_is_proven_where_the_tenant_asks_for_it(tmp_path: Path) -> None:
    record = synced(tmp_path, CLIENT, JWK, frozenset(SCOPES), dpop=True)
    assert (record.status, record.error) == ("complete", None)


def test_a_token_without_its_proof_opens_nothing() -> None:
    """The simulator refuses what an authorization server refuses: a stolen token, and proofs that are not for it."""
    tenant = simulated_tenant(2, 3, datetime(2026, 11, 16, tzinfo=UTC), groups=0)
    granted = Application(KEY.as_dict(private=False), frozenset(SCOPES), dpop=True)
    users = "/api/v1/users?limit=1"

    async def statuses(url: str) -> dict[str, int]:
        credential = PrivateKey(CLIENT, JWK, "OKTA_PRIVATE_KEY")
        async with httpx.AsyncClient(base_url=url) as client:

            async def status(headers: Mapping[str, str]) -> int:
                return (await client.get(users, headers=headers)).status_code

            good = await credential.headers(client, users)
            token = good["Authorization"].removeprefix("DPoP ")
            fresh = ProofKey().proof("GET", f"{url}{users}", nonce=None, token=token)
            elsewhere = await credential.headers(client, "/api/v1/groups")
            return {
                "good": await status(good),
                "again": await status(good),
                "bearer": await status({"Authorization": f"Bearer {token}"}),
                "no proof": await status({"Authorization": f"DPoP {token}"}),
                "another key": await status({"Authorization": f"DPoP {token}", "DPoP": fresh}),
                "another path": await status(elsewhere),
                "another token": await status({**good, "DPoP": ProofKey().proof("GET", url, nonce=None, token="x")}),
                "no token": (await client.post("/oauth2/v1/token", data={"grant_type": "password"})).status_code,
            }

    with served(Simulator(tenant, applications={CLIENT: granted})) as url:
        found = asyncio.run(statuses(url))
    assert found.pop("good") == 200
    assert found.pop("no token") == 400
    assert set(found.values()) == {401}


def test_the_api_may_ask_for_a_nonce_too() -> None:
    """RFC 9449, 9: a 401 with a new nonce is answered with a proof that holds it, and with the same token."""
    credential = PrivateKey(CLIENT, JWK, "OKTA_PRIVATE_KEY")
    granted = Application(KEY.as_dict(private=False), frozenset(SCOPES), dpop=True)
    tenant = simulated_tenant(2, 3, datetime(2026, 11, 16, tzinfo=UTC), groups=0)
    asked: list[str] = []

    async def inside(url: str) -> OktaPage:
        client = OktaClient(url, credential, SystemClock())
        try:
            return await client.page("/api/v1/users?limit=2", "okta.users.read")
        finally:
            await client.close()

    def challenge(number: int, _path: str) -> Response | None:
        asked.append(_path)
        refusal = {"WWW-Authenticate": 'DPoP error="use_dpop_nonce"', "DPoP-Nonce": "n-1"}
        return Response("{}", 401, refusal) if number == 1 else None

    with served(Simulator(tenant, applications={CLIENT: granted}, fault=challenge)) as url:
        page = asyncio.run(inside(url))
    assert len(page.items) == 2
    assert len(asked) == 2


def test_a_key_of_several_lines_comes_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OKTA_PRIVATE_KEY", PEM)
    assert from_environment("OKTA_PRIVATE_KEY") == PEM.strip()
