"""`query_memory_mb` is the limit of the process that runs a query, for every kind of source."""

import resource
from pathlib import Path

import psutil
import pytest
from access_world import filled

from answerable.agents.question_request import QuestionRequest
from answerable.app import open_service
from answerable.core.context import LOCAL
from answerable.settings import Settings

MB = 1 << 20
LITTLE, MUCH = 300, 900
SLACK_MB = 64
"""By how much the libraries of two processes of one kind may differ."""


def _workers() -> set[psutil.Process]:
    return {child for child in psutil.Process().children() if "answerable.sources.workers" in child.cmdline()}


async def _limit_mb(location: str, home: Path, memory_mb: int) -> float:
    """The limit on the address space of the worker that has just answered."""
    others = _workers()
    settings = Settings(home=home, sources={"shop": location}, query_memory_mb=memory_mb)
    async with open_service(settings, any_location=True) as service:
        asked = QuestionRequest("SQL: SELECT count(*) AS n FROM staff", ("shop",))
        answer = await service.questions.ask(asked, LOCAL)
        assert answer.status == "done"
        limits = [resource.prlimit(worker.pid, resource.RLIMIT_AS)[0] for worker in _workers() - others]
    assert limits
    return max(limits) / MB


@pytest.mark.parametrize("kind", ["sqlite", "duckdb", "files", "postgres"])
async def test_the_setting_limits_the_worker(kind: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    server = request.getfixturevalue("postgres_server") if kind == "postgres" else ""
    location = filled(kind, tmp_path, 0, server)
    little = await _limit_mb(location, tmp_path / "little", LITTLE)
    much = await _limit_mb(location, tmp_path / "much", MUCH)
    assert much - little == pytest.approx(MUCH - LITTLE, abs=SLACK_MB)
