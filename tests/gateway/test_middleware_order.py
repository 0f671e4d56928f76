"""The order of the middleware is a promise: what is refused early costs little, and what is logged is everything."""

from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest
from served_app import serving

from answerable.gateway.app import create_app
from answerable.gateway.metrics import Metrics
from answerable.gateway.middleware import bodies
from answerable.gateway.middleware.stack import middleware_stack
from answerable.settings import Settings

ORDER = [
    "RequestId",
    "ResponseTime",
    "AccessLog",
    "SecurityHeaders",
    "Defects",
    "KnownHosts",
    "SameOrigin",
    "Cors",
    "BodyLimits",
    "Waf",
    "TokenRequired",
    "Authentication",
    "RateLimit",
    "KeyedReplies",
]


def test_the_middleware_stands_in_this_order_from_outside_in(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path)
    stack = middleware_stack(settings, Metrics(), token="token")
    assert [getattr(part.cls, "__name__", "") for part in stack] == ORDER
    assert [part.cls for part in create_app(settings, token="token").user_middleware] == [part.cls for part in stack]


@pytest.fixture
async def client(tmp_path: Path) -> AsyncIterator[httpx.AsyncClient]:
    settings = Settings(home=tmp_path / "home", cors_origins="https://app.example, http://other.example:8080")
    async with (
        serving(create_app(settings)) as port,
        httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=30) as client,
    ):
        yield client


async def test_a_named_origin_may_read_and_others_may_not(client: httpx.AsyncClient) -> None:
    for origin in ("https://app.example", "http://other.example:8080"):
        reply = await client.get(
            "/api/v1/runs", headers={"Origin": origin, "Sec-Fetch-Site": "cross-site", "X-Request-Id": "mine"}
        )
        assert (reply.status_code, reply.headers["Access-Control-Allow-Origin"]) == (200, origin)
        assert "Origin" in reply.headers["Vary"]
        assert "Access-Control-Allow-Credentials" not in reply.headers
        assert reply.headers["X-Request-Id"] == "mine"
        assert reply.headers["X-Response-Time"].endswith("ms")
    for origin in ("https://app.example.evil", "http://app.example", "https://app.example:444", "null"):
        reply = await client.get("/api/v1/runs", headers={"Origin": origin})
        assert reply.status_code == 403
        assert "Access-Control-Allow-Origin" not in reply.headers


async def test_a_browser_may_ask_first(client: httpx.AsyncClient) -> None:
    asked = {"Origin": "https://app.example", "Access-Control-Request-Method": "POST"}
    reply = await client.options("/api/v1/chat", headers=asked)
    assert reply.status_code == 204
    assert "Authorization" in reply.headers["Access-Control-Allow-Headers"]
    assert (await client.options("/api/v1/chat", headers=asked | {"Origin": "https://evil.example"})).status_code == 403


async def test_bodies_are_bounded_together(client: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bodies, "MAX_BODIES", 1_000)
    for _ in range(2):  # what was refused takes no room afterwards
        refused = await client.post("/api/v1/chat", content=b"x" * 2_000)
        assert (refused.status_code, refused.json()["code"]) == (503, "bodies_too_many")
        assert refused.headers["Retry-After"] == "1"
        assert (await client.post("/api/v1/chat", content=b"{}")).status_code == 422
