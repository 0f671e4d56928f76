"""The published escape suite: every case on every backend that this machine has. None may succeed."""

from collections import Counter
from pathlib import Path

import pytest
from tests.faults.escapes.attempts import Report
from tests.faults.escapes.catalog import FOLDER, Case, all_cases

pytestmark = [pytest.mark.timeout(3600), pytest.mark.usefixtures("loading_workers")]
"""The first test of a backend waits for all of its cases."""

README = Path(__file__).with_name("README.md")


def test_the_attempt_is_held(case: Case, report: Report) -> None:
    attempt = report.attempts[case.id]
    assert attempt.evidence == []
    assert attempt.faults == []


def test_the_code_of_the_cases_is_run(backend: str, report: Report) -> None:
    """Some use words that a small language does not know; but a check in front of the walls would prove nothing."""
    reasons = Counter(result.reason for attempt in report.attempts.values() for result in attempt.results)
    assert reasons["type_check"] + reasons["policy"] <= sum(reasons.values()) / 2, reasons


def test_the_host_is_unharmed(backend: str, report: Report) -> None:
    assert report.harm == []


def test_no_process_is_left(backend: str, report: Report) -> None:
    assert report.survivors == []


def test_a_harmless_case_succeeds_where_nothing_is_kept_in(harmless: Case, control_report: Report) -> None:
    """Otherwise it could never be seen to fail anywhere."""
    attempt = control_report.attempts[harmless.id]
    assert attempt.evidence, [(result.reason, result.message) for result in attempt.results]


def test_the_suite_is_large_and_each_case_is_told_once() -> None:
    cases = all_cases()
    assert len(cases) >= 500
    assert sum(case.control == "escapes" for case in cases) >= 150
    assert [id for id, times in Counter(case.id for case in cases).items() if times > 1] == []


def test_the_read_me_names_every_class() -> None:
    text = README.read_text()
    assert [path.name for path in FOLDER.glob("*.yaml") if f"`{path.name}`" not in text] == []
    assert [case.group for case in all_cases() if case.group not in text] == []
