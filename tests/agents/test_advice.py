"""A check of the critic holds when the data gives the number that was expected, as far as that was written out."""

import pytest

from answerable.agents.advice_steps import CheckResult
from answerable.agents.replies import Verification


@pytest.mark.parametrize(
    ("expected", "found", "agrees"),
    [
        (3304, 3304, True),
        (3304, 3305, False),
        (3304, 3304.4, False),
        (0.27, 0.270504, True),
        (0.27, 0.2761, False),
        (317904.25, 317904.2500001, True),
        (317904.25, 317904.26, False),
        (12.5, 12.53, True),
        (1e21, 1e21, True),
        (1e-7, 3.0, False),
    ],
)
def test_a_check_agrees_as_far_as_it_was_written_out(expected: float, found: float, agrees: bool) -> None:
    verification = Verification(question="How many?", sql="SELECT 1", expected=expected)
    assert CheckResult(verification, found).agrees is agrees


def test_a_check_that_did_not_run_decides_nothing() -> None:
    assert not CheckResult(Verification(question="?", sql="SELECT 1", expected=1), None).decided
