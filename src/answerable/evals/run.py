"""Puts every case to an answerer and scores what comes back."""

import asyncio
from collections.abc import AsyncIterator, Callable, Collection, Sequence
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Literal, Protocol, TypeAlias

from answerable.core.errors import AnswerableError, UserError
from answerable.evals.cases import Case
from answerable.evals.compare import Rows, same_rows
from answerable.evals.score import Outcome, Report, Scored, Spent, report

CONCURRENCY = 2
NOTHING = Spent()

Progress: TypeAlias = Callable[[int, int, Scored], None]
"""Called as each case ends, with the number done, the number of all, and its outcome."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """What an answerer made of a question."""

    kind: Literal["answered", "asked", "failed"]
    rows: Rows = ()
    """Of an answer, all of them."""
    code: str | None = None
    thread: str | None = None
    """The conversation in which a follow-up can be asked."""
    spent: Spent = NOTHING
    """On models. How long it took is not for the answerer to say."""
    offered: AsyncIterator[Rows] | None = None
    """Of a question back: the rows of each choice, computed only as far as they are read."""


class Answerer(Protocol):
    """Whatever is measured. It opens each source once, and is asked several cases at the same time."""

    async def attempt(self, case: Case, *, force: bool, thread: str | None) -> Attempt:
        """`force`: always answer with the best reading. `thread`: the conversation that the case continues."""
        ...

    async def execute(self, case: Case, sql: str) -> Rows:
        """The rows of a statement on the case's source."""
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
) -> Report:
    """A follow-up is asked in the conversation of the case before it; all other cases are independent. A gold statement
    that fails is a `UserError`: nothing can be said about its case.

    `done` fills with results, so that they outlive an interruption; what is in it already is not asked again. An error
    whose code is in `ending` ends it all: its case and those that were not asked yet have no result."""
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
                done[case.id] = await _scored(case, attempt, answerer)
                if progress is not None:
                    progress(len(done), len(cases), done[case.id])

    try:
        async with asyncio.TaskGroup() as tasks:
            for chain in _conversations(cases):
                if not all(case.id in done for case in chain):
                    tasks.create_task(converse(chain))
    except BaseExceptionGroup as group:
        raise _first(group) from None
    return report([done[case.id] for case in cases if case.id in done], perf_counter() - started)


def _conversations(cases: Sequence[Case]) -> list[list[Case]]:
    """Each case with those that follow up on it, one after the other."""
    chains: dict[str, list[Case]] = {}
    for case in cases:
        chain = chains.get(case.after) if case.after is not None else []
        if chain is None:
            message = f"The case {case.id!r} follows up on {case.after!r}, which is not among the chosen cases."
            raise UserError(message, code="cases_invalid")
        chain.append(case)
        chains[case.id] = chain
    return list({id(chain): chain for chain in chains.values()}.values())


async def _attempt(answerer: Answerer, case: Case, force: bool, thread: str | None) -> Attempt:
    began = perf_counter()
    try:
        attempt = await answerer.attempt(case, force=force, thread=thread)
    except AnswerableError as error:
        attempt = Attempt("failed", code=error.stable_code, thread=thread)
    return replace(attempt, spent=attempt.spent.model_copy(update={"seconds": round(perf_counter() - began, 3)}))


async def _scored(case: Case, attempt: Attempt, answerer: Answerer) -> Scored:
    def scored(outcome: Outcome, *, offered: bool = False) -> Scored:
        return Scored(id=case.id, outcome=outcome, offered=offered, code=attempt.code, spent=attempt.spent)

    if attempt.kind == "failed":
        return scored("failed")
    want = await _gold(case, answerer)
    if attempt.kind == "asked":
        return scored("asked", offered=await _offers(attempt, want, case))
    return scored("correct" if same_rows(attempt.rows, want, case.ordered) else "wrong")


async def _offers(attempt: Attempt, want: Rows, case: Case) -> bool:
    if attempt.offered is None:
        return False
    async for rows in attempt.offered:
        if same_rows(rows, want, case.ordered):
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
    """The failure that ended it all; the others were cancelled on its account."""
    first = group.exceptions[0]
    return _first(first) if isinstance(first, BaseExceptionGroup) else first
