"""`answerable sources` and `answerable names`: added, read, named and removed, from the command to the disk."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from shop_api import DOCUMENT, TOKEN, ShopApi

Answerable = Callable[..., Any]


def test_a_folder_is_added_where_it_lies_and_asked_by_name(answerable: Answerable, tmp_path: Path, home: Path) -> None:
    (tmp_path / "sales").mkdir()
    (tmp_path / "sales" / "orders.csv").write_text("id,region,amount\n1,North,10.5\n2,South,20\n")
    added = answerable("sources", "add", "sales", "--json").json
    assert (added["name"], added["origin"], added["state"], added["rows"]) == ("sales", "added", "ready", 2)
    stored = json.loads((home / ".answerable" / "added-sources.json").read_text())
    assert stored == {"sales": {"location": str(tmp_path / "sales"), "by_operator": True}}
    assert answerable("ask", "SQL: SELECT count(*) FROM orders", "-s", "sales", "--json").json["rows"] == [[2]]
    (tmp_path / "sales" / "orders.csv").write_text("id,region,amount\n1,North,10.5\n")
    assert answerable("sources", "sync", "sales", "--json").json["rows"] == 1
    rows = answerable("sources", "rows", "sales", "orders", "--json").json
    assert (rows["rows"], rows["row_count"]) == ([[1, "North", 10.5]], 1)
    assert answerable("sources", "statistics", "sales", "orders", "--json").json["columns"]
    assert answerable("sources", "questions", "sales").out
    assert answerable("sources", "remove", "sales").code == 0
    assert (tmp_path / "sales" / "orders.csv").exists()
    assert "sales" not in answerable("sources", "list").out


def test_only_a_source_with_a_name_can_be_read_again(answerable: Answerable) -> None:
    done = answerable("sources", "sync", "nope", "--json")
    assert (done.code, done.json["error"]["code"]) == (2, "source_unknown")


def test_a_copy_becomes_an_uploaded_source(answerable: Answerable, tmp_path: Path, home: Path) -> None:
    (tmp_path / "people.csv").write_text("name\nAnn\n")
    added = answerable("sources", "add", "people.csv", "--copy", "--json").json
    copy = home / ".answerable" / "uploads" / "people" / "people.csv"
    assert (added["origin"], added["files"], copy.read_text()) == ("uploaded", ["people.csv"], "name\nAnn\n")
    again = answerable("sources", "add", "people.csv", "--copy", "--name", "people", "--json")
    assert (again.code, again.json["error"]["code"]) == (2, "upload_exists")
    (tmp_path / "people.csv").write_text("name\nAnn\nBo\n")
    replaced = answerable("sources", "add", "people.csv", "--copy", "--name", "people", "--replace", "--json").json
    assert replaced["rows"] == 2
    listed = {source["name"]: source for source in answerable("sources", "list", "--json").json["sources"]}
    assert listed["people"]["removable"] is True
    assert listed["demo"]["removable"] is False
    assert answerable("sources", "remove", "people", "--json").json == {"removed": "people"}
    assert not copy.exists()


def test_what_cannot_be_added_or_removed_is_told(answerable: Answerable, tmp_path: Path) -> None:
    missing = answerable("sources", "add", "nope.csv")
    assert (missing.code, "source_missing" in missing.err) == (2, True)
    odd = answerable("sources", "add", "ftp://host/x", "--json")
    assert (odd.code, odd.json["error"]["code"]) == (2, "source_url_invalid")
    bundled = answerable("sources", "remove", "demo", "--json")
    assert (bundled.code, bundled.json["error"]["code"]) == (4, "source_from_settings")
    (tmp_path / "broken.csv").write_bytes(b"")
    broken = answerable("sources", "add", "broken.csv", "--json")
    assert (broken.code, broken.json["state"], broken.json["error"]["code"]) == (1, "failed", "file_empty")


def test_a_password_is_stored_for_its_owner_alone_and_never_shown(answerable: Answerable, home: Path) -> None:
    done = answerable("sources", "add", "postgresql://me:secret@127.0.0.1:1/crm", "--json")
    assert (done.code, done.json["name"], done.json["state"]) == (1, "crm", "failed")
    assert "secret" not in done.out + answerable("sources", "list", "--json").out
    file = home / ".answerable" / "added-sources.json"
    assert "secret" in file.read_text()
    assert file.stat().st_mode & 0o777 == 0o600


def test_names_are_set_remembered_and_undone(answerable: Answerable, tmp_path: Path) -> None:
    (tmp_path / "sales").mkdir()
    (tmp_path / "sales" / "orders.csv").write_text("id,region,amount\n1,North,10.5\n2,South,20\n")
    answerable("sources", "add", "sales")
    changed = answerable(
        *("names", "set", "sales", "orders.amount", "--synonym", "takings", "--note", "our word", "--json")
    ).json
    assert changed["file"] == str(tmp_path / "sales" / "semantic.yaml")
    assert "takings" in (tmp_path / "sales" / "semantic.yaml").read_text()
    answer = answerable("ask", "total takings", "--source", "sales", "--json").json
    assert answer["rows"] == [[30.5]]
    [change] = answerable("names", "history", "sales", "--json").json["changes"]
    assert (change["note"], change["user"]) == ("our word", "local")
    assert answerable("names", "undo", "sales", change["change_id"]).code == 0
    assert not (tmp_path / "sales" / "semantic.yaml").exists()
    (tmp_path / "said.yaml").write_text("tables:\n  orders:\n    label: bookings\n")
    assert "bookings" in answerable("names", "write", "sales", "said.yaml").out
    assert "bookings" in answerable("names", "show", "sales").out
    wrong = answerable("names", "set", "sales", "orders.nope", "--label", "x", "--json")
    assert (wrong.code, wrong.json["error"]["code"]) == (2, "semantic_invalid")
    assert answerable("names", "set", "sales", "orders").code == 2


def test_an_api_is_added_by_its_document_and_asked_by_name(
    answerable: Answerable, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SHOP_TOKEN", TOKEN)
    shop = ShopApi()
    try:
        address = ("--base-url", shop.url, "--entity", "orders", "--secret-env", "SHOP_TOKEN")
        added = answerable("sources", "add", str(DOCUMENT), "--name", "crm", *address, "--json").json
        assert (added["name"], added["kind"], added["state"], added["rows"]) == ("crm", "api", "ready", 20)
        assert TOKEN not in (home / ".answerable" / "added-sources.json").read_text()
        answer = answerable("ask", "SQL: SELECT count(*) FROM orders", "-s", "crm", "--json").json
        assert (answer["rows"], answer["provenance"]["data_source_type"]) == ([[20]], "api")
        assert answerable("sources", "add", str(DOCUMENT), "--secret-env", "X").code == 2
    finally:
        shop.close()
