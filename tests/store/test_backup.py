"""The backup that docs/store.md describes gives a whole store, made while another process writes."""

import shutil
import sqlite3
from pathlib import Path
from typing import Any

from answerable.core.context import LOCAL, RunContext
from answerable.core.events import StepStarted
from answerable.core.ids import NodeId, RunId
from answerable.store.base import Lease

RUN = RunId("run_1")


def back_up(path: Path, artifacts: Path, into: Path) -> None:
    source = sqlite3.connect(path)
    source.execute(f"VACUUM INTO '{into / 'a.db'}'")
    source.close()
    shutil.copytree(artifacts, into / "a.artifacts")


async def test_a_backup_of_a_store_in_use_is_a_store(tmp_path: Path, opened: Any) -> None:
    store = await opened(tmp_path / "a.db")
    created = await store.runs.create(RunContext(RUN, LOCAL), "how many?")
    events = [StepStarted(RUN, number, 1.0, NodeId("a")) for number in range(1, 100)]
    await store.events.append(events, Lease(RUN, 1))
    staged = store.artifacts.staging()
    staged.write_bytes(b"arrow")
    artifact = await store.artifacts.adopt(LOCAL, staged)

    into = tmp_path / "backup"
    into.mkdir()
    back_up(tmp_path / "a.db", tmp_path / "a.artifacts", into)
    await store.events.append([StepStarted(RUN, 100, 1.0, NodeId("a"))], Lease(RUN, 1))

    copy = await opened(into / "a.db")
    assert await copy.runs.get(LOCAL, RUN) == created
    assert await copy.events.read(LOCAL, RUN) == events
    path = await copy.artifacts.path(LOCAL, artifact)
    assert path.is_relative_to(into)
    assert path.read_bytes() == b"arrow"
