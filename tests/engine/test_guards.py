import asyncio
import errno
import random
from collections.abc import Callable
from typing import Any

import pytest

from answerable.core.breaker import Breaker
from answerable.core.context import RunContext
from answerable.core.errors import LimitError, OperatorError, RefusedError, SourceError, TransientError, UserError
from answerable.core.events import Event, StepFailed, StepOutput, StepRetried, StepStarted
from answerable.engine.graph import Graph
from answerable.engine.guards import default_guards
from answerable.engine.run import Engine, Outcome
from answerable.engine.steps.base import Step

Run = Callable[..., Any]


@pytest.fixture
def run_one(clock: Any, context: RunContext, kind: Any, graph_of: Callable[..., Graph]) -> Run:
    """Runs one node `a` with these fields; gives the outcome and the events."""

    async def run(
        function: Callable[[Step], Any], *, patient: bool = False, **fields: Any
    ) -> tuple[Outcome, list[Event]]:
        events: list[Event] = []
        guards = default_guards(clock, random.Random(1), patient=patient)
        engine = Engine({"f": kind(function)}, clock=clock, guards=guards)
        outcome = await engine.run(graph_of({"a": ""}, nodes={"a": fields}), context, listeners=[events.append])
        return outcome, events

    return run


def failing(times: int, error: Callable[[], Exception]) -> Callable[[Step], Any]:
    calls = iter(range(100))

    async def function(step: Step) -> str:
        if next(calls) < times:
            raise error()
        return f"attempt {step.attempt}"

    return function


RETRY = {"attempts": 4, "base_delay": 1, "factor": 3, "max_delay": 5, "jitter": False}


async def test_what_may_pass_is_tried_again_after_longer_and_longer_waits(run_one: Run, clock: Any) -> None:
    outcome, events = await run_one(failing(3, lambda: TransientError("busy")), retry=RETRY)
    assert outcome.outputs == {"a": "attempt 4"}
    assert clock.slept == [1, 3, 5]
    assert [e.attempt for e in events if isinstance(e, StepStarted)] == [1, 2, 3, 4]
    assert [(e.attempt, e.delay, e.code) for e in events if isinstance(e, StepRetried)] == [
        (1, 1, "try_again"),
        (2, 3, "try_again"),
        (3, 5, "try_again"),
    ]


@pytest.mark.parametrize("code", ["disk_full", "store_full", "descriptors_exhausted"])
async def test_a_step_of_a_server_waits_for_room(run_one: Run, clock: Any, code: str) -> None:
    full = failing(6, lambda: OperatorError("full", code=code))
    outcome, events = await run_one(full, patient=True, timeout=1, breaker="a", retry=RETRY)
    assert outcome.outputs == {"a": "attempt 1"}
    assert [e for e in clock.slept if e != 1] == [0.1, 0.2, 0.4, 0.8]
    assert not any(isinstance(event, StepRetried) for event in events)


async def test_a_step_that_finds_no_descriptor_waits_or_says_so(run_one: Run) -> None:
    outcome, _ = await run_one(failing(2, lambda: OSError(errno.EMFILE, "too many")), patient=True, timeout=100)
    assert outcome.outputs == {"a": "attempt 1"}
    outcome, events = await run_one(failing(1, lambda: OSError(errno.ENFILE, "too many")))
    assert [event.code for event in events if isinstance(event, StepFailed)] == ["descriptors_exhausted"]
    outcome, events = await run_one(failing(1, lambda: OSError(errno.EIO, "broken")), patient=True, timeout=100)
    assert [event.code for event in events if isinstance(event, StepFailed)] == ["internal"]


@pytest.mark.parametrize(
    "fields",
    [
        {"patient": False, "timeout": 100},
        {"patient": True, "effect": True},
        {"patient": True, "timeout": 100, "code": "disk_broken"},
    ],
)
async def test_a_command_an_effect_and_other_failures_do_not_wait(run_one: Run, fields: dict[str, Any]) -> None:
    code = fields.pop("code", "disk_full")
    outcome, _ = await run_one(failing(1, lambda: OperatorError("full", code=code)), **fields)
    assert outcome.status == "failed"


async def test_the_last_failure_is_the_steps(run_one: Run) -> None:
    outcome, events = await run_one(failing(9, lambda: TransientError("busy")), retry=RETRY)
    assert outcome.status == "failed"
    assert isinstance(outcome.error, TransientError)
    [failed] = [e for e in events if isinstance(e, StepFailed)]
    assert failed.attempt == 4


