"""Every POST that changes something, at a server that is killed after the change and before its reply is stored.

Whoever repeats the request with its key at the next server gets a reply, and nothing is changed twice.
"""

import json
import re
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from served import Server

from faults import unreplied

CHAT = {"message": "SQL: SELECT count(*) AS n FROM people", "source": "small"}


@pytest.fixture
def place(tmp_path: Path) -> Iterator[tuple[Server, Server]]:
    folder = tmp_path / "small"
    folder.mkdir()
    (folder / "people.csv").write_text("id,name,city\n1,Ana,Berlin\n2,Bo,Paris\n")
    first = Server(home=tmp_path / "home", folder=folder, changed_by=unreplied.__name__)
    second = Server(home=tmp_path / "home", folder=folder)
    yield first, second
    first.kill()
    second.kill()


def state(api: httpx.Client) -> dict[str, Any]:
    """What requests can change, as a client sees it."""
    threads = api.get("/threads").json()["threads"]
    cases = api.get("/evals/mine").json().get("cases", [])
    return {
        "threads": sorted((each["thread_id"], each["share_path"], each["pinned"]) for each in threads),
        "runs": sorted(each["run_id"] for each in api.get("/runs").json()["runs"]),
        "sources": sorted((each["name"], len(each["files"])) for each in api.get("/sources").json()["sources"]),
        "history": [each["change_id"] for each in api.get("/sources/small/semantic/history").json()["changes"]],
        "text": api.get("/sources/small/semantic").json()["text"],
        "models": [each["name"] for role in api.get("/models").json()["roles"] for each in role["models"]],
        "cases": sorted(each["id"] for each in cases),
        "evals": sorted(each["eval_id"] for each in api.get("/evals/mine/runs").json()["runs"]),
        "graphs": [each["version"] for each in api.get("/graphs/small/versions").json()["versions"]],
        "agents": [each["version"] for each in api.get("/agents/small/versions").json()["versions"]],
    }


def requests_of(api: httpx.Client) -> dict[str, tuple[str, str, dict[str, Any]]]:
    """One request for each route that changes something and takes no id of a run from its key."""
    said, other, gone = (api.post("/chat", json=CHAT).json() for _ in range(3))
    [question, _] = api.get(f"/threads/{said['thread_id']}/messages").json()["messages"]
    api.delete(f"/threads/{gone['thread_id']}")
    edit = {"kind": "name", "table": "people", "description": "Who they are."}
    api.patch("/sources/small/semantic", json={"edits": [edit]})
    [change] = api.get("/sources/small/semantic/history").json()["changes"]
    api.post("/evals/mine/cases", json={"run_id": other["run_id"], "id": "first"})
    for text in ("one", "two"):
        graph = {"name": "small", "nodes": {"said": {"kind": "transform", "template": text}}, "output": "said"}
        api.put("/graphs/small", json={"text": json.dumps(graph)}).raise_for_status()
        agent = {"name": "small", "role": "reasoning", "description": text, "prompt": "Say something."}
        api.put("/agents/small", json={"text": json.dumps(agent)}).raise_for_status()
    return {
        "share": ("POST", f"/threads/{said['thread_id']}/share", {}),
        "fork": ("POST", f"/threads/{said['thread_id']}/fork", {"json": {"message_id": question["message_id"]}}),
        "restore": ("POST", f"/threads/{gone['thread_id']}/restore", {}),
        "cancel": ("POST", f"/runs/{said['run_id']}/cancel", {}),
        "undo": ("POST", "/sources/small/semantic/undo", {"json": {"change_id": change["change_id"]}}),
        "add": ("POST", "/sources", {"json": {"url": "postgresql://127.0.0.1:1/shop"}}),
        "add named": ("POST", "/sources", {"json": {"url": "postgresql://127.0.0.1:1/shop", "name": "named"}}),
        "upload": ("POST", "/uploads", {"params": {"name": "more.csv"}, "content": b"id\n1\n"}),
        "case": ("POST", "/evals/mine/cases", {"json": {"run_id": said["run_id"]}}),
        "named case": ("POST", "/evals/mine/cases", {"json": {"run_id": said["run_id"], "id": "second"}}),
        "measure": ("POST", "/evals/mine/runs", {}),
        "sync": ("POST", "/sources/small/sync", {}),
        "rollback": ("POST", "/graphs/small/rollback", {"json": {"version": 1}}),
        "agent": ("POST", "/agents/small/rollback", {"json": {"version": 1}}),
        "ready-made": ("POST", "/graphs/ready/from", {"json": {"template": "data-quality"}}),
        "model": ("POST", "/models", {"json": {"provider": "ollama", "model": "small"}}),
        "wrong": ("POST", "/wrong-answers", {"json": {"run_id": other["run_id"], "what": "rows"}}),
    }


