"""Synced tenants as the page shows them: what they hold, syncs that nobody waits for, and schedules."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from shifted_clock import ShiftedClock

from answerable.agents.question_request import QuestionRequest
from answerable.app import open_service
from answerable.core.context import LOCAL
from answerable.core.errors import AnswerableError
from answerable.okta.schedule import FILE
from answerable.okta.simulator.populate import simulated_tenant
from answerable.okta.simulator.server import TOKEN, Simulator, served
from answerable.service import Service
from answerable.service.okta import TenantView
from answerable.settings import Settings


@pytest.fixture
def clock() -> ShiftedClock:
    return ShiftedClock()


@pytest.fixture
def url() -> Iterator[str]:
    tenant = simulated_tenant(12, 3, datetime(2026, 11, 16, tzinfo=UTC), groups=0)
    with served(Simulator(tenant)) as address:
        yield address


@pytest.fixture
async def service(
    tmp_path: Path, url: str, clock: ShiftedClock, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Service]:
    monkeypatch.setenv("OKTA_API_TOKEN", TOKEN)
    async with open_service(Settings(home=tmp_path), clock=clock, any_location=True) as opened:
        await opened.okta.sync("corp", LOCAL, url=url)
        yield opened


async def _until_idle(service: Service) -> TenantView:
    while (tenant := await service.okta.tenant("corp", LOCAL)).running is not None:  # noqa: ASYNC110
        await asyncio.sleep(0.01)
    return tenant


async def test_a_tenant_is_shown_with_what_it_holds_and_when_it_was_synced(service: Service, url: str) -> None:
    [tenant] = await service.okta.tenants(LOCAL)
    assert (tenant.name, tenant.source, tenant.url, tenant.live) == ("corp", "corp", url, None)
    assert {entity.name: entity.rows for entity in tenant.entities}["users"] == 12
    assert tenant.last_sync is not None
    assert tenant.last_sync.tzinfo is not None
    assert (tenant.running, tenant.schedule, tenant.problem) == (None, None, None)
    await _its_graph_is_asked(service)


async def test_a_sync_is_begun_and_not_waited_for(service: Service) -> None:
    assert (await service.okta.start_sync("corp", LOCAL)).running is not None
    await service.okta.start_sync("corp", LOCAL)  # the one that is under way goes on
    await _until_idle(service)
    assert [(each.kind, each.status) for each in service.okta.history("corp", LOCAL)] == [
        ("full", "complete"),
        ("incremental", "complete"),
    ]
    await service.okta.start_sync("corp", LOCAL, full=True)
    await _until_idle(service)
    assert service.okta.history("corp", LOCAL)[-1].kind == "full"


async def test_a_sync_that_nobody_waits_for_says_why_it_failed(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OKTA_API_TOKEN", "revoked")
    await service.okta.start_sync("corp", LOCAL)
    assert "okta_token_invalid" in str((await _until_idle(service)).problem)
    monkeypatch.setenv("OKTA_API_TOKEN", TOKEN)
    await service.okta.start_sync("corp", LOCAL)
    assert (await _until_idle(service)).problem is None
    monkeypatch.delenv("OKTA_API_TOKEN")
    with pytest.raises(AnswerableError, match="OKTA_API_TOKEN"):
        await service.okta.start_sync("corp", LOCAL)


async def test_a_schedule_syncs_when_its_time_has_come_and_only_then(service: Service, clock: ShiftedClock) -> None:
    tenant = await service.okta.schedule("corp", "0 * * * *", LOCAL)
    assert tenant.schedule is not None
    assert timedelta() < tenant.schedule.next_at - clock.now() <= timedelta(hours=1)
    service.okta_syncs.begin_due()
    assert (await service.okta.tenant("corp", LOCAL)).running is None
    clock.ahead = timedelta(hours=5)
    service.okta_syncs.begin_due()
    service.okta_syncs.begin_due()  # times that were missed are made up for once
    tenant = await _until_idle(service)
    service.okta_syncs.begin_due()
    assert len(service.okta.history("corp", LOCAL)) == 2
    assert tenant.schedule is not None
    assert tenant.schedule.next_at > clock.now()
    await service.okta.unschedule("corp", LOCAL)
    assert (await service.okta.tenant("corp", LOCAL)).schedule is None


async def test_a_schedule_remembers_why_its_sync_failed(
    service: Service, clock: ShiftedClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    await service.okta.schedule("corp", "@hourly", LOCAL, zone="Europe/Berlin")
    monkeypatch.setenv("OKTA_API_TOKEN", "revoked")
    clock.ahead = timedelta(hours=2)
    service.okta_syncs.begin_due()
    tenant = await _until_idle(service)
    assert tenant.schedule is not None
    assert "okta_token_invalid" in str(tenant.schedule.problem)


async def test_what_is_no_schedule_is_refused(service: Service, tmp_path: Path) -> None:
    for cron, zone, code in (
        ("now and then", "UTC", "schedule_invalid"),
        ("0 * * * *", "Mars/Base", "schedule_invalid"),
        ("0 0 31 2 *", "UTC", "schedule_never"),
    ):
        with pytest.raises(AnswerableError) as refused:
            await service.okta.schedule("corp", cron, LOCAL, zone=zone)
        assert refused.value.stable_code == code
    (tmp_path / "okta" / "corp" / FILE).write_text("{")
    service.okta_syncs.begin_due()
    with pytest.raises(AnswerableError) as broken:
        await service.okta.tenant("corp", LOCAL)
    assert broken.value.stable_code == "okta_schedule_unreadable"
    with pytest.raises(AnswerableError, match="nobody"):
        await service.okta.tenant("nobody", LOCAL)


async def _its_graph_is_asked(service: Service) -> None:
    cypher = "CYPHER: MATCH (u:User)-[:MemberOf]->(g:UserGroup {name: 'Everyone'}) RETURN count(*) AS people"
    answer = await service.questions.ask(QuestionRequest(cypher, ("corp_graph",)), LOCAL)
    assert (answer.rows, answer.provenance.data_source_type) == (((12,),), "graph")
    assert answer.provenance.last_sync is not None
    asked = await service.questions.ask(QuestionRequest("How many apps are there?", ("corp_graph",)), LOCAL)
    counted = await service.questions.ask(QuestionRequest("How many apps are there?", ("corp",)), LOCAL)
    assert asked.rows == counted.rows
    await service.okta.remove("corp", LOCAL)
    assert "corp_graph" not in service.sources.names(LOCAL)
