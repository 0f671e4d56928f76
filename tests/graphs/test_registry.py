"""Stored graphs: versions, differences, the way back, history and figures, from the command line and the service."""

from pathlib import Path
from typing import Any

import pytest

from answerable.core.context import LOCAL
from answerable.core.errors import GraphError, UserError
from answerable.service import Service

FIRST = "# Daily.\r\nname: daily\nnodes:\n  a: {kind: transform, value: 1}\n  b: {kind: transform, value: 2}\n"
SECOND = FIRST.replace("value: 2", "value: 3").replace("  a: {", "  c: {kind: transform, value: 0}\n  a: {")


async def test_versions_differ_by_node_and_go_back(service: Service) -> None:
    await service.graphs.save(FIRST, LOCAL, note="first", tags=["night"])
    saved = await service.graphs.save(SECOND, LOCAL, expected=1)
    assert (saved.version.version, saved.graph.tags) == (2, ("night",))
    found = await service.graphs.diff("daily", LOCAL)
    assert (found.added, found.removed, found.changed, found.settings) == (("c",), (), ("b",), ())
    assert "+  b: {kind: transform, value: 3}" in found.text
    assert (await service.graphs.diff("daily", LOCAL, before=2, after=1)).removed == ("c",)
    back = await service.graphs.rollback("daily", 1, LOCAL)
    assert (back.version.version, back.version.note, back.text) == (3, "Back to version 1", FIRST)
    assert [each.version for each in await service.graphs.versions("daily", LOCAL)] == [3, 2, 1]


async def test_a_wrong_graph_and_an_old_version_are_not_stored(service: Service) -> None:
    with pytest.raises(GraphError):
        await service.graphs.save(FIRST + "  z: {kind: nope}\n", LOCAL)
    assert await service.graphs.list(LOCAL) == []
    await service.graphs.save(FIRST, LOCAL)
    for attempt, code in (
        (service.graphs.save(SECOND, LOCAL, expected=0), "graph_changed"),
        (service.graphs.save(SECOND, LOCAL, name="nightly"), "graph_name_differs"),
        (service.graphs.save(SECOND, LOCAL, tags=["x" * 65]), "graph_tag_invalid"),
        (service.graphs.show("daily", LOCAL, version=7), "graph_version_not_found"),
        (service.graphs.rollback("daily", 7, LOCAL), "graph_version_not_found"),
        (service.graphs.show("nightly", LOCAL), "graph_not_found"),
        (service.graphs.begin_stored("nightly", {}, LOCAL), "graph_not_found"),
    ):
        with pytest.raises(UserError) as caught:
            await attempt
        assert caught.value.stable_code == code
    assert (await service.graphs.show("daily", LOCAL)).text == FIRST


async def test_a_graph_has_its_runs_and_the_figures_of_its_nodes(service: Service) -> None:
    text = "name: parts\nnodes:\n  part: {kind: transform, expression: \"12 / input['by']\"}\n"
    await service.graphs.save(text, LOCAL)
    await service.graphs.save("name: part\nnodes:\n  x: {kind: transform, value: 1}\n", LOCAL)
    for by in (3, 4, 0):
        await service.graphs.wait(await service.graphs.begin_stored("parts", {"by": by}, LOCAL), LOCAL)
    await service.graphs.wait(await service.graphs.begin_stored("part", {}, LOCAL), LOCAL)
    runs = await service.graphs.runs("parts", LOCAL)
    assert sorted(each.status for each in runs) == ["done", "done", "failed"]
    figures = (await service.graphs.figures("parts", LOCAL))["part"]
    assert (figures.runs, figures.failures, figures.cost_usd) == (3, 1, 0.0)
    assert figures.p50_ms is not None
    assert figures.p95_ms is not None
    assert len(await service.graphs.runs("part", LOCAL)) == 1


async def test_a_graph_that_runs_is_not_deleted(service: Service) -> None:
    await service.graphs.save("name: ask\nnodes:\n  ok: {kind: approval, prompt: Go on?}\n", LOCAL)
    run = await service.graphs.begin_stored("ask", {}, LOCAL)
    await service.graphs.wait(run, LOCAL)
    with pytest.raises(UserError) as caught:
        await service.graphs.delete("ask", LOCAL)
    assert caught.value.stable_code == "graph_running"
    await service.runs.cancel(run, LOCAL)
    await service.graphs.delete("ask", LOCAL)
    assert await service.graphs.list(LOCAL) == []


def test_the_command_line_stores_shows_and_runs_graphs(answerable: Any, tmp_path: Path) -> None:
    file = tmp_path / "daily.graph.yaml"
    for text in (FIRST, SECOND):
        file.write_bytes(text.encode())
        assert answerable("graph", "save", str(file), "--tag", "night").code == 0
    assert [each["version"] for each in answerable("graph", "list", "--json").json["graphs"]] == [2]
    assert answerable("graph", "export", "daily@1", "-o", "copy.yaml").code == 0
    assert (tmp_path / "copy.yaml").read_bytes() == FIRST.encode()
    assert answerable("graph", "diff", "daily", "--json").json["added"] == ["c"]
    assert answerable("graph", "run", "daily@1", "--json").json["output"] == {"a": 1, "b": 2}
    shown = answerable("graph", "show", "daily", "--json").json
    assert (shown["runs"][0]["status"], shown["figures"]["a"]["runs"]) == ("done", 1)
    assert answerable("graph", "delete", "daily", "--json").json == {"deleted": "daily"}
    assert answerable("graph", "run", "daily", "--json").json["error"]["code"] == "graph_not_found"


def test_what_is_exported_is_what_was_saved_to_the_byte(answerable: Any, tmp_path: Path) -> None:
    text = "\ufeff# ä comment\r\nname: exact\r\nnodes:   # in an order of its own\r\n"
    text += "  z: {value: '1',  kind: transform}\r\n"
    text += '  a:\t{kind: transform, template: "{{ z }}"}   \n\n\n'
    (tmp_path / "exact.graph.yaml").write_bytes(text.encode())
    assert answerable("graph", "save", "exact.graph.yaml").out.strip() == "exact: version 1"
    answerable("graph", "export", "exact", "-o", "again.graph.yaml")
    assert (tmp_path / "again.graph.yaml").read_bytes() == text.encode()
    assert answerable("graph", "save", "again.graph.yaml").out.strip() == "exact: version 1"
    assert answerable("graph", "run", "exact").out.strip() == "1"
