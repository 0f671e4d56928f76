"""Golden cases that were saved from answers, and the results of measuring."""

from collections.abc import Sequence

import orjson

from answerable.core import codec
from answerable.core.clock import Clock
from answerable.core.context import Principal
from answerable.core.errors import NotFoundError, UserError
from answerable.core.ids import EvalId, RunId, TenantId, UserId, new_eval_id
from answerable.core.values import Json
from answerable.store.database import OWN, Row, RowExistsError, SqlDatabase, at_most, own, time_of, time_text
from answerable.store.protocols.evals import TO_MEND, CaseRecord, EvalRecord, EvalStatus

_CASE = "SELECT suite, case_id, tenant_id, user_id, made_at, run_id, body FROM eval_cases"
_INSERT_CASE = (
    "INSERT INTO eval_cases (suite, case_id, tenant_id, user_id, made_at, run_id, body) VALUES (?, ?, ?, ?, ?, ?, ?)"
)
_DELETE_CASE = f"DELETE FROM eval_cases WHERE {OWN} AND suite = ? AND case_id = ?"  # noqa: S608
_EVAL = "SELECT eval_id, tenant_id, user_id, suite, status, started_at, finished_at, body FROM eval_runs"
_INSERT_EVAL = (
    "INSERT INTO eval_runs (eval_id, tenant_id, user_id, suite, status, started_at, body) VALUES (?, ?, ?, ?, ?, ?, ?)"
)
_FINISH = "UPDATE eval_runs SET status = ?, finished_at = ?, body = ? WHERE eval_id = ? AND tenant_id = ?"


class SqlEvals:
    def __init__(self, database: SqlDatabase, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    async def put_case(
        self, principal: Principal, suite: str, case: str, body: Json, *, run: RunId | None
    ) -> CaseRecord:
        record = CaseRecord(suite, case, principal, self._clock.now(), run, body)
        text = codec.json_bytes(body, f"The case {case}").decode()
        row = (suite, case, principal.tenant, principal.user, time_text(record.made_at), run, text)
        try:
            await self._database.write((_INSERT_CASE, row))
        except RowExistsError as error:
            message = f"The suite {suite!r} has a case {case!r} already."
            raise UserError(message, code="case_exists", hint="Give it another id.") from error
        return record

    async def cases(self, principal: Principal) -> Sequence[CaseRecord]:
        return await self._cases(principal, "suite <> ?")

    async def to_mend(self, principal: Principal) -> Sequence[CaseRecord]:
        return await self._cases(principal, "suite = ?")

    async def _cases(self, principal: Principal, condition: str) -> Sequence[CaseRecord]:
        where = f"WHERE {OWN} AND {condition} ORDER BY made_at, case_id"
        rows = await self._database.rows(f"{_CASE} {where}", *own(principal), TO_MEND)
        return [_case(row) for row in rows]

    async def delete_case(self, principal: Principal, suite: str, case: str) -> None:
        [changed] = await self._database.write((_DELETE_CASE, (*own(principal), suite, case)))
        if not changed:
            raise NotFoundError(f"The suite {suite!r} has no case {case!r} that was made here.", code="case_unknown")

    async def begin(self, principal: Principal, suite: str, body: Json, *, eval: EvalId | None = None) -> EvalRecord:
        record = EvalRecord(eval or new_eval_id(), principal, suite, "running", self._clock.now(), None, body)
        text = codec.json_bytes(body, "An eval").decode()
        row = (record.eval, principal.tenant, principal.user, suite, "running", time_text(record.started_at), text)
        try:
            await self._database.write((_INSERT_EVAL, row))
        except RowExistsError:
            return await self.get(principal, record.eval)
        return record

    async def finish(self, principal: Principal, eval: EvalId, status: EvalStatus, body: Json) -> None:
        text = codec.json_bytes(body, f"The eval {eval}").decode()
        row = (status, time_text(self._clock.now()), text, eval, principal.tenant)
        [changed] = await self._database.write((_FINISH, row))
        if not changed:
            raise _eval_not_found(eval)

    async def get(self, principal: Principal, eval: EvalId) -> EvalRecord:
        rows = await self._database.rows(f"{_EVAL} WHERE eval_id = ? AND {OWN}", eval, *own(principal))
        if not rows:
            raise _eval_not_found(eval)
        return _eval(rows[0])

    async def recent(self, principal: Principal, suite: str | None = None, *, limit: int = 50) -> Sequence[EvalRecord]:
        of_suite, named = ("AND suite = ?", (suite,)) if suite is not None else ("", ())
        where = f"WHERE {OWN} {of_suite} ORDER BY started_at DESC, eval_id DESC LIMIT ?"
        rows = await self._database.rows(f"{_EVAL} {where}", *own(principal), *named, at_most(limit))
        return [_eval(row) for row in rows]


def _eval_not_found(eval: EvalId) -> NotFoundError:
    return NotFoundError(f"There is no eval {eval}.", code="eval_not_found")


def _case(row: Row) -> CaseRecord:
    suite, case, tenant, user, made_at, run, body = row
    principal = Principal(TenantId(tenant), UserId(user))
    return CaseRecord(suite, case, principal, time_of(made_at), run, orjson.loads(body))


def _eval(row: Row) -> EvalRecord:
    eval, tenant, user, suite, status, started_at, finished_at, body = row
    principal = Principal(TenantId(tenant), UserId(user))
    ended = finished_at and time_of(finished_at)
    return EvalRecord(eval, principal, suite, status, time_of(started_at), ended, orjson.loads(body))
