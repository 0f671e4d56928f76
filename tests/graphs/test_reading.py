"""Wrong graphs: every mistake is one error that names the node, the line and the column, and starts nothing."""

import json
import time
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from answerable.core.context import LOCAL
from answerable.core.errors import GraphError, UserError
from answerable.engine.templates import filled
from answerable.graphs.compiling import compiled
from answerable.graphs.definition import MOST_NODES, json_schema
from answerable.graphs.reading import read_graph
from answerable.service import Service

ONE = "name: g\nnodes:\n  a: {kind: transform, value: 1}\n"

MISTAKES = {
    "no YAML": ("name: [\n", 2, "not valid YAML"),
    "nothing": ("", 0, "`name` is missing"),
    "no object": ("- 1\n- 2\n", 1, ""),
    "no nodes": ("name: g\n", 1, "`nodes` is missing"),
    "empty nodes": ("name: g\nnodes: {}\n", 2, "at least 1"),
    "bad name": ("name: A Graph!\nnodes:\n  a: {kind: transform, value: 1}\n", 1, "pattern"),
    "unknown kind": ("name: g\nnodes:\n  a: {kind: sqll, sql: x}\n", 3, "no kind of node `sqll`"),
    "no kind": ("name: g\nnodes:\n  a: {sql: x}\n", 3, "needs a kind"),
    "unknown field": ("name: g\nnodes:\n  a:\n    kind: sql\n    source: s\n    sequel: x\n    sql: x\n", 6, "no such"),
    "missing field": ("name: g\nnodes:\n  a: {kind: sql, source: s}\n", 3, "`sql` is missing"),
    "wrong type": ("name: g\nnodes:\n  a: {kind: wait, seconds: soon}\n", 3, "number"),
    "duplicate node": (ONE + "  a: {kind: transform, value: 2}\n", 4, "twice"),
    "duplicate field": ("name: g\nnodes:\n  a:\n    kind: transform\n    value: 1\n    value: 2\n", 6, "twice"),
    "reserved name": ("name: g\nnodes:\n  input: {kind: transform, value: 1}\n", 3, "is taken"),
    "bad node name": ("name: g\nnodes:\n  a-b: {kind: transform, value: 1}\n", 3, "letters, digits"),
    "unknown parent": (ONE + "  b: {kind: transform, value: 1, after: [aa]}\n", 4, "no node `aa`"),
    "unknown reference": (ONE + "  b: {kind: transform, template: '{{ aa }}'}\n", 4, "no node `aa`"),
    "unknown output": (ONE + "output: z\n", 4, "no node `z`"),
    "itself": ("name: g\nnodes:\n  a: {kind: transform, template: '{{ a }}'}\n", 3, "waits for itself"),
    "circle": (
        "name: g\nnodes:\n  a: {kind: transform, template: '{{ b }}'}\n  b: {kind: transform, template: '{{ a }}'}\n",
        3,
        "waits for itself",
    ),
    "reaches outside": (ONE + "  b: {kind: transform, template: '{{ a.__class__() }}'}\n", 4, "no reference"),
    "template code": (ONE + "  b: {kind: transform, template: '{% for x in a %}{{ x+1 }}'}\n", 4, "no reference"),
    "expression outside": (ONE + "  b: {kind: transform, expression: 'open(a)'}\n", 4, "cannot use `open`"),
    "expression dunder": (ONE + "  b: {kind: transform, expression: 'a.__class__'}\n", 4, "cannot reach"),
    "expression import": (ONE + "  b: {kind: transform, expression: \"__import__('os')\"}\n", 4, "cannot use"),
    "no expression": (ONE + "  b: {kind: transform, expression: 'a = 1'}\n", 4, "no Python expression"),
    "field of a text": (
        "name: g\nnodes:\n  t: {kind: transform, template: x}\n  u: {kind: transform, template: '{{ t.x }}'}\n",
        4,
        "it is a string",
    ),
    "field of a table": (
        "name: g\nnodes:\n  t: {kind: sql, source: s, sql: x}\n  u: {kind: transform, template: '{{ t.cells }}'}\n",
        4,
        "no field `cells`",
    ),
    "field of the input": (
        "name: g\ninput: {type: object, properties: {n: {}}}\n"
        "nodes:\n  u: {kind: transform, template: '{{ input.m }}'}\n",
        4,
        "no field `m`",
    ),
    "map over text": (
        "name: g\nnodes:\n  t: {kind: transform, template: x}\n"
        "  m: {kind: map, over: '{{ t }}', body: {nodes: {n: {kind: transform, value: 1}}}}\n",
        4,
        "goes over a list",
    ),
    "object in SQL": (
        "name: g\nnodes:\n  t: {kind: transform, value: {a: 1}}\n  u: {kind: sql, source: s, sql: 'select {{ t }}'}\n",
        4,
        "plain values",
    ),
    "outside of a body": (
        ONE + "  m: {kind: map, over: [1], body: {nodes: {n: {kind: transform, template: '{{ a }}'}}}}\n",
        4,
        "no node `a`",
    ),
    "unknown route": (
        "name: g\nnodes:\n  r: {kind: router, routes: {yes: input.n > 1}}\n"
        "  u: {kind: transform, when: r = yess, value: 1}\n",
        4,
        "is never 'yess'",
    ),
    "no condition": (ONE + "  u: {kind: transform, when: is it?, value: 1}\n", 4, "no condition"),
    "two of one": ("name: g\nnodes:\n  a: {kind: transform, value: 1, template: x}\n", 3, "one of template"),
    "no schema": ("name: g\ninput: {type: 7}\nnodes:\n  a: {kind: transform, value: 1}\n", 2, "no JSON Schema"),
    "remote schema": (
        "name: g\ninput: {$ref: 'http://127.0.0.1:1/x.json'}\nnodes:\n  a: {kind: transform, value: 1}\n",
        2,
        "no JSON Schema",
    ),
    "input is no object": ("name: g\ninput: {type: array}\nnodes:\n  a: {kind: transform, value: 1}\n", 2, "an object"),
    "alias": ("name: g\nnodes: &n\n  a: {kind: transform, value: 1}\nx: *n\n", 2, "anchors"),
    "tag": ("name: g\nnodes:\n  a: !!python/object:os.system {kind: transform}\n", 3, "tags"),
    "deep": ("name: g\nnodes:\n  a: {kind: transform, value: " + "[" * 100 + "]" * 100 + "}\n", 3, "nested too deeply"),
    "long": ("name: g\n# " + "x" * 1_000_001, 0, "larger than"),
}


