"""A user runs a program of their own over the data, alone or as a step of a plan."""

import json
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar

import pytest

Run = Callable[..., Any]

PLAN = """
question: Which region sells how much per product?
steps:
  - id: amounts
    tool: sql
    code: SELECT region_id, product, amount FROM orders
  - id: regions
    tool: sql
    code: SELECT region_id, region FROM regions
  - id: joined
    tool: python
    after: [amounts, regions]
    code: |
      result = (
          amounts.join(regions, on="region_id")
          .group_by("region", "product")
          .agg(pl.col("amount").sum())
          .sort("region", "product")
      )
"""


def test_a_program_works_on_the_tables_that_it_names(answerable: Run, sales: Path) -> None:
    code = "PYTHON: result = orders.join(regions, on='region_id').group_by('region').len().sort('region')"
    done = answerable("ask", code, "--source", str(sales), "--json")
    assert done.code == 0, done.out + done.err
    assert [row[0] for row in done.json["rows"]] == ["East", "North", "South"]
    assert [step["kind"] for step in done.json["steps"]] == ["sql", "sql", "python"]
    assert done.json["steps"][-1]["sandbox"] == "kernel"
    assert done.json["provenance"]["data_source_type"] == "sql"


def test_a_value_is_an_answer_of_one_cell(answerable: Run, sales: Path) -> None:
    done = answerable("ask", "PYTHON: result = orders.height", "--source", str(sales), "--json")
    assert done.code == 0, done.out + done.err
    assert done.json["kind"] == "value"
    assert done.json["rows"] == [[len((sales / "orders.csv").read_text().split()) - 1]]


def test_a_plan_of_several_steps_runs_from_a_file(answerable: Run, sales: Path, tmp_path: Path) -> None:
    (tmp_path / "plan.yaml").write_text(PLAN)
    done = answerable("ask", "--plan", str(tmp_path / "plan.yaml"), "--source", str(sales), "--json")
    assert done.code == 0, done.out + done.err
    assert [step["id"] for step in done.json["steps"]] == ["amounts", "regions", "joined"]
    assert [column["name"] for column in done.json["columns"]] == ["region", "product", "amount"]
    replayed = answerable("replay", done.json["run_id"], "--json")
    assert replayed.json["verdict"] == "same", replayed.out


def test_a_program_after_a_step_that_gave_nothing_replays_the_same(
    answerable: Run, sales: Path, tmp_path: Path
) -> None:
    (tmp_path / "plan.yaml").write_text("""
question: How many orders, with what is known of their targets?
steps:
  - {id: orders, tool: sql, code: SELECT count(*) AS n FROM orders}
  - {id: targets, tool: sql, critical: false, code: SELECT target / 0 FROM nowhere}
  - id: told
    tool: python
    after: [orders, targets]
    code: "result = [{'n': orders['n'][0], 'targets': targets is None}]"
""")
    done = answerable("ask", "--plan", str(tmp_path / "plan.yaml"), "--source", str(sales), "--json")
    assert done.code == 0, done.out + done.err
    assert done.json["rows"][0][1] is True
    replayed = answerable("replay", done.json["run_id"], "--json")
    assert replayed.json["verdict"] == "same", replayed.out


def test_the_rows_of_the_last_answer_are_at_hand(answerable: Run, sales: Path) -> None:
    thread = ("--thread", "thr_000000000000000000000009", "--source", str(sales), "--json")
    assert answerable("ask", "total amount per region", *thread).code == 0
    done = answerable("ask", "PYTHON: result = previous.height", *thread)
    assert done.code == 0, done.out + done.err
    assert done.json["rows"] == [[3]]


