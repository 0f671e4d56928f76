"""Graphs as users write them, each kind of node with the others, run by the engine on a real store."""

from typing import Any

import pytest

from answerable.core.context import LOCAL
from answerable.core.errors import UserError
from answerable.service import Service


async def test_rows_become_the_answer_of_the_run(run_graph: Any, service: Service) -> None:
    found = await run_graph(
        """
        big:
          kind: sql
          source: ORDERS
          sql: select region, sum(amount) as total from orders where amount > {{ input.least }} group by 1 order by 1
        """,
        head="input: {type: object, properties: {least: {type: number, default: 5}}}",
    )
    assert found.status == "done"
    assert found.output["frame"]["sample"] == [{"region": "North", "total": 17}, {"region": "South", "total": 20}]
    answer = await service.runs.answer(found.run_id, LOCAL)
    assert (answer.kind, answer.row_count, answer.steps[0].kind) == ("table", 2, "sql")


async def test_a_reference_in_sql_is_a_value_and_never_sql(run_graph: Any) -> None:
    nodes = "found: {kind: sql, source: ORDERS, sql: 'select id from orders where region = {{ input.region }}'}"
    for region, count in (("North", 2), ("x' or '1'='1", 0), ("x'; drop table orders; --", 0)):
        found = await run_graph(nodes, region=region)
        assert (found.status, found.output["frame"]["row_count"]) == ("done", count)


async def test_a_number_of_a_query_may_be_reckoned_with_in_the_next(run_graph: Any) -> None:
    found = await run_graph(
        """
        mean: {kind: sql, source: ORDERS, sql: "select avg(amount) / 3 as mean from orders"}
        big: {kind: sql, source: ORDERS, sql: "select id from orders where 50*amount > 50*{{ mean.value }} order by 1"}
        none: {kind: transform, when: big.row_count = 0, template: none}
        first: {kind: transform, when: big.rows.0.id != 1, template: first}
        """
    )
    assert found.nodes["big"].status == "done"
    skipped = [found.nodes[each].message for each in ("none", "first")]
    assert skipped == ["`big.row_count = 0` does not hold", "`big.rows.0.id != 1` does not hold"]


async def test_a_router_takes_one_branch_and_a_join_goes_on_with_it(run_graph: Any) -> None:
    nodes = """
        check: {kind: router, routes: {high: input.n > 10, low: input.n < 5}, default: middle}
        high: {kind: transform, when: check = high, template: "{{ input.n }} is high"}
        low: {kind: transform, when: check = low, template: low}
        middle: {kind: transform, when: check = middle, template: in between}
        one: {kind: join, mode: first, after: [high, low, middle]}
        all: {kind: join, after: [high, low, middle]}
    """
    for n, text, branch in ((11, "11 is high", "high"), (1, "low", "low"), (7, "in between", "middle")):
        found = await run_graph(nodes, n=n)
        assert found.nodes["one"].output == text
        assert found.nodes["all"].output == {branch: text}
        assert sorted(each.status for each in found.nodes.values()).count("skipped") == 2


async def test_a_map_runs_its_body_for_each_item(run_graph: Any) -> None:
    found = await run_graph(
        """
        rows: {kind: sql, source: ORDERS, sql: "select id, region from orders order by id"}
        lines:
          kind: map
          over: "{{ rows.rows }}"
          input: {word: "{{ input.word }}"}
          body:
            nodes:
              line: {kind: transform, template: "{{ input.index }} {{ input.word }} {{ input.item.region }}"}
        double:
          kind: map
          over: [1, 2, 3]
          body:
            output: sum
            nodes:
              twice: {kind: transform, value: "{{ input.item }}"}
              sum: {kind: transform, expression: "twice * 2 + input['index']"}
        """,
        word="in",
    )
    assert found.nodes["lines"].output == ["0 in North", "1 in South", "2 in North", "3 in East"]
    assert found.nodes["double"].output == [2, 5, 8]
    assert found.output == {"lines": found.nodes["lines"].output, "double": [2, 5, 8]}


async def test_a_map_over_no_list_and_over_too_long_a_list_fails_with_the_reason(run_graph: Any) -> None:
    body = "body: {nodes: {same: {kind: transform, value: '{{ input.item }}'}}}"
    for over, code in ((5, "map_not_a_list"), ([1, 2, 3], "map_too_long")):
        found = await run_graph(f"m: {{kind: map, over: '{{{{ input.over }}}}', most: 2, {body}}}", over=over)
        assert (found.status, found.error["code"]) == ("failed", code)


async def test_an_item_that_fails_fails_the_map_unless_it_is_not_critical(run_graph: Any) -> None:
    part = "{kind: transform, %s expression: '8 / input[\"item\"]'}"
    nodes = f"m: {{kind: map, over: [4, 0, 2], body: {{nodes: {{part: {part}}}}}}}"
    failed = await run_graph(nodes % "")
    assert (failed.status, failed.error["code"]) == ("failed", "expression_failed")
    partial = await run_graph(nodes % "critical: false,")
    assert (partial.status, partial.output) == ("partial", [2.0, None, 4.0])


