"""The earlier conversation as a model reads it: the last answer with its rows, and a question back."""

from answerable.agents.data_text import as_data, shortened
from answerable.agents.dependencies import AgentDependencies
from answerable.agents.rows_text import record_text
from answerable.answers.answer import Answer
from answerable.answers.capsule import CapsuleBody, read_capsule
from answerable.core.values import FrameRef
from answerable.engine.steps.understand import Conversation

_ANSWER_TEXT = 1_000
"""Characters of the last answer's text that are shown."""
_EARLIER_ROWS = 12
"""Rows of the last answer that are shown; a model can look at more."""
LAST_ANSWER = "last_answer"
"""The name of the last answer's rows."""


def conversation_text(before: Conversation, dependencies: AgentDependencies) -> str:
    rows, personal = dependencies.share_rows, dependencies.share_personal
    return earlier_text(before, share_rows=rows, share_personal=personal)


def earlier_text(before: Conversation, *, share_rows: bool, share_personal: bool = False) -> str:
    """The last answer of the thread: its question, programs, text and first rows. If the last message was a question
    back, also its text and choices, since the new message may answer it."""
    parts = []
    if (asked := _asked_back(before)) is not None:
        choices = [as_data(choice.label) for choice in asked.answer.choices]
        parts.append(f"asked back after {as_data(asked.question)}: {as_data(asked.answer.text)} {', '.join(choices)}")
    if (answered := _answered(before)) is not None:
        answer = answered.answer
        parts.append(f"question: {as_data(answered.question)}")
        parts += [f"{step.id} ({step.kind}): {as_data(step.code)}" for step in answer.steps if step.code]
        if share_rows:
            parts.append(f"answer: {as_data(shortened(answer.text, _ANSWER_TEXT))}")
        if answer.columns:
            parts.append(_earlier_rows(answer, share_rows, share_personal))
    return "\n".join(parts)


def _earlier_rows(answer: Answer, share_rows: bool, share_personal: bool) -> str:
    names = [column.name for column in answer.columns]
    head = f"its rows, {LAST_ANSWER}: {answer.row_count:,} rows with the columns {', '.join(map(as_data, names))}"
    if not share_rows:
        return head
    rows = [dict(zip(names, row, strict=True)) for row in answer.rows[:_EARLIER_ROWS]]
    return "\n".join([head, *(f"  {record_text(row, share_personal)}" for row in rows)])


def earlier_frames(before: Conversation) -> dict[str, FrameRef]:
    """The rows of the last answer of the thread, under the name by which a model can look at more of them."""
    answered = _answered(before)
    if answered is None or answered.answer.provenance.artifact is None:
        return {}
    answer = answered.answer
    assert answer.provenance.artifact is not None
    frame = FrameRef(
        artifact=answer.provenance.artifact, columns=answer.columns, row_count=answer.row_count, byte_count=0, sample=()
    )
    return {LAST_ANSWER: frame}


def _asked_back(before: Conversation) -> CapsuleBody | None:
    last = read_capsule(before.last) if before.last is not None else None
    return last if last is not None and last.answer.kind == "clarify" else None


def _answered(before: Conversation) -> CapsuleBody | None:
    """The last answer that is no question back."""
    body = before.answered or (before.last if _asked_back(before) is None else None)
    return read_capsule(body) if body is not None else None
