"""Two worlds that differ only in what Ana may not see, in every kind of source."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from access_world import KINDS, POLICY, World, Worlds, filled

from answerable.sources.registry import SourceRegistry


@pytest.fixture(scope="module", params=KINDS)
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def worlds(
    kind: str, tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> AsyncIterator[Worlds]:
    server = request.getfixturevalue("postgres_server") if kind == "postgres" else ""
    made = []
    for number in (0, 1):
        folder = tmp_path_factory.mktemp(f"world{number}")
        (folder / "home").mkdir()
        (folder / "home" / "access.yaml").write_text(POLICY)
        (folder / "home" / "access.secret").write_text("the same in both worlds")
        location = filled(kind, folder, number, server)
        made.append(World(SourceRegistry({"shop": location}, folder / "home", any_location=False), folder, kind))
    yield made
    for world in made:
        await world.registry.close()
