"""Nodes that change something outside: each write happens once, or a person is asked."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from api_server import Answer, ApiServer
from graph_text import graph_text

from answerable.core.context import LOCAL, Principal
from answerable.core.errors import GraphError, UserError
from answerable.core.ids import RunId, TenantId, UserId
from answerable.service import Service
from answerable.settings import Settings


@pytest.fixture
def shop() -> Iterator[ApiServer]:
    server = ApiServer()
    yield server
    server.close()


@pytest.fixture
def settings(tmp_path: Path, orders: Path, shop: ApiServer) -> Settings:
    common = {"url": shop.url, "paths": ["/orders", "/orders/{id}"], "methods": ["GET", "POST"]}
    return Settings(
        home=tmp_path / "home",
        source=str(orders),
        apis={
            "keyed": {**common, "idempotency_header": "Idempotency-Key"},
            "plain": common,
            "reading": {**common, "methods": ["GET"]},
            "gone": {**common, "url": "http://127.0.0.1:9"},
        },
    )


QUICK = "retry: {attempts: 3, base_delay: 0.01}"


def busy_at_first(times: int) -> Any:
    """Carries every request out, and does not say so the first times."""
    replies = iter([Answer({"error": "busy"}, 503)] * times)
    return lambda received: next(replies, Answer({"order": 7}))


async def test_a_read_gives_the_reply(run_graph: Any, shop: ApiServer) -> None:
    shop.route = lambda received: Answer({"path": received.path, "query": received.query})
    found = await run_graph(
        """
        read: {kind: api, api: reading, path: "/orders/{{ input.id }}", params: {size: "{{ input.size }}"}}
        said: {kind: transform, template: "{{ read.data.path }} {{ read.data.query.size.0 }}"}
        """,
        id=7,
        size=3,
    )
    assert found.output == "/orders/7 3"
    assert "Idempotency-Key" not in shop.received[0].headers


async def test_a_write_whose_target_knows_the_key_is_sent_again_with_it(run_graph: Any, shop: ApiServer) -> None:
    shop.route = busy_at_first(4)
    found = await run_graph(f"pay: {{kind: api, api: keyed, method: POST, path: /orders, body: {{n: 1}}, {QUICK}}}")
    assert (found.status, found.output) == ("done", {"data": {"order": 7}})
    assert {each.headers["Idempotency-Key"] for each in shop.received} == {f"{found.run_id}:pay"}
    assert len(shop.received) == 5


PAY = """
pay: {kind: api, api: plain, method: POST, path: /orders, body: {n: 1}}
text: {kind: transform, template: "order {{ pay.data.order }}"}
"""


@pytest.mark.parametrize(
    ("verdict", "data", "status", "output", "sent"),
    [
        ("respond", {"data": {"order": 9}}, "done", "order 9", 1),
        ("approve", None, "done", "order 7", 2),
        ("reject", None, "refused", None, 1),
    ],
)
async def test_a_write_in_doubt_waits_for_a_person(
    run_graph: Any, service: Service, shop: ApiServer, verdict: Any, data: Any, status: str, output: Any, sent: int
) -> None:
    shop.route = busy_at_first(1)
    waiting = await run_graph(PAY)
    assert (waiting.status, len(shop.received)) == ("waiting", 1)
    assert "If it happened, respond with its result" in (waiting.nodes["pay"].message or "")
    await service.runs.decide(waiting.run_id, "pay", LOCAL, verdict=verdict, data=data)
    found = await service.graphs.wait(waiting.run_id, LOCAL)
    assert (found.status, found.output, len(shop.received)) == (status, output, sent)


async def test_a_write_that_certainly_did_not_happen_fails_or_is_sent_again(run_graph: Any, shop: ApiServer) -> None:
    shop.route = lambda _: Answer({"error": "no such product"}, 400)
    assert (await run_graph(PAY)).error["code"] == "api_failed"
    replies = iter([Answer(status=429, headers={"Retry-After": "0"})])
    shop.route = lambda _: next(replies, Answer({"order": 7}))
    assert (await run_graph(PAY)).output == "order 7"
    found = await run_graph(PAY.replace("plain", "gone").replace("body", "retry: {attempts: 1}, body"))
    assert (found.status, found.error["code"]) == ("failed", "api_unreachable")


async def test_a_program_that_may_write_is_an_effect(service: Service) -> None:
    text = graph_text("call: {kind: python, api: API, code: 'result = 1'}")

    async def effect(api: str, said: str = "") -> bool:
        written = text.replace("API", api).replace("code", f"{said}code")
        checked = await service.graphs._checked(written, "g", LOCAL)
        return checked.compiled.graph.by_id["call"].effect  # type: ignore[index]

    assert (await effect("plain"), await effect("reading")) == (True, False)
    assert await effect("plain", "effect: read, ") is False


@pytest.mark.parametrize(
    ("nodes", "message"),
    [
        ("a: {kind: api, api: playn, path: /orders}", r"line 4, column 18: .*there is no API `playn`.*"),
        ("a: {kind: python, api: none, code: x}", "there is no API `none`"),
        ("a: {kind: api, api: reading, method: POST, path: /orders}", "may be called with GET only"),
        (
            "m: {kind: map, over: [1], retry: {attempts: 2}, body: {nodes: {w: "
            "{kind: subgraph, body: {nodes: {x: {kind: api, api: plain, method: POST, path: /orders}}}}}}}",
            "a node inside of it writes",
        ),
    ],
)
async def test_mistakes_are_named(service: Service, nodes: str, message: str) -> None:
    with pytest.raises(GraphError, match=message):
        await service.graphs.validate(graph_text(nodes), LOCAL)


async def test_of_two_people_the_first_decides(run_graph: Any, service: Service) -> None:
    waiting = await run_graph("ok: {kind: approval, prompt: 'Go on?', show: {n: 1}}")
    ann, bob = (Principal(LOCAL.tenant, UserId(name)) for name in ("ann", "bob"))
    await service.runs.decide(waiting.run_id, "ok", ann, verdict="edit", data={"n": 2})
    await service.runs.decide(waiting.run_id, "ok", ann, verdict="edit", data={"n": 2})  # as after a lost reply
    with pytest.raises(UserError, match="was decided by ann already") as caught:
        await service.runs.decide(waiting.run_id, "ok", bob, verdict="reject")
    assert caught.value.stable_code == "approval_decided"
    found = await service.graphs.wait(waiting.run_id, LOCAL)
    assert found.output == {"decision": "edit", "by": "ann", "note": None, "data": {"n": 2}}
    with pytest.raises(UserError, match="There is no run"):
        await service.runs.decide(waiting.run_id, "ok", Principal(TenantId("x"), UserId("eve")), verdict="approve")


async def test_what_cannot_be_decided_is_refused(run_graph: Any, service: Service) -> None:
    waiting = await run_graph("ok: {kind: approval, prompt: 'Go on?'}\nbeside: {kind: transform, template: x}")
    for step, verdict, data, code in (
        ("beside", "approve", None, "approval_not_asked"),
        ("ok", "reject", 1, "decision_invalid"),
    ):
        with pytest.raises(UserError) as caught:
            await service.runs.decide(waiting.run_id, step, LOCAL, verdict=verdict, data=data)  # type: ignore[arg-type]
        assert caught.value.stable_code == code


SENDS = """
items:
  kind: map
  over: [0, 1, 2]
  concurrency: 1
  body:
    output: kept
    nodes:
      send: {kind: api, api: API, method: POST, path: /orders, body: {n: "{{ input.index }}"}, retry: {attempts: 1}}
      kept: {kind: transform, value: "{{ send.data.order }}"}
