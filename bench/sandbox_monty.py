"""A warm call of the small sandbox against the bare interpreter: a session of the same kind of pool, nothing else.

What counts is what ours adds to a call: the thread, the limits, the account. The ratio is what ours takes longer, as
a share of what it may (0.2 ms; twice that with a host call, which changes threads twice more). Code that is new has its
types checked first; that is measured against an interpreter that does the same. Blocks of calls of both take turns, and
medians are compared.
"""

import asyncio
import itertools
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from pydantic_monty import Monty

from answerable.sandbox.base import HostCalls, SandboxRequest
from answerable.sandbox.monty.sandbox import MontySandbox
from bench.figures import Figure, compared, in_turn

CODE = "total = 0\nfor n in [1, 2, 3]:\n    total += n\nresult = total\nresult"
CALLING = "result = lookup(20) + 1\nresult"
STUBS = "def lookup(number: int) -> int: ..."
MORE_MS = 0.2
CHECKED_LIMIT = 1.2


def measure(quick: bool) -> list[Figure]:
    return asyncio.run(_measured(7 if quick else 21))


async def _measured(repeats: int) -> list[Figure]:
    with Monty(min_processes=1, max_processes=1) as bare:
        async with _opened() as sandbox:
            return [
                await _plain(bare, sandbox, repeats),
                await _calling(bare, sandbox, repeats),
                await _checked(bare, sandbox, max(5, repeats // 4)),
            ]


@asynccontextmanager
async def _opened() -> AsyncIterator[MontySandbox]:
    sandbox = MontySandbox(1)
    await sandbox.start()
    yield sandbox
    await sandbox.close()


async def _plain(bare: Monty, sandbox: MontySandbox, repeats: int) -> Figure:
    request = SandboxRequest(CODE)

    async def ours() -> None:
        assert (await sandbox.run(request)).value == 6

    async def floor() -> None:
        with bare.checkout() as session:
            assert session.feed_run(CODE) == 6

    return _over("monty, warm call", *await in_turn(ours, floor, repeats))


async def _calling(bare: Monty, sandbox: MontySandbox, repeats: int) -> Figure:
    async def lookup(number: int) -> int:
        return number

    request = SandboxRequest(CALLING, host=HostCalls({"lookup": lookup}, STUBS))

    async def ours() -> None:
        assert (await sandbox.run(request)).value == 21

    async def floor() -> None:
        with bare.checkout() as session:
            assert session.feed_run(CALLING, external_lookup={"lookup": int}) == 21

    return _over("monty, warm call with one host call", *await in_turn(ours, floor, repeats), more_ms=2 * MORE_MS)


async def _checked(bare: Monty, sandbox: MontySandbox, repeats: int) -> Figure:
    numbers = itertools.count()

    async def ours() -> None:
        assert (await sandbox.run(SandboxRequest(f"{CODE} + {next(numbers)}"))).outcome == "ok"

    async def floor() -> None:
        with bare.checkout(type_check=True) as session:
            session.feed_run(f"{CODE} + {next(numbers)}")

    seconds, least = await in_turn(ours, floor, repeats)
    return compared("monty, new code with its type check", seconds * 1e3, least * 1e3, "ms", CHECKED_LIMIT)


def _over(name: str, ours: float, floor: float, more_ms: float = MORE_MS) -> Figure:
    """The ratio is what ours takes longer, as a share of what it may."""
    return Figure(name, ours * 1e3, floor * 1e3, "ms", (ours - floor) * 1e3 / more_ms, 1.0)
