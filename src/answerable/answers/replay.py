"""Whether running an answer's programs again gives the same rows."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from answerable.answers.answer import StepRecord
from answerable.answers.capsule import CapsuleBody
from answerable.answers.difference import Difference, difference
from answerable.core.errors import AnswerableError
from answerable.core.ids import ArtifactId, RunId
from answerable.core.values import Frozen

Verdict = Literal["same", "differs", "cannot"]


@dataclass(frozen=True, slots=True)
class Rerun:
    """A step that ran again."""

    recorded: Path
    """The rows that the first run stored."""
    fresh: Path
    """The rows of now."""
    artifact: ArtifactId | None = None
    """The hash of the fresh rows, when known: the same hash spares the comparison."""
    fingerprint: str | None = None
    """Of the data that was read now."""


class ReplayedStep(Frozen):
    step: str
    verdict: Verdict
    reason: str | None = None
    """Why it could not run again."""
    code: str | None = None
    """The stable code of the error, when there was one."""
    data_changed: bool | None = None
    """Whether the fingerprint of the data has changed; None if that is not known."""
    difference: Difference | None = None


class Replay(Frozen):
    run_id: RunId
    verdict: Verdict
    text: str
    """The verdict in a sentence."""
    steps: tuple[ReplayedStep, ...]


RunAgain = Callable[[StepRecord], Awaitable[Rerun | None]]
"""Runs one recorded step again; None if steps of its kind cannot be repeated. An `AnswerableError` that it raises
becomes the reason why replay is not possible."""


async def replay(capsule: CapsuleBody, run_again: RunAgain) -> Replay:
    """Runs the repeatable steps again, one after the other, and compares the rows."""
    steps = [step for step in capsule.answer.steps if step.status == "done"]
    last = steps[-1].id if steps else None
    replayed = []
    for step in steps:
        # Only the last step's rows are the answer; the order of rows in between does not matter.
        ordered = capsule.ordered and step.id == last
        replayed.append(await _replayed(step, ordered, run_again))
    return judged(capsule.answer.run_id, replayed)


def judged(run_id: RunId, steps: list[ReplayedStep]) -> Replay:
    """One verdict over all steps: a difference is the worst, then what could not be checked."""
    differing = [step for step in steps if step.verdict == "differs"]
    stuck = [step for step in steps if step.verdict == "cannot"]
    if differing:
        found = differing[0].difference
        text = f"The rows differ at step {differing[0].step}: {found.text if found else 'no rows to compare'}"
        return Replay(run_id=run_id, verdict="differs", text=text + _about_data(differing), steps=tuple(steps))
    if stuck or not steps:
        reason = f"step {stuck[0].step}: {stuck[0].reason}" if stuck else "the answer has no step that can run again."
        return Replay(run_id=run_id, verdict="cannot", text=f"Not replayable: {reason}", steps=tuple(steps))
    return Replay(run_id=run_id, verdict="same", text="Replays the same." + _about_data(steps), steps=tuple(steps))


async def _replayed(step: StepRecord, ordered: bool, run_again: RunAgain) -> ReplayedStep:
    if step.data_source_type == "api":
        return ReplayedStep(step=step.id, verdict="cannot", reason="what an API gave cannot be had again.")
    try:
        rerun = await run_again(step) if step.code and step.artifact is not None else None
    except AnswerableError as error:
        return ReplayedStep(step=step.id, verdict="cannot", reason=error.message, code=error.stable_code)
    if rerun is None:
        return ReplayedStep(step=step.id, verdict="cannot", reason=f"a step of kind {step.kind} is not repeatable.")
    known = step.fingerprint is not None and rerun.fingerprint is not None
    changed = step.fingerprint != rerun.fingerprint if known else None
    # Equal hashes are equal rows, so the files need not be read.
    if rerun.artifact == step.artifact:
        return ReplayedStep(step=step.id, verdict="same", data_changed=changed)
    found = difference(rerun.recorded, rerun.fresh, ordered=ordered)
    verdict: Verdict = "same" if found.none else "differs"
    return ReplayedStep(step=step.id, verdict=verdict, data_changed=changed, difference=found)


def _about_data(steps: list[ReplayedStep]) -> str:
    return " The data has changed since." if any(step.data_changed for step in steps) else ""