@pytest.mark.parametrize("error", [SourceError, UserError, RefusedError, LimitError, ValueError])
async def test_what_will_not_pass_is_not_tried_again(run_one: Run, clock: Any, error: type[Exception]) -> None:
    outcome, _ = await run_one(failing(1, lambda: error("no")), retry=RETRY)
    assert outcome.status == "failed"
    assert clock.slept == []


async def test_without_a_word_about_it_nothing_is_retried(run_one: Run) -> None:
    outcome, _ = await run_one(failing(1, lambda: TransientError("busy")))
    assert outcome.status == "failed"


async def test_a_target_that_says_when_to_come_back_is_believed_within_reason(run_one: Run, clock: Any) -> None:
    waits = iter([2.5, 60])
    await run_one(failing(2, lambda: TransientError("busy", retry_after=next(waits))), retry=RETRY)
    assert clock.slept == [2.5, 5]


async def forever(step: Step) -> None:
    await asyncio.Event().wait()


async def test_a_step_that_takes_too_long_is_ended(run_one: Run, clock: Any) -> None:
    outcome, _ = await run_one(forever, timeout=7)
    assert outcome.error is not None
    assert (type(outcome.error), outcome.error.stable_code) == (LimitError, "step_timeout")
    assert outcome.error.message == "Step `a` did not end within 7 seconds."
    assert clock.slept == [7]


async def test_the_time_limit_reaches_the_call_and_holds_for_each_attempt(run_one: Run) -> None:
    ended: list[int] = []

    async def slow_at_first(step: Step) -> str:
        if step.attempt < 3:
            try:
                await asyncio.Event().wait()
            finally:
                ended.append(step.attempt)
        return "in time"

    outcome, events = await run_one(slow_at_first, timeout=1, retry=RETRY)
    assert outcome.outputs == {"a": "in time"}
    assert ended == [1, 2]
    assert [e.code for e in events if isinstance(e, StepRetried)] == ["step_timeout"] * 2


async def test_a_step_that_ends_in_time_leaves_no_alarm_behind(run_one: Run, clock: Any) -> None:
    async def quick(step: Step) -> int:
        await clock.sleep(1)
        return 1

    outcome, _ = await run_one(quick, timeout=1.5)
    assert outcome.status == "done"
    outcome, _ = await run_one(quick, timeout=1)
    assert outcome.status in ("done", "failed")


async def test_an_effect_that_ran_out_of_time_is_not_repeated_unless_its_target_knows_the_key(run_one: Run) -> None:
    outcome, events = await run_one(forever, timeout=1, retry=RETRY, effect=True)
    assert not [e for e in events if isinstance(e, StepRetried)]
    assert outcome.status == "waiting"  # for a person, who finds out whether it happened
    outcome, events = await run_one(forever, timeout=1, retry=RETRY, effect=True, idempotent=True)
    assert len([e for e in events if isinstance(e, StepRetried)]) == 3


async def test_a_fallback_stands_in_and_says_so(run_one: Run) -> None:
    outcome, events = await run_one(failing(9, lambda: SourceError("down")), fallback={"rows": []})
    assert (outcome.status, outcome.outputs) == ("done", {"a": {"rows": []}})
    [said] = [e for e in events if isinstance(e, StepOutput)]
    assert (said.channel, said.data) == ("fallback", {"code": "source_failed", "message": "down"})


async def test_there_is_no_way_around_a_refusal(run_one: Run) -> None:
    outcome, _ = await run_one(failing(9, lambda: RefusedError("not yours")), fallback=1)
    assert outcome.status == "failed"


def test_a_breaker_opens_after_failures_in_a_row_and_closes_after_a_trial(clock: Any) -> None:
    breaker = Breaker("api", clock, threshold=2, cooldown=10)
    breaker.leave(trial=breaker.enter(), failed=True)
    breaker.leave(trial=breaker.enter(), failed=False)
    breaker.leave(trial=breaker.enter(), failed=True)
    assert breaker.state == "closed"
    breaker.leave(trial=breaker.enter(), failed=True)
    assert breaker.state == "open"
    with pytest.raises(TransientError) as caught:
        breaker.enter()
    assert caught.value.stable_code == "breaker_open"
    clock.seconds += 10
    assert breaker.state == "half-open"
    assert breaker.enter() is True
    with pytest.raises(TransientError):
        breaker.enter()
    breaker.leave(trial=True, failed=True)
    assert breaker.state == "open"
    clock.seconds += 10
    breaker.leave(trial=breaker.enter(), failed=False)
    assert breaker.state == "closed"


