"""Agents that a graph names, found before it runs, also those in the stored graphs inside of it."""

from collections.abc import Awaitable, Callable, Iterator, Mapping
from typing import TypeAlias

from answerable.agents.written import NamedAgent
from answerable.core.errors import AgentError, NotFoundError, OperatorError
from answerable.core.yaml_text import FieldPath, Marks
from answerable.graphs.definition import AgentNode, Body, GraphDefinition
from answerable.graphs.stored import StoredGraphs

NamedAgents: TypeAlias = Mapping[str, NamedAgent]
"""By the names that stand in the texts: `triage` or `triage@3`."""
Find: TypeAlias = Callable[[str, int | None], Awaitable[NamedAgent]]
"""The agent of a name, in a version if it has any."""


async def agents_inside(definition: GraphDefinition, marks: Marks, stored: StoredGraphs, find: Find) -> NamedAgents:
    """Every agent that a graph names. Raises a `GraphError` at the place where one is named that cannot be used."""
    found: dict[str, NamedAgent] = {}
    texts = [(definition.body, marks), *((each.definition.body, each.marks) for each in stored.values())]
    for body, its_marks in texts:
        for place, name in _named_in(body):
            if name not in found:
                found[name] = await _found(name, its_marks, place, find)
    return found


async def _found(name: str, marks: Marks, place: FieldPath, find: Find) -> NamedAgent:
    wanted, _, version = name.partition("@")
    try:
        return await find(wanted, int(version) if version else None)
    except (NotFoundError, AgentError) as error:
        raise marks.error(place, error.message[:1].lower() + error.message[1:].rstrip("."), error.hint) from error
    except OperatorError as error:
        if error.stable_code != "agent_invalid":  # the store may be away
            raise
        raise marks.error(
            place, f"the agent `{name}` cannot be used: {error.message.rstrip('.')}", error.hint
        ) from error


def _named_in(body: Body, path: FieldPath = ()) -> Iterator[tuple[FieldPath, str]]:
    for id, node in body.nodes.items():
        place, inside = (*path, "nodes", id), getattr(node, "body", None)
        if isinstance(node, AgentNode) and node.agent is not None:
            yield (*place, "agent"), node.agent
        elif isinstance(inside, Body):
            yield from _named_in(inside, (*place, "body"))
