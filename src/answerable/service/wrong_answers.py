"""Answers that somebody has called wrong: what was asked, how it was read, and what would have been right."""

from datetime import datetime
from typing import Literal

from pydantic import Field

from answerable.answers.answer import Answer
from answerable.core.values import Frozen, Json
from answerable.store.base import RunRecord
from answerable.store.protocols.evals import CaseRecord

WrongPart = Literal["rows", "meaning", "number", "wording"]
"""Which part of an answer is wrong: some rows are missing or too many, something else was meant, a number is wrong, or
only the words are."""


class WrongAnswer(Frozen):
    run_id: str
    question: str
    source: str = Field(description="The sources of the question, with commas between them.")
    what: WrongPart
    note: str = Field(description="What would be right, in the words of who said so; may be empty.")
    understood: str | None = Field(description="How the question was read.")
    plan: Json = Field(description="The query plan of the wrong answer, if it had one.")
    user: str
    made_at: datetime


class Judgement(Frozen):
    """What people have said about an answer."""

    golden: str | None = Field(description="The id of the golden case that was made from it; null if none was.")
    suite: str | None = Field(description="The suite of that case.")
    wrong: WrongAnswer | None


def wrong_body(record: RunRecord, answer: Answer, what: WrongPart, note: str) -> dict[str, Json]:
    return {
        "question": record.question,
        "source": ", ".join(record.sources),
        "what": what,
        "note": note.strip(),
        "understood": answer.provenance.understood,
        "plan": answer.provenance.plan,
    }


def wrong_answer(record: CaseRecord) -> WrongAnswer:
    return WrongAnswer(run_id=record.case, user=record.principal.user, made_at=record.made_at, **record.body)
