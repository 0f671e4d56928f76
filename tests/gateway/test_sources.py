"""Sources over HTTP: looked at, uploaded, added, removed."""

import socket
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from starlette.testclient import TestClient

from answerable.gateway.app import create_app
from answerable.settings import Settings

Upload = Callable[..., httpx.Response]


def settled(api: httpx.Client, name: str) -> dict[str, Any]:
    for _ in range(300):
        status: dict[str, Any] = api.get(f"/sources/{name}/status").json()
        if status["state"] not in ("unread", "reading"):
            return status
        time.sleep(0.05)
    raise AssertionError(f"{name} is still being read")


def test_sources_tell_how_they_are(api: httpx.Client) -> None:
    listed = {source["name"]: source for source in api.get("/sources").json()["sources"]}
    assert set(listed) == {"demo", "small"}
    assert (listed["demo"]["origin"], listed["small"]["origin"]) == ("bundled", "settings")
    status = settled(api, "small")
    assert (status["state"], status["kind"], status["tables"], status["rows"]) == ("ready", "files", 1, 3)
    assert status["default"]
    assert not status["removable"]
    assert api.get("/sources/nope/status").json()["code"] == "source_unknown"


def test_a_dropped_file_can_be_asked_at_once(api: httpx.Client, upload: Upload) -> None:
    sent = upload(b"sku,price\nA,10\nB,30\n", "../Price list (2026).csv")
    assert sent.status_code == 201, sent.text
    assert (sent.json()["file"], sent.json()["format"], sent.json()["bytes"]) == ("Price list (2026).csv", "csv", 20)
    name = sent.json()["source"]["name"]
    assert name == "price_list_2026"
    answer = api.post("/chat", json={"message": "what is the average price?", "source": name}).json()
    assert answer["rows"] == [[20.0]], answer
    assert settled(api, name)["files"] == ["Price list (2026).csv"]


def test_files_join_and_replace(api: httpx.Client, upload: Upload) -> None:
    assert upload(b"id,town\n1,Oslo\n", "towns.csv", source="Trip 1").json()["source"]["name"] == "trip_1"
    assert upload(b"town_id,nights\n1,2\n", "stays.csv", source="trip_1").status_code == 201
    assert settled(api, "trip_1")["tables"] == 2
    again = upload(b"id,town\n1,Rome\n", "towns.csv", source="trip_1")
    assert (again.status_code, again.json()["code"]) == (422, "upload_exists")
    assert upload(b"id,town\n1,Rome\n", "towns.csv", source="trip_1", replace=True).status_code == 201
    rows = api.get("/sources/trip_1/tables/towns/rows").json()["rows"]
    assert rows == [[1, "Rome"]]
    other = upload(b"a\n1\n", "towns.csv")
    assert other.json()["source"]["name"] == "towns"


@pytest.mark.parametrize(
    ("content", "name", "more", "code"),
    [
        (b"", "a.csv", {}, "file_empty"),
        (b"\x7fELF\0\0", "a.csv", {}, "upload_unsupported"),
        (b"a\n1\n", "a.php", {}, "upload_unsupported"),
        (b"a\n1\n", "..", {}, "upload_name_invalid"),
        (b"a\n1\n", "a.csv", {"source": "demo"}, "source_not_uploaded"),
        (b"a\n1\n", "a.csv", {"source": "small"}, "source_not_uploaded"),
    ],
)
def test_what_cannot_be_a_source_leaves_nothing(
    api: httpx.Client, server: Any, content: bytes, name: str, more: dict[str, str], code: str
) -> None:
    reply = api.post("/uploads", params={"name": name, **more}, content=content)
    assert reply.status_code in (403, 422)
    assert reply.json()["code"] == code
    uploads = server.home / "uploads"
    assert files_in(uploads) == []
    assert {source["name"] for source in api.get("/sources").json()["sources"]} == {"demo", "small"}


