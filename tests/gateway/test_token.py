"""A server that other machines can reach: nothing without its token, everything with it."""

import re
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from served import Server
from starlette.testclient import TestClient

from answerable.gateway.app import create_app
from answerable.settings import Settings

TOKEN = "a-token-of-the-test"


@pytest.fixture
def client(tmp_path: Path) -> Iterator[TestClient]:
    app = create_app(Settings(home=tmp_path / "home", host="0.0.0.0"), token=TOKEN)
    with TestClient(app, base_url="http://192.0.2.9:8321", follow_redirects=False) as client:
        yield client


def test_no_route_answers_without_the_token(client: TestClient) -> None:
    paths = [path.replace("{", "").replace("}", "") for path in client.app.openapi()["paths"]]  # type: ignore[attr-defined]
    for path in (*paths, "/", "/ask", "/docs", "/metrics", "/openapi.json", "/static/docs.html", "/nowhere"):
        for method in ("GET", "POST", "DELETE", "HEAD"):
            if path != "/healthz":
                assert client.request(method, path).status_code == 401, path
    assert client.get("/api/v1/sources").json()["code"] == "token_required"
    assert client.get("/healthz").status_code == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"Authorization": "Bearer wrong"},
        {"Authorization": f"Basic {TOKEN}"},
        {"Authorization": f"Bearer {TOKEN[:-1]}"},
        {"Authorization": f"Bearer {TOKEN}x"},
        {"Authorization": "Bearer"},
        {"Cookie": "answerable_token="},
        {"Cookie": f"other={TOKEN}"},
        {"Cookie": 'answerable_token="\\'},
    ],
)
def test_another_token_is_none(client: TestClient, headers: dict[str, str]) -> None:
    assert client.get("/api/v1/sources", headers=headers).status_code == 401


def test_programs_send_it_and_addresses_of_the_interface_do_not_hold_it(client: TestClient) -> None:
    assert client.get("/api/v1/sources", headers={"Authorization": f"Bearer {TOKEN}"}).status_code == 200
    assert client.get(f"/api/v1/sources?token={TOKEN}").status_code == 401


def test_the_link_becomes_a_cookie_that_no_script_reads(client: TestClient) -> None:
    opened = client.get(f"/ask?token={TOKEN}&source=demo", headers={"Sec-Fetch-Site": "cross-site"})
    assert (opened.status_code, opened.headers["location"]) == (303, "/ask?source=demo")
    cookie = opened.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=lax" in cookie
    assert client.get("/api/v1/sources").status_code == 200
    asked = client.post("/api/v1/chat", json={"message": "how many orders?", "source": "demo"})
    assert asked.status_code == 200
    assert "run.finished" in client.get(f"/api/v1/runs/{asked.json()['run_id']}/events").text
    foreign = {"Origin": "http://evil.example", "Sec-Fetch-Site": "cross-site"}
    assert client.post("/api/v1/chat", json={"message": "x"}, headers=foreign).status_code == 403
    for path in ("//evil.example", "/%5Cevil.example", "///evil.example/x"):
        target = client.get(f"http://192.0.2.9:8321{path}?token={TOKEN}").headers["location"]
        assert target.startswith("/evil"), path
    assert client.get("/", headers={"Host": "evil.example"}).status_code == 403


def test_a_server_on_loopback_needs_none(tmp_path: Path) -> None:
    assert all(Settings(home=tmp_path, host=host).is_local for host in ("127.0.0.1", "localhost", "::1", "127.0.0.9"))
    for host in ("0.0.0.0", "::", "192.168.1.4", "127.evil.example", "localhost.example", ""):
        assert not Settings(home=tmp_path, host=host).is_local, host


def test_the_printed_link_opens_a_server_for_other_machines(tmp_path: Path) -> None:
    folder = tmp_path / "small"
    folder.mkdir()
    (folder / "people.csv").write_text("name\nAna\n")
    server = Server(home=tmp_path / "server-home", folder=folder, arguments=("--token",), address="127.0.0.2").start()
    try:
        printed = server.home.with_suffix(".log").read_text()
        found = re.search(r"Open http://127\.0\.0\.2:\d+(/\?token=\S{40,})", printed)
        assert found is not None
        with httpx.Client(base_url=server.url, follow_redirects=True, timeout=30) as browser:
            assert browser.get("/api/v1/sources").status_code == 401
            assert browser.get(found[1]).status_code in (200, 503)  # 503: the page is not built
            assert browser.get("/api/v1/sources").status_code == 200
    finally:
        server.kill()
