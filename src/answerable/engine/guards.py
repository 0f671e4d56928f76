"""Guards: time limit, waiting for room, circuit breaker, retries, fallback and the approval of doubtful effects.

A guard wraps the call of a step. It returns the call unchanged if the node does not ask for the guard.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from random import Random
from typing import Protocol, TypeAlias

from answerable.core.breaker import BREAKER_OPEN, Breaker
from answerable.core.clock import Clock
from answerable.core.errors import AnswerableError, LimitError, OperatorError, RefusedError, SourceError, TransientError
from answerable.core.events import ApprovalRequested, StepOutput, StepRetried
from answerable.core.file_errors import no_descriptors
from answerable.core.hidden_paths import HiddenPaths
from answerable.core.retry import Schedule, retry
from answerable.core.values import Json
from answerable.engine.graph import Node, Retry
from answerable.engine.shared_breakers import SharedBreakers
from answerable.engine.steps.base import Step, Suspended

Call: TypeAlias = Callable[[Step], Awaitable[Json]]

STEP_TIMEOUT = "step_timeout"
_log = logging.getLogger("answerable.engine")


class Guard(Protocol):
    def __call__(self, node: Node, call: Call) -> Call: ...


def default_guards(
    clock: Clock,
    random: Random | None = None,
    *,
    failures: int = 5,
    cooldown: float = 60.0,
    patient: bool = False,
    shared: SharedBreakers | None = None,
) -> Sequence[Guard]:
    """The guards of the product. A breaker opens for `cooldown` seconds after `failures` failures in a row. `patient`:
    whether steps wait for a full disk to have space again, as in a process that stays."""
    # From the inside out. The time limit holds for each attempt, not for all retries together, nor for the wait for
    # the disk. Each attempt asks the breaker, so that retries stop when it opens. The fallback replaces only what no
    # retry could mend.
    chance = random or Random()  # noqa: S311 - spreads waits, keeps no secret
    breakers = Breakers(clock, failures, cooldown, shared)
    held = (HoldForRoom(clock),) if patient else ()
    retrying = Retrying(clock, chance)
    return (RequestedGuards((Timeout(clock), *held, breakers, retrying, fallback, approve_repetition)),)


class RequestedGuards:
    """Applies the built-in guards to nodes that ask for at least one of them. Most nodes ask for none, and one test of
    their fields is cheaper than asking each guard."""

    FIELDS = frozenset(("timeout", "breaker", "retry", "fallback", "effect"))

    def __init__(self, guards: Sequence[Guard]) -> None:
        self._guards = guards

    def __call__(self, node: Node, call: Call) -> Call:
        if self.FIELDS.isdisjoint(node.__pydantic_fields_set__):
            return call
        for guard in self._guards:
            call = guard(node, call)
        return call


class HidePaths:
    """Leaves paths of the server's disk out of the errors of steps before anything records them. The log has them."""

    def __init__(self, hidden: HiddenPaths) -> None:
        self._hidden = hidden

    def __call__(self, node: Node, call: Call) -> Call:
        async def without_paths(step: Step) -> Json:
            try:
                return await call(step)
            except AnswerableError as error:
                full_reason = error.message
                if self._hidden.of(error).message != full_reason:
                    _log.info("paths left out", extra={"fields": {"step": step.id, "reason": full_reason}})
                raise

        return without_paths


