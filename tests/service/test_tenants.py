"""Two tenants in one process: they share no cached catalog, reader or index of values, and see no source of another."""

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from answerable.agents.question_request import QuestionRequest
from answerable.agents.readers import Readers
from answerable.app import open_service
from answerable.core.clock import SystemClock
from answerable.core.context import LOCAL, Principal
from answerable.core.errors import NotFoundError
from answerable.core.ids import RunId, TenantId, UserId
from answerable.service import Service
from answerable.settings import Settings
from answerable.sources.editing import NameEdit
from answerable.sources.registry import SourceRegistry

ADA = Principal(TenantId("acme"), UserId("ada"))
BEA = Principal(TenantId("acme"), UserId("bea"))
EVE = Principal(TenantId("evil/corp"), UserId("eve"))


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    (tmp_path / "shop.csv").write_text("id,city\n1,Oslo\n2,Bergen\n")
    return tmp_path / "shop.csv"


@pytest.fixture
async def registry(tmp_path: Path, shop: Path) -> AsyncIterator[SourceRegistry]:
    opened = SourceRegistry({"shop": str(shop)}, tmp_path / "home", any_location=False)
    yield opened
    await opened.close()


@pytest.fixture
async def service(tmp_path: Path, shop: Path) -> AsyncIterator[Service]:
    settings = Settings(home=tmp_path / "home", sources={"shop": str(shop)}, store=":memory:")
    async with open_service(settings, any_location=True) as opened:
        yield opened


async def test_sources_catalogs_and_values_are_cached_for_each_visibility(registry: SourceRegistry) -> None:
    adas, beas, eves = [await registry.get("shop", person) for person in (ADA, BEA, EVE)]
    assert adas is beas
    assert adas is not eves
    assert await adas.describe() is not await eves.describe()
    assert await adas.values() is not await eves.values()


async def test_what_is_cached_on_disk_lies_apart(registry: SourceRegistry, tmp_path: Path) -> None:
    for person in (LOCAL, ADA, EVE):
        await (await registry.get("shop", person)).values()
    homes = [tmp_path / "home", tmp_path / "home/tenants/acme", tmp_path / "home/tenants/evil%2Fcorp"]
    for home in homes:
        assert len(list((home / "cache").rglob("values-*.sqlite"))) == 1


async def test_readers_and_federations_are_cached_for_each_visibility(registry: SourceRegistry) -> None:
    readers = Readers(registry, SystemClock())
    found = [await readers.reader(await registry.get("shop", person), person) for person in (ADA, BEA, EVE)]
    assert found[0] is found[1]
    assert found[0] is not found[2]
    names = ("shop", "shop")
    assert await registry.federated(names, ADA) is await registry.federated(names, BEA)
    assert await registry.federated(names, ADA) is not await registry.federated(names, EVE)


async def test_statistics_and_relationships_are_cached_for_each_visibility(service: Service) -> None:
    found = [await service.sources.statistics("shop", "shop", person) for person in (ADA, BEA, EVE)]
    assert found[0] is found[1]
    assert found[0] is not found[2]
    related = [await service.sources.relationships("shop", person) for person in (ADA, BEA, EVE)]
    assert related[0] is related[1]
    assert related[0] is not related[2]


async def test_an_added_source_is_its_tenants_own(service: Service, tmp_path: Path) -> None:
    (tmp_path / "secret.csv").write_text("id,plan\n1,merge\n")
    added = await service.sources.add(str(tmp_path / "secret.csv"), ADA, name="plans")
    await service.sources.wait(added.name, ADA)
    assert "plans" in service.sources.names(BEA)
    for stranger in (EVE, LOCAL):
        assert "plans" not in service.sources.names(stranger)
        assert "plans" not in {source.name for source in service.sources.list(stranger, look=False).sources}
        with pytest.raises(NotFoundError):
            await service.sources.describe("plans", stranger)
        with pytest.raises(NotFoundError):
            await service.sources.remove("plans", stranger)
    await service.sources.remove("plans", BEA)
    assert "plans" not in service.sources.names(ADA)


async def test_runs_threads_and_rows_are_not_found_by_another_tenant(service: Service) -> None:
    answer = await service.questions.ask(QuestionRequest("how many shops per city?", ("shop",)), ADA)
    run = RunId(answer.run_id)
    assert (await service.rows.page(run, BEA)).row_count == 2
    [thread] = await service.threads.list(BEA)
    assert list(await service.threads.list(EVE)) == []
    for reading in (
        service.runs.get(run, EVE),
        service.runs.answer(run, EVE),
        service.rows.page(run, EVE),
        service.questions.retry(run, EVE),
        service.answers.freshness(run, EVE),
        service.threads.messages(thread.thread_id, EVE),  # type: ignore[arg-type]
        service.evals.add_case("mine", run, EVE),
    ):
        with pytest.raises(NotFoundError):
            await reading


async def test_names_that_lie_in_the_home_folder_are_a_tenants_own(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path / "home", store=":memory:")
    async with open_service(settings, any_location=False) as service:
        edit = NameEdit(table="orders", label="bookings")
        await service.semantic.edit("demo", [edit], ADA)
        assert "bookings" in (await service.semantic.read("demo", BEA)).text
        assert "bookings" not in (await service.semantic.read("demo", EVE)).text
        assert [change.user for change in await service.semantic.history("demo", BEA)] == ["ada"]
        assert list(await service.semantic.history("demo", EVE)) == []


def test_visibility_does_not_depend_on_the_person(registry: SourceRegistry) -> None:
    admin = replace(ADA, roles=frozenset({"admin"}))
    assert registry.visibility(ADA) == registry.visibility(BEA) == registry.visibility(admin)
    assert registry.visibility(ADA) != registry.visibility(EVE)