"""


@pytest.mark.parametrize("api", ["keyed", "plain"])
async def test_a_fork_repeats_no_write_that_has_ended_inside_of_a_map(
    run_graph: Any, service: Service, shop: ApiServer, api: str
) -> None:
    broken = {1}

    def reply(received: Any) -> Answer:
        n = json.loads(received.body)["n"]
        return Answer({"error": "no"}, 400) if n in broken else Answer({"order": n})

    shop.route = reply
    failed = await run_graph(SENDS.replace("API", api))
    assert failed.status == "failed"
    broken.clear()
    before = len(shop.received)
    again = await service.graphs.wait(await service.graphs.fork(failed.run_id, LOCAL), LOCAL)
    assert (again.status, again.output) == ("done", [0, 1, 2])
    sent = [json.loads(each.body)["n"] for each in shop.received]
    assert sorted(sent) == [0, 1, 1, 2]
    assert len(shop.received) > before
    if api == "keyed":  # the target can tell that it is the same write
        keys = {each.headers["Idempotency-Key"] for each in shop.received if json.loads(each.body)["n"] == 1}
        assert keys == {f"{failed.run_id}:items/1/send"}
    # A map that is named begins anew.
    shop.received.clear()
    anew = await service.graphs.wait(await service.graphs.fork(RunId(again.run_id), LOCAL, node="items"), LOCAL)
    assert (anew.status, len(shop.received)) == ("done", 3)


async def test_a_fork_of_a_run_that_was_cancelled_asks_about_a_write_in_doubt(
    run_graph: Any, service: Service, shop: ApiServer
) -> None:
    shop.route = busy_at_first(1)
    waiting = await run_graph(PAY)
    await service.runs.cancel(waiting.run_id, LOCAL)
    forked = await service.graphs.fork(waiting.run_id, LOCAL)
    asked = await service.graphs.wait(forked, LOCAL)
    assert (asked.status, len(shop.received)) == ("waiting", 1)
    await service.runs.decide(forked, "pay", LOCAL, verdict="respond", data={"data": {"order": 9}})
    assert (await service.graphs.wait(forked, LOCAL)).output == "order 9"
