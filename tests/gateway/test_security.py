"""What keeps foreign pages out and the page itself harmless."""

import gzip
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from starlette.applications import Starlette
from starlette.responses import JSONResponse
from starlette.routing import Route

from answerable.gateway import page
from answerable.gateway.middleware.origins import SameOrigin

ASK = {"message": "how many people?", "source": "small"}


def own(server: Any) -> str:
    return f"http://127.0.0.1:{server.port}"


@pytest.mark.parametrize(
    "headers",
    [
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1:1"},
        {"Origin": "http://localhost:5173", "Sec-Fetch-Site": "same-site"},
        {"Origin": "http://127.0.0.1:not-a-port"},
        {"Origin": "http://[::1"},
        {"Origin": "https://evil.example", "Sec-Fetch-Site": "same-origin"},
    ],
)
def test_what_a_foreign_page_sends_changes_nothing(server: Any, api: httpx.Client, headers: dict[str, str]) -> None:
    runs = api.get("/runs", params={"limit": 1}).json()
    requests: tuple[Callable[[], httpx.Response], ...] = (
        lambda: api.post("/chat", json=ASK, headers=headers),
        lambda: api.request("DELETE", f"/threads/thr_{'0' * 24}", headers=headers),
        lambda: api.get("/runs", headers=headers),
    )
    for send in requests:
        refused = send()
        assert refused.status_code == 403, (headers, refused.text)
        assert refused.json()["code"] in ("origin_refused", "host_refused")
    assert api.get("/runs", params={"limit": 1}).json() == runs


def test_a_form_of_a_foreign_page_is_no_request(server: Any, api: httpx.Client) -> None:
    """A form can be sent without asking first, but only with types that are not JSON."""
    for kind in ("text/plain", "application/x-www-form-urlencoded"):
        sent = api.post("/chat", content=b'{"message": "how many people?"}', headers={"Content-Type": kind})
        assert sent.status_code == 422


@pytest.mark.parametrize(
    "headers",
    [{}, {"Sec-Fetch-Site": "same-origin"}, {"Sec-Fetch-Site": "none"}, {"Authorization": "Bearer of nothing yet"}],
)
def test_the_page_and_programs_may_ask(server: Any, api: httpx.Client, headers: dict[str, str]) -> None:
    assert api.post("/chat", json=ASK, headers=headers).status_code == 200
    assert api.post("/chat", json=ASK, headers={"Origin": own(server), **headers}).status_code == 200


@pytest.mark.parametrize("host", ["evil.example", "evil.example:8321", "127.0.0.1.evil.example", "", "[::1"])
def test_a_name_that_leads_here_is_not_enough(server: Any, host: str) -> None:
    """DNS rebinding: the attacker's own name resolves to this machine, so the browser takes it for one origin."""
    headers = {"Host": host, "Origin": f"http://{host}", "Sec-Fetch-Site": "same-origin"}
    for path in ("/", "/api/v1/runs", "/openapi.json", "/metrics", "/static/docs.html"):
        assert httpx.get(server.url + path, headers=headers).status_code in (400, 403), path


def test_the_page_may_be_linked_to_from_anywhere(server: Any) -> None:
    headers = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}
    for path in ("/", "/ask/thr_1", "/runs/run_1/check", "/shared/token"):
        assert httpx.get(server.url + path, headers=headers).status_code in (200, 503), path  # 503: not built


@pytest.mark.parametrize(
    ("origin", "expected"),
    [("https://data.example", 200), ("http://127.0.0.1:9", 403), ("https://evil.example", 403)],
)
async def test_pages_of_a_proxy_may_ask_when_they_are_named(origin: str, expected: int) -> None:
    app = SameOrigin(Starlette(routes=[Route("/", JSONResponse({}), methods=["POST"])]), frozenset({"data.example"}))
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://127.0.0.1:8321") as client:
        reply = await client.post("/", headers={"Origin": origin, "Sec-Fetch-Site": "same-origin"})
    assert reply.status_code == expected


def test_every_reply_is_guarded(server: Any) -> None:
    for path in ("/", "/ask", "/api/v1/runs", "/api/v1/nowhere", "/static/docs.html", "/openapi.json"):
        headers = httpx.get(server.url + path).headers
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"
        assert headers["cross-origin-resource-policy"] == "same-origin"
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "frame-ancestors 'none'" in policy
        assert "unsafe" not in policy
        assert "*" not in policy


def test_no_browser_keeps_data_on_its_disk(server: Any, api: httpx.Client) -> None:
    run = api.post("/chat", json=ASK).json()["run_id"]
    for path in ("/runs", f"/runs/{run}", f"/runs/{run}/events", f"/runs/{run}/rows?format=csv", "/nowhere"):
        assert api.get(path).headers["cache-control"] == "no-store", path


def test_files_named_by_their_content_are_kept_for_good(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from fastapi import FastAPI
    from starlette.testclient import TestClient

    built = tmp_path / page.BUILT
    (built / "assets").mkdir(parents=True)
    (built / "assets" / "page-1a2b3c.js").write_text("export {}")
    (built / "index.html").write_text("<!doctype html>")
    monkeypatch.setattr(page, "WEB", tmp_path)
    app = FastAPI()
    page.serve_page(app)
    client = TestClient(app)
    first = client.get("/assets/page-1a2b3c.js")
    assert "immutable" in first.headers["cache-control"]
    again = client.get("/assets/page-1a2b3c.js", headers={"If-None-Match": first.headers["etag"]})
    assert again.status_code == 304
    plain = client.get("/assets/page-1a2b3c.js", headers={"Accept-Encoding": "gzip"})
    assert "content-encoding" not in plain.headers
    (built / "assets" / "page-1a2b3c.js.gz").write_bytes(gzip.compress(b"export {}"))
    packed = client.get("/assets/page-1a2b3c.js", headers={"Accept-Encoding": "gzip"})
    assert (packed.headers["content-encoding"], packed.text) == ("gzip", "export {}")
    assert packed.headers["content-type"].startswith("text/javascript")
    unpacked = client.get("/assets/page-1a2b3c.js", headers={"Accept-Encoding": "identity"})
    assert "content-encoding" not in unpacked.headers
    assert packed.headers["vary"] == unpacked.headers["vary"] == "Accept-Encoding"
    assert client.get("/").headers["cache-control"] == "no-cache"
    assert client.get("/assets/../index.html").status_code == 404
    assert client.get("/assets/%2e%2e/index.html").status_code == 404


def test_a_page_that_is_not_built_says_how(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from fastapi import FastAPI
    from starlette.testclient import TestClient

    (tmp_path / "not-built.html").write_bytes((page.WEB / "not-built.html").read_bytes())
    monkeypatch.setattr(page, "WEB", tmp_path)
    app = FastAPI()
    page.serve_page(app)
    reply = TestClient(app).get("/ask")
    assert reply.status_code == 503
    assert "make page" in reply.text
