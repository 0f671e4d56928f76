"""The stored whole of an answer.

A capsule is versioned; what each version holds is listed in `VERSIONS`, and old ones stay readable.
"""

from typing import Literal

from pydantic import ValidationError

from answerable.answers.answer import Answer
from answerable.core.errors import OperatorError
from answerable.core.values import Frozen, Json
from answerable.query.plan import QueryPlan

VERSIONS = {1: "the question, whether its rows have an order, and the answer with plan, code and fingerprints per step"}
CURRENT = max(VERSIONS)


class CapsuleBody(Frozen):
    version: Literal[1] = 1
    question: str
    ordered: bool
    """The rows were asked for in an order; else any order is the same answer."""
    answer: Answer


def capsule_body(question: str, answer: Answer) -> Json:
    """What the store keeps of an answered run."""
    return CapsuleBody(question=question, ordered=_ordered(answer), answer=answer).model_dump(mode="json")


def read_capsule(body: Json) -> CapsuleBody:
    version = body.get("version") if isinstance(body, dict) else None
    # Two servers of different versions may share a store. A newer capsule is not damaged, and the operator can act.
    if isinstance(version, int) and version > CURRENT:
        raise OperatorError(
            f"This answer was stored by a newer Answerable (capsule version {version}).",
            code="capsule_newer",
            hint="Upgrade Answerable on this machine.",
        )
    try:
        return CapsuleBody.model_validate(body)
    except ValidationError as error:
        raise OperatorError("The stored answer is damaged.", code="capsule_damaged") from error


def _ordered(answer: Answer) -> bool:
    """Whether an order of rows was asked for: by the plan where there is one, else by the code of the last step. False
    in doubt."""
    if answer.provenance.plan is not None:
        return bool(QueryPlan.model_validate(answer.provenance.plan).order_by)
    last = next((step for step in reversed(answer.steps) if step.status == "done"), None)
    # Answers of older versions do not record the language; what is not SQL then does not parse.
    return last is not None and last.code is not None and last.language in (None, "sql") and _has_order(last.code)


def _has_order(sql: str) -> bool:
    import sqlglot
    from sqlglot.errors import SqlglotError

    try:
        return sqlglot.parse_one(sql).args.get("order") is not None
    except SqlglotError:
        return False
