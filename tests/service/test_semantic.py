"""Two services of one store change the names of one source at the same time, as two servers do."""

import asyncio
import itertools
import os
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from answerable.app import open_service
from answerable.core.context import LOCAL
from answerable.core.errors import TransientError
from answerable.service import Service
from answerable.settings import Settings
from answerable.sources import editing
from answerable.sources.editing import NameEdit, exclusive
from answerable.sources.registry import SourceRegistry

COLUMNS = [f"c{number}" for number in range(12)]


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    folder = tmp_path / "shop"
    folder.mkdir()
    (folder / "sales.csv").write_text(",".join(COLUMNS) + "\n" + ",".join("1" for _ in COLUMNS) + "\n")
    return folder


@pytest.fixture
async def services(tmp_path: Path, shop: Path) -> AsyncIterator[list[Service]]:
    settings = Settings(home=tmp_path / "home", sources={"shop": str(shop)}, store=str(tmp_path / "store.sqlite"))
    async with AsyncExitStack() as opened:
        yield [await opened.enter_async_context(open_service(settings, any_location=True)) for _ in range(2)]


async def test_no_edit_is_lost_between_two_processes(services: list[Service]) -> None:
    edits = [NameEdit(table="sales", column=column, label=f"label of {column}") for column in COLUMNS]
    await asyncio.gather(
        *(services[number % 2].semantic.edit("shop", [edit], LOCAL) for number, edit in enumerate(edits))
    )
    text = (await services[0].semantic.read("shop", LOCAL)).text
    assert [column for column in COLUMNS if f"label of {column}" not in text] == []
    changes = await services[1].semantic.history("shop", LOCAL)
    assert len(changes) == len(COLUMNS)
    assert all(older.after == newer.before for newer, older in itertools.pairwise(changes))


async def test_a_process_that_holds_the_file_for_too_long_is_named(
    tmp_path: Path, shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(editing, "_LONGEST_EDIT", 0.1)
    registry = SourceRegistry({"shop": str(shop)}, tmp_path / "home", any_location=False)
    source = await registry.get("shop", LOCAL)
    before = len(os.listdir("/proc/self/fd"))
    async with exclusive(source):
        with pytest.raises(TransientError) as busy:
            async with exclusive(source):
                pass
    assert busy.value.stable_code == "semantic_busy"
    assert len(os.listdir("/proc/self/fd")) == before
    assert os.listdir(shop) == ["sales.csv"]
    await registry.close()
