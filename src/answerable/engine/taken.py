"""What a forked run takes over from inside the nodes that it begins again. Pure.

A node that has ended is taken over as a whole, as a node that gives its output. A map, a loop or a subgraph that has
not ended begins again, but what has ended inside of it is not done again. A write whose end is not known keeps its
idempotency key, and asks a person if its target does not recognise keys.
"""

from collections.abc import Collection, Sequence

from answerable.core.events import Event, StepFailed, StepFinished
from answerable.core.ids import NodeId, RunId
from answerable.core.values import Json
from answerable.engine.journal import past_by_node

_ATTEMPT = "#"
"""Marks the nodes inside of a later attempt of a step; the new run begins with the first."""


def taken_over(run: RunId, events: Sequence[Event], continued: Collection[str]) -> Json:
    """`continued`: the outermost nodes that have not ended and run again with the same inputs. None if there is nothing
    to take over."""
    ended: dict[NodeId, Json] = {}
    left_open: dict[NodeId, Json] = {}
    for node, past in past_by_node(events).items():
        if node.partition("/")[0] not in continued or _ATTEMPT in node:
            continue
        if isinstance(past.ended, StepFinished):
            ended[node] = past.ended.output
        elif past.unreported or isinstance(past.ended, StepFailed):
            unreported = past.unreported and past.ended is None
            left_open[node] = {"key": past.key or f"{run}:{node}", "unreported": unreported}
    return {"ended": ended, "open": left_open} if ended or left_open else None