@pytest.mark.parametrize("name", MISTAKES)
async def test_a_mistake_is_named_with_its_place(name: str, service: Service) -> None:
    text, line, part = MISTAKES[name]
    with pytest.raises(GraphError) as caught:
        await service.graphs.validate(text, LOCAL, origin="tried.yaml")
    error = caught.value
    assert part in error.message
    assert error.message.startswith("tried.yaml")
    assert error.details["line"] == line
    if line:
        assert f"line {line}, column {error.details['column']}" in error.message
    with pytest.raises(GraphError):
        await service.graphs.begin(text, {}, LOCAL)
    assert await service.runs.list(LOCAL) == []


async def test_a_yaml_bomb_is_refused_at_once(service: Service) -> None:
    bomb = "a: &a [x, x]\n" + "".join(f"b{n}: &b{n} [*a, *a, *a, *a]\n" for n in range(50))
    began = time.process_time()
    with pytest.raises(GraphError, match="anchors"):
        await service.graphs.validate(bomb, LOCAL)
    assert time.process_time() - began < 5


async def test_too_many_nodes_are_refused_also_in_bodies(service: Service) -> None:
    many = "".join(f"  n{number}: {{kind: transform, value: 1}}\n" for number in range(10_000))
    with pytest.raises(GraphError, match=f"{MOST_NODES:,} nodes at most"):
        await service.graphs.validate("name: g\nnodes:\n" + many, LOCAL)
    inner = ", ".join(f"n{number}: {{kind: transform, value: 1}}" for number in range(MOST_NODES * 6 // 10))
    bodies = "".join(f"  m{n}: {{kind: map, over: [1], body: {{nodes: {{{inner}}}}}}}\n" for n in range(2))
    with pytest.raises(GraphError, match=f"{MOST_NODES:,} nodes at most"):
        await service.graphs.validate("name: g\nnodes:\n" + bodies, LOCAL)


def test_json_is_read_as_well_as_yaml() -> None:
    document = {"name": "g", "nodes": {"a": {"kind": "transform", "value": {"x": None, "y": "1", "z": 1.5}}}}
    definition, marks = read_graph(json.dumps(document, indent=1), "g.json")
    assert definition.nodes["a"].value == {"x": None, "y": "1", "z": 1.5}  # type: ignore[union-attr]
    assert compiled(definition, marks).graph.output == "a"


def test_plain_words_stay_words() -> None:
    definition, _ = read_graph(
        "name: g\nnodes:\n  a: {kind: transform, value: [no, 2024-01-01, 1e3, '7', yes, 0x10]}\n", "g"
    )
    assert definition.nodes["a"].value == ["no", "2024-01-01", 1000.0, "7", "yes", "0x10"]  # type: ignore[union-attr]


def test_the_schema_for_editors_accepts_what_is_read_and_refuses_what_is_not() -> None:
    validator = jsonschema_rs.Draft202012Validator(json_schema())
    assert validator.is_valid({"name": "g", "nodes": {"a": {"kind": "sql", "source": "s", "sql": "x"}}})
    assert not validator.is_valid({"name": "g", "nodes": {"a": {"kind": "sqll", "source": "s", "sql": "x"}}})
    assert not validator.is_valid({"name": "g", "nodes": {"a": {"kind": "sql", "source": "s"}}})


@given(st.text(max_size=200))
@settings(max_examples=60, deadline=None)
def test_any_text_is_a_graph_or_a_graph_error(text: str) -> None:
    for whole in (text, f"name: g\nnodes:\n  a: {{kind: transform, template: {json.dumps(text)}}}\n"):
        try:
            definition, marks = read_graph(whole, "x")
            compiled(definition, marks)
        except GraphError:
            pass


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@given(_JSON)
@settings(max_examples=200, deadline=None)
def test_a_value_passes_through_a_template_unchanged(value: Any) -> None:
    assert filled("{{ a }}", "value", {"a": value}) == value
    assert filled({"x": ["{{ a }}"]}, "value", {"a": value}) == {"x": [value]}


@given(st.text(max_size=50))
@settings(max_examples=300, deadline=None)
def test_text_in_sql_is_always_one_literal(text: str) -> None:
    import sqlglot

    try:
        text.encode()
    except UnicodeEncodeError:
        return
    statement = filled("select {{ a }} as x", "sql", {"a": text})
    if "\0" in text:
        return
    [parsed] = sqlglot.parse(statement, dialect="duckdb")
    assert parsed is not None
    assert parsed.expressions[0].this.this == text


def test_a_field_that_is_not_there_is_an_error_with_what_is_there() -> None:
    with pytest.raises(UserError) as caught:
        filled("{{ a.c }}", "text", {"a": {"b": 1}})
    assert (caught.value.stable_code, caught.value.hint) == ("template_missing", "There are: b.")


def test_a_file_is_checked_from_the_command_line(answerable: Any, tmp_path: Path) -> None:
    file = tmp_path / "g.graph.yaml"
    file.write_text(ONE)
    assert answerable("graph", "validate", str(file), "--json").json["nodes"] == [
        {"id": "a", "kind": "transform", "after": []}
    ]
    done = answerable("graph", "run", str(file), "--json")
    assert (done.code, done.json["status"], done.json["output"]) == (0, "done", 1)
    assert done.json["nodes"]["a"]["attempts"] == 1
    file.write_text(MISTAKES["unknown kind"][0])
    wrong = answerable("graph", "run", str(file), "--json")
    assert (wrong.code, wrong.json["error"]["code"]) == (2, "graph_invalid")