OF_A_RUN = {
    "/chat",
    "/chat/stream",
    "/runs",
    "/runs/{run_id}/retry",
    "/runs/{run_id}/fork",
    "/runs/{run_id}/changes",
    "/sources/{name}/tables/{table}/explore/ask",
    "/graphs/run",
    "/graphs/{name}/runs",
}
"""Their run has its id from the key, and is stored in one commit: see `test_commit_sweep.py`."""
CHANGE_NOTHING = {
    "/runs/{run_id}/replay",
    "/runs/{run_id}/rows/query",
    "/models/check",
    "/models/check-new",
    "/sources/test",
    "/sources/{name}/tables/{table}/explore",
    "/agents/{name}/runs",
    "/graphs/validate",
    "/access/check",
    "/okta/{name}/reports/{report}",
}
ELSEWHERE = {"/runs/{run_id}/approvals", "/events/{name}", "/sources/{name}/learn"}
ELSEWHERE |= {"/runs/{run_id}/pause", "/runs/{run_id}/resume"}
ELSEWHERE |= {"/access/undo", "/access/requests", "/access/requests/{request_id}/approve"}
ELSEWHERE |= {"/access/requests/{request_id}/deny", "/okta/{name}/syncs"}
"""See `tests/faults/test_run_processes.py`, and for events, which are decisions, `tests/graphs/test_waiting.py`.
Learning asks a model: it is not repeated by itself, and names that are there are not added again. Pausing:
`tests/graphs/test_pausing.py`. Rules and requests need people who sign in: `tests/identity/test_rules.py`. A sync that
is asked for twice goes on: `tests/okta/test_tenants.py`."""
OF_SECRETS = {"/sign-in", "/sign-out", "/invitations/accept", "/users", "/users/{name}/invitation"}
OF_SECRETS |= {"/service-users", "/keys", "/keys/{key_id}/rotate"}
"""Their replies hold secrets, and are not stored. Whoever repeats one gets another session or another link."""


def test_what_was_carried_out_before_the_server_died_is_not_carried_out_again(place: tuple[Server, Server]) -> None:
    first, second = place
    first.start()
    with httpx.Client(base_url=f"{first.url}/api/v1", timeout=60) as api:
        requests = requests_of(api)
        for name, (method, path, body) in requests.items():
            key = {"Idempotency-Key": name.replace(" ", "-")}
            threading.Thread(target=_left, args=(first.url, method, path, key, body), daemon=True).start()
            assert first.says(unreplied.CARRIED_OUT + key["Idempotency-Key"]), name
        before = state(api)
    first.kill()
    second.start()
    with httpx.Client(base_url=f"{second.url}/api/v1", timeout=60) as api:
        for name, (method, path, body) in requests.items():
            key = {"Idempotency-Key": name.replace(" ", "-")}
            replies = [_repeated(api, method, path, key, body) for _ in range(2)]
            assert replies[0].is_success, (name, replies[0].text)
            assert replies[0].text == replies[1].text, name
        assert state(api) == before
        paths = httpx.get(f"{second.url}/openapi.json").json()["paths"]
    covered = {re.sub(r"(thr|run)_\w{24}", r"{\1}", path) for _, path, _ in requests.values()}
    posts = {path.removeprefix("/api/v1") for path, operations in paths.items() if "post" in operations}
    pattern = {
        path: re.sub(r"\{thread_id\}", "{thr}", re.sub(r"\{run_id\}", "{run}", path))
        .replace("/graphs/{name}/from", "/graphs/ready/from")
        .replace("{name}", "small")
        .replace("{suite}", "mine")
        for path in posts - OF_A_RUN - CHANGE_NOTHING - ELSEWHERE - OF_SECRETS
    }
    assert {path for path, shape in pattern.items() if shape not in covered} == set()


def _left(url: str, method: str, path: str, key: dict[str, str], body: dict[str, Any]) -> None:
    """Sends a request to which no reply comes."""
    try:
        httpx.request(method, f"{url}/api/v1{path}", headers=key, timeout=60, **body)
    except httpx.TransportError:
        return


def _repeated(api: httpx.Client, method: str, path: str, key: dict[str, str], body: dict[str, Any]) -> httpx.Response:
    """As a client does: while the lease of the dead process lasts, the request counts as under way."""
    for _ in range(5):
        reply = api.request(method, path, headers=key, **body)
        if reply.status_code != 503:
            break
    return reply
