"""What became of each node of a run, from its events. Pure."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Literal

from answerable.core.events import (
    ApprovalDecided,
    ApprovalRequested,
    Event,
    RunStarted,
    StepFailed,
    StepFinished,
    StepOutput,
    StepRetried,
    StepSkipped,
    StepStarted,
)
from answerable.core.values import Frozen, Json
from answerable.engine.open_questions import open_questions
from answerable.engine.steps.wait import CHANNEL, EVENT

NodeStatus = Literal["not_started", "running", "waiting", "done", "failed", "skipped"]


class NodeRun(Frozen):
    kind: str
    status: NodeStatus = "not_started"
    output: Json = None
    attempts: int = 0
    duration_ms: float = 0.0
    message: str | None = None
    """Why it failed, was skipped or waits."""
    code: str | None = None
    """The stable code of its error."""


def node_runs(events: Sequence[Event]) -> dict[str, NodeRun]:
    """What became of each node, by id, in the order of the graph. Nodes inside other nodes are part of these: a node
    waits if one inside of it does."""
    nodes: dict[str, NodeRun] = {}
    for event in events:
        if isinstance(event, RunStarted):
            nodes = {node["id"]: NodeRun(kind=node["kind"]) for node in event.graph["nodes"]}
            continue
        id = getattr(event, "node", None)
        if id in nodes and (change := _change(event)):
            nodes[id] = nodes[id].model_copy(update=change)
    for question in open_questions(events):
        outer = question.node.partition("/")[0]
        if outer in nodes and nodes[outer].status == "running":
            nodes[outer] = nodes[outer].model_copy(update={"status": "waiting", "message": question.prompt})
    return nodes


def _change(event: Event) -> dict[str, Json]:
    match event:
        case StepStarted():
            return {"status": "running", "attempts": event.attempt, "message": None}
        case StepOutput() if event.channel == CHANNEL:
            until = datetime.fromtimestamp(event.data, UTC)
            return {"status": "waiting", "message": f"until {until:%Y-%m-%d %H:%M:%S} UTC"}
        case StepRetried():
            return {"message": event.message, "code": event.code}
        case StepFinished():
            ended = {"status": "done", "output": event.output, "duration_ms": event.duration_ms}
            return {**ended, "message": None, "code": None}
        case StepFailed():
            return {"status": "failed", "message": event.message, "code": event.code, "duration_ms": event.duration_ms}
        case StepSkipped():
            return {"status": "skipped", "message": event.reason}
        case ApprovalRequested():
            return {"status": "waiting", "message": event.prompt}
        case ApprovalDecided():
            return {"status": "running", "message": None}
    return {}


def waiting_for(events: Sequence[Event], name: str) -> list[str]:
    """The nodes that wait for an event of this name, also inside of other nodes."""
    return [question.node for question in open_questions(events) if question.show == {EVENT: name}]