def test_a_trial_that_was_given_up_lets_the_next_one_try(clock: Any) -> None:
    breaker = Breaker("api", clock, threshold=1, cooldown=10)
    breaker.leave(trial=breaker.enter(), failed=True)
    clock.seconds += 10
    breaker.leave(trial=breaker.enter(), failed=None)
    assert breaker.state == "half-open"
    assert breaker.enter() is True


def test_calls_from_before_the_breaker_opened_do_not_close_it(clock: Any) -> None:
    breaker = Breaker("api", clock, threshold=1, cooldown=10)
    early, late = breaker.enter(), breaker.enter()
    breaker.leave(trial=late, failed=True)
    breaker.leave(trial=early, failed=False)
    assert breaker.state == "open"


async def test_steps_share_the_breaker_of_their_target(
    clock: Any, context: RunContext, kind: Any, graph_of: Callable[..., Graph]
) -> None:
    calls: list[str] = []

    async def down(step: Step) -> None:
        calls.append(step.id)
        raise SourceError("down") if step.id != "mine" else UserError("no such table")

    ids = ["mine", *(f"n{i}" for i in range(7))]
    nodes = {id: {"breaker": "api", "critical": False} for id in ids} | {"other": {"breaker": "db", "critical": False}}
    graph = graph_of(dict.fromkeys([*ids, "other"], ""), nodes=nodes, strategy="sequential")
    outcome = await Engine({"f": kind(down)}, clock=clock).run(graph, context)
    assert calls == ["mine", "n0", "n1", "n2", "n3", "n4", "other"]
    codes = [outcome.errors[id].stable_code for id in ids]  # type: ignore[index]
    assert codes == ["bad_request", *["source_failed"] * 5, *["breaker_open"] * 2]


async def test_a_step_waits_out_an_open_breaker_with_its_retries(run_one: Run, clock: Any) -> None:
    retry = {"attempts": 9, "base_delay": 20, "factor": 1, "jitter": False}
    outcome, events = await run_one(failing(5, lambda: TransientError("busy")), retry=retry, breaker="api")
    assert outcome.outputs == {"a": "attempt 8"}
    codes = [e.code for e in events if isinstance(e, StepRetried)]
    assert codes == ["try_again"] * 5 + ["breaker_open"] * 2


async def test_an_open_breaker_that_outlasts_the_retries_fails_at_once(run_one: Run, clock: Any) -> None:
    retry = {"attempts": 9, "base_delay": 1, "factor": 1, "jitter": False}
    outcome, events = await run_one(failing(100, lambda: TransientError("busy")), retry=retry, breaker="api")
    error = outcome.errors["a"]
    assert error.stable_code == "breaker_open"
    assert "The last reason: busy" in error.message
    assert error.hint == "Try again in 59 seconds."
    assert [e.code for e in events if isinstance(e, StepRetried)] == ["try_again"] * 5


async def test_an_attempt_that_was_too_slow_is_not_repeated_unless_wanted(run_one: Run, clock: Any) -> None:
    async def slow(_: Step) -> None:
        raise LimitError("too slow", code="step_timeout")

    _, events = await run_one(slow, retry={"attempts": 3, "timeouts": False})
    assert not [e for e in events if isinstance(e, StepRetried)]
    _, events = await run_one(slow, retry={"attempts": 3, "base_delay": 0})
    assert len([e for e in events if isinstance(e, StepRetried)]) == 2


@pytest.mark.parametrize(
    "error", [TransientError("full", code="model_rate_limited"), SourceError("", code="file_empty")]
)
async def test_failures_of_models_and_of_the_data_itself_are_not_the_breakers_business(
    clock: Any, context: RunContext, kind: Any, graph_of: Callable[..., Graph], error: Exception
) -> None:
    ids = [f"n{i}" for i in range(7)]
    nodes = {id: {"breaker": "shop", "critical": False, "retry": RETRY} for id in ids}
    graph = graph_of(dict.fromkeys(ids, ""), nodes=nodes, strategy="sequential")
    calls: list[str] = []

    async def fail(step: Step) -> None:
        calls.append(step.id)
        raise error

    await Engine({"f": kind(fail)}, clock=clock).run(graph, context)
    assert calls == ids, "each is called once: models are retried where they are called"
