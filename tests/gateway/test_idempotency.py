"""A client that does not know whether its request arrived sends it again with the same key, and gets the same run."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest

from answerable.app import open_service
from answerable.core.context import LOCAL
from answerable.core.ids import new_edit_id
from answerable.gateway.middleware.idempotency import CHANGING
from answerable.settings import Settings
from answerable.sources.editing import NameEdit

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


_SECRET = "its reply or its body holds a secret, which must not be stored"
_AGAIN = "done again it changes nothing more"
NO_KEY = {
    "POST /api/v1/runs/{run_id}/rows/query": "it only reads",
    "POST /api/v1/sign-in": _SECRET,
    "POST /api/v1/invitations/accept": _SECRET,
    "POST /api/v1/users": _SECRET,
    "POST /api/v1/users/{name}/invitation": _SECRET,
    "PUT /api/v1/password": _SECRET,
    "POST /api/v1/sign-out": _AGAIN,
    "DELETE /api/v1/sessions": _AGAIN,
    "DELETE /api/v1/sessions/{session_id}": _AGAIN,
    "PATCH /api/v1/users/{name}": _AGAIN,
    "DELETE /api/v1/users/{name}/sessions": _AGAIN,
    "DELETE /api/v1/users/{name}/sessions/{session_id}": _AGAIN,
    "POST /api/v1/service-users": _SECRET,
    "POST /api/v1/keys": _SECRET,
    "POST /api/v1/keys/{key_id}/rotate": _SECRET,
    "DELETE /api/v1/keys": _AGAIN,
    "DELETE /api/v1/keys/{key_id}": _AGAIN,
}
"""Changing methods without a key, and why."""


def test_every_route_that_changes_something_takes_a_key(api: httpx.Client) -> None:
    document = httpx.get(f"{str(api.base_url).removesuffix('/api/v1/')}/openapi.json").json()
    without = {
        f"{method.upper()} {path}"
        for path, operations in document["paths"].items()
        for method, operation in operations.items()
        if method.upper() in CHANGING
        and "idempotency-key" not in [parameter["name"].lower() for parameter in operation.get("parameters", [])]
    }
    assert without == NO_KEY.keys()


def fork_of(api: httpx.Client) -> tuple[str, str, dict[str, Any]]:
    said = api.post("/chat", json=CHAT).json()
    [_, message] = api.get(f"/threads/{said['thread_id']}/messages").json()["messages"]
    return "POST", f"/threads/{said['thread_id']}/fork", {"json": {"message_id": message["message_id"]}}


def upload_of(_: httpx.Client) -> tuple[str, str, dict[str, Any]]:
    return "POST", "/uploads", {"params": {"name": "once.csv"}, "content": b"id\n1\n"}


def edit_of(_: httpx.Client) -> tuple[str, str, dict[str, Any]]:
    edit = {"kind": "name", "table": "people", "description": "Who they are."}
    return "PATCH", "/sources/small/semantic", {"json": {"edits": [edit], "note": "once"}}


def deletion_of(api: httpx.Client) -> tuple[str, str, dict[str, Any]]:
    return "DELETE", f"/threads/{api.post('/chat', json=CHAT).json()['thread_id']}", {}


def case_of(api: httpx.Client) -> tuple[str, str, dict[str, Any]]:
    return "POST", "/evals/kept/cases", {"json": {"run_id": api.post("/chat", json=CHAT).json()["run_id"]}}


def share_of(api: httpx.Client) -> tuple[str, str, dict[str, Any]]:
    return "POST", f"/threads/{api.post('/chat', json=CHAT).json()['thread_id']}/share", {}


@pytest.fixture
def restored(api: httpx.Client) -> Iterator[None]:
    """Other tests use the same server."""
    before = api.get("/sources/small/semantic").json()["text"]
    yield
    api.delete("/sources/once")
    assert api.put("/sources/small/semantic", json={"text": before}).is_success


@pytest.mark.usefixtures("restored")
@pytest.mark.parametrize("what", [fork_of, upload_of, edit_of, deletion_of, case_of, share_of])
def test_a_repeated_change_is_made_once_and_gets_the_same_reply(what: Any, api: httpx.Client) -> None:
    method, path, body = what(api)
    key = {"Idempotency-Key": f"change-{what.__name__}"}
    with ThreadPoolExecutor(4) as together:
        replies = [*together.map(lambda _: api.request(method, path, headers=key, **body), range(4))]
    replies.append(api.request(method, path, headers=key, **body))
    assert {(reply.status_code, reply.text) for reply in replies} == {(replies[0].status_code, replies[0].text)}
    assert replies[0].is_success, replies[0].text
    assert {reply.headers.get("content-type") for reply in replies} == {replies[0].headers.get("content-type")}
    other = api.request(method, path, headers=key, params={"name": "other.csv"} if "params" in body else {"x": "1"})
    assert (other.status_code, other.json()["code"]) == (422, "idempotency_key_reused")


def test_what_failed_is_tried_again(api: httpx.Client) -> None:
    key = {"Idempotency-Key": "failed-first"}
    request: Any = {"params": {"name": "later.csv", "source": "demo"}, "content": b"id\n1\n"}
    assert api.post("/uploads", headers=key, **request).json()["code"] == "source_not_uploaded"
    assert api.post("/uploads", headers=key, **request).json()["code"] == "source_not_uploaded"


@pytest.mark.parametrize("key", ["", "a b", "ü", "x" * 201])
def test_what_is_no_key_is_refused(api: httpx.Client, key: str) -> None:
    for path, body in (("/runs", QUERY), ("/sources/small/sync", None)):
        reply = api.post(path, json=body, headers={b"Idempotency-Key": key.encode()})
        assert (reply.status_code, reply.json()["code"]) == (422, "request_invalid")


async def test_an_edit_whose_server_died_before_it_could_reply_is_not_made_again(tmp_path: Path) -> None:
    data = tmp_path / "people.csv"
    data.write_text("id,city\n1,Oslo\n")
    settings, change = Settings(home=tmp_path / "home", sources={"small": str(data)}), new_edit_id()
    edits = [[NameEdit(table="people", description=text)] for text in ("first", "second")]
    async with open_service(settings, any_location=False) as service:
        await service.semantic.edit("small", edits[0], LOCAL, note="first", change=change)
        await service.semantic.edit("small", edits[1], LOCAL, note="second")
        again = await service.semantic.edit("small", edits[0], LOCAL, note="first", change=change)
        assert "second" in again.text
        history = await service.semantic.history("small", LOCAL)
    assert [each.note for each in history] == ["second", "first"]
