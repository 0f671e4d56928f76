"""An application with a private key: the simulator checks its assertion, and a sync runs with the access token."""

import asyncio
import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
from joserfc.jwk import RSAKey

from answerable.core.clock import SystemClock
from answerable.core.errors import AnswerableError
from answerable.okta.simulator.oauth import Application
from answerable.okta.simulator.populate import simulated_tenant
from answerable.okta.simulator.server import Simulator, served
from answerable.okta.sync.client import OktaClient
from answerable.okta.sync.credentials import PrivateKey, from_environment
from answerable.okta.sync.run import SyncRecord, sync
from answerable.okta.sync.scopes import SCOPES

CLIENT, OTHER = "0oaSimulated", "0oaSomebodyElse"
KEY = RSAKey.generate_key(2048, auto_kid=True)
JWK = json.dumps(KEY.as_dict(private=True))
PEM = KEY.as_pem(private=True).decode()


def synced(folder: Path, client_id: str, key: str, granted: frozenset[str]) -> SyncRecord:
    application = Application(KEY.as_dict(private=False), granted)
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


def test_a_key_of_several_lines_comes_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OKTA_PRIVATE_KEY", PEM)
    assert from_environment("OKTA_PRIVATE_KEY") == PEM.strip()
