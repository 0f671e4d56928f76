"""Graphs that come with the package, to begin with: each a file in `ready/`, with cases beside it."""

import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from answerable.core.errors import NotFoundError
from answerable.core.values import Frozen, Json
from answerable.core.yaml_text import did_you_mean
from answerable.graphs.definition import AgentNode, AskNode, Body, GraphDefinition
from answerable.graphs.reading import read_graph

FOLDER = Path(__file__).parent / "ready"
_ENDING = ".graph.yaml"


class ReadyGraph(Frozen):
    name: str
    description: str
    needs_model: bool
    input: Json
    """JSON Schema of its input."""
    text: str


@cache
def ready_graphs() -> Sequence[ReadyGraph]:
    """The ready-made graphs, by name."""
    return tuple(_read(path) for path in sorted(FOLDER.glob(f"*{_ENDING}")))


def ready_graph(name: str) -> ReadyGraph:
    found = next((each for each in ready_graphs() if each.name == name), None)
    if found is None:
        names = [each.name for each in ready_graphs()]
        raise NotFoundError(
            f"There is no ready-made graph {name!r}.",
            code="ready_graph_not_found",
            hint=did_you_mean(name, names) or f"There are: {', '.join(names)}.",
        )
    return found


def renamed(ready: ReadyGraph, name: str, source: str | None) -> str:
    """The text under another name, and about another source. Everything else stays as it was written."""
    text = re.sub(rf"^name: {re.escape(ready.name)}$", f"name: {name}", ready.text, count=1, flags=re.MULTILINE)
    if source is None:
        return text
    return re.sub(r"(\bsource: )(demo|okta)(?=[,}\s])", lambda found: found[1] + _quoted(source), text)


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _read(path: Path) -> ReadyGraph:
    text = path.read_text()
    definition, _ = read_graph(text, path.name)
    return ReadyGraph(
        name=definition.name,
        description=" ".join(definition.description.split()),
        needs_model=_asks_a_model(definition),
        input=definition.input,
        text=text,
    )


def _asks_a_model(definition: GraphDefinition) -> bool:
    def inside(body: Body) -> bool:
        return any(
            isinstance(node, AgentNode | AskNode)
            or (isinstance(more := getattr(node, "body", None), Body) and inside(more))
            for node in body.nodes.values()
        )

    return inside(definition.body)
