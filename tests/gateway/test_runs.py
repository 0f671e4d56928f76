"""Runs over HTTP: queries as written, listings, rows, cancelling."""

import io
import json
import re
import time
from collections.abc import Callable
from typing import Any

import httpx
import polars as pl
import pytest


def query(api: httpx.Client, sql: str, source: str = "small") -> dict[str, Any]:
    reply = api.post("/runs", json={"query_type": "sql", "code": sql, "source": source})
    assert reply.status_code == 200, reply.text
    answer: dict[str, Any] = reply.json()
    return answer


def test_a_written_query_runs_as_written(api: httpx.Client) -> None:
    answer = query(api, "SELECT city, count(*) AS n FROM people GROUP BY city ORDER BY n DESC")
    assert answer["rows"] == [["Berlin", 2], ["Paris", 1]]


WRITING = (
    "WITH a AS (INSERT INTO people SELECT * FROM people RETURNING *) FROM a",
    "WITH a AS (DELETE FROM people RETURNING *) SELECT * FROM a",
    "FROM (UPDATE people SET city = 'x' RETURNING *)",
    "SELECT city FROM people UNION ALL (DELETE FROM people RETURNING city)",
)


@pytest.mark.parametrize("sql", WRITING)
def test_a_query_that_would_change_data_is_refused_at_both_doors(api: httpx.Client, sql: str) -> None:
    asked = api.post("/chat", json={"message": f"SQL: {sql}", "source": "small"}).json()
    for answer in (query(api, sql), asked):
        assert answer["status"] in ("refused", "failed"), answer
        assert not answer["rows"]
    assert query(api, "SELECT count(*) FROM people")["rows"] == [[3]]


def test_a_plan_runs_as_given(api: httpx.Client) -> None:
    plan = {"entity": "people", "select": [{"expr": {"kind": "aggregate", "function": "count"}}]}
    reply = api.post("/runs", json={"query_type": "plan", "code": plan, "source": "small"}).json()
    assert reply["rows"] == [[3]]


def test_a_broken_plan_is_explained(api: httpx.Client) -> None:
    plan = {"entity": "peple"}
    reply = api.post("/runs", json={"query_type": "plan", "code": plan, "source": "small"}).json()
    assert reply["status"] == "failed"
    assert "people" in reply["text"] + str(reply["provenance"]["error"])


@pytest.mark.parametrize("plan", [{}, {"entity": 3}, {"entity": "people", "nonsense": 1}, "SELECT 1"])
def test_what_is_not_a_plan_is_a_problem(api: httpx.Client, plan: object) -> None:
    reply = api.post("/runs", json={"query_type": "plan", "code": plan, "source": "small"})
    assert reply.status_code == 422
    assert reply.headers["content-type"] == "application/problem+json"
    assert reply.json()["code"] == "plan_invalid"


def test_listings_go_on_page_by_page(api: httpx.Client) -> None:
    made = [query(api, f"SELECT {n} AS n")["run_id"] for n in range(3)]
    first = api.get("/runs", params={"limit": 2}).json()
    second = api.get("/runs", params={"limit": 1, "before": first["next_before"]}).json()
    assert [run["run_id"] for run in first["runs"] + second["runs"]] == made[::-1]


@pytest.mark.parametrize("format", ["csv", "ndjson", "arrow", "parquet", "xlsx"])
def test_rows_come_in_every_format(api: httpx.Client, format: str) -> None:
    run = query(api, "SELECT name FROM people ORDER BY name")["run_id"]
    reply = api.get(f"/runs/{run}/rows", params={"format": format})
    assert reply.status_code == 200
    readers: dict[str, Callable[..., Any]] = {
        "csv": pl.read_csv,
        "ndjson": pl.read_ndjson,
        "arrow": pl.read_ipc,
        "parquet": pl.read_parquet,
        "xlsx": pl.read_excel,
    }
    assert readers[format](io.BytesIO(reply.content))["name"].to_list() == ["Ana", "Bo", "Cy"]


def test_rows_come_by_page(api: httpx.Client) -> None:
    run = query(api, "SELECT name FROM people ORDER BY name")["run_id"]
    page = api.get(f"/runs/{run}/rows", params={"offset": 1, "limit": 1}).json()
    assert page == {"columns": [{"name": "name", "type": "text"}], "rows": [["Bo"]], "offset": 1, "row_count": 3}


def test_a_large_answer_is_told_in_batches_and_its_first_rows_ride_along(api: httpx.Client) -> None:
    answer = query(api, "SELECT order_id FROM order_items", "demo")
    count = int(str(answer["row_count"]))
    assert count > 1_000
    text = api.get(f"/runs/{answer['run_id']}/events").text
    events = [json.loads(line[6:]) for line in text.splitlines() if line.startswith("data: ")]
    first, *others = [event for event in events if event["type"] == "answer.batch"]
    page = api.get(f"/runs/{answer['run_id']}/rows", params={"limit": 100}).json()
    assert (first["offset"], first["count"], first["rows"]) == (0, 100, page["rows"])
    assert [batch["rows"] for batch in others] == [None] * len(others)
    assert first["count"] + sum(batch["count"] for batch in others) == count
    assert next(event for event in events if event["type"] == "answer.final")["answer"]["rows"] == []


