"""A table with secrets and personal data: what the user sees of it, and what a model is sent."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from scripted_model import Reply, Request, ScriptedModel

Run = Callable[..., Any]
HASH = "$2b$12$EixZaYVK1fsbw1ZfbX3OXePaWxn96p36WQoeG6Lruj3vjPGga31l"
SECRETS = ("EixZaYVK1fsbw", "sk-live-")


@pytest.fixture
def users(tmp_path: Path) -> Path:
    path = tmp_path / "app.sqlite"
    with closing(sqlite3.connect(path)) as database, database:
        database.execute(
            "CREATE TABLE users (id INTEGER PRIMARY KEY, name TEXT, email TEXT, phone TEXT, plan TEXT,"
            " password_hash TEXT, api_key TEXT)"
        )
        rows = [
            (
                n,
                f"User {n}",
                f"user{n}@example.com",
                f"+47 22 12 34 {n:02}",
                "free" if n % 2 else "paid",
                f"{HASH}{n:02}",
                f"sk-live-9aF3kQ27xT0bLmZ{n:02}",
            )
            for n in range(20)
        ]
        database.executemany("INSERT INTO users VALUES (?, ?, ?, ?, ?, ?, ?)", rows)
    return path


@pytest.fixture
def model(scripted_model: ScriptedModel, monkeypatch: pytest.MonkeyPatch) -> ScriptedModel:
    monkeypatch.setenv("ANSWERABLE_MODEL", "compatible:scripted")
    monkeypatch.setenv("ANSWERABLE_MODEL_BASE_URL", scripted_model.base_url)
    monkeypatch.setenv("ANSWERABLE_MODEL_KEY", "key-of-the-test")

    def answer(request: Request) -> Reply:
        if "You plan how" in request.text:
            step = {"id": "list", "tool": "sql", "context": "Some users with how to reach them."}
            return Reply.object({"reasoning": "one query", "steps": [step]})
        if "You put an answer into words" in request.text:
            return Reply.object({"text": "These are the users."})
        if "You check an answer" in request.text:
            return Reply.object({"checks": []})
        return Reply.object({"sql": "SELECT id, email AS reach, phone FROM users ORDER BY id", "reasoning": "as asked"})

    scripted_model.script(answer)
    return scripted_model


def test_what_was_classed_is_shown_and_secrets_are_not(answerable: Run, users: Path) -> None:
    shown = answerable("sources", "show", str(users))
    assert "Secret, left out: users.password_hash (its name)" in shown.out
    assert "Secret, left out: users.api_key (its name)" in shown.out
    assert "Personal data: users.email (its name)" in shown.out
    listed = answerable("sources", "show", str(users), "--json")
    assert [each["column"] for each in listed.json["secrets"]] == ["password_hash", "api_key"]
    rows = answerable("sources", "rows", str(users), "users")
    figures = answerable("sources", "statistics", str(users), "users", "--json")
    everything = answerable("ask", "SQL: SELECT * FROM users ORDER BY id", "--source", str(users), "--json")
    for output in (shown, listed, rows, figures, everything):
        assert not any(secret in output.out for secret in SECRETS)
    assert everything.json["row_count"] == 20
    refused = answerable("ask", "SQL: SELECT password_hash FROM users", "--source", str(users), "--json")
    assert refused.code != 0
    assert not any(secret in refused.out for secret in SECRETS)


@pytest.mark.parametrize("allowed", [False, True])
def test_a_model_is_sent_no_secret_and_personal_data_only_if_allowed(
    answerable: Run, users: Path, model: ScriptedModel, monkeypatch: pytest.MonkeyPatch, allowed: bool
) -> None:
    monkeypatch.setenv("ANSWERABLE_SHARE_PERSONAL", str(allowed).lower())
    done = answerable("ask", "how would one get hold of each zigzagging user?", "--source", str(users), "--json")
    assert done.code == 0, done.out + done.err
    assert done.json["rows"][0] == [0, "user0@example.com", "+47 22 12 34 00"]
    sent = "".join(request.text for request in model.requests)
    assert model.requests
    assert not any(secret in sent for secret in (*SECRETS, "password_hash", "api_key"))
    assert ("@example.com" in sent) is allowed
    assert ("+47 22" in sent) is allowed


def test_a_person_can_change_the_class(answerable: Run, users: Path) -> None:
    added = answerable("sources", "add", str(users), "--name", "app")
    assert added.code == 0, added.err
    changed = answerable("names", "set", "app", "users.api_key", "--sensitivity", "none")
    assert changed.code == 0, changed.err
    shown = answerable("sources", "show", "app", "--json")
    assert [each["column"] for each in shown.json["secrets"]] == ["password_hash"]
    seen = answerable("ask", "SQL: SELECT api_key FROM users ORDER BY id", "--source", "app", "--json")
    assert seen.json["rows"][0] == ["sk-live-9aF3kQ27xT0bLmZ00"]