async def test_a_loop_ends_when_its_condition_holds_or_when_it_has_run_often_enough(run_graph: Any) -> None:
    body = "body: {nodes: {next: {kind: transform, expression: \"input['previous'] * input['by']\"}}}"
    loop = f"l: {{kind: loop, start: 1, input: {{by: '{{{{ input.by }}}}'}}, until: output >= 100, most: 5, %s {body}}}"
    assert (await run_graph(loop % "", by=10)).output == 100
    assert (await run_graph(loop % "", by=2)).error["code"] == "loop_exhausted"
    assert (await run_graph(loop % "exhausted: keep,", by=2)).output == 32


async def test_a_subgraph_sees_only_its_own_input(run_graph: Any) -> None:
    found = await run_graph(
        """
        sub:
          kind: subgraph
          input: {name: "{{ input.who }}"}
          body: {nodes: {hello: {kind: transform, template: "Hello {{ input.name }}"}}}
        shout: {kind: transform, expression: "sub['output'].upper()"}
        """,
        who="Ada",
    )
    assert found.output == "HELLO ADA"


async def test_a_program_reads_rows_and_values(run_graph: Any) -> None:
    found = await run_graph(
        """
        rows: {kind: sql, source: ORDERS, sql: "select region, amount from orders"}
        least: {kind: transform, value: 8}
        sums:
          kind: python
          after: [rows]
          values: {least: "{{ least }}"}
          code: |
            result = [{"n": len(rows), "least": least}]
        """.replace("values: {least:", "values: {limit:").replace('"least": least', '"least": limit'),
    )
    assert found.status == "done", found.error
    assert found.output["frame"]["sample"] == [{"n": 4, "least": 8}]


async def test_a_question_is_asked_and_its_answer_used(run_graph: Any) -> None:
    found = await run_graph(
        """
        asked: {kind: ask, source: ORDERS, question: "total amount per {{ input.by }}"}
        text: {kind: transform, template: "{{ asked.row_count }} groups, first {{ asked.rows.0.region }}"}
        """,
        by="region",
    )
    assert found.status == "done", found.error
    assert found.output.startswith("3 groups, first ")


async def test_a_question_that_is_not_clear_fails_its_node(run_graph: Any) -> None:
    found = await run_graph("asked: {kind: ask, source: ORDERS, question: frobnicate the quux}")
    assert (found.status, found.error["node"]) == ("failed", "asked")
    assert found.error["code"] in ("ask_unclear", "question_unclear", "bad_request")


async def test_a_wait_ends(run_graph: Any) -> None:
    found = await run_graph("pause: {kind: wait, seconds: 0.05}")
    assert found.status == "done"
    assert found.output["until"].startswith("20")


@pytest.mark.parametrize(("approved", "status"), [(True, "done"), (False, "refused")])
async def test_an_approval_waits_for_a_person(run_graph: Any, service: Service, approved: bool, status: str) -> None:
    waiting = await run_graph(
        """
        ok: {kind: approval, prompt: "Send {{ input.n }} letters?", show: {n: "{{ input.n }}"}}
        sent: {kind: transform, template: "{{ ok.decision }} {{ ok.data.n }}", after: [ok]}
        beside: {kind: transform, template: done}
        """,
        n=3,
    )
    assert waiting.status == "waiting"
    assert (waiting.nodes["ok"].status, waiting.nodes["ok"].message) == ("waiting", "Send 3 letters?")
    assert waiting.nodes["beside"].status == "done"
    await service.runs.decide(waiting.run_id, "ok", LOCAL, verdict="approve" if approved else "reject")
    found = await service.graphs.wait(waiting.run_id, LOCAL)
    assert found.status == status
    if approved:
        assert found.nodes["sent"].output == "approve 3"


async def test_a_failure_that_is_not_critical_gives_null_and_a_fallback_replaces_it(run_graph: Any) -> None:
    found = await run_graph(
        """
        bad: {kind: transform, critical: false, expression: "1 / 0"}
        other: {kind: transform, expression: "1 / 0", fallback: none}
        text: {kind: transform, template: "[{{ bad }}] [{{ other }}]"}
        """
    )
    assert (found.status, found.output) == ("partial", "[] [none]")


async def test_wrong_input_starts_nothing(run_graph: Any, service: Service) -> None:
    head = "input: {type: object, properties: {n: {type: integer}}, required: [n], additionalProperties: false}"
    for given in ({}, {"n": "x"}, {"n": 1, "m": 2}, {"n": "x" * 2_000_000}):
        with pytest.raises(UserError) as caught:
            await run_graph("a: {kind: transform, value: 1}", head=head, **given)
        assert caught.value.stable_code in ("graph_input_invalid", "input_too_large")
    assert await service.runs.list(LOCAL) == []


async def test_a_run_of_a_question_is_no_run_of_a_graph(service: Service, orders: Any) -> None:
    run = await service.questions.begin_query("sql", "select 1 as one", LOCAL, source=str(orders))
    await service.runs.wait(run, LOCAL)
    with pytest.raises(UserError) as caught:
        await service.graphs.get_run(run, LOCAL)
    assert caught.value.stable_code == "run_not_of_a_graph"


async def test_nodes_may_be_called_as_functions_of_python_are(run_graph: Any) -> None:
    nodes = """
        id: {kind: transform, value: 4}
        set: {kind: transform, value: [1, 2, 2]}
        out: {kind: transform, expression: "[id + input['n'], sum(set), len(set(set)), sorted(str(n) for n in set)]"}
    """
    assert (await run_graph(nodes, n=1)).output == [5, 5, 2, ["1", "2", "2"]]