def test_a_running_query_can_be_cancelled(api: httpx.Client) -> None:
    slow = "SELECT count(*) FROM order_items a, order_items b, order_items c WHERE a.quantity + b.quantity > c.quantity"
    with api.stream("POST", "/chat/stream", json={"message": f"SQL: {slow}", "source": "demo"}) as stream:
        run = stream.headers["x-run-id"]
        pieces = stream.iter_bytes()
        first = next(pieces)
        started = time.monotonic()
        assert api.post(f"/runs/{run}/cancel").status_code == 202
        text = (first + b"".join(pieces)).decode()
    assert "event: run.cancelled" in text
    assert time.monotonic() - started < 20
    assert api.get(f"/runs/{run}/status").json()["status"] == "cancelled"


def test_a_decision_that_nobody_asked_for_is_a_problem(api: httpx.Client) -> None:
    run = query(api, "SELECT 1 AS one")["run_id"]
    reply = api.post(f"/runs/{run}/approvals", json={"step": "query", "approved": True})
    assert (reply.status_code, reply.json()["code"]) == (422, "approval_not_asked")


def test_unknown_runs_are_problems(api: httpx.Client) -> None:
    for path in ("", "/status", "/events", "/rows"):
        reply = api.get(f"/runs/run_{'0' * 24}{path}")
        assert reply.status_code == 404, path
        assert reply.json()["code"] == "run_not_found"


def test_datasets_describe_themselves(api: httpx.Client) -> None:
    names = {dataset["id"] for dataset in api.get("/datasets").json()["datasets"]}
    assert names == {"demo", "small"}
    [table] = api.get("/datasets/small/schema").json()["tables"]
    assert [column["name"] for column in table["columns"]] == ["id", "name", "city"]
    assert api.get("/datasets/nope/schema").status_code == 404


def test_rows_are_filtered_and_sorted_at_the_server(api: httpx.Client) -> None:
    run = query(api, "SELECT id, name, city FROM people")["run_id"]
    wanted = {
        "filters": [{"column": "city", "operator": "eq", "value": "Berlin"}],
        "sort": [{"column": "name", "descending": True}],
        "columns": ["name"],
        "limit": 1,
    }
    reply = api.post(f"/runs/{run}/rows/query", json=wanted)
    assert reply.json() == {
        "columns": [{"name": "name", "type": "text"}],
        "rows": [["Cy"]],
        "offset": 0,
        "row_count": 2,
        "total_rows": 3,
    }
    stream = api.post(f"/runs/{run}/rows/query", json={**wanted, "format": "arrow", "offset": 1})
    assert stream.headers["content-type"] == "application/vnd.apache.arrow.stream"
    assert [stream.headers[name] for name in ("x-row-count", "x-total-rows", "x-row-offset")] == ["2", "3", "1"]
    assert pl.read_ipc_stream(io.BytesIO(stream.content)).rows() == [("Ana",)]
    wrong = api.post(f"/runs/{run}/rows/query", json={"sort": [{"column": "nope"}]})
    assert (wrong.status_code, wrong.json()["code"]) == (422, "column_unknown")


def test_a_file_holds_the_rows_that_are_chosen(api: httpx.Client) -> None:
    run = query(api, "SELECT id, name, city FROM people")["run_id"]
    selection = {"search": "berlin", "sort": [{"column": "id", "descending": True}], "columns": ["name", "id"]}
    wanted = {"selection": json.dumps(selection)}
    assert api.get(f"/runs/{run}/rows", params={**wanted, "format": "csv"}).text == "name,id\nCy,3\nAna,1\n"
    parquet = api.get(f"/runs/{run}/rows", params={**wanted, "format": "parquet"})
    assert pl.read_parquet(io.BytesIO(parquet.content)).rows() == [("Cy", 3), ("Ana", 1)]
    page = api.get(f"/runs/{run}/rows", params={**wanted, "limit": 1}).json()
    assert (page["rows"], page["row_count"]) == ([["Cy", 3]], 2)
    totals = api.get(f"/runs/{run}/rows/totals", params=wanted).json()
    assert totals == {
        "row_count": 2,
        "columns": [{"column": "id", "total": 4, "minimum": 1, "maximum": 3, "null_count": 0}],
    }
    wrong = api.get(f"/runs/{run}/rows", params={"selection": '{"sort": 1}'})
    assert (wrong.status_code, wrong.json()["code"]) == (422, "filter_invalid")
    assert wrong.json()["detail"].startswith("selection.sort: ")


