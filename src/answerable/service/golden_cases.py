"""Golden cases: questions whose right answer is known, bundled with the package or saved from good answers."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import date

from answerable.core.values import Json
from answerable.evals.cases import Case
from answerable.sources.added import source_name
from answerable.store.protocols.evals import CaseRecord


@dataclass(frozen=True, slots=True)
class GoldenCase:
    """A case of a suite. The fields after `case` are set only if the case was saved from an answer."""

    case: Case
    columns: tuple[str, ...] = ()
    lead: tuple[str, ...] = ()
    """Questions that were asked before it in the same conversation."""
    run: str | None = None


def golden_case(record: CaseRecord) -> GoldenCase:
    body: Mapping[str, Json] = record.body
    case = Case(
        id=record.case,
        question=body["question"],
        source=body["source"],
        gold_rows=tuple(tuple(row) for row in body["gold_rows"]),
        ordered=body["ordered"],
        today=body["today"] and date.fromisoformat(body["today"]),
    )
    return GoldenCase(case, tuple(body["columns"]), tuple(body["lead"]), record.run)


def free_case_id(question: str, taken: Collection[str]) -> str:
    """Derives a name from the question, and appends the first free number if the name is taken."""
    name = source_name(question)
    number = 1
    while (free := name if number == 1 else f"{name}_{number}") in taken:
        number += 1
    return free
