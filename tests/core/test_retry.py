"""One loop retries steps, models and APIs: it waits by the schedule and by what the target asks for."""

import random

import pytest

from answerable.core.clock import SystemClock
from answerable.core.errors import AnswerableError, TransientError, UserError
from answerable.core.retry import Schedule, retry


class QuickClock(SystemClock):
    """Remembers waits instead of waiting."""

    def __init__(self) -> None:
        self.slept: list[float] = []

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)


@pytest.fixture
def clock() -> QuickClock:
    return QuickClock()


SCHEDULE = Schedule(4, first=1.0, factor=3.0, longest=5.0)


def transient(error: AnswerableError, _attempt: int, _wait: float) -> bool:
    return isinstance(error, TransientError)


class Failing:
    def __init__(self, *errors: AnswerableError) -> None:
        self.errors = list(errors)
        self.attempts: list[int] = []

    async def __call__(self, attempt: int) -> str:
        self.attempts.append(attempt)
        if self.errors:
            raise self.errors.pop(0)
        return "done"


def test_each_delay_is_longer_up_to_the_longest() -> None:
    assert [SCHEDULE.delay(attempt) for attempt in (1, 2, 3, 4)] == [1.0, 3.0, 5.0, 5.0]


def test_full_jitter_spreads_the_waits_over_the_whole_delay() -> None:
    spread = Schedule(5, first=1, longest=60, jitter=random.Random(7))
    waits = [spread.wait(3, TransientError("busy")) for _ in range(500)]
    assert 0 <= min(waits) < 0.2
    assert 3.8 < max(waits) <= 4


@pytest.mark.parametrize(("asked", "waited"), [(None, 1.0), (0, 1.0), (0.5, 1.0), (20, 20.0), (90, 60.0)])
def test_a_target_gets_the_time_it_asks_for_within_reason(asked: float | None, waited: float) -> None:
    schedule = Schedule(3, first=1.0, longest_asked=60.0)
    assert schedule.wait(1, TransientError("busy", retry_after=asked)) == waited


async def test_it_tries_until_it_succeeds(clock: QuickClock) -> None:
    call = Failing(TransientError("busy"), TransientError("busy"))
    noted: list[tuple[int, float]] = []

    def note(_error: AnswerableError, attempt: int, wait: float) -> None:
        noted.append((attempt, wait))

    assert await retry(call, SCHEDULE, clock, may_pass=transient, before_wait=note) == "done"
    assert (call.attempts, clock.slept, noted) == ([1, 2, 3], [1.0, 3.0], [(1, 1.0), (2, 3.0)])


async def test_it_gives_up_after_the_last_attempt(clock: QuickClock) -> None:
    call = Failing(*(TransientError(f"busy {number}") for number in range(9)))
    with pytest.raises(TransientError, match="busy 3"):
        await retry(call, SCHEDULE, clock, may_pass=transient)
    assert (call.attempts, clock.slept) == ([1, 2, 3, 4], [1.0, 3.0, 5.0])


async def test_attempts_before_a_restart_count(clock: QuickClock) -> None:
    call = Failing(*(TransientError("busy") for _ in range(9)))
    with pytest.raises(TransientError):
        await retry(call, SCHEDULE, clock, may_pass=transient, first_attempt=4)
    assert (call.attempts, clock.slept) == ([4], [])


async def test_what_will_not_pass_is_not_tried_again(clock: QuickClock) -> None:
    call = Failing(UserError("no"))
    with pytest.raises(UserError):
        await retry(call, SCHEDULE, clock, may_pass=transient)
    assert (call.attempts, clock.slept) == ([1], [])
