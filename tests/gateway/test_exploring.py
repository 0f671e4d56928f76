"""A table that is explored: groups, filters and rows without a run, then a question."""

from collections.abc import Callable

import httpx

Upload = Callable[..., httpx.Response]
FLIGHTS = "carrier,origin,delay\nMQ,LGA,30\nMQ,LGA,58\nDL,JFK,4\nDL,LGA,80\nMQ,EWR,\n"
ADD = {"kind": "filter", "of": {"column": "origin"}, "values": ["LGA"]}


def test_a_table_is_grouped_filtered_drilled_into_and_asked(api: httpx.Client, upload: Upload) -> None:
    upload(FLIGHTS.encode(), "flights.csv")
    place = "/sources/flights/tables/flights/explore"
    before = len(api.get("/runs").json()["runs"])
    first = api.post(place, json={"changes": []}).json()
    assert first["columns"][0]["name"] == "carrier"
    assert (first["rows"], first["matching"], first["of"]) == ([["MQ", 3], ["DL", 2]], 5, 5)
    kinds = {part["kind"] for part in first["parts"]["parts"]}
    assert {"measure", "group"} <= kinds
    average = {"kind": "measure", "function": "avg", "of": {"column": "delay"}}
    filtered = api.post(place, json={"changes": [ADD, average]}).json()
    assert (filtered["rows"], filtered["matching"]) == ([["DL", 80.0], ["MQ", 44.0]], 3)
    drilled = {"kind": "filter", "of": {"column": "carrier"}, "values": ["MQ"]}
    rows = api.post(place, json={"changes": [ADD, drilled], "rows": True}).json()
    assert sorted(rows["rows"]) == [["MQ", "LGA", 30], ["MQ", "LGA", 58]]
    assert len(api.get("/runs").json()["runs"]) == before  # a look is no run
    asked = api.post(f"{place}/ask", json={"changes": [ADD, average]}).json()
    assert "run.finished" in api.get(f"/runs/{asked['run_id']}/events").text
    [question, *_] = api.get(f"/threads/{asked['thread_id']}/messages").json()["messages"]
    assert "LGA" in question["content"]


def test_what_does_not_fit_is_refused(api: httpx.Client, upload: Upload) -> None:
    upload(FLIGHTS.encode(), "flights.csv", source="more", replace=True)
    place = "/sources/more/tables/flights/explore"
    wrong = api.post(place, json={"changes": [{"kind": "group", "by": {"column": "nope"}}]})
    assert wrong.status_code == 422
    assert api.post("/sources/more/tables/nope/explore", json={"changes": []}).status_code == 404
