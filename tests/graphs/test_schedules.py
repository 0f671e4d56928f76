"""Graphs that run by themselves: when a schedule is due, what is made up for, and that no time is run twice."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from graph_text import graph_text
from shifted_clock import ShiftedClock

from answerable.app import open_service
from answerable.core.context import LOCAL, Principal
from answerable.core.cron_times import next_moment
from answerable.core.errors import UserError
from answerable.core.ids import TenantId, UserId
from answerable.graphs.schedules import MOST_AT_ONCE, GraphSchedule, due_moments
from answerable.service import Service
from answerable.settings import Settings

BERLIN = "Europe/Berlin"


@pytest.fixture
def clock() -> ShiftedClock:
    return ShiftedClock()


@pytest.fixture
async def service(settings: Settings, clock: ShiftedClock) -> AsyncIterator[Service]:
    async with open_service(settings, any_location=True, clock=clock) as opened:
        await opened.graphs.save(graph_text("said: {kind: transform, template: 'n is {{ input.n }}'}"), LOCAL)
        yield opened


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).astimezone(UTC)


def daily(**more: Any) -> GraphSchedule:
    return GraphSchedule(**{"graph": "tried", "cron": "30 2 * * *", "zone": BERLIN, **more})


def test_hours_that_the_clock_skips_or_repeats_are_run_once() -> None:
    spring = [at("2027-03-27T12:00+00:00")]
    autumn = [at("2026-10-24T12:00+00:00")]
    for times in (spring, autumn):
        for _ in range(2):
            times.append(next_moment(daily(), times[-1]))
    assert spring[1:] == [at("2027-03-28T01:00+00:00"), at("2027-03-29T00:30+00:00")]
    assert autumn[1:] == [at("2026-10-25T00:30+00:00"), at("2026-10-26T01:30+00:00")]
    hourly = daily(cron="30 * * * *")
    assert next_moment(hourly, at("2026-10-25T00:30+00:00")) == at("2026-10-25T01:30+00:00")


@pytest.mark.parametrize(
    ("catch_up", "now", "expected"),
    [
        ("all", "2026-06-03T12:00+00:00", ["01", "02", "03"]),
        ("last", "2026-06-03T12:00+00:00", ["03"]),
        ("skip", "2026-06-03T12:00+00:00", []),
        ("skip", "2026-06-03T00:30:20+00:00", ["03"]),
        ("last", "2026-06-01T00:30+00:00", ["01"]),
    ],
)
def test_missed_times(catch_up: str, now: str, expected: list[str]) -> None:
    due = due_moments(daily(catch_up=catch_up), at("2026-06-01T00:30+00:00"), at(now))
    assert due == [at(f"2026-06-{day}T00:30+00:00") for day in expected]


def test_many_missed_times_are_bounded() -> None:
    every = GraphSchedule(graph="tried", cron="* * * * *", catch_up="all")
    assert len(due_moments(every, at("2026-01-01T00:00+00:00"), at("2026-06-01T00:00+00:00"))) == MOST_AT_ONCE


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"cron": "0 0 31 2 *"}, "schedule_never"),
        ({"cron": "61 * * * *"}, "schedule_invalid"),
        ({"cron": "* * * * * *"}, "schedule_invalid"),
        ({"cron": "soon"}, "schedule_invalid"),
        ({"zone": "Mars/Olympus"}, "schedule_invalid"),
        ({"zone": "../etc/passwd"}, "schedule_invalid"),
        ({"graph": "none"}, "graph_not_found"),
        ({"version": 9}, "graph_version_not_found"),
    ],
)
async def test_a_schedule_that_cannot_be_met_is_not_stored(service: Service, fields: dict[str, Any], code: str) -> None:
    with pytest.raises(UserError) as caught:
        await service.schedules.add("nightly", daily(**fields), LOCAL)
    assert caught.value.stable_code == code
    assert await service.schedules.list(LOCAL) == []


async def test_a_graph_runs_when_it_is_due_and_once_for_each_time(
    service: Service, settings: Settings, clock: ShiftedClock
) -> None:
    added = await service.schedules.add("nightly", daily(input={"n": 4}), LOCAL)
    assert await service.schedules.run_due() == []
    clock.ahead = added.next_at - datetime.now(UTC) + timedelta(seconds=1)
    [record] = await service._store.schedules.due(clock.now())
    [run] = await service.schedules.run_due()
    assert (await service.graphs.wait(run, LOCAL)).output == "n is 4"
    assert await service.schedules.run_due() == []
    [view] = await service.schedules.list(LOCAL)
    assert timedelta(hours=22) < view.next_at - added.next_at < timedelta(hours=26)
    # As a server that was killed after it began the run, or that looked at the same moment.
    await service.schedules._begin(record, added.schedule)
    assert [each.run for each in await service.graphs.runs("tried", LOCAL)] == [run]
    assert (await service.schedules.list(LOCAL))[0].next_at == view.next_at


async def test_what_cannot_be_started_is_shown_and_the_schedule_goes_on(service: Service, clock: ShiftedClock) -> None:
    added = await service.schedules.add("nightly", daily(), LOCAL)
    await service.graphs.delete("tried", LOCAL)
    clock.ahead = added.next_at - datetime.now(UTC) + timedelta(seconds=1)
    assert await service.schedules.run_due() == []
    [view] = await service.schedules.list(LOCAL)
    assert view.problem is not None
    assert "graph_not_found" in view.problem
    assert view.next_at > added.next_at
    other = Principal(TenantId("other"), UserId("eve"))
    assert await service.schedules.list(other) == []
    with pytest.raises(UserError, match="There is no schedule"):
        await service.schedules.remove("nightly", other)
    await service.schedules.remove("nightly", LOCAL)
    assert await service.schedules.list(LOCAL) == []
