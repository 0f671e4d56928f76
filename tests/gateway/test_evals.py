"""Golden questions over HTTP: from a good answer to a case, to a result, to a trend."""

import time
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

SUITE = "/evals/mine"


@pytest.fixture
def cases(api: httpx.Client) -> Iterator[list[str]]:
    """A question, its follow-up and one more, made into cases."""
    first = api.post("/chat", json={"message": "how many people per city?", "source": "small"}).json()
    then = {"message": "only Berlin", "source": "small", "thread_id": first["thread_id"]}
    second = api.post("/chat", json=then).json()
    made = []
    for answer in (first, second):
        reply = api.post(f"{SUITE}/cases", json={"run_id": answer["run_id"]})
        assert reply.status_code == 201, reply.text
        made.append(reply.json()["id"])
    yield made
    for case in api.get(SUITE).json().get("cases", []):
        api.delete(f"{SUITE}/cases/{case['id']}")


def measured(api: httpx.Client, suite: str = SUITE) -> dict[str, Any]:
    started = api.post(f"{suite}/runs")
    assert started.status_code == 202
    for _ in range(600):
        run: dict[str, Any] = api.get(f"{suite}/runs/{started.json()['eval_id']}").json()
        if run["status"] != "running":
            return run
        time.sleep(0.05)
    raise AssertionError("the eval did not end")


def test_good_answers_become_cases_that_are_measured(api: httpx.Client, cases: list[str], server: Any) -> None:
    before = [run["run_id"] for run in api.get("/runs").json()["runs"]]
    run = measured(api)
    assert (run["status"], run["cases"], run["done"], run["correct"], run["accuracy"]) == ("done", 2, 2, 2, 1.0), run
    assert [run["run_id"] for run in api.get("/runs").json()["runs"]] == before, "measuring leaves no runs behind"
    people = server.folder / "people.csv"
    kept = people.read_text()
    try:
        people.write_text(kept + "4,Di,Berlin\n")
        assert measured(api)["correct"] == 0
    finally:
        people.write_text(kept)
    detail = api.get(SUITE).json()
    assert [case["outcome"] for case in detail["cases"]] == ["wrong", "wrong"]
    assert all(case["changed"] for case in detail["cases"])
    assert [run["correct"] for run in detail["suite"]["trend"]][-2:] == [2, 0]
    wrong = api.get(f"{SUITE}/cases/{cases[0]}").json()
    assert sorted(map(str, wrong["expected_rows"])) != sorted(map(str, wrong["got_rows"]))
    assert "SELECT" in wrong["got_code"]
    follow_up = api.get(f"{SUITE}/cases/{cases[1]}").json()
    assert follow_up["case"]["lead"] == ["how many people per city?"]
    listed = {suite["name"]: suite for suite in api.get("/evals").json()["suites"]}
    assert (listed["demo"]["bundled"], listed["mine"]["bundled"]) == (True, False)
    assert listed["mine"]["last"]["correct"] == 0


def test_what_cannot_be_a_case_is_said(api: httpx.Client, cases: list[str]) -> None:
    written = api.post("/runs", json={"query_type": "sql", "code": "SELECT 1 AS n", "source": "small"}).json()["run_id"]
    unfit = api.post(f"{SUITE}/cases", json={"run_id": written})
    assert (unfit.status_code, unfit.json()["code"]) == (422, "case_unfit")
    asked = api.post("/chat", json={"message": "how many people?", "source": "small"}).json()["run_id"]
    taken = api.post(f"{SUITE}/cases", json={"run_id": asked, "id": cases[0]})
    assert taken.json()["code"] == "case_exists"
    bundled = api.post("/evals/demo/cases", json={"run_id": asked})
    assert (bundled.status_code, bundled.json()["code"]) == (403, "suite_bundled")
    assert api.get("/evals/nope").json()["code"] == "suite_unknown"
    assert api.post("/evals/nope/runs").json()["code"] == "suite_unknown"
    assert api.get(f"{SUITE}/cases/nope").json()["code"] == "case_unknown"
    assert api.delete(f"{SUITE}/cases/nope").json()["code"] == "case_unknown"


def test_bundled_cases_can_be_looked_at(api: httpx.Client) -> None:
    detail = api.get("/evals/demo").json()
    first = api.get(f"/evals/demo/cases/{detail['cases'][0]['id']}").json()
    assert first["case"]["source"] == "demo"
    assert first["expected_rows"] == [[3304]]
    assert (first["outcome"], first["got_rows"]) == (None, [])
