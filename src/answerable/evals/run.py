"""Asks an answerer every case, and scores the answers."""

import asyncio
from collections.abc import AsyncIterator, Callable, Collection, Sequence
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Literal, Protocol, TypeAlias

from answerable.core.errors import AnswerableError, UserError
from answerable.evals.cases import Case
from answerable.evals.compare import Rows, holds_rows, same_rows
from answerable.evals.score import Confidence, Outcome, Report, Scored, Spent, report

CONCURRENCY = 2
"""The default number of cases that are asked at the same time."""
NO_COST = Spent()

Progress: TypeAlias = Callable[[int, int, Scored], None]
"""Called when a case ends, with the number of finished cases, the number of all cases, and the result of this one."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """The reaction of an answerer to a question: an answer, a question back, or a failure."""

    kind: Literal["answered", "asked", "failed"]
    rows: Rows = ()
    """All rows of an answer."""
    code: str | None = None
    reason: str | None = None
    """Why there is no answer, after a failure."""
    thread: str | None = None
    """The conversation in which a follow-up can be asked."""
    confidence: Confidence | None = None
    """How sure an answer claims to be."""
    spent: Spent = NO_COST
    """The cost of models. The eval measures the time itself."""
    offered: AsyncIterator[Rows] | None = None
    """For a question back: the rows of each choice. They are computed lazily, because the first match is enough."""


class Answerer(Protocol):
    """The system that is measured. It opens each source once, and must allow concurrent calls."""

    async def attempt(self, case: Case, *, force: bool, thread: str | None) -> Attempt:
        """Asks the question of a case. With `force` it is always answered with the best reading. `thread` is the
        conversation that the case continues."""
        ...

    async def execute(self, case: Case, sql: str) -> Rows:
        """The rows of a SQL statement on the case's source."""
        ...


async def evaluate(
    cases: Sequence[Case],
    answerer: Answerer,
    *,
    force: bool = False,
    progress: Progress | None = None,
    concurrency: int = CONCURRENCY,
    done: dict[str, Scored] | None = None,
    ending: Collection[str] = (),
    loose: bool = False,
) -> Report:
    """Asks all cases and returns the report. A follow-up is asked in the conversation of the case before it; all other
    cases are independent. Raises a `UserError` if a gold statement fails, because its case cannot be scored.

    Results are added to `done`, so that they survive an interruption. Conversations whose cases are all in `done` are
    not asked again. An error whose code is in `ending` ends the eval: its case, and all cases that were not asked yet,
    have no result. With `loose`, an answer is right if it holds the columns of the gold answer."""
    started = perf_counter()
    done = {} if done is None else done
    gate = asyncio.Semaphore(concurrency)
    over = False

    async def converse(chain: Sequence[Case]) -> None:
        nonlocal over
        thread: str | None = None
        async with gate:
            for case in chain:
                if over:
                    return
                attempt = await _attempt(answerer, case, force, thread)
                if attempt.kind == "failed" and attempt.code in ending:
                    over = True
                    return
                thread = attempt.thread
                done[case.id] = await _scored(case, attempt, answerer, loose)
                if progress is not None:
                    progress(len(done), len(cases), done[case.id])

    try:
        async with asyncio.TaskGroup() as tasks:
            for chain in _conversations(cases):
                if not all(case.id in done for case in chain):
                    tasks.create_task(converse(chain))
    except BaseExceptionGroup as group:
        raise _first(group) from None  # callers handle the error itself, not the group that asyncio puts around it
    return report([done[case.id] for case in cases if case.id in done], perf_counter() - started)


def _conversations(cases: Sequence[Case]) -> list[list[Case]]:
    """The conversations: each is a case with its follow-ups, in their order."""
    chains: dict[str, list[Case]] = {}
    for case in cases:
        chain = chains.get(case.after) if case.after is not None else []
        if chain is None:
            message = f"The case {case.id!r} follows up on {case.after!r}, which is not among the chosen cases."
            raise UserError(message, code="cases_invalid")
        chain.append(case)
        chains[case.id] = chain
    # All cases of a conversation share one list, so each list is there several times.
    return list({id(chain): chain for chain in chains.values()}.values())


async def _attempt(answerer: Answerer, case: Case, force: bool, thread: str | None) -> Attempt:
    began = perf_counter()
    try:
        attempt = await answerer.attempt(case, force=force, thread=thread)
    except AnswerableError as error:
        attempt = Attempt("failed", code=error.stable_code, reason=error.message, thread=thread)
    return replace(attempt, spent=attempt.spent.model_copy(update={"seconds": round(perf_counter() - began, 3)}))


async def _scored(case: Case, attempt: Attempt, answerer: Answerer, loose: bool) -> Scored:
    def scored(outcome: Outcome, *, offered: bool = False) -> Scored:
        return Scored(
            id=case.id,
            outcome=outcome,
            offered=offered,
            unanswerable=case.unanswerable,
            code=attempt.code,
            reason=attempt.reason,
            confidence=attempt.confidence,
            spent=attempt.spent,
        )

    if case.unanswerable:
        return scored("wrong" if attempt.kind == "answered" else "declined")
    if attempt.kind == "failed":
        return scored("failed")
    right = (await _gold(case, answerer), *case.accept_rows)
    equal = holds_rows if loose else same_rows

    def is_right(rows: Rows) -> bool:
        return any(equal(rows, want, case.ordered) for want in right)

    if attempt.kind == "asked":
        return scored("asked", offered=await _offers(attempt, is_right))
    return scored("correct" if is_right(attempt.rows) else "wrong")


async def _offers(attempt: Attempt, is_right: Callable[[Rows], bool]) -> bool:
    if attempt.offered is None:
        return False
    async for rows in attempt.offered:
        if is_right(rows):
            return True
    return False


async def _gold(case: Case, answerer: Answerer) -> Rows:
    if case.gold_rows is not None:
        return case.gold_rows
    try:
        return await answerer.execute(case, case.gold_sql or "")
    except AnswerableError as error:
        message = f"The gold statement of the case {case.id!r} failed: {error.message}"
        raise UserError(message, code="gold_failed", hint=error.hint) from error


def _first(group: BaseExceptionGroup[BaseException]) -> BaseException:
    """The failure that ended the eval. The other tasks were cancelled because of it."""
    first = group.exceptions[0]
    return _first(first) if isinstance(first, BaseExceptionGroup) else first
