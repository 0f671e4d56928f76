"""What surrounds every request: ids, limits, hosts, logs, metrics, page, and a server that dies."""

import signal
import time
from typing import Any

import httpx


def test_every_reply_carries_a_request_id_and_it_is_logged(server: Any, api: httpx.Client) -> None:
    reply = api.post(
        "/chat", json={"message": "how many people?", "source": "small"}, headers={"X-Request-Id": "order-66"}
    )
    assert reply.headers["x-request-id"] == "order-66"
    run = reply.json()["run_id"]
    # "run ended" is logged by whoever delivers the outbox, perhaps another process, which knows nothing of the request.
    about_run = [line for line in server.log() if line.get("run") == run and line["message"] != "run ended"]
    assert {line["request"] for line in about_run} == {"order-66"}
    assert {line["thread"] for line in about_run} == {reply.json()["thread_id"]}
    programs = [line["code"] for line in about_run if line["message"] == "program"]
    assert len(programs) == 1
    assert "SELECT" in programs[0]
    assert any(line["message"] == "plan ready" and line["plan"] for line in about_run)
    assert any(line.get("sample") for line in about_run if line["message"] == "step finished")


def test_a_foreign_host_or_page_is_refused(server: Any) -> None:
    assert httpx.get(f"{server.url}/healthz", headers={"Host": "evil.example"}).status_code == 403
    foreign = httpx.post(f"{server.url}/api/v1/chat", json={"message": "x"}, headers={"Origin": "https://evil.example"})
    assert foreign.status_code == 403
    assert foreign.json()["code"] == "host_refused"


def test_a_huge_body_is_refused(api: httpx.Client) -> None:
    reply = api.post("/chat", content=b'{"message": "' + b"x" * 2_000_000 + b'"}')
    assert reply.status_code == 413
    assert reply.json()["code"] == "request_too_large"


def test_a_long_question_is_an_answered_failure(api: httpx.Client) -> None:
    answer = api.post("/chat", json={"message": "why " * 25_000, "source": "small"}).json()
    assert answer["provenance"]["error"]["code"] == "question_too_long"


def test_nonsense_is_a_problem(api: httpx.Client) -> None:
    reply = api.post("/chat", content=b"{not json")
    assert reply.status_code == 422
    assert reply.json()["code"] == "request_invalid"
    assert api.get("/nowhere").json()["code"] == "not_found"


def test_metrics_count_requests_by_route(server: Any, api: httpx.Client) -> None:
    api.get("/datasets")
    text = httpx.get(f"{server.url}/metrics").text
    assert 'answerable_http_requests_total{method="GET",route="/api/v1/datasets",status="200"}' in text
    assert "answerable_runs_total" in text


def test_the_page_is_served_under_a_strict_policy(server: Any) -> None:
    page = httpx.get(server.url)
    assert page.status_code in (200, 503)  # 503: a page that says that it is not built
    assert "unsafe" not in page.headers["content-security-policy"]
    assert "<script>" not in page.text


def test_the_routes_are_listed_without_any_other_host(server: Any) -> None:
    page = httpx.get(f"{server.url}/docs")
    assert page.status_code == 200
    assert "://" not in page.text
    assert httpx.get(f"{server.url}/static/docs.js").status_code == 200


def test_a_killed_server_continues_its_runs(own_server: Any, sse: Any) -> None:
    """The run is started, the server is killed at once, and the next one finishes it."""
    with httpx.Client(base_url=f"{own_server.url}/api/v1", timeout=60) as api:
        with api.stream("POST", "/chat/stream", json={"message": "how many people per city?", "source": "small"}) as s:
            run = s.headers["x-run-id"]
            own_server.process.send_signal(signal.SIGKILL)
        own_server.process.wait()
        own_server.start()
        for _ in range(200):
            if api.get(f"/runs/{run}/status").json()["finished"]:
                break
            time.sleep(0.05)
        assert api.get(f"/runs/{run}").json()["answer"]["row_count"] == 2
        with api.stream("GET", f"/runs/{run}/events") as stream:
            events = list(sse(stream.iter_lines()))
    finished = [event.data["node"] for event in events if event.type == "step.finished"]
    assert len(finished) == len(set(finished))
