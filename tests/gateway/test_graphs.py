"""Graphs over HTTP."""

import httpx

TEXT = "name: two\ninput: {type: object, properties: {n: {type: integer}}, required: [n]}\nnodes:\n"
GOOD = TEXT + "  double: {kind: transform, value: ['{{ input.n }}', '{{ input.n }}']}\n"


def test_a_graph_is_checked_run_and_shown(api: httpx.Client) -> None:
    checked = api.post("/graphs/validate", json={"text": GOOD}).json()
    assert [node["id"] for node in checked["nodes"]] == ["double"]
    started = api.post("/graphs/run", json={"text": GOOD, "input": {"n": 4}})
    assert started.status_code == 202
    run = started.json()["run_id"]
    events = api.get(f"/runs/{run}/events")
    assert "run.finished" in events.text
    shown = api.get(f"/runs/{run}/nodes").json()
    assert (shown["status"], shown["output"]) == ("done", [4, 4])
    assert shown["nodes"]["double"]["attempts"] == 1
    assert api.get(f"/runs/{run}").json()["answer"]["kind"] == "text"


def test_a_mistake_is_a_problem_with_its_place(api: httpx.Client) -> None:
    wrong = api.post("/graphs/validate", json={"text": TEXT + "  a: {kind: nope}\n"})
    problem = wrong.json()
    assert (wrong.status_code, problem["code"], problem["line"]) == (422, "graph_invalid", 4)
    unfit = api.post("/graphs/run", json={"text": GOOD, "input": {"n": "four"}})
    assert (unfit.status_code, unfit.json()["code"]) == (422, "graph_input_invalid")


def test_the_schema_of_the_format_is_served(api: httpx.Client) -> None:
    schema = api.get("/graphs/schema").json()
    assert "nodes" in schema["properties"]


def test_graphs_are_stored_compared_and_run_by_name(api: httpx.Client) -> None:
    text = GOOD.replace("two", "three")
    assert api.put("/graphs/three", json={"text": text, "note": "first"}).json()["version"]["version"] == 1
    changed = text.replace("double", "twice")
    assert api.put("/graphs/three", json={"text": changed, "expected": 1}).json()["version"]["version"] == 2
    late = api.put("/graphs/three", json={"text": text, "expected": 1})
    assert (late.status_code, late.json()["code"]) == (422, "graph_changed")
    assert [each["name"] for each in api.get("/graphs").json()["graphs"]] == ["three"]
    assert api.get("/graphs/three/diff").json()["added"] == ["twice"]
    run = api.post("/graphs/three/runs", json={"input": {"n": 2}, "version": 1}).json()["run_id"]
    assert "run.finished" in api.get(f"/runs/{run}/events").text
    assert api.get("/graphs/three/runs").json()["runs"][0]["run_id"] == run
    assert api.get("/graphs/three/figures").json()["nodes"]["double"]["runs"] == 1
    assert api.post("/graphs/three/rollback", json={"version": 1}).json()["text"] == text
    assert len(api.get("/graphs/three/versions").json()["versions"]) == 3
    assert api.get("/graphs/three", params={"version": 2}).json()["text"] == changed
    assert api.delete("/graphs/three").status_code == 204
    assert api.get("/graphs/three").json()["code"] == "graph_not_found"


def test_a_run_is_paused_and_resumed(api: httpx.Client) -> None:
    text = "name: held\nnodes:\n  ok: {kind: approval, prompt: Go?}\n"
    run = api.post("/graphs/run", json={"text": text}).json()["run_id"]
    assert "approval.requested" in api.get(f"/runs/{run}/events").text
    assert api.post(f"/runs/{run}/pause").json()["status"] == "paused"
    assert api.post(f"/runs/{run}/resume").status_code == 202
    api.post(f"/runs/{run}/approvals", json={"step": "ok", "approved": True})
    assert "run.paused" in api.get(f"/runs/{run}/events").text
    late = api.post(f"/runs/{run}/pause")
    assert (late.status_code, late.json()["code"]) == (422, "run_ended")


def test_ready_made_graphs_are_listed_and_stored_under_a_name(api: httpx.Client) -> None:
    templates = api.get("/graphs/templates").json()["templates"]
    assert {"name", "description", "needs_model", "input", "text"} == set(templates[0])
    made = api.post("/graphs/mine/from", json={"template": "debate"})
    assert (made.status_code, made.json()["graph"]["name"]) == (201, "mine")
    assert api.post("/graphs/mine/from", json={"template": "debate"}).json() == made.json(), "asked for once more"
    assert api.post("/graphs/mine/from", json={"template": "research"}).json()["code"] == "graph_changed"
    assert api.post("/graphs/x/from", json={"template": "none"}).json()["code"] == "ready_graph_not_found"