class Timeout:
    """Cancels an attempt that takes too long, and with it the work that the attempt waits for."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock

    def __call__(self, node: Node, call: Call) -> Call:
        seconds = node.timeout
        if seconds is None:
            return call

        async def limited(step: Step) -> Json:
            # The alarm uses our clock instead of the loop's, so that tests can move the time.
            scope = asyncio.timeout(None)
            alarm = asyncio.ensure_future(self._clock.sleep(seconds))
            alarm.add_done_callback(lambda _: _expire(scope))
            try:
                async with scope:
                    return await call(step)
            except TimeoutError as error:
                raise LimitError(
                    f"Step `{step.id}` did not end within {seconds:g} seconds.",
                    code=STEP_TIMEOUT,
                    hint="Ask for less at once, or raise the step's `timeout`.",
                ) from error
            finally:
                alarm.cancel()  # otherwise each step would leave a sleeping task behind

        return limited


def _expire(scope: asyncio.Timeout) -> None:
    with suppress(RuntimeError):  # the step ended in the same moment, or before
        scope.reschedule(0)


class HoldForRoom:
    """Repeats a step that failed because the machine had no room for it: no space on the disk, no file descriptors.
    What the step tells meanwhile waits in the same way: see `store/patience.py`."""

    CODES = frozenset(("disk_full", "store_full", "descriptors_exhausted"))
    FIRST, LONGEST = 0.1, 1.0

    def __init__(self, clock: Clock) -> None:
        self._clock = clock

    def __call__(self, node: Node, call: Call) -> Call:
        if node.effect:  # what it does would be done again
            return call

        async def held(step: Step) -> Json:
            delay = self.FIRST
            while True:
                try:
                    return await call(step)
                except OperatorError as error:
                    if error.stable_code not in self.CODES:
                        raise
                except OSError as error:  # anything may open a file, and need not know what this means
                    if no_descriptors(error) is None:
                        raise
                await self._clock.sleep(delay)
                delay = min(2 * delay, self.LONGEST)

        return held


class Breakers:
    """One breaker for each target, shared by all runs of an engine, so that one run learns from another's failures."""

    def __init__(
        self, clock: Clock, threshold: int = 5, cooldown: float = 60.0, shared: SharedBreakers | None = None
    ) -> None:
        """`shared`: for a store that other processes use, too."""
        self._shared = shared
        self._clock = clock
        self._threshold = threshold
        self._cooldown = cooldown
        self._by_target: dict[str, Breaker] = {}

    def of(self, target: str) -> Breaker:
        if target not in self._by_target:
            self._by_target[target] = Breaker(target, self._clock, self._threshold, self._cooldown)
        return self._by_target[target]

    def __call__(self, node: Node, call: Call) -> Call:
        if node.breaker is None:
            return call
        target = node.breaker
        breaker = self.of(target)

        async def broken(step: Step) -> Json:
            # `failed` stays None if the step is cancelled: this says nothing about the target.
            if self._shared is not None:
                await self._shared.learn(self._by_target)
            before = breaker.state
            trial, failed, reason = breaker.enter(), None, None
            try:
                output = await call(step)
                failed = False
                return output
            except AnswerableError as error:
                failed, reason = _is_the_targets_fault(error), error.message
                raise
            finally:
                breaker.leave(trial=trial, failed=failed, reason=reason)
                if self._shared is not None and breaker.state != before:
                    await self._shared.tell(target, breaker)

        return broken


_UNAVAILABLE = frozenset(("source_busy", "source_failed", "source_locked", "source_unreachable"))
"""Errors of a source that is not available. Other errors of a source, such as a malformed or missing file, show at once
each time: a breaker would save no time, and would hide the reason."""


def _is_the_targets_fault(error: AnswerableError) -> bool:
    if _is_of_a_model(error):
        return False
    if isinstance(error, SourceError):
        return error.stable_code in _UNAVAILABLE
    return isinstance(error, TransientError) or error.stable_code == STEP_TIMEOUT


def _is_of_a_model(error: AnswerableError) -> bool:
    """Whether a model failed. Calls of models have their own breakers, retries and fallbacks: see `models/`."""
    return error.stable_code.startswith("model_")


