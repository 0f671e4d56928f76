"""Graphs whose values grow without end: few nodes, each of which holds the one before it several times."""

from typing import Any

import pytest

from answerable.core.errors import LimitError
from answerable.engine import journal
from answerable.engine.value_size import DEEPEST, LARGEST_FILLED, check_filled

TEXT = "x" * 400_000
TIMES = LARGEST_FILLED // len(TEXT) + 1
FIRST = f"first: {{kind: transform, template: {TEXT}}}\n"


def _shared(levels: int) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = [value] * 10
    return value


def _nested(levels: int) -> Any:
    value: Any = 1
    for level in range(levels):
        value = {"a": value} if level % 2 else [value]
    return value


@pytest.mark.parametrize(
    "value",
    [
        _shared(12),
        [{"a": _shared(9)}],
        "x" * (LARGEST_FILLED + 1),
        ["x" * 1_000_000] * 40,
        {"x" * 1_000_000 + str(number): None for number in range(40)},
        [[]] * (LARGEST_FILLED // 32 + 1),
        _nested(DEEPEST + 1),
    ],
    ids=["lists", "rows", "text", "texts", "keys", "empty", "deep"],
)
def test_a_value_that_is_too_large_is_refused_before_it_is_written(value: Any) -> None:
    with pytest.raises(LimitError):
        check_filled(value)


@pytest.mark.parametrize("value", [None, 1, "x" * 1_000_000, _shared(5), _nested(DEEPEST - 1), {"a": [1, {"b": ()}]}])
def test_others_pass(value: Any) -> None:
    check_filled(value)


@pytest.mark.parametrize(
    ("nodes", "code"),
    [
        (f"{FIRST}all: {{kind: transform, value: {['{{ first }}'] * TIMES}}}", "value_too_large"),
        (f"{FIRST}all: {{kind: transform, value: {['a {{ first }}'] * TIMES}}}", "template_too_long"),
        (f"{FIRST}all: {{kind: transform, template: '{'{{ first }}' * 3}'}}", "template_too_long"),
        (
            f"{FIRST}all: {{kind: map, over: {list(range(3 * TIMES))}, input: {{big: '{{{{ first }}}}'}},"
            " body: {nodes: {one: {kind: transform, value: '{{ input.big }}'}}}}",
            "value_too_large",
        ),
        (
            f"all: {{kind: loop, start: {TEXT}, most: 1000,"
            " body: {nodes: {one: {kind: transform, value: ['{{ input.previous }}', '{{ input.previous }}']}}}}",
            "value_too_large",
        ),
        (
            "all: {kind: loop, start: 1, most: 1000,"
            " body: {nodes: {one: {kind: transform, value: ['{{ input.previous }}']}}}}",
            "value_too_deep",
        ),
    ],
    ids=["values", "texts in a value", "texts in a text", "map", "loop", "depth"],
)
async def test_a_graph_that_grows_without_end_is_stopped(nodes: str, code: str, run_graph: Any) -> None:
    found = await run_graph(nodes)
    assert (found.status, found.nodes["all"].code) == ("failed", code)


async def test_all_outputs_of_a_run_have_a_bound(run_graph: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journal, "LARGEST_RUN", 1_000_000)
    found = await run_graph(FIRST + "".join(f"n{n}: {{kind: transform, value: '{{{{ first }}}}'}}\n" for n in range(5)))
    assert found.status == "failed"
    assert "run_too_large" in {node.code for node in found.nodes.values()}
