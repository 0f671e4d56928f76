"""A client that does not know whether its request arrived sends it again with the same key, and gets the same run."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest

QUERY = {"query_type": "sql", "code": "SELECT count(*) AS n FROM people", "source": "small"}
CHAT = {"message": "SQL: SELECT count(*) AS n FROM people", "source": "small"}


def stream(api: httpx.Client, **headers: str) -> Any:
    return api.post("/chat/stream", json=CHAT, headers=headers).headers["X-Run-Id"]


def chat(api: httpx.Client, **headers: str) -> Any:
    return api.post("/chat", json=CHAT, headers=headers).json()["run_id"]


def query(api: httpx.Client, **headers: str) -> Any:
    return api.post("/runs", json=QUERY, headers=headers).json()["run_id"]


@pytest.mark.parametrize("ask", [chat, stream, query])
def test_the_same_key_gets_the_same_run(ask: Any, api: httpx.Client) -> None:
    key = {"Idempotency-Key": f"key-{ask.__name__}"}
    with ThreadPoolExecutor(4) as together:
        runs = set(together.map(lambda _: ask(api, **key), range(4)))
    runs.add(ask(api, **key))
    assert len(runs) == 1
    assert ask(api) not in runs
    assert ask(api, **{"Idempotency-Key": f"another-{ask.__name__}"}) not in runs


def test_a_question_stands_once_in_its_thread(api: httpx.Client) -> None:
    key = {"Idempotency-Key": "one-thread"}
    replies = [api.post("/chat", json=CHAT, headers=key).json() for _ in range(2)]
    assert replies[0]["thread_id"] == replies[1]["thread_id"]
    messages = api.get(f"/threads/{replies[0]['thread_id']}/messages").json()["messages"]
    assert [message["role"] for message in messages] == ["user", "assistant"]


def test_a_retry_is_made_once(api: httpx.Client) -> None:
    run, key = query(api), {"Idempotency-Key": "retry"}
    runs = {api.post(f"/runs/{run}/retry", headers=key).json()["run_id"] for _ in range(3)}
    assert len(runs) == 1
    assert run not in runs


def test_the_same_key_with_another_request_is_refused(api: httpx.Client) -> None:
    key = {"Idempotency-Key": "reused"}
    query(api, **key)
    for path, body in (("/runs", QUERY | {"code": "SELECT 2 AS n"}), ("/chat", CHAT)):
        reply = api.post(path, json=body, headers=key)
        assert (reply.status_code, reply.json()["code"]) == (422, "idempotency_key_reused")