class Retrying:
    """Repeats a step whose failure may pass by itself, each time after a longer wait."""

    def __init__(self, clock: Clock, random: Random) -> None:
        self._clock = clock
        self._random = random

    def __call__(self, node: Node, call: Call) -> Call:
        if node.retry.attempts == 1:
            return call
        schedule = self._schedule(node.retry)

        async def retried(step: Step) -> Json:
            def record(error: AnswerableError, attempt: int, delay: float) -> None:
                # Recorded before the wait: people see why nothing happens, and a crash does not lose the count.
                step.journal.record(StepRetried, step.id, attempt, delay, error.stable_code, error.message)

            async def attempted(number: int) -> Json:
                step.attempt = number
                return await call(step)

            return await retry(
                attempted,
                schedule,
                self._clock,
                may_pass=lambda error, attempt, _wait: _may_pass(error, node, schedule, attempt),
                before_wait=record,
                first_attempt=step.attempt,
            )

        return retried

    def _schedule(self, policy: Retry) -> Schedule:
        return Schedule(
            policy.attempts,
            first=policy.base_delay,
            factor=policy.factor,
            longest=policy.max_delay,
            longest_asked=policy.max_delay,
            jitter=self._random if policy.jitter else None,
        )


def _may_pass(error: AnswerableError, node: Node, schedule: Schedule, attempt: int) -> bool:
    """Whether another attempt is allowed and may succeed."""
    if error.stable_code == STEP_TIMEOUT:
        # An effect that ran out of time may have happened. Only a target that knows the key may be asked again.
        return node.retry.timeouts and (node.idempotent or not node.effect)
    if error.stable_code == BREAKER_OPEN:
        # Waiting is worth it only if the attempts that are left outlast the breaker.
        left = sum(schedule.delay(each) for each in range(attempt, schedule.attempts))
        return left >= float(error.details.get("wait", 0))
    return isinstance(error, TransientError) and not _is_of_a_model(error)


def fallback(node: Node, call: Call) -> Call:
    """Replaces a failure by a fixed output, and records the failure. A refusal is not replaced: a fallback must not be
    a way around the rules."""
    if node.fallback is None:
        return call

    async def replaced(step: Step) -> Json:
        try:
            return await call(step)
        except RefusedError:
            raise
        except AnswerableError as error:
            reason = {"code": error.stable_code, "message": error.message}
            step.journal.record(StepOutput, step.id, "fallback", reason)
            return node.fallback

    return replaced


IN_DOUBT = "effect_in_doubt"
"""The code of a failure after which nobody knows whether an effect has happened."""


def approve_repetition(node: Node, call: Call) -> Call:
    """Asks a person before an effect is repeated that may have happened: it was started and never reported, or it
    failed in a way that leaves this open. The person says what its result was, or has it done once more, or left.
    Idempotent effects are repeated without asking: their target recognises the idempotency key."""
    if not node.effect or node.idempotent:
        return call

    async def decided(step: Step) -> Json:
        past = step.past
        if past is None or not (past.unreported or past.approval):
            return await attempted(step)
        if past.approval is None:  # otherwise the question is already in the journal, and must not be asked twice
            ask(step, "was started, but the process stopped before it reported")
        if past.approval == "refused":
            raise RefusedError(f"Step `{step.id}` was not done again: this was declined.", code="effect_declined")
        if past.approval != "given":
            raise Suspended
        decision = past.decision
        if decision is not None and decision.verdict == "respond":
            return decision.data  # it happened, and this is its result
        return await attempted(step)

    async def attempted(step: Step) -> Json:
        try:
            return await call(step)
        except AnswerableError as error:
            if error.stable_code not in (IN_DOUBT, STEP_TIMEOUT):
                raise
            ask(step, f"did not report its end: {error.message.rstrip('.')}")
            raise Suspended from error

    def ask(step: Step, what: str) -> None:
        prompt = (
            f"Step `{step.id}` {what}. It may have taken effect. Find out. If it happened, respond with its result; "
            "if it did not, approve to do it again; reject to leave it undone."
        )
        step.journal.record(ApprovalRequested, step.id, prompt, {"idempotency_key": step.idempotency_key})

    return decided
