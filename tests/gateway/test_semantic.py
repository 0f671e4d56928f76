"""What is said about a source, over HTTP: read, changed, refused, remembered, undone."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest


@pytest.fixture(scope="module")
def ships(server: Any) -> Iterator[None]:
    """Two tables, uploaded once."""
    with httpx.Client(base_url=f"{server.url}/api/v1", timeout=60) as api:
        for name, content in (
            ("crew.csv", b"id,nm,port\n1,Ana,Oslo\n2,Bo,Rome\n3,Cy,Oslo\n"),
            ("ports.csv", b"port,country\nOslo,Norway\nRome,Italy\n"),
        ):
            assert api.post("/uploads", params={"name": name, "source": "ships"}, content=content).status_code == 201
        yield
        api.delete("/sources/ships")


@pytest.fixture
def crew(api: httpx.Client, ships: None) -> str:
    """The address of what is said about them: nothing yet."""
    path = "/sources/ships/semantic"
    assert api.put(path, json={"text": ""}).status_code == 200
    return path


def test_a_synonym_is_understood_by_the_next_question(api: httpx.Client, crew: str, server: Any) -> None:
    question = {"message": "how many zorps are in Oslo?", "source": "ships"}
    assert api.post("/chat", json=question).json()["rows"] != [[2]]
    edit = {"table": "crew", "synonyms": ["zorps"], "description": "Who is on board."}
    changed = api.patch(crew, json={"edits": [{"kind": "name", **edit}], "note": "Sailors"})
    assert changed.status_code == 200, changed.text
    assert changed.json()["document"]["tables"]["crew"]["synonyms"] == ["zorps"]
    assert api.post("/chat", json=question).json()["rows"] == [[2]]
    assert "zorps" in (server.home / "uploads" / "ships" / "semantic.yaml").read_text()
    change = api.get(f"{crew}/history").json()["changes"][0]
    assert (change["note"], change["user"], change["before"]) == ("Sailors", "local", "")
    assert "zorps" in change["after"]
    undone = api.post(f"{crew}/undo", json={"change_id": change["change_id"]}).json()
    assert undone["text"] == ""
    assert not (server.home / "uploads" / "ships" / "semantic.yaml").exists()
    again = api.post(f"{crew}/undo", json={"change_id": change["change_id"]})
    assert (again.status_code, again.json()["code"]) == (422, "semantic_changed")
    newest = api.get(f"{crew}/history").json()["changes"][0]
    assert newest["note"] == "Undone: Sailors"


def test_what_is_left_out_stays_and_null_takes_away(api: httpx.Client, crew: str) -> None:
    column = {"kind": "name", "table": "crew", "column": "nm"}
    first = {**column, "label": "Name", "synonyms": ["called"], "values": {"Ana": ["captain"]}}
    api.patch(crew, json={"edits": [first]})
    said = api.patch(crew, json={"edits": [{**column, "label": None, "unit": "x"}]}).json()
    kept = said["document"]["tables"]["crew"]["columns"]["nm"]
    assert (kept["label"], kept["synonyms"], kept["unit"]) == (None, ["called"], "x")
    assert kept["values"] == {"Ana": ["captain"]}


def test_relationships_are_named_hidden_and_forgotten(api: httpx.Client, crew: str) -> None:
    ends = {"from": "crew.port", "to": "ports.port"}
    named = {"kind": "relationship", **ends, "name": "home port"}
    api.patch(crew, json={"edits": [named]})
    [one] = api.get("/sources/ships/relationships").json()["relationships"]
    assert (one["name"], one["origin"], one["orphan_rows"]) == ("home port", "semantic", 0)
    said = api.patch(crew, json={"edits": [{"kind": "relationship", **ends, "synonyms": ["berth"]}]}).json()
    assert said["document"]["relationships"][0]["name"] == "home port"
    gone = api.patch(crew, json={"edits": [{"kind": "relationship_removed", **ends}]}).json()
    assert gone["document"]["relationships"] == []
    lost = api.patch(crew, json={"edits": [{"kind": "relationship_removed", **ends}]})
    assert lost.json()["code"] == "relationship_unknown"
    unlike = {"kind": "relationship", "from": {"table": "crew", "columns": ["id"]}, "to": "ports.country"}
    refused = api.patch(crew, json={"edits": [unlike]})
    assert (refused.status_code, refused.json()["code"]) == (422, "relationship_types")
    assert "crew.id holds integer and ports.country holds text" in refused.json()["detail"]


def test_a_mistake_names_its_line_and_field_and_changes_nothing(api: httpx.Client, crew: str) -> None:
    before = api.get(crew).json()
    text = "# About ships\ntables:\n  crew:\n    columns:\n      nmae: {label: Name}\n"
    wrong = api.put(crew, json={"text": text, "version": before["version"]})
    assert wrong.status_code == 422
    problem = wrong.json()
    assert (problem["code"], problem["line"], problem["field"]) == ("semantic_invalid", 5, "tables.crew.columns.nmae")
    assert "nm" in problem["hint"]
    unknown = api.patch(crew, json={"edits": [{"kind": "name", "table": "crow", "label": "Crow"}]})
    assert (unknown.json()["code"], unknown.json()["field"]) == ("semantic_invalid", "tables.crow")
    assert api.get(crew).json() == before
    assert api.get(f"{crew}/history").json()["changes"][0]["note"] != "wrong"


def test_nobody_overwrites_what_they_have_not_seen(api: httpx.Client, crew: str) -> None:
    seen = api.get(crew).json()["version"]
    text = "# Kept\ntables:\n  crew: {label: Sailor}  # lost by edits, not by this\n"
    written = api.put(crew, json={"text": text, "version": seen})
    assert written.json()["text"] == text
    late = api.put(crew, json={"text": "tables: {}\n", "version": seen})
    assert (late.status_code, late.json()["code"]) == (422, "semantic_changed")
    edit = {"kind": "name", "table": "ports", "label": "Harbour"}
    edited = api.patch(crew, json={"edits": [edit], "version": written.json()["version"]}).json()
    assert edited["text"].startswith("# Kept\n")
    assert set(edited["document"]["tables"]) == {"crew", "ports"}


def test_a_file_that_is_wrong_already_is_shown_with_its_mistake(api: httpx.Client, crew: str, server: Any) -> None:
    file = Path(server.home / "uploads" / "ships" / "semantic.yaml")
    file.write_text("tables: {nope: {label: X}}\n")
    shown = api.get(crew).json()
    assert shown["document"] is None
    assert (shown["problem"]["line"], shown["problem"]["field"]) == (1, "tables.nope")
    assert api.put(crew, json={"text": "tables: {}\n"}).json()["problem"] is None


def test_data_of_the_package_is_never_written(api: httpx.Client, server: Any) -> None:
    before = api.get("/sources/demo/semantic").json()
    assert before["file"] == str(server.home / "semantic" / "demo.yaml")
    edit = {"kind": "name", "table": "orders", "synonyms": ["purchases made"]}
    changed = api.patch("/sources/demo/semantic", json={"edits": [edit]}).json()
    assert set(changed["document"]["measures"]) == set(before["document"]["measures"])
    change = api.get("/sources/demo/semantic/history").json()["changes"][0]["change_id"]
    restored = api.post("/sources/demo/semantic/undo", json={"change_id": change}).json()
    assert restored["text"] == before["text"]
