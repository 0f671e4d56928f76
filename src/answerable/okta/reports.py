"""Reports of identity teams: each has typed inputs, and becomes one statement over a synced tenant.

To add one: a model of its inputs, a function that writes its statement, a row in `REPORTS`, a case in
`report_cases.jsonl`, and its question in `data/semantic.yaml`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, PrivateAttr, ValidationError
from sqlglot import exp

from answerable.core.errors import NotFoundError, UserError
from answerable.core.validation import first_problem

CASES = Path(__file__).parent / "report_cases.jsonl"


class Inputs(BaseModel):
    model_config = ConfigDict(extra="forbid")

    _today: date = PrivateAttr(default=date.max)

    def days_ago(self, days: int) -> str:
        """The time a number of days ago, as a literal of SQLite."""
        return _text(str(self._today - timedelta(days=days)))


class NoInputs(Inputs):
    pass


class Access(Inputs):
    user: str = Field(min_length=1, description="Name or login of the person.")
    application: str = Field(min_length=1, description="Name of the application.")


class Dormant(Inputs):
    days: int = Field(default=90, ge=1, le=36_500, description="Without a login for so many days.")


class Risks(Inputs):
    risk: Literal["impossible travel", "new device", "failed burst", "MFA fatigue"] | None = Field(
        default=None, description="Only this kind."
    )
    days: int = Field(default=30, ge=1, le=36_500, description="Found in the last so many days.")


class Overlap(Inputs):
    share: float = Field(default=0.9, gt=0, le=1, description="Least share of the smaller group that is in both.")
    members: int = Field(default=3, ge=1, description="Groups with fewer members are left out.")


class AccessReview(Inputs):
    application: str | None = Field(default=None, description="Only this application.")
    group: str | None = Field(default=None, description="Only members of this group.")


@dataclass(frozen=True, slots=True)
class TenantReport:
    name: str
    title: str
    inputs: type[Inputs]
    statement: Callable[[Any], str]

    def sql(self, inputs: Mapping[str, Any], today: date) -> str:
        """Raises `UserError` if the inputs do not fit."""
        try:
            typed = self.inputs.model_validate(dict(inputs))
        except ValidationError as error:
            raise UserError(
                f"The inputs of {self.name} do not fit: {first_problem(error)}.",
                code="okta_report_inputs",
                hint=f"Its inputs are {', '.join(self.inputs.model_fields) or 'none'}.",
            ) from error
        typed._today = today
        return self.statement(typed).strip()


def _text(value: str) -> str:
    """A literal of standard SQL, as SQLite reads it."""
    return exp.Literal.string(value).sql()


def _access(inputs: Access) -> str:
    user = _text(inputs.user)
    return f"""
        SELECT u.name AS user, u.login, p.name AS application, a.given_by, a.assigned, a.member_since, a.group_rule
        FROM users u JOIN application_access a ON a.user_id = u.id JOIN applications p ON p.id = a.application_id
        WHERE (u.name = {user} OR u.login = {user}) AND p.name = {_text(inputs.application)} ORDER BY 2, 4
    """  # noqa: S608 - literals are written by sqlglot, and the statement is checked like any other


def _risks(inputs: Risks) -> str:
    kind = f"AND r.risk = {_text(inputs.risk)}" if inputs.risk else ""
    return f"""
        SELECT u.name AS user, r.risk, r.detected, r.details FROM login_risks r JOIN users u ON u.id = r.user_id
        WHERE r.detected >= {inputs.days_ago(inputs.days)} {kind} ORDER BY 3 DESC, 1
    """  # noqa: S608


def _dormant(inputs: Dormant) -> str:
    before = inputs.days_ago(inputs.days)
    return f"""
        SELECT name, login, department, status, created, last_login FROM users
        WHERE status <> 'DEPROVISIONED' AND (last_login < {before} OR (last_login IS NULL AND created < {before}))
        ORDER BY 6, 1
    """  # noqa: S608


_WEAK = """
        SELECT DISTINCT u.name, u.login, a.role, a.given_by FROM users u JOIN administrators a ON a.user_id = u.id
        WHERE u.id NOT IN (SELECT user_id FROM factors WHERE strength = 'strong') ORDER BY 1, 3
    """


def _overlap(inputs: Overlap) -> str:
    return f"""
        WITH sizes AS (SELECT group_id, count(*) AS members FROM group_memberships GROUP BY group_id
        HAVING count(*) >= {inputs.members}),
        pairs AS (SELECT a.group_id AS one, b.group_id AS other, count(*) AS common FROM group_memberships a
        JOIN group_memberships b ON b.user_id = a.user_id AND b.group_id > a.group_id GROUP BY 1, 2)
        SELECT g.name AS group_1, h.name AS group_2, s.members AS members_1, t.members AS members_2, p.common
        FROM pairs p JOIN sizes s ON s.group_id = p.one JOIN sizes t ON t.group_id = p.other
        JOIN groups g ON g.id = p.one JOIN groups h ON h.id = p.other
        WHERE g.group_type <> 'BUILT_IN' AND h.group_type <> 'BUILT_IN'
        AND p.common >= {inputs.share} * CASE WHEN s.members < t.members THEN s.members ELSE t.members END
        ORDER BY 5 DESC, 1, 2
    """  # noqa: S608 - two checked numbers


_EMPTY_GROUPS = """
        SELECT name, group_type, created FROM groups WHERE id NOT IN (SELECT group_id FROM group_memberships) ORDER BY 1
    """


_ORPHANED = """
        SELECT name, application_status, sign_on_mode, created FROM applications
        WHERE id NOT IN (SELECT application_id FROM application_access) ORDER BY 1
    """


def _review(inputs: AccessReview) -> str:
    tests = [f"AND p.name = {_text(inputs.application)}"] if inputs.application else []
    if inputs.group:
        tests.append(
            "AND u.id IN (SELECT m.user_id FROM group_memberships m JOIN groups g ON g.id = m.group_id "  # noqa: S608
            f"WHERE g.name = {_text(inputs.group)})"
        )
    return f"""
        SELECT u.name AS user, u.login, u.status, u.department, p.name AS application, a.given_by, a.assigned,
        a.group_rule, u.last_login, '' AS decision, '' AS reviewer, '' AS comment
        FROM application_access a JOIN users u ON u.id = a.user_id JOIN applications p ON p.id = a.application_id
        WHERE 1 = 1 {" ".join(tests)} ORDER BY 5, 1, 6
    """  # noqa: S608


REPORTS: Mapping[str, TenantReport] = {
    report.name: report
    for report in (
        TenantReport("access", "Why somebody has access to an application: ways, dates and rules", Access, _access),
        TenantReport("login-risk", "Risky sign-ins in the log", Risks, _risks),
        TenantReport("dormant-accounts", "Accounts that nobody has used for long", Dormant, _dormant),
        TenantReport("weak-administrators", "Administrators without a strong factor", NoInputs, lambda _: _WEAK),
        TenantReport("group-overlap", "Groups with nearly the same members", Overlap, _overlap),
        TenantReport("empty-groups", "Groups without members", NoInputs, lambda _: _EMPTY_GROUPS),
        TenantReport("orphaned-applications", "Applications that nobody has", NoInputs, lambda _: _ORPHANED),
        TenantReport("access-review", "Who has which application, with decisions to fill in", AccessReview, _review),
    )
}


def report_named(name: str) -> TenantReport:
    if name not in REPORTS:
        raise NotFoundError(
            f"There is no report {name!r}.", code="okta_report_unknown", hint=f"Reports are: {', '.join(REPORTS)}."
        )
    return REPORTS[name]