@pytest.mark.parametrize(
    ("code", "exit_code", "error"),
    [
        ("PYTHON: result = 1 / 0", 2, "python_failed"),
        ("PYTHON: while True: pass", 1, "python_stopped"),
        ("PYTHON: import socket", 4, "python_refused"),
        ("PYTHON: result = (", 2, "python_failed"),
        ("PYTHON: result = previous", 2, "previous_missing"),
    ],
)
def test_what_a_program_cannot_do_is_said(
    answerable: Run, sales: Path, monkeypatch: pytest.MonkeyPatch, code: str, exit_code: int, error: str
) -> None:
    monkeypatch.setenv("ANSWERABLE_SANDBOX_SECONDS", "2")
    done = answerable("ask", code, "--source", str(sales), "--json")
    assert done.code == exit_code, done.out + done.err
    assert done.json["provenance"]["error"]["code"] == error


@pytest.mark.parametrize("message", ["PYTHON:", "python: \n  "])
def test_a_program_that_is_not_there_is_named(answerable: Run, sales: Path, message: str) -> None:
    done = answerable("ask", message, "--source", str(sales), "--json")
    assert done.code == 2
    assert done.json["error"]["code"] == "python_empty"


@pytest.mark.parametrize(
    ("plan", "part"),
    [
        ("steps: []", "steps"),
        ("steps: [{id: a, tool: sql}]", "needs `code`, or `context`"),
        ("steps: [{id: a, tool: python, code: result = b, after: [b]}]", "there is no such node"),
        ("steps: [{id: 'a-b', tool: sql, code: SELECT 1}]", "an id is a name"),
        ("steps: [{id: a, tool: python, code: ''}]", "at least 1 character"),
        ("steps: [{id: a, tool: sql, code: ''}]", "at least 1 character"),
        ("steps: [", "cannot be read"),
        ("[1, 2]", "plan"),
    ],
)
def test_a_plan_that_cannot_run_names_what_is_wrong(
    answerable: Run, sales: Path, tmp_path: Path, plan: str, part: str
) -> None:
    (tmp_path / "plan.yaml").write_text(plan)
    done = answerable("ask", "--plan", str(tmp_path / "plan.yaml"), "--source", str(sales))
    assert done.code == 2
    assert part in done.out + done.err


class _Api(BaseHTTPRequestHandler):
    seen: ClassVar[list[str]] = []

    def do_GET(self) -> None:
        self.seen.append(self.headers["Authorization"])
        body = json.dumps([{"name": "Tea", "stock": 3}, {"name": "Coffee", "stock": 5}]).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None: ...


def test_a_program_reads_an_api_and_never_sees_the_credential(answerable: Run, sales: Path, home: Path) -> None:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Api)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    token = "a-token-that-nobody-sees"
    target = {
        "url": f"http://127.0.0.1:{server.server_port}",
        "paths": ["/stock"],
        "credential": {"kind": "header", "value": token},
    }
    (home / ".answerable").mkdir()
    (home / ".answerable" / "settings.yaml").write_text(json.dumps({"apis": {"shop": target}}))
    code = "PYTHON: result = orders.join(pl.DataFrame(api_get('/stock')), left_on='product', right_on='name').height"
    try:
        done = answerable("ask", code, "--source", str(sales), "--json")
        alone = answerable("ask", "PYTHON: result = api_get('/stock')", "--source", str(sales), "--json")
        code = "PYTHON: result = api_get('/stock') if False else 1"
        unused = answerable("ask", code, "--source", str(sales), "--json")
        refused = answerable("ask", "PYTHON: result = api_get('/tokens')", "--source", str(sales), "--json")
    finally:
        server.shutdown()
        server.server_close()
    assert done.code == 0, done.out + done.err
    assert done.json["rows"] == [[12]]
    assert done.json["steps"][-1]["data_source_type"] == "api"
    assert done.json["provenance"]["data_source_type"] == "hybrid"
    assert "The program read the API shop." in done.json["provenance"]["findings"]
    assert alone.json["provenance"]["data_source_type"] == "api"
    assert unused.json["provenance"]["data_source_type"] == "python"
    assert not [text for text in unused.json["provenance"]["findings"] if "shop" in text]
    assert _Api.seen == [token, token]
    assert token not in done.out + refused.out
    assert refused.code == 2
    assert answerable("replay", done.json["run_id"], "--json").json["verdict"] == "cannot"
