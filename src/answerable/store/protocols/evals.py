"""Golden cases, and the measurings of them."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, Protocol

from answerable.core.context import Principal
from answerable.core.ids import EvalId, RunId
from answerable.core.values import Json

TO_MEND = "to-mend"
"""The suite of the answers that somebody has called wrong. Their right rows are not known, so they are no golden
cases."""


@dataclass(frozen=True, slots=True)
class CaseRecord:
    """A question whose right answer is known, or, in the suite `TO_MEND`, one whose answer was wrong."""

    suite: str
    case: str
    principal: Principal
    made_at: datetime
    run: RunId | None
    """The answer that it was made from."""
    body: Json = field(repr=False)


EvalStatus = Literal["running", "done", "failed"]


@dataclass(frozen=True, slots=True)
class EvalRecord:
    """One measuring of a set of cases."""

    eval: EvalId
    principal: Principal
    suite: str
    status: EvalStatus
    started_at: datetime
    finished_at: datetime | None
    body: Json = field(repr=False)


class Evals(Protocol):
    async def put_case(
        self, principal: Principal, suite: str, case: str, body: Json, *, run: RunId | None
    ) -> CaseRecord:
        """One of the same name is a `UserError`."""
        ...

    async def cases(self, principal: Principal) -> Sequence[CaseRecord]:
        """Lists the golden cases of all suites, the oldest first."""
        ...

    async def to_mend(self, principal: Principal) -> Sequence[CaseRecord]:
        """Lists the answers that were called wrong, the oldest first."""
        ...

    async def delete_case(self, principal: Principal, suite: str, case: str) -> None: ...

    async def begin(self, principal: Principal, suite: str, body: Json, *, eval: EvalId | None = None) -> EvalRecord:
        """`eval`: the id to give it. Of a measurement of that id that was begun already, gives the record."""
        ...

    async def finish(self, principal: Principal, eval: EvalId, status: EvalStatus, body: Json) -> None: ...

    async def get(self, principal: Principal, eval: EvalId) -> EvalRecord: ...

    async def recent(self, principal: Principal, suite: str | None = None, *, limit: int = 50) -> Sequence[EvalRecord]:
        """Newest first; of one suite, or of all."""
        ...
