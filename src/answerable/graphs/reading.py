"""Reads a drawn graph from YAML or JSON. Every mistake is named with its line and column."""

from functools import lru_cache

from pydantic import ValidationError

from answerable.core.errors import GraphError
from answerable.core.validation import first_problem
from answerable.core.values import Json
from answerable.core.yaml_text import FieldPath, Marks, YamlRules, did_you_mean, read
from answerable.graphs.definition import KINDS, MOST_NODES, GraphDefinition

RULES = YamlRules(refusal=GraphError, typed=True, fast=True, deepest=60, largest=1_000_000)
_KIND_NAMES = tuple(str(kind.model_fields["kind"].annotation.__args__[0]) for kind in KINDS)  # type: ignore[union-attr]
_UNION_TAGS = frozenset(("union_tag_invalid", "union_tag_not_found"))


@lru_cache(maxsize=64)
def read_graph(text: str, origin: str) -> tuple[GraphDefinition, Marks]:
    """What was read is remembered: a stored graph is read for each of its runs."""
    document, marks = read(text, origin, RULES)
    # Before anything is made of them: the types of 10,000 nodes take seconds to check.
    if _count(document) > MOST_NODES:
        raise marks.error(("nodes",), f"a graph can have {MOST_NODES:,} nodes at most, those of bodies too")
    try:
        return GraphDefinition.model_validate(document), marks
    except ValidationError as error:
        raise _explained(error, marks) from error


def _count(document: Json) -> int:
    """The nodes of a graph and of the bodies in it. What has another shape is refused later."""
    nodes = document.get("nodes") if isinstance(document, dict) else None
    if not isinstance(nodes, dict):
        return 0
    return len(nodes) + sum(_count(node.get("body")) for node in nodes.values() if isinstance(node, dict))


def _explained(error: ValidationError, marks: Marks) -> GraphError:
    first = error.errors(include_url=False, include_input=False)[0]
    place = _written_place(first["loc"])
    message, hint = first_problem(error).plain, None
    if first["type"] in _UNION_TAGS:
        place = (*place, "kind")
        said = first.get("ctx", {}).get("tag")
        message = f"there is no kind of node `{said}`" if said else "a node needs a kind"
        hint = (did_you_mean(said, _KIND_NAMES) if said else None) or f"There are: {', '.join(_KIND_NAMES)}."
    elif first["type"] == "extra_forbidden":
        message, hint = "there is no such field", did_you_mean(str(place[-1]), _fields_beside(first["loc"]))
    elif first["type"] == "missing":
        place, message = place[:-1], f"`{place[-1]}` is missing"
    found = marks.error(place, message[:1].lower() + message[1:], hint)
    assert isinstance(found, GraphError)
    return found


def _fields_beside(loc: FieldPath) -> tuple[str, ...]:
    """The fields that are known where an unknown one stands: of the kind of the node, or of the graph."""
    kind = next((part for part in reversed(loc[:-1]) if part in _KIND_NAMES), None)
    model = KINDS[_KIND_NAMES.index(str(kind))] if kind is not None else GraphDefinition
    return tuple(model.model_fields)


def _written_place(loc: FieldPath) -> FieldPath:
    """The place in the document. Pydantic's own also names the kind of a node, which is no field."""
    place: list[str | int] = []
    for number, part in enumerate(loc):
        is_kind = number > 1 and loc[number - 2] == "nodes" and part in _KIND_NAMES
        if not is_kind:
            place.append(part)
    return tuple(place)
