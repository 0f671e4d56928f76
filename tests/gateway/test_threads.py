"""Conversations over HTTP: found, named, pinned, shared, forked and deleted."""

from typing import Any

import httpx
import pytest


@pytest.fixture
def thread(api: httpx.Client) -> dict[str, Any]:
    """Two questions and their answers."""
    first = api.post("/chat", json={"message": "how many people per city?", "source": "small"}).json()
    again = {"message": "only Berlin", "source": "small", "thread_id": first["thread_id"]}
    assert api.post("/chat", json=again).json()["status"] == "done"
    found: dict[str, Any] = api.get(f"/threads/{first['thread_id']}").json()
    return found


def test_a_thread_is_found_by_its_words(api: httpx.Client, thread: dict[str, Any]) -> None:
    assert thread["title"] == "how many people per city?"
    assert (thread["sources"], thread["last_status"]) == (["small"], "done")
    listed = api.get("/threads", params={"search": "ONLY berl"}).json()["threads"]
    assert [one["thread_id"] for one in listed][:1] == [thread["thread_id"]]
    assert listed[0]["excerpt"] == "only Berlin"
    assert api.get("/threads", params={"search": "zebra"}).json() == {"threads": [], "next_cursor": None}


def test_threads_are_renamed_pinned_and_listed_by_page(api: httpx.Client, thread: dict[str, Any]) -> None:
    path = f"/threads/{thread['thread_id']}"
    changed = api.patch(path, json={"title": "People of Zanzibar", "pinned": True}).json()
    assert (changed["title"], changed["pinned"]) == ("People of Zanzibar", True)
    newer = api.post("/chat", json={"message": "how many in Zanzibar?", "source": "small"}).json()["thread_id"]
    ours: dict[str, Any] = {"limit": 1, "search": "zanzibar"}  # other tests use this server too
    first = api.get("/threads", params=ours).json()
    assert [one["thread_id"] for one in first["threads"]] == [thread["thread_id"]]
    second = api.get("/threads", params={**ours, "cursor": first["next_cursor"]}).json()
    assert [one["thread_id"] for one in second["threads"]] == [newer]
    roomy = api.get("/threads", params={**ours, "limit": 3}).json()
    assert (len(roomy["threads"]), roomy["next_cursor"]) == (2, None)
    assert api.patch(path, json={"pinned": False}).json()["title"] == "People of Zanzibar"
    assert api.patch(path, json={"title": ""}).status_code == 422


def test_a_deleted_thread_can_be_had_back(api: httpx.Client, thread: dict[str, Any]) -> None:
    path = f"/threads/{thread['thread_id']}"
    assert api.delete(path).status_code == 204
    for gone in (api.get(path), api.get(f"{path}/messages"), api.delete(path)):
        assert (gone.status_code, gone.json()["code"]) == (404, "thread_not_found")
    asked = api.post("/chat", json={"message": "how many?", "source": "small", "thread_id": thread["thread_id"]})
    assert asked.status_code == 404
    assert api.post(f"{path}/restore").json()["title"] == thread["title"]
    assert len(api.get(f"{path}/messages").json()["messages"]) == 4


def test_a_run_outlives_its_thread(api: httpx.Client) -> None:
    slow = "SQL: SELECT count(*) AS n FROM order_items a, order_items b WHERE a.quantity + b.quantity > 3"
    with api.stream("POST", "/chat/stream", json={"message": slow, "source": "demo"}) as stream:
        assert api.delete(f"/threads/{stream.headers['x-thread-id']}").status_code == 204
        assert "event: run.finished" in "".join(stream.iter_text())
    run = api.get(f"/runs/{stream.headers['x-run-id']}").json()
    assert (run["run"]["status"], run["answer"]["status"]) == ("done", "done")


def test_a_shared_thread_is_read_by_its_link_until_it_is_not(api: httpx.Client, thread: dict[str, Any]) -> None:
    path = f"/threads/{thread['thread_id']}/share"
    link = api.post(path).json()["share_path"]
    assert api.post(path).json()["share_path"] == link
    seen = api.get(link).json()
    assert [message["role"] for message in seen["messages"]] == ["user", "assistant"] * 2
    assert seen["messages"][1]["answer"]["row_count"] == 2
    assert api.delete(path).json()["share_path"] is None
    assert (api.get(link).status_code, api.get(link).json()["code"]) == (404, "share_unknown")
    assert api.post(path).json()["share_path"] != link


def test_messages_bring_their_runs_and_answers(api: httpx.Client, thread: dict[str, Any]) -> None:
    said = api.get(f"/threads/{thread['thread_id']}/messages", params={"answers": True}).json()["messages"]
    assert [message["run"]["status"] for message in said] == ["done"] * 4
    assert [message["answer"] is not None for message in said] == [False, True, False, True]
    assert said[1]["run"]["run_id"] == said[1]["run_id"] == said[1]["answer"]["run_id"]


def test_a_fork_goes_on_from_where_it_began(api: httpx.Client, thread: dict[str, Any]) -> None:
    said = api.get(f"/threads/{thread['thread_id']}/messages").json()["messages"]
    forked = api.post(f"/threads/{thread['thread_id']}/fork", json={"message_id": said[1]["message_id"]})
    assert forked.status_code == 201
    new = forked.json()["thread_id"]
    answer = api.post("/chat", json={"message": "only Paris", "source": "small", "thread_id": new}).json()
    assert (answer["status"], answer["row_count"]) == ("done", 1), answer
    assert "Paris" in str(answer["rows"])
    contents = [message["content"] for message in api.get(f"/threads/{new}/messages").json()["messages"]]
    assert contents[:3] == [said[0]["content"], said[1]["content"], "only Paris"]
    assert len(api.get(f"/threads/{thread['thread_id']}/messages").json()["messages"]) == 4
    before = {"message_id": said[2]["message_id"], "include": False}
    empty = api.post(f"/threads/{thread['thread_id']}/fork", json=before).json()["thread_id"]
    assert len(api.get(f"/threads/{empty}/messages").json()["messages"]) == 2
    lost = api.post(f"/threads/{thread['thread_id']}/fork", json={"message_id": "msg_" + "0" * 24})
    assert (lost.status_code, lost.json()["code"]) == (404, "message_not_found")
