"""Errors on the wire: RFC 9457 problem documents with a stable code, a sentence, and a hint where there is one."""

from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel
from starlette.exceptions import HTTPException

from answerable.core.errors import (
    AnswerableError,
    InternalError,
    LimitError,
    NotFoundError,
    OperatorError,
    RefusedError,
    SignInError,
    SourceError,
    TooManyError,
    TransientError,
    UserError,
)

# The first match counts, so a class has to stand before its base class.
STATUS: tuple[tuple[type[AnswerableError], int], ...] = (
    (NotFoundError, 404),
    (SignInError, 401),
    (TooManyError, 429),
    (UserError, 422),
    (RefusedError, 403),
    (SourceError, 502),
    (LimitError, 413),
    (TransientError, 503),
    (OperatorError, 503),
    (InternalError, 500),
)


class Problem(BaseModel):
    """What went wrong, for programs (`code`) and for people (`detail`, `hint`)."""

    type: str = "about:blank"
    title: str
    status: int
    detail: str
    code: str
    hint: str | None = None
    request_id: str | None = None
    line: int | None = None
    """Of a file that has a mistake: where it stands."""
    column: int | None = None
    field: str | None = None
    run_id: str | None = None
    """Of a request that was cut off: the run that goes on without it."""


def documented(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The `responses=` of a route that may answer with these problems."""
    content = {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}}
    return {status: {"description": HTTPStatus(status).phrase, "content": content} for status in statuses}


def problem_response(
    status: int, code: str, detail: str, hint: str | None, request: Request, **place: Any
) -> JSONResponse:
    problem = Problem(
        title=HTTPStatus(status).phrase,
        status=status,
        detail=detail,
        code=code,
        hint=hint,
        request_id=request.scope.get("request_id"),
        **place,
    )
    return JSONResponse(problem.model_dump(exclude_none=True), status, media_type="application/problem+json")


def defect_response(request: Request) -> JSONResponse:
    """The reply for an unexpected error, which is our fault. The log holds the trace; the client gets the id to ask for
    it by."""
    return problem_response(500, "internal", "Something went wrong that should not.", None, request)


def status_of(error: AnswerableError) -> int:
    return next(status for kind, status in STATUS if isinstance(error, kind) or kind is InternalError)


def problem_of(error: AnswerableError, request: Request) -> JSONResponse:
    # Only these details are part of the wire format.
    place = {part: error.details[part] for part in ("line", "column", "field", "run_id") if part in error.details}
    # There is no service while it starts, and then nobody is answered.
    request.app.state.service.hidden.of(error)
    response = problem_response(status_of(error), error.stable_code, str(error), error.hint, request, **place)
    if (seconds := error.details.get("retry_after")) is not None:
        response.headers["Retry-After"] = str(seconds)
    if isinstance(error, SignInError):
        response.headers["WWW-Authenticate"] = "Bearer"
    return response


def handle_problems(app: FastAPI) -> None:
    @app.exception_handler(AnswerableError)
    async def ours(request: Request, error: AnswerableError) -> JSONResponse:
        return problem_of(error, request)

    @app.exception_handler(RequestValidationError)
    async def malformed(request: Request, error: RequestValidationError) -> JSONResponse:
        # Leaves out pydantic's `input`: it would repeat what the client sent, which may hold a password.
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        if first["loc"][0] == "path" and first["type"] == "string_pattern_mismatch":
            # People follow links that were cut or mangled; a regular expression would tell them nothing.
            message = f"This address names no {first['loc'][-1].removesuffix('_id')}."
            hint = "The link may have been cut when it was copied."
            return problem_response(422, "request_invalid", message, hint, request)
        return problem_response(422, "request_invalid", f"{where}: {first['msg']}", None, request)

    @app.exception_handler(HTTPException)
    async def of_the_framework(request: Request, error: HTTPException) -> JSONResponse:
        codes = {404: "not_found", 405: "method_not_allowed"}
        response = problem_response(
            error.status_code, codes.get(error.status_code, "http_error"), str(error.detail), None, request
        )
        response.headers.update(error.headers or {})
        return response
