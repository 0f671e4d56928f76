"""Every attempt gives the same in two worlds that differ only in what the person may not see: so it tells nothing."""

from asyncio import gather

import pytest
from access_attempts import ATTEMPTS, GROUPS
from access_world import BOSS, Worlds

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest.mark.parametrize("group", GROUPS)
async def test_written_sql_tells_nothing_of_what_is_hidden(worlds: Worlds, group: str) -> None:
    for sql in GROUPS[group].strip().splitlines():
        first, second = await gather(*(world.outcome(sql) for world in worlds))
        assert repr(first) == repr(second), sql  # nan equals nothing, not even itself


async def test_the_attempts_would_tell_if_there_were_no_rules(worlds: Worlds, kind: str) -> None:
    if kind != "duckdb":
        pytest.skip("once is enough")
    told = 0
    for sql in (GROUPS["straight"] + GROUPS["errors"]).strip().splitlines():
        first, second = await gather(*(world.outcome(sql, BOSS) for world in worlds))
        told += first != second
    assert told > 30
    assert len(ATTEMPTS) > 450