def files_in(folder: Path) -> list[Path]:
    """Without the lock by which a process keeps its own folder of staged files."""
    return [path for path in folder.rglob("*") if path.is_file() and path.suffix != ".lock"]


def test_a_source_name_cannot_leave_the_folder(api: httpx.Client, server: Any, upload: Upload) -> None:
    assert upload(b"a\n1\n", "a.csv", source="../../../evil").json()["source"]["name"] == "evil"
    assert (server.home / "uploads" / "evil" / "a.csv").is_file()
    for name in ("..%2f..%2fhome", "..", "%2e%2e"):
        assert api.delete(f"/sources/{name}").status_code in (404, 405)


def test_an_upload_that_breaks_off_leaves_nothing(server: Any, api: httpx.Client) -> None:
    with socket.create_connection(("127.0.0.1", server.port)) as raw:
        head = "POST /api/v1/uploads?name=cut.csv HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 1000000\r\n\r\n"
        raw.sendall(head.encode() + b"a,b\n" * 1000)
    for _ in range(100):
        if not files_in(server.home / "uploads"):
            break
        time.sleep(0.02)
    assert files_in(server.home / "uploads") == []
    assert api.get("/sources/cut/status").status_code == 404


def test_a_database_is_added_and_its_password_never_shown(api: httpx.Client, server: Any) -> None:
    url = "postgresql://reader:hunter2@127.0.0.1:1/crm"
    made = api.post("/sources", json={"url": url})
    assert made.status_code == 201
    assert (made.json()["name"], made.json()["location"]) == ("crm", "postgresql://reader@127.0.0.1:1/crm")
    try:
        status = settled(api, "crm")
        assert status["state"] == "failed"
        assert status["error"]["message"]
        asked = api.post("/chat", json={"message": "how many?", "source": "crm"})
        for reply in (made, asked, api.get("/sources"), api.get(f"/runs/{asked.json()['run_id']}/events")):
            assert "hunter2" not in reply.text
        assert api.post("/sources", json={"url": url, "name": "crm"}).json()["code"] == "source_exists"
        keeping = [path for path in server.home.rglob("*") if path.is_file() and b"hunter2" in path.read_bytes()]
        assert [path.name for path in keeping] == ["added-sources.json"]
    finally:
        assert api.delete("/sources/crm").status_code == 204
    assert b"hunter2" not in (server.home / "added-sources.json").read_bytes()
    assert api.post("/sources", json={"url": "file:///etc/passwd"}).json()["code"] == "source_url_invalid"
    assert api.post("/sources", json={"url": "/etc"}).json()["code"] == "source_url_invalid"
    assert api.delete("/sources/demo").json()["code"] == "source_from_settings"


def test_columns_show_how_their_values_are_spread(api: httpx.Client) -> None:
    orders = api.get("/sources/demo/tables/orders/statistics").json()
    columns = {column["name"]: column for column in orders["columns"]}
    assert columns["order_id"]["unique"]
    assert sum(one["count"] for one in columns["status"]["top_values"]) == orders["row_count"]
    months = columns["order_date"]["histogram"]
    assert sum(one["count"] for one in months) == orders["row_count"]
    assert months == sorted(months, key=lambda one: one["low"])
    items = {
        column["name"]: column for column in api.get("/sources/demo/tables/order_items/statistics").json()["columns"]
    }
    spread = items["quantity"]["histogram"]
    assert sum(one["count"] for one in spread) == api.get("/sources/demo/tables/order_items/rows").json()["row_count"]
    assert api.get("/sources/demo/tables/nope/statistics").json()["code"] == "table_unknown"


def test_relationships_tell_what_points_to_nothing(api: httpx.Client, upload: Upload, tmp_path: Path) -> None:
    found = api.get("/sources/demo/relationships").json()["relationships"]
    assert {one["orphan_rows"] for one in found} == {0}
    ids = "\n".join(f"{n},Town {n}" for n in range(1, 40))
    upload(f"town_id,town\n{ids}\n".encode(), "towns.csv", source="orphans")
    stays = "\n".join(f"{n},{n % 39 + 1}" for n in range(1, 200)) + "\n200,99\n"
    upload(f"stay_id,town_id\n{stays}".encode(), "stays.csv", source="orphans")
    relations = api.get("/sources/orphans/relationships").json()["relationships"]
    assert [one["orphan_rows"] for one in relations] in ([1], []), relations


