"""Asking over HTTP."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx


def test_a_question_gets_its_answer_and_a_thread(api: httpx.Client) -> None:
    reply = api.post("/chat", json={"message": "how many people are in Berlin?", "source": "small"})
    assert reply.status_code == 200
    answer = reply.json()
    assert (answer["kind"], answer["rows"]) == ("value", [[2]])
    assert answer["thread_id"].startswith("thr_")


def test_a_thread_remembers(api: httpx.Client) -> None:
    first = api.post("/chat", json={"message": "how many people per city?", "source": "small"}).json()
    again = {"message": "only Berlin", "source": "small", "thread_id": first["thread_id"]}
    second = api.post("/chat", json=again).json()
    assert second["status"] == "done", second
    assert all("Paris" not in row for row in second["rows"])
    messages = api.get(f"/threads/{first['thread_id']}/messages").json()["messages"]
    assert [message["role"] for message in messages] == ["user", "assistant", "user", "assistant"]
    newest = api.get(f"/threads/{first['thread_id']}/messages", params={"last": 1}).json()["messages"]
    assert newest == messages[-1:]


def test_the_stream_tells_everything_in_order(api: httpx.Client, sse: Any) -> None:
    body = {"message": "how many people per city?", "source": "small"}
    with api.stream("POST", "/chat/stream", json=body) as stream:
        assert stream.headers["content-type"].startswith("text/event-stream")
        events = list(sse(stream.iter_lines()))
        run = stream.headers["x-run-id"]
    types = [event.type for event in events]
    assert [event.id for event in events] == list(range(1, len(events) + 1))
    assert types[0] == "run.started"
    assert types[-1] == "run.finished"
    for expected in ("plan.ready", "step.started", "step.finished", "answer.metadata", "answer.final"):
        assert expected in types
    assert api.get(f"/runs/{run}").json()["run"]["status"] == "done"


def test_a_stream_is_continued_after_the_last_event_that_was_seen(api: httpx.Client, sse: Any) -> None:
    run = api.post("/chat", json={"message": "how many people?", "source": "small"}).json()["run_id"]
    with api.stream("GET", f"/runs/{run}/events") as stream:
        whole = list(sse(stream.iter_lines()))
    with api.stream("GET", f"/runs/{run}/events", headers={"Last-Event-ID": "3"}) as stream:
        rest = list(sse(stream.iter_lines()))
    assert rest == whole[3:]


def test_two_tabs_and_a_reload_see_the_same_run(server: Any, api: httpx.Client, sse: Any) -> None:
    """While a run goes on: one tab from its beginning, one that opens later, one that was reloaded at event 2."""
    slow = "SQL: SELECT count(*) FROM order_items a, order_items b WHERE a.quantity + b.quantity > 3"

    def follow(last_seen: str | None) -> list[Any]:
        headers = {"Last-Event-ID": last_seen} if last_seen else {}
        with httpx.stream("GET", f"{server.url}/api/v1/runs/{run}/events", headers=headers, timeout=60) as tab:
            return list(sse(tab.iter_lines()))

    with api.stream("POST", "/chat/stream", json={"message": slow, "source": "demo"}) as stream:
        run = stream.headers["x-run-id"]
        with ThreadPoolExecutor(2) as pool:
            later, reloaded = pool.submit(follow, None), pool.submit(follow, "2")
            first = list(sse(stream.iter_lines()))
            assert later.result(timeout=60) == first
            assert reloaded.result(timeout=60) == first[2:]
    assert first[-1].type == "run.finished"


def test_a_client_that_vanishes_does_not_stop_its_run(api: httpx.Client) -> None:
    body = {"message": "how many people per city?", "source": "small"}
    with api.stream("POST", "/chat/stream", json=body) as stream:
        run = stream.headers["x-run-id"]
        next(stream.iter_bytes())
    api.get(f"/runs/{run}/events").raise_for_status()  # ends when the run does
    assert api.get(f"/runs/{run}").json()["answer"]["row_count"] == 2


def test_a_failed_run_is_recorded_and_told(api: httpx.Client) -> None:
    answer = api.post("/chat", json={"message": "SQL: SELECT nope FROM people", "source": "small"}).json()
    assert answer["status"] == "failed"
    assert "nope" in answer["text"]
    assert api.get(f"/runs/{answer['run_id']}").json()["run"]["error_code"] == answer["provenance"]["error"]["code"]


def test_only_named_sources_can_be_asked(api: httpx.Client) -> None:
    answer = api.post("/chat", json={"message": "how many?", "source": "/etc"}).json()
    assert answer["provenance"]["error"]["code"] == "source_unknown"


def test_several_sources_are_asked_together(api: httpx.Client) -> None:
    both = {"sources": ["small", "demo"]}
    answer = api.post("/chat", json={"message": "how many people are in Berlin?", **both}).json()
    assert (answer["rows"], answer["provenance"]["sources"]) == ([[2]], ["small"]), answer
    written = api.post("/chat", json={"message": "SQL: SELECT count(*) FROM small.people", **both}).json()
    assert written["provenance"]["sources"] == ["small"]
    unknown = api.post("/chat", json={"message": "how many people?", "sources": ["small", "/etc"]}).json()
    assert unknown["provenance"]["error"]["code"] == "source_unknown"
