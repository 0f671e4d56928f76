"""Nodes of the kinds `cypher` and `tool`, beside others, on real sources."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from graph_text import graph_text

from answerable.app import open_service
from answerable.core.context import LOCAL
from answerable.core.errors import GraphError
from answerable.service import Service
from answerable.settings import Settings
from graphs import write_graph


@pytest.fixture
async def social(tmp_path: Path) -> AsyncIterator[Service]:
    source = str(write_graph(tmp_path / "social.lbug"))
    settings = Settings(home=tmp_path / "home", sources={"social": source}, source="social")
    async with open_service(settings, any_location=False) as opened:
        yield opened


async def ran(service: Service, nodes: str, **given: Any) -> Any:
    return await service.graphs.wait(await service.graphs.begin(graph_text(nodes), given, LOCAL), LOCAL)


NAMED = """
found:
  kind: cypher
  source: social
  cypher: "MATCH (u:User) WHERE u.name IN {{ input.names }} RETURN u.name AS name ORDER BY name"
one: {kind: cypher, source: social, cypher: "MATCH (u:User) WHERE u.name = {{ found.value }} RETURN u.age AS age"}
"""


async def test_a_cypher_node_reads_a_graph_with_references_as_literals(social: Service) -> None:
    everybody = await ran(
        social, "all: {kind: cypher, source: social, cypher: 'MATCH (u:User) RETURN u.name AS name ORDER BY name'}"
    )
    names = [row["name"] for row in everybody.output["frame"]["sample"]]
    found = await ran(social, NAMED, names=names[:2])
    assert (found.status, found.nodes["found"].output["frame"]["row_count"]) == ("done", 2)
    for attack in ("x' OR true //", "\\' OR true //", "'] OR true RETURN u.name AS name //", "a\nb"):
        assert (await ran(social, NAMED, names=[attack])).nodes["found"].output["frame"]["row_count"] == 0


async def test_what_is_no_reading_cypher_or_no_graph_fails_clearly(social: Service, run_graph: Any) -> None:
    wrote = await ran(social, "x: {kind: cypher, source: social, cypher: 'MATCH (u:User) DELETE u'}")
    assert (wrote.status, wrote.error["node"]) == ("refused", "x")
    tables = await run_graph("x: {kind: cypher, source: ORDERS, cypher: 'MATCH (u) RETURN u'}")
    assert tables.error["code"] == "query_type_unavailable"


TOOLS = """
tables: {kind: tool, tool: list_datasets, source: ORDERS}
schema: {kind: tool, tool: get_dataset_schema, source: ORDERS}
search: {kind: tool, tool: search_schema, source: ORDERS, arguments: {words: region}}
values: {kind: tool, tool: column_values, source: ORDERS, arguments: {table: "{{ tables.result.0 }}", column: region}}
text: {kind: transform, template: "{{ values.rows.0.region }} {{ values.row_count }}"}
"""


async def test_tools_of_agents_are_called_without_a_model(run_graph: Any) -> None:
    found = await run_graph(TOOLS)
    assert (found.status, found.nodes["text"].output) == ("done", "North 3"), found.error
    assert found.nodes["tables"].output == {"result": ["orders"]}
    assert "amount" in found.nodes["schema"].output["result"]
    assert "region" in found.nodes["search"].output["result"]


async def test_a_query_plan_is_run_by_a_tool_and_a_wrong_one_is_an_error(run_graph: Any) -> None:
    node = "rows: {kind: tool, tool: execute_query_plan, source: ORDERS, arguments: {plan: '{{ input.plan }}'}}"
    region = {"kind": "column", "table": "orders", "column": "region"}
    plan = {"entity": "orders", "select": [{"expr": region, "label": "region"}], "limit": 2}
    assert (await run_graph(node, plan=plan)).output["frame"]["row_count"] == 2
    wrong = await run_graph(node, plan={"entity": 5})
    assert (wrong.status, wrong.error["code"]) == ("failed", "tool_arguments_invalid")


@pytest.mark.parametrize(
    ("node", "message"),
    [
        ("{kind: tool, tool: nope, source: x}", "search_schema"),
        ("{kind: tool, tool: search_schema, source: x}", "needs the argument `words`"),
        ("{kind: tool, tool: list_datasets, source: x, arguments: {of: 1}}", "`list_datasets` has no such argument"),
        ("{kind: transform, value: 1, on: x.finished}", "needs the strategy `events`"),
        ("{kind: subgraph, input: {}}", "give either body or graph"),
    ],
)
async def test_mistakes_are_named(service: Service, node: str, message: str) -> None:
    with pytest.raises(GraphError, match=message):
        await service.graphs.validate(graph_text(f"x: {node}"), LOCAL)


async def test_a_node_waits_for_the_failure_of_another(run_graph: Any) -> None:
    nodes = """
        risky: {kind: transform, expression: "1 / input['n']", critical: false}
        mend: {kind: transform, on: risky.failed, template: mended}
    """
    for n, status in ((0, "done"), (1, "skipped")):
        found = await run_graph(nodes, head="strategy: events", n=n)
        assert found.nodes["mend"].status == status
