"""Every statement of the store keeps to one tenant, or is listed here with the reason why it need not."""

import ast
import importlib
import re
from collections.abc import Iterator
from pathlib import Path

import answerable.store

STORE = Path(answerable.store.__file__).parent
STATEMENT = re.compile(r"\s*(SELECT|INSERT INTO|UPDATE|DELETE FROM|WITH)\b")
TABLE = re.compile(r"\b(?:FROM|INTO|UPDATE|JOIN)\s+([a-z_]+)")

RETENTION = "removes or counts what the operator keeps of all tenants; `run_id` is a key of the whole store"
LEASE = "the process that holds the run, or looks for one, works for all tenants; `run_id` is a key of the whole store"
EXPIRED = "removes what has expired, of all tenants"
DELIVERY = "the process delivers for all tenants, and hands each its own tenant"
AT_RUN_TIME = "the condition is put together when it runs, and begins with `OWN`"
ACROSS: tuple[tuple[str, str, str], ...] = (
    ("artifacts", "SELECT bytes FROM artifacts WHERE artifact_id = ?", "content is stored once, under its hash"),
    ("artifacts", "DELETE FROM artifacts WHERE artifact_id = ?", RETENTION),
    ("budgets", "reservations WHERE reservation_id = ?", "the id was drawn for this reservation, by this process"),
    ("budgets", "SELECT DISTINCT r.reservation_id", "frees what processes that died have reserved, of all tenants"),
    ("edits", "semantic_edits SET owner = NULL WHERE edit_id = ?", "the id was drawn for this edit, by this process"),
    ("edits", "DELETE FROM semantic_edits WHERE edit_id = ?", "the id was drawn for this edit, by this process"),
    ("identities", "DELETE FROM sessions WHERE expires_at <= ?", EXPIRED),
    ("identities", "DELETE FROM sign_in_flows WHERE expires_at <= ?", EXPIRED),
    ("identities", "DELETE FROM sign_in_attempts WHERE open_at <= ?", EXPIRED),
    ("keys", "DELETE FROM idempotency_keys WHERE made_at < ?", EXPIRED),
    ("outbox", "", DELIVERY),
    ("rates", "DELETE FROM rate_", EXPIRED),
    ("retention", "", RETENTION),
    ("runs", "SELECT token FROM runs WHERE run_id = ?", LEASE),
    ("runs", "WHERE run_id = ? AND token = ?", LEASE),
    ("runs", "FROM run_requests q JOIN runs r", LEASE),
    ("runs", "UPDATE run_requests SET taken_at = ?", LEASE),
    ("runs", "FROM runs WHERE … ORDER BY position DESC", AT_RUN_TIME),
    ("runs", "SELECT count(*) FROM runs WHERE …", AT_RUN_TIME),
    ("runs", "SELECT tenant_id, user_id FROM runs WHERE run_id = ?", LEASE),
    ("run_owners", "SELECT tenant_id, user_id FROM runs WHERE run_id = ?", LEASE),
    ("runs", "FROM runs WHERE owner = ? AND", LEASE),
    ("postgres", "SELECT 1 FROM runs WHERE … FOR SHARE", LEASE),
    ("runs", "SELECT 1 FROM runs WHERE run_id = ?", "says whether an id is free in the whole store"),
    ("schedules", "FROM schedules WHERE next_at <= ?", "the process starts what is due, for all tenants"),
    ("sqlite", "SELECT 1 FROM runs WHERE …", LEASE),
    (
        "threads",
        "SELECT content FROM messages WHERE messages.thread_id = threads.thread_id",
        "within a thread of one's own",
    ),
    ("threads", "FROM threads WHERE …", AT_RUN_TIME),
    ("threads", "WHERE thread_id IN (SELECT thread_id FROM threads WHERE deleted_at < ?)", RETENTION),
)
"""Module, a part of the statement, and why it is not limited to one tenant."""


def tenant_tables() -> set[str]:
    """The tables whose rows belong to tenants, by the migrations."""
    text = "\n".join(file.read_text() for file in sorted((STORE / "migrations").glob("*.sql")))
    made = re.findall(r"CREATE TABLE (?:IF NOT EXISTS )?(\w+) \((.*?)\n\)", text, re.DOTALL)
    return {name for name, columns in made if re.search(r"^\s*tenant_id ", columns, re.MULTILINE)}


def statements(file: Path) -> Iterator[tuple[int, str]]:
    """The statements of a module. A text that others only continue is a part of theirs and none of its own."""
    module = vars(importlib.import_module(f"answerable.store.{file.stem}"))
    tree = ast.parse(file.read_text())
    continued = {
        part.value.id
        for node in ast.walk(tree)
        if isinstance(node, ast.JoinedStr)
        for part in node.values
        if isinstance(part, ast.FormattedValue) and isinstance(part.value, ast.Name)
    }
    named = {
        id(node.value): node.targets[0].id
        for node in tree.body
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
    }
    inner = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in node.values}
    local = {
        id(part): {
            one.targets[0].id: rendered(one.value, module)
            for one in ast.walk(function)
            if isinstance(one, ast.Assign)
            and isinstance(one.targets[0], ast.Name)
            and isinstance(one.value, ast.Constant | ast.JoinedStr)
        }
        for function in ast.walk(tree)
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef)
        for part in ast.walk(function)
    }
    for node in ast.walk(tree):
        if not isinstance(node, ast.Constant | ast.JoinedStr) or id(node) in inner:
            continue
        if named.get(id(node)) in continued:
            continue
        text = rendered(node, module | local.get(id(node), {}))
        if STATEMENT.match(text) and TABLE.search(text):
            yield node.lineno, text


def rendered(node: ast.expr, module: dict[str, object]) -> str:
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else ""
    assert isinstance(node, ast.JoinedStr)
    parts = []
    for part in node.values:
        if isinstance(part, ast.Constant):
            parts.append(str(part.value))
        elif isinstance(part, ast.FormattedValue):
            known = module.get(part.value.id) if isinstance(part.value, ast.Name) else None
            parts.append(known if isinstance(known, str) else "…")
    return "".join(parts)


def unfiltered() -> list[tuple[str, str]]:
    owned = tenant_tables()
    found = []
    for file in sorted(STORE.glob("*.py")):
        for _, text in statements(file):
            if owned.intersection(TABLE.findall(text)) and not filters(text):
                found.append((file.stem, " ".join(text.split())))
    return found


def filters(text: str) -> bool:
    if text.lstrip().startswith("INSERT"):
        return "tenant_id" in text
    return re.search(r"WHERE\b.*\btenant_id\b", text, re.DOTALL) is not None


def test_every_statement_keeps_to_a_tenant_or_has_a_reason() -> None:
    found = unfiltered()
    excused = [(module, part) for module, part, _ in ACROSS]
    assert [
        (module, text) for module, text in found if not any(module == where and part in text for where, part in excused)
    ] == []
    there = [one for one in excused if (STORE / f"{one[0]}.py").exists()]
    stale = [one for one in there if not any(module == one[0] and one[1] in text for module, text in found)]
    assert stale == []


def test_the_statements_are_really_found() -> None:
    assert sum(len(list(statements(file))) for file in STORE.glob("*.py")) > 150
    assert {"runs", "users", "access_keys", "threads"} <= tenant_tables()
    assert not filters("SELECT 1 FROM users WHERE name = ?")
    assert not filters("SELECT tenant_id FROM users")
    assert filters("SELECT 1 FROM users WHERE tenant_id = ? AND name = ?")
    assert not filters("INSERT INTO users (name) VALUES (?)")