def test_a_refusal_is_not_a_failure(api: httpx.Client, server: Any) -> None:
    refused = query(api, "DROP TABLE people")
    assert refused["status"] == "refused"
    run = api.get(f"/runs/{refused['run_id']}").json()
    assert (run["run"]["status"], run["run"]["kind"], run["answer"]["status"]) == ("refused", "refusal", "refused")

    def found(status: str) -> list[str]:
        return [each["run_id"] for each in api.get("/runs", params={"limit": 500, "status": status}).json()["runs"]]

    assert refused["run_id"] in found("refused")
    assert refused["run_id"] not in found("failed")
    counted = httpx.get(f"{server.url}/metrics").text
    assert re.search(r'answerable_runs_total\{status="refused"\} [1-9]', counted)


def test_runs_are_found_by_what_they_asked(api: httpx.Client) -> None:
    asked = api.post("/chat", json={"message": "how many people are in Paris?", "source": "small"}).json()["run_id"]
    failed = query(api, "SELECT nope FROM people")["run_id"]

    def found(**only: Any) -> list[str]:
        return [run["run_id"] for run in api.get("/runs", params={"limit": 500, **only}).json()["runs"]]

    assert asked in found(search="IN PARIS", mode="auto", source="small", status=["done", "failed"])
    assert failed not in found(status="done")
    assert failed in found(status="failed", mode="sql")
    assert asked not in found(source="demo")
    assert found(since="2999-01-01T00:00:00Z") == []
    assert asked in found(until="2999-01-01T00:00:00Z")
    listed = api.get(f"/runs/{asked}").json()["run"]
    assert (listed["kind"], listed["row_count"], listed["tokens"], listed["cost_usd"]) == ("value", 1, 0, 0)
    assert listed["duration_ms"] > 0
    assert api.get("/runs", params={"since": "2026-01-01T00:00:00"}).status_code == 422


def test_a_run_is_done_once_more(api: httpx.Client) -> None:
    first = api.post("/chat", json={"message": "how many people are in Paris?", "source": "small"}).json()
    again = api.post(f"/runs/{first['run_id']}/retry")
    assert again.status_code == 202
    assert again.json()["thread_id"] == first["thread_id"]
    new = again.json()["run_id"]
    assert new != first["run_id"]
    assert "event: run.finished" in api.get(f"/runs/{new}/events").text
    assert api.get(f"/runs/{new}").json()["answer"]["rows"] == first["rows"]
    assert len(api.get(f"/threads/{first['thread_id']}/messages").json()["messages"]) == 4


def test_an_answer_is_replayed(api: httpx.Client) -> None:
    run = query(api, "SELECT name FROM people ORDER BY name")["run_id"]
    replayed = api.post(f"/runs/{run}/replay").json()
    assert (replayed["verdict"], replayed["text"]) == ("same", "Replays the same.")


def test_a_run_tells_its_timeline(api: httpx.Client) -> None:
    run = api.post("/chat", json={"message": "how many people per city?", "source": "small"}).json()["run_id"]
    told = api.get(f"/runs/{run}/timeline").json()
    steps = {step["id"]: step for step in told["steps"]}
    assert set(steps) == {"understand", "execute", "execute/query", "execute/answer"}
    query_step = steps["execute/query"]
    assert (query_step["status"], query_step["parent"], query_step["row_count"]) == ("done", "execute", 2)
    assert "SELECT" in query_step["code"]
    assert query_step["critical"]
    assert 0 <= query_step["start_ms"] <= query_step["end_ms"] <= told["total_ms"]


def test_two_runs_are_compared(api: httpx.Client) -> None:
    first = query(api, "SELECT id, name, city FROM people WHERE id < 3")["run_id"]
    second = query(api, "SELECT id, name, upper(city) AS city FROM people WHERE id > 1")["run_id"]
    found = api.get(f"/runs/{first}/comparison", params={"other": second}).json()
    assert found["key"] == ["id"]
    assert found["counts"] == {"added": 1, "removed": 1, "changed": 1, "same": 0}
    assert [row["change"] for row in found["rows"]] == ["changed", "added", "removed"]
    assert found["rows"][0]["columns"] == ["city"]
    assert (found["same_code"], found["same_plan"], found["data_changed"]) == (False, True, False)
    [step] = found["steps"]
    assert "-  city" in step["code_diff"]
    only = api.get(f"/runs/{first}/comparison", params={"other": second, "change": "added", "key": ["name"]}).json()
    assert [row["after"][1] for row in only["rows"]] == ["Cy"]
    file = api.get(f"/runs/{first}/comparison/rows", params={"other": second})
    assert "differences.csv" in file.headers["content-disposition"]
    assert [line.split(",")[:2] for line in file.text.splitlines()] == [
        ["change", "id"],
        ["changed", "2"],
        ["added", "3"],
        ["removed", "1"],
    ]
    unlike = query(api, "SELECT count(*) AS n FROM people")["run_id"]
    refused = api.get(f"/runs/{first}/comparison/rows", params={"other": unlike})
    assert (refused.status_code, refused.json()["code"]) == (422, "nothing_to_compare")
    failed = query(api, "SELECT nothing FROM people")["run_id"]
    found = api.get(f"/runs/{first}/comparison", params={"other": failed}).json()
    assert (found["rows_compared"], found["rows"]) == (False, [])
