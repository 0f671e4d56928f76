"""Threads that were deleted can be restored for thirty days, and are then gone for good."""

from datetime import datetime, timedelta
from pathlib import Path

import pytest

from answerable.agents.question_request import QuestionRequest
from answerable.app import open_service
from answerable.core.clock import SystemClock
from answerable.core.context import LOCAL
from answerable.core.errors import NotFoundError
from answerable.core.ids import ThreadId
from answerable.settings import Settings


class Later(SystemClock):
    passed = timedelta()

    def now(self) -> datetime:
        return super().now() + self.passed


async def test_purging_removes_what_was_deleted_long_ago_and_nothing_else(tmp_path: Path) -> None:
    clock = Later()
    async with open_service(Settings(home=tmp_path, store=":memory:"), any_location=True, clock=clock) as service:
        for _ in range(3):
            await service.questions.ask(QuestionRequest("SQL: SELECT 1 AS one", ("demo",)), LOCAL)
        kept, deleted, _ = [ThreadId(one.thread_id) for one in await service.threads.list(LOCAL)]
        await service.threads.delete(deleted, LOCAL)
        clock.passed = timedelta(days=29)
        await service.retention.prune()
        await service.threads.restore(deleted, LOCAL)
        await service.threads.delete(deleted, LOCAL)
        clock.passed = timedelta(days=29 + 31)
        await service.retention.prune()
        with pytest.raises(NotFoundError):
            await service.threads.restore(deleted, LOCAL)
        left = [one.thread_id for one in await service.threads.list(LOCAL)]
        assert len(left) == 2
        assert kept in left
