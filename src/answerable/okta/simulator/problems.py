"""Errors in the shape in which Okta sends them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class OktaProblem(Exception):
    status: int
    code: str
    summary: str
    causes: Sequence[str] = ()
    headers: Mapping[str, str] = field(default_factory=dict)

    def body(self, error_id: str) -> dict[str, object]:
        causes = [{"errorSummary": cause} for cause in self.causes]
        return {
            "errorCode": self.code,
            "errorSummary": self.summary,
            "errorLink": self.code,
            "errorId": error_id,
            "errorCauses": causes,
        }


def invalid_token() -> OktaProblem:
    return OktaProblem(401, "E0000011", "Invalid token provided")


def missing_scope(scope: str) -> OktaProblem:
    challenge = (
        'Bearer error="insufficient_scope", error_description="The access token provided does not contain the required '
        f'scopes.", resource="{scope}"'
    )
    summary = "You do not have permission to perform the requested action"
    return OktaProblem(403, "E0000006", summary, headers={"WWW-Authenticate": challenge})


def not_found(key: str, kind: str) -> OktaProblem:
    return OktaProblem(404, "E0000007", f"Not found: Resource not found: {key} ({kind})")


def no_such_endpoint(path: str) -> OktaProblem:
    return OktaProblem(404, "E0000007", f"Not found: Resource not found: {path}")


def wrong_method() -> OktaProblem:
    return OktaProblem(405, "E0000022", "The endpoint does not support the provided HTTP method")


def too_many_requests() -> OktaProblem:
    return OktaProblem(429, "E0000047", "API call exceeded rate limit due to too many requests.")


def invalid_cursor(kind: str) -> OktaProblem:
    """Devices are found by a search, and their cursor is a part of it."""
    if kind == "Device":
        return OktaProblem(400, "E0000031", "Invalid search criteria.", ("Invalid cursor.",))
    return OktaProblem(400, "E0000029", "Invalid paging request.", ("Invalid cursor.",))


def invalid_search(reason: str) -> OktaProblem:
    return OktaProblem(400, "E0000031", "Invalid search criteria.", (reason,))


def invalid_parameter(name: str, reason: str) -> OktaProblem:
    return OktaProblem(400, "E0000001", f"Api validation failed: {name}", (reason,))
