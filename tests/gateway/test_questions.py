"""Questions to begin with, choices that can be remembered, and answers that the data has left behind."""

from collections.abc import Callable
from typing import Any

import httpx

Upload = Callable[..., httpx.Response]


def ask(api: httpx.Client, question: str, source: str, **more: Any) -> dict[str, Any]:
    answer: dict[str, Any] = api.post("/chat", json={"message": question, "source": source, **more}).json()
    return answer


def test_each_source_has_questions_that_it_answers(api: httpx.Client, upload: Upload) -> None:
    golden = api.get("/sources/demo/questions").json()["questions"]
    assert len(golden) == 4
    assert ask(api, golden[0]["question"], "demo")["kind"] == "table"
    rows = ["2026-01-01,a,1.5", "2026-02-01,b,2", "2026-02-02,b,4", "2026-02-03,b,3", "2026-02-04,a,1.5"]
    upload("\n".join(("day,kind,price", *rows)).encode(), "visits.csv")
    made = api.get("/sources/visits/questions").json()["questions"]
    assert [each["question"] for each in made] == [
        "What is the average price by kind?",
        "Average price per month",
        "Visits per kind",
        "Visits per month",
    ]
    assert made[0]["answer"] in ("2 rows: a 1.5, b 3", "2 rows: b 3, a 1.5")
    for each in made:
        answer = ask(api, each["question"], "visits")
        assert (answer["status"], bool(each["rows"])) == ("done", True)
    assert api.get("/sources/nope/questions").status_code == 404


def test_a_choice_that_is_remembered_is_not_asked_for_again(api: httpx.Client, upload: Upload) -> None:
    upload(b"order_no,way\n1,web\n2,web\n3,shop\n4,web\n5,shop\n", "orders.csv")
    first = ask(api, "orders by route", "orders")
    assert first["kind"] == "clarify", first["text"]
    told = {choice["synonym"]["column"] for choice in first["choices"] if choice["synonym"]}
    assert told == {"way"}, first["choices"]
    [synonym] = [choice["synonym"] for choice in first["choices"] if choice["synonym"]][:1]
    assert (synonym["phrase"], synonym["table"]) == ("route", "orders")
    edit = {"kind": "name", "table": "orders", "column": "way", "synonyms": ["route"]}
    assert api.patch("/sources/orders/semantic", json={"edits": [edit]}).status_code == 200
    again = ask(api, "orders by route", "orders")
    assert "route" not in again["text"]


def test_an_answer_is_stale_when_its_data_has_changed(api: httpx.Client, upload: Upload) -> None:
    upload(b"name\nRex\n", "dogs.csv")
    run = ask(api, "how many dogs are there?", "dogs")["run_id"]
    fresh = api.get(f"/runs/{run}/freshness").json()
    assert (fresh["stale"], fresh["sources"][0]["source"], fresh["sources"][0]["changed"]) == (False, "dogs", False)
    upload(b"name\nRex\nTom\n", "dogs.csv", source="dogs", replace="true")
    assert api.get(f"/runs/{run}/freshness").json()["stale"]
    api.delete("/sources/dogs")
    gone = api.get(f"/runs/{run}/freshness").json()
    assert (gone["stale"], gone["sources"][0]["changed"]) == (False, None)


def test_another_source_that_knows_the_words_is_offered_and_can_be_chosen(api: httpx.Client, upload: Upload) -> None:
    upload(b"species,wingspan\nowl,90\nwren,15\n", "birds.csv")
    assert ask(api, "how many owls are there?", "birds")["rows"] == [[1]]  # it has been read
    first = ask(api, "average wingspan per species", "demo")
    # After it come questions that this source can answer.
    assert [(choice["id"], choice["source"]) for choice in first["choices"]][:2] == [(1, "birds"), (2, None)], first
    assert "“wingspan”, “species”" in first["choices"][0]["label"]
    thread = api.get(f"/runs/{first['run_id']}").json()["run"]["thread_id"]
    chosen = ask(api, "average wingspan per species", "demo", thread_id=thread, choice=1)
    assert (sorted(chosen["rows"]), chosen["provenance"]["sources"]) == ([[15.0, "wren"], [90.0, "owl"]], ["birds"])
    unknown = ask(api, "average flibbertigibbet per gizmo", "demo")["choices"]
    assert all(choice["source"] is None for choice in unknown)


def test_small_talk_over_http(api: httpx.Client) -> None:
    reply = api.post("/chat", json={"message": "what data do you have?", "source": "demo"})
    answer = reply.json()
    assert reply.status_code == 200, reply.text
    assert answer["kind"] == "text"
    assert "tables" in answer["text"]
    assert "Other sources that you can ask: small" in answer["text"]
    assert answer["choices"]