def test_some_rows_of_a_table(api: httpx.Client) -> None:
    page = api.get("/sources/small/tables/people/rows", params={"offset": 1, "limit": 1}).json()
    assert page == {
        "columns": [
            {"name": "id", "type": "integer"},
            {"name": "name", "type": "text"},
            {"name": "city", "type": "text"},
        ],
        "rows": [[2, "Bo", "Paris"]],
        "offset": 1,
        "row_count": 3,
    }


def test_uploads_have_a_largest_size_together(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path / "home", upload_mb=1, upload_total_mb=1)
    content = b"a,b\n" + b"1,2\n" * 150_000
    with TestClient(create_app(settings), base_url="http://127.0.0.1") as client:

        def send(body: bytes | Iterator[bytes], name: str) -> Any:
            return client.post("/api/v1/uploads", params={"name": name}, content=body)

        assert client.get("/api/v1/sources").json()["upload_room_mb"] == 1
        assert send(content, "a.csv").status_code == 201
        assert client.get("/api/v1/sources").json()["upload_room_mb"] == 0
        for body in (content, iter([content[:400_000], content[400_000:]])):
            refused = send(body, "b.csv")
            assert (refused.status_code, refused.json()["code"]) == (413, "upload_no_room")
        assert [
            path.name
            for path in (tmp_path / "home" / "uploads").rglob("*")
            if path.is_file() and path.suffix != ".lock"
        ] == ["a.csv"]
        assert client.delete("/api/v1/sources/a").status_code == 204
        assert send(content, "b.csv").status_code == 201


def test_a_database_is_tried_without_being_added(api: httpx.Client, server: Any) -> None:
    before = api.get("/sources").json()["sources"]
    tried = api.post("/sources/test", json={"url": "postgresql://reader:hunter2@127.0.0.1:1/crm"})
    assert (tried.status_code, tried.json()["problem"]["code"]) == (200, "source_unreachable")
    assert (tried.json()["name"], tried.json()["location"]) == ("crm", "postgresql://reader@127.0.0.1:1/crm")
    for wrong, code in (
        ({"url": "mysql://h/d"}, "source_url_invalid"),
        ({"url": "/etc"}, "source_url_invalid"),
        ({"url": "postgresql://127.0.0.1:1/crm", "name": "demo"}, "source_exists"),
    ):
        assert api.post("/sources/test", json=wrong).json()["code"] == code
    assert [known["name"] for known in api.get("/sources").json()["sources"]] == [known["name"] for known in before]
    assert not [path for path in server.home.rglob("*") if path.is_file() and b"hunter2" in path.read_bytes()]


def test_an_upload_has_a_largest_size_and_can_be_turned_off(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path / "home", upload_mb=1)
    with TestClient(create_app(settings), base_url="http://127.0.0.1") as client:
        sent = client.post("/api/v1/uploads", params={"name": "a.csv"}, content=b"a,b\n" * 300_000)
        assert (sent.status_code, sent.json()["code"]) == (413, "upload_too_large")
        assert files_in(tmp_path / "home" / "uploads") == []
    forbidden = settings.model_copy(update={"upload_mb": 0})
    with TestClient(create_app(forbidden), base_url="http://127.0.0.1") as client:
        for reply in (
            client.post("/api/v1/uploads", params={"name": "a.csv"}, content=b"a\n1\n"),
            client.post("/api/v1/sources", json={"url": "postgresql://h/d"}),
            client.post("/api/v1/sources/test", json={"url": "postgresql://h/d"}),
        ):
            assert (reply.status_code, reply.json()["code"]) == (403, "adding_off")
