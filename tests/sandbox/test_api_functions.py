"""Sandboxed code that calls an API: what it can call, what it sees, and what the run's events say of it."""

import json
from collections.abc import AsyncIterator, Iterator

import pytest
from api_server import Answer, ApiServer

from answerable.apis.broker import Broker
from answerable.apis.target import ApiTarget
from answerable.core.values import Json
from answerable.sandbox.api_functions import ApiFunctions
from answerable.sandbox.base import SandboxRequest
from answerable.sandbox.monty.sandbox import MontySandbox


@pytest.fixture(scope="module")
def api() -> Iterator[ApiServer]:
    server = ApiServer()
    yield server
    server.close()


@pytest.fixture
async def functions(api: ApiServer) -> AsyncIterator[ApiFunctions]:
    api.forget()
    target = {"url": api.url, "paths": ["/users"], "credential": {"kind": "header", "value": "Bearer of-the-host"}}
    reader = ApiTarget.model_validate(target)
    writer = ApiTarget.model_validate({**target, "methods": ["GET", "POST"]})
    broker = Broker({"reader": reader, "writer": writer})
    yield ApiFunctions(broker, seconds=30)
    await broker.close()


async def test_code_calls_an_api(api: ApiServer, functions: ApiFunctions) -> None:
    api.route = lambda received: Answer([{"id": 1, "seen": received.headers["Authorization"]}])
    entries: list[Json] = []
    calls = functions.calls("reader", entries.append)
    sandbox = MontySandbox(1)
    await sandbox.start()
    code = (
        "users = api_get('/users', {'limit': 2}, paginate=True)\n"
        "try:\n    api_get('/secrets')\nexcept RuntimeError as error:\n    print(error)\n"
        "result = users"
    )
    ended = await sandbox.run(SandboxRequest(code, host=calls))
    wrong = await sandbox.run(SandboxRequest("api_get(path=3)", host=calls))
    await sandbox.close()
    assert ended.value == [{"id": 1, "seen": "[hidden]"}], ended
    assert "is not allowed. Allowed are: /users" in ended.output
    assert wrong.reason == "type_check"
    assert [entry["error"] for entry in entries] == [None, "api_path_refused"]
    assert entries[0].pop("duration_ms") > 0
    assert entries[0].pop("bytes") > 10
    assert entries[0] == {
        "function": "api_get",
        "target": "reader",
        "path": "/users",
        "params": {"limit": ["2"]},
        "status": 200,
        "error": None,
    }


async def test_only_the_methods_that_are_allowed_are_offered(api: ApiServer, functions: ApiFunctions) -> None:
    reader = functions.calls("reader", lambda _entry: None)
    assert set(reader.functions) == {"api_get"}
    assert "api_post" not in reader.stubs
    api.route = lambda received: Answer({"method": received.method, "body": json.loads(received.body)})
    entries: list[Json] = []
    writer = functions.calls("writer", entries.append)
    assert "def api_post" in writer.stubs
    assert await writer.functions["api_post"]("/users", {"a": 1}) == {"method": "POST", "body": {"a": 1}}
    assert entries[0]["function"] == "api_post"
