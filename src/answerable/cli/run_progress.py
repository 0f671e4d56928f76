"""A run of a graph as people at a terminal see it: what happens meanwhile, how it ended, and what it waits for."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from answerable.cli.output import EXIT_CODES, progress, progress_text, say, tell_json

if TYPE_CHECKING:
    from answerable.core.context import Principal
    from answerable.core.events import Event
    from answerable.core.ids import RunId
    from answerable.engine.open_questions import OpenQuestion
    from answerable.service import Service
    from answerable.service.graphs import GraphRun

WAITING = 3
"""The exit code of a run that waits for a person."""


async def followed(service: "Service", principal: "Principal", run: "RunId", *, quiet: bool) -> "GraphRun":
    """Waits for a run. A terminal shows what happens meanwhile."""
    if not quiet:
        say(f"{run}: running", err=True)  # whoever is interrupted knows what to resume
    inside: Counter[str] = Counter()
    with progress("Running …") as show:
        async for event in service.runs.events(run, principal):
            if quiet:
                continue
            text = progress_text(event) or _counted(event, inside)
            if show is not None and text is not None:
                show(text)
            if (line := _line(event)) is not None:
                say(line, err=True)
    return await service.graphs.get_run(run, principal)


def _counted(event: "Event", inside: Counter[str]) -> str | None:
    """How many items or rounds of a node have ended. A map of 1,000 items does not write a line for each."""
    from answerable.core.events import StepFinished

    if not isinstance(event, StepFinished) or event.node.count("/") != 1:
        return None
    outer = event.node.partition("/")[0]
    inside[outer] += 1
    return f"{outer} … {inside[outer]:,} done"


def _line(event: "Event") -> str | None:
    """One line about a node, for people who watch. Of nodes inside of others only what they may have to act on."""
    from answerable.core.events import ApprovalRequested, StepFailed, StepFinished, StepRetried, StepSkipped
    from answerable.graphs.compiling import RESERVED

    node = getattr(event, "node", "")
    if node.rpartition("/")[2] in RESERVED:
        return None
    match event:
        case StepFinished() if "/" not in node:
            return f"done     {node}  {event.duration_ms:,.0f} ms"
        case StepFailed():
            return f"failed   {node}  {event.message} [{event.code}]"
        case StepSkipped() if "/" not in node:
            return f"skipped  {node}  {event.reason}"
        case StepRetried():
            return f"again    {node}  in {event.delay:.1f} s: {event.message}"
        case ApprovalRequested():
            return f"waiting  {node}  {event.prompt}"
    return None


def tell_run(found: "GraphRun", as_json: bool, *, written: Path | None = None) -> int:
    """Tells how a run ended, and returns the exit code that says so. `written`: the file that its output went to."""
    if as_json:
        tell_json(found.model_dump(mode="json"))
    else:
        if written is None:
            _tell_output(found)
        say(f"{found.run_id}: {found.status}", err=True)
        tell_waits(found.run_id, found.status, found.waits)
        if found.error is not None:
            say(f"Error: {found.error['message']} [{found.error['code']}]", err=True)
            if found.error["hint"]:
                say(f"Hint: {found.error['hint']}", err=True)
    return WAITING if found.status in ("waiting", "paused") else EXIT_CODES.get(found.status, 1)


def tell_waits(run: str, status: str, waits: "Sequence[OpenQuestion]") -> None:
    """The commands that let a run go on."""
    from answerable.engine.steps.wait import EVENT

    for question in waits:
        event = question.show.get(EVENT) if isinstance(question.show, dict) and len(question.show) == 1 else None
        command = f"graph signal {event}" if event is not None else f"runs approve {run} {question.node}"
        by_itself = f"  (or by itself at {question.until:%Y-%m-%d %H:%M:%S} UTC)" if question.until else ""
        say(f"Go on with: answerable {command}{by_itself}", err=True)
    if status == "paused":
        say(f"Go on with: answerable runs resume {run}", err=True)


def _tell_output(found: "GraphRun") -> None:
    from answerable.engine.steps.graph_answer import output_text

    if found.status in ("done", "partial"):
        say(output_text(found.output))
