"""Whatever goes wrong, the reply has an id to ask about, and the headers that keep a browser from doing harm."""

import asyncio
import json
import logging
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest
from served_app import serving

from answerable.core.errors import OperatorError
from answerable.gateway.app import create_app
from answerable.gateway.middleware.headers import SECURITY_HEADERS
from answerable.settings import Settings

EXPECTED = {name.decode() for name, _ in SECURITY_HEADERS} | {"x-request-id", "content-security-policy"}


@pytest.fixture
async def port(tmp_path: Path) -> AsyncIterator[int]:
    app = create_app(Settings(home=tmp_path / "home"), token="token")

    @app.get("/planted/defect")
    async def defect() -> None:
        raise RuntimeError("secret")

    @app.get("/planted/store")
    async def store() -> None:
        raise OperatorError("away", code="store_unavailable")

    @app.get("/planted/unwritable")
    async def unwritable() -> object:
        return {"a": object()}

    async with serving(app) as port:
        yield port


def request(line: str, *headers: str, body: bytes = b"", token: str = "token") -> bytes:
    lines = [f"{line} HTTP/1.1", *headers, f"Authorization: Bearer {token}", f"Content-Length: {len(body)}"]
    if not any(header.startswith("Host") for header in headers):
        lines.append("Host: 127.0.0.1")
    return "\r\n".join([*lines, "Connection: close", "", ""]).encode() + body


FAILURES = {
    "a defect": (request("GET /planted/defect"), 500, "internal"),
    "a reply that cannot be written": (request("GET /planted/unwritable"), 500, "internal"),
    "a store that is away": (request("GET /planted/store"), 503, "store_unavailable"),
    "no such route": (request("GET /nowhere"), 404, "not_found"),
    "no such file": (request("GET /static/nothing.js"), 404, "not_found"),
    "no such run": (request("GET /api/v1/runs/run_000000000000000000000000"), 404, "run_not_found"),
    "another method": (request("PUT /healthz"), 405, "method_not_allowed"),
    "a wrong parameter": (request("GET /api/v1/runs?limit=x"), 422, "request_invalid"),
    "a body that is no JSON": (request("POST /api/v1/chat", "Content-Type: application/json", body=b"{"), 422, None),
    "too large": (request("POST /api/v1/chat", body=b"x" * 1_100_000), 413, "request_too_large"),
    "another host": (request("GET /healthz", "Host: evil.example"), 403, "host_refused"),
    "another page": (request("GET /api/v1/runs", "Origin: http://127.0.0.1:1"), 403, "origin_refused"),
    "no token": (request("GET /api/v1/runs", token="wrong"), 401, "token_required"),
    "no HTTP": (b"\x16\x03\x01 nonsense\r\n\r\n", 400, "http_invalid"),
    "a header that is none": (b"GET / HTTP/1.1\r\nHost: a\r\n broken\x00: b\r\n\r\n", 400, "http_invalid"),
    "two lengths": (request("POST /api/v1/chat", "Content-Length: 5"), 400, "http_invalid"),
    "a web socket": (
        request("GET /nowhere", "Upgrade: websocket", "Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: YWJj"),
        404,
        "not_found",
    ),
}


@pytest.mark.parametrize("failure", FAILURES)
async def test_every_failure_has_an_id_and_the_headers_of_every_reply(
    port: int, failure: str, caplog: pytest.LogCaptureFixture
) -> None:
    sent, status, code = FAILURES[failure]
    logging.getLogger("answerable").propagate = True
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(sent)
    head, _, body = (await asyncio.wait_for(reader.read(), 20)).partition(b"\r\n\r\n")
    writer.close()
    first, *lines = head.decode().split("\r\n")
    headers = httpx.Headers([(name, value) for name, _, value in (line.partition(": ") for line in lines)])
    assert first.split()[1] == str(status), first
    assert headers.keys() >= EXPECTED
    assert headers["content-type"] == "application/problem+json"
    problem = json.loads(body)
    assert problem["request_id"] == headers["x-request-id"]
    assert code in (None, problem["code"])
    assert "secret" not in body.decode()
    if code == "internal":
        assert any(record.exc_info for record in caplog.records if record.name == "answerable.http")
