"""Reports about a synced tenant: their cases, their inputs, and the doors that lead to them."""

import json
import sqlite3
from contextlib import closing
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest

from answerable.core.errors import NotFoundError, UserError
from answerable.okta.golden import DATA
from answerable.okta.reports import CASES, REPORTS, report_named
from answerable.okta.sync.login_risk import MFA, PUSH_DENIED, SIGN_IN, LogEvent, risks_of
from answerable.okta.sync.rule_expressions import condition_of

TODAY = date(2026, 11, 16)
START = datetime(2026, 11, 16, 8, tzinfo=UTC)
BERLIN, SINGAPORE = (52.5, 13.4), (1.35, 103.8)


def test_every_report_has_a_case_and_gives_its_rows() -> None:
    cases = [json.loads(line) for line in CASES.read_text("utf-8").splitlines()]
    assert {case["report"] for case in cases} == set(REPORTS)
    with closing(sqlite3.connect(f"{DATA.as_uri()}?mode=ro", uri=True)) as db:
        for case in cases:
            rows = [list(row) for row in db.execute(report_named(case["report"]).sql(case["inputs"], TODAY))]
            assert rows == case["rows"], case["report"]
            assert rows


def test_inputs_are_typed_and_cannot_leave_their_place() -> None:
    with pytest.raises(UserError, match="dormant-accounts do not fit"):
        report_named("dormant-accounts").sql({"days": "many"}, TODAY)
    with pytest.raises(UserError, match="access do not fit"):
        report_named("access").sql({"user": "Ada"}, TODAY)
    with pytest.raises(UserError, match="empty-groups do not fit"):
        report_named("empty-groups").sql({"share": 1}, TODAY)
    with pytest.raises(NotFoundError, match="everything"):
        report_named("everything")
    sql = report_named("access").sql({"user": "O'Brien' OR '1'='1", "application": "x"}, TODAY)
    with closing(sqlite3.connect(f"{DATA.as_uri()}?mode=ro", uri=True)) as db:
        assert db.execute(sql).fetchall() == []


def at(
    minutes: float, kind: str = SIGN_IN, *, ok: bool = True, where: tuple[float, float] = BERLIN, os: str = "Mac"
) -> LogEvent:
    return LogEvent(START + timedelta(minutes=minutes), kind, ok, "Berlin", *where, "CHROME", os)


@pytest.mark.parametrize(
    ("events", "kinds"),
    [
        ([at(0), at(60, where=SINGAPORE)], ["impossible travel"]),
        ([at(0), at(60 * 14, where=SINGAPORE)], []),
        ([at(0), at(60, where=SINGAPORE, ok=False)], []),
        ([at(n, ok=False) for n in range(5)], ["failed burst"]),
        ([at(n * 3, ok=False) for n in range(5)], []),
        ([at(n, ok=False) for n in range(4)], []),
        ([at(n, PUSH_DENIED, ok=False) for n in range(3)], ["MFA fatigue"]),
        ([at(n * 60) for n in range(3)] + [at(200, os="Linux")], ["new device"]),
        ([at(0), at(60, os="Linux")], []),
    ],
)
def test_risks(events: list[LogEvent], kinds: list[str]) -> None:
    assert [risk.kind for risk in risks_of(events)] == kinds


def test_a_push_that_is_accepted_at_last_is_told() -> None:
    (risk,) = risks_of([*(at(n, PUSH_DENIED, ok=False) for n in range(3)), at(4, MFA)])
    assert risk.details.endswith("then accepted")


@pytest.mark.parametrize(
    ("expression", "condition"),
    [
        ('user.department=="Sales"', ("department IS ?", ["Sales"])),
        ('user.city == "Berlin" AND user.title != "CEO"', ("city IS ? AND title IS NOT ?", ["Berlin", "CEO"])),
        ('user.city=="Berlin" || user.city=="Madrid"', ("city IS ? OR city IS ?", ["Berlin", "Madrid"])),
        ('String.startsWith(user.department,"S")', None),
        ('user.costCenter=="7"', None),
        (None, None),
    ],
)
def test_expressions_of_rules(expression: str | None, condition: object) -> None:
    assert condition_of(expression) == condition


def test_a_report_by_command_and_library(tmp_path: Path) -> None:
    import shutil

    from answerable.library import Answerable

    folder = tmp_path / "home" / "okta" / "corp"
    folder.mkdir(parents=True)
    shutil.copy(DATA, folder / "okta.sqlite")
    with Answerable(folder / "okta.sqlite", home=tmp_path / "home") as library:
        library.sources.add(str(folder / "okta.sqlite"), name="corp")
        answer = library.okta.report("corp", "weak-administrators")
        assert (answer.status, answer.row_count) == ("done", 10)
        assert [report.name for report in library.okta.reports()] == list(REPORTS)
