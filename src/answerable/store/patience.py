"""Work that waits for a store that is away, instead of failing with it.

A disk is full for a while, a PostgreSQL server restarts: a run that is under way should stand still and go on. Requests
should not wait so; their callers can ask again. So a store has two faces: `Store` itself, whose calls fail at once, and
`Store.patient`, for runs.

A call whose connection broke may have been carried out or not. Making it again is safe because ids are chosen before
the first write: what is there already was stored by the earlier attempt.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Collection, Sequence
from contextlib import suppress
from typing import TypeVar

from answerable.core.errors import OperatorError
from answerable.store.database import Condition, Insert, Parameter, Row, RowExistsError, SqlDatabase, Statement

PASSING = frozenset({"store_full", "store_unavailable", "descriptors_exhausted"})
"""Codes of failures that end without a restart."""
FIRST_DELAY, LONGEST_DELAY = 0.05, 1.0
T = TypeVar("T")
_log = logging.getLogger("answerable.store")


class PatientDatabase:
    def __init__(self, database: SqlDatabase) -> None:
        self._database = database
        self.now = database.now
        self.up_since = database.up_since
        self.lock = database.lock
        self.skip_locked = database.skip_locked
        self.size = database.size
        self.announce = database.announce
        self.mark = database.mark
        self.beyond = database.beyond
        self.check = database.check
        self.close = database.close
        self._leaving = asyncio.Event()

    def stop_waiting(self) -> None:
        """Lets calls fail at once from now on: the process ends, and another one will continue the runs."""
        self._leaving.set()

    async def rows(self, sql: str, *parameters: Parameter) -> Sequence[Row]:
        return await self._held(lambda _: self._database.rows(sql, *parameters))

    async def write(self, *statements: Statement, required: Collection[int] = ()) -> Sequence[int]:
        async def attempt(again: bool) -> Sequence[int]:
            try:
                return await self._database.write(*statements, required=required)
            except RowExistsError:
                if not again:
                    raise
                return [1] * len(statements)  # only the answer to the earlier attempt was lost

        return await self._held(attempt)

    async def written(self, *statements: Statement) -> Sequence[Row]:
        return await self._held(lambda _: self._database.written(*statements))

    async def insert_fenced(self, fence: Condition, *inserts: tuple[Insert, Sequence[Row]]) -> bool:
        return await self._inserted(lambda: self._database.insert_fenced(fence, *inserts))

    async def change_fenced(self, change: Statement, *inserts: tuple[Insert, Sequence[Row]]) -> bool:
        return await self._inserted(lambda: self._database.change_fenced(change, *inserts))

    async def _inserted(self, insert: Callable[[], Awaitable[bool]]) -> bool:
        async def attempt(again: bool) -> bool:
            try:
                return await insert()
            except RowExistsError:
                if not again:
                    raise
                return True

        return await self._held(attempt)

    async def _held(self, attempt: Callable[[bool], Awaitable[T]]) -> T:
        """Repeats `attempt` until the store answers. Its argument says whether an earlier attempt failed."""
        delay = FIRST_DELAY
        while True:
            try:
                done = await attempt(delay > FIRST_DELAY)
            except OperatorError as error:
                if error.stable_code not in PASSING or self._leaving.is_set():
                    raise
                if delay == FIRST_DELAY:
                    fields = {"code": error.stable_code, "reason": str(error)}
                    _log.warning("waiting for the store", extra={"fields": fields})
            else:
                if delay > FIRST_DELAY:
                    _log.info("the store is back")
                return done
            with suppress(TimeoutError):
                await asyncio.wait_for(self._leaving.wait(), delay)
            delay = min(2 * delay, LONGEST_DELAY)
