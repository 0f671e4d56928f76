"""Golden questions: stored, measured, and looked at."""

from typing import Annotated

from fastapi import APIRouter, Path
from pydantic import Field

from answerable.core.ids import EvalId, RunId, eval_of
from answerable.gateway.access import AttemptOf, PrincipalOf, ServiceOf, needs
from answerable.gateway.middleware.idempotency import OnceRoute
from answerable.gateway.problems import documented
from answerable.gateway.wire import API, RUN_ID, Wire
from answerable.service.eval_views import EvalCaseDetail, EvalCaseSummary, EvalRun, EvalSuite, EvalSuiteDetail
from answerable.service.evals import SUITE_NAME

router = APIRouter(prefix=API, tags=["evals"], route_class=OnceRoute, dependencies=[needs("evaluate")])

SuitePath = Annotated[str, Path(pattern=SUITE_NAME)]
CasePath = Annotated[str, Path(min_length=1, max_length=200)]
EvalPath = Annotated[str, Path(pattern=r"^evl_[0-9a-z]{24}$")]


class EvalSuiteList(Wire):
    suites: list[EvalSuite]


class EvalRunList(Wire):
    runs: list[EvalRun]


class NewCase(Wire):
    run_id: str = Field(pattern=RUN_ID, description="A run whose answer is right.")
    id: str | None = Field(None, min_length=1, max_length=60)
    ordered: bool = Field(False, description="Whether the order of the rows counts.")


@router.get("/evals", responses=documented(422))
async def suites(service: ServiceOf, principal: PrincipalOf) -> EvalSuiteList:
    """List the suites of golden questions with their latest results."""
    return EvalSuiteList(suites=[*await service.evals.suites(principal)])


@router.get("/evals/{suite}", responses=documented(404, 422))
async def suite(suite: SuitePath, service: ServiceOf, principal: PrincipalOf) -> EvalSuiteDetail:
    """Show a suite and the latest result of each of its cases."""
    return await service.evals.suite(suite, principal)


@router.get("/evals/{suite}/cases/{case_id}", responses=documented(404, 422))
async def case(suite: SuitePath, case_id: CasePath, service: ServiceOf, principal: PrincipalOf) -> EvalCaseDetail:
    """Show one case: the expected rows, and the rows of the latest measurement."""
    return await service.evals.case(suite, case_id, principal)


@router.post("/evals/{suite}/cases", status_code=201, responses=documented(400, 403, 404, 413, 422))
async def add_case(
    suite: SuitePath, body: NewCase, service: ServiceOf, principal: PrincipalOf, attempt: AttemptOf
) -> EvalCaseSummary:
    """Make a golden case from a good answer. The suite is created if it does not exist."""
    return await service.evals.add_case(
        suite, RunId(body.run_id), principal, case_id=body.id, ordered=body.ordered, attempt=attempt
    )


@router.delete("/evals/{suite}/cases/{case_id}", status_code=204, responses=documented(403, 404, 422))
async def delete_case(suite: SuitePath, case_id: CasePath, service: ServiceOf, principal: PrincipalOf) -> None:
    """Remove a golden case that was made from an answer."""
    await service.evals.remove_case(suite, case_id, principal)


@router.post("/evals/{suite}/runs", status_code=202, responses=documented(404, 422))
async def start(suite: SuitePath, service: ServiceOf, principal: PrincipalOf, attempt: AttemptOf) -> EvalRun:
    """Start measuring a suite in the background. If it is already being measured, return that measurement."""
    eval_id = eval_of(attempt.run) if attempt is not None else None
    return await service.evals.measure(suite, principal, eval_id=eval_id)


@router.get("/evals/{suite}/runs", responses=documented(422))
async def eval_runs(suite: SuitePath, service: ServiceOf, principal: PrincipalOf) -> EvalRunList:
    """List the measurements of a suite, newest first."""
    return EvalRunList(runs=[*await service.evals.measurements(suite, principal)])


@router.get("/evals/{suite}/runs/{eval_id}", responses=documented(404, 422))
async def eval_run(suite: SuitePath, eval_id: EvalPath, service: ServiceOf, principal: PrincipalOf) -> EvalRun:
    """Show one measurement of a suite and its progress."""
    return await service.evals.measurement(suite, EvalId(eval_id), principal)
