"""Stored graphs inside of others, and the version that each run began with."""

from pathlib import Path
from typing import Any

import pytest
from graph_text import graph_text

from answerable.core.context import LOCAL
from answerable.core.errors import GraphError
from answerable.service import Service

GREET = """
name: greet
input: {type: object, properties: {to: {type: string}, word: {type: string, default: Hello}}, required: [to]}
nodes:
  text: {kind: transform, template: "{{ input.word }} {{ input.to }}"}
"""


def using(name: str, given: str = "{to: '{{ input.to }}'}") -> str:
    nodes = f"said: {{kind: subgraph, graph: {name}, input: {given}}}"
    return graph_text(nodes + "\nlast: {kind: transform, template: '{{ said.output }}!'}")


async def output(service: Service, text: str, **given: Any) -> Any:
    run = await service.graphs.wait(await service.graphs.begin(text, given, LOCAL), LOCAL)
    assert run.status == "done", run.error
    return run.output


async def test_a_stored_graph_runs_inside_of_another_by_name_and_version(service: Service) -> None:
    await service.graphs.save(GREET, LOCAL)
    await service.graphs.save(GREET.replace("default: Hello", "default: Bye"), LOCAL)
    assert await output(service, using("greet"), to="Ada") == "Bye Ada!"
    assert await output(service, using("greet@1"), to="Ada") == "Hello Ada!"


async def test_a_run_keeps_the_graph_that_it_began_with(service: Service) -> None:
    await service.graphs.save(GREET, LOCAL)
    nodes = "ok: {kind: approval, prompt: Go?}\nsaid: {kind: subgraph, after: [ok], graph: greet, input: {to: Bo}}"
    run = await service.graphs.begin(graph_text(nodes), {}, LOCAL)
    await service.graphs.wait(run, LOCAL)
    await service.graphs.save(GREET.replace("Hello", "Changed"), LOCAL)
    await service.graphs.delete("greet", LOCAL)
    await service.runs.decide(run, "ok", LOCAL, verdict="approve")
    assert (await service.graphs.wait(run, LOCAL)).output["output"] == "Hello Bo"


async def test_its_input_is_checked_before_and_in_the_run(service: Service) -> None:
    await service.graphs.save(GREET, LOCAL)
    with pytest.raises(GraphError, match="needs `to` in its input"):
        await service.graphs.validate(using("greet", "{}"), LOCAL)
    run = await service.graphs.begin(using("greet"), {"to": 5}, LOCAL)
    failed = await service.graphs.wait(run, LOCAL)
    assert (failed.status, failed.error["code"]) == ("failed", "graph_input_invalid")


async def test_what_is_not_there_and_circles_are_named_with_their_place(service: Service) -> None:
    for name, message in (("greet", "there is no graph 'greet'"), ("greet@7", "there is no graph 'greet'")):
        with pytest.raises(GraphError, match=message) as caught:
            await service.graphs.validate(using(name), LOCAL)
        assert caught.value.details["line"] == 4
    await service.graphs.save(GREET, LOCAL)
    with pytest.raises(GraphError, match="has no version 7; the newest is 1"):
        await service.graphs.validate(using("greet@7"), LOCAL)
    one, two = (
        using(name, "{}").replace("name: tried", f"name: {of}") for of, name in (("one", "two"), ("two", "one"))
    )
    await service.graphs.save(one.replace("graph: two", "graph: greet").replace("input: {}", "input: {to: x}"), LOCAL)
    await service.graphs.save(two, LOCAL)
    with pytest.raises(GraphError, match="the graph `one` would run itself"):
        await service.graphs.save(one, LOCAL)
    with pytest.raises(GraphError, match="would run itself"):
        await service.graphs.validate(using("tried"), LOCAL)


async def test_each_run_says_which_version_it_began_with(service: Service) -> None:
    await service.graphs.save(GREET, LOCAL)
    first = await service.graphs.begin_stored("greet", {"to": "A"}, LOCAL)
    await service.graphs.wait(first, LOCAL)
    await service.graphs.save(GREET.replace("Hello", "Bye"), LOCAL)
    second = await service.graphs.begin_stored("greet", {"to": "A"}, LOCAL)
    assert (await service.graphs.wait(second, LOCAL)).version == 2
    again = await service.graphs.fork(first, LOCAL, node="text")
    assert (await service.graphs.wait(again, LOCAL)).version == 1
    loose = await service.graphs.begin(GREET, {"to": "A"}, LOCAL)
    assert ((await service.graphs.wait(loose, LOCAL)).graph, (await service.graphs.get_run(loose, LOCAL)).version) == (
        "greet",
        None,
    )
    assert [each.graph_version for each in await service.graphs.runs("greet", LOCAL)] == [None, 1, 2, 1]


def test_the_command_line_shows_the_version_of_each_run(answerable: Any, tmp_path: Path) -> None:
    (tmp_path / "greet.graph.yaml").write_text(GREET)
    answerable("graph", "save", "greet.graph.yaml")
    assert answerable("graph", "run", "greet", "-i", "to=Ada").out.strip() == "Hello Ada"
    assert "done  version 1" in answerable("graph", "show", "greet").out
