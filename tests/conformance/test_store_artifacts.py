"""Content-addressed files, with their owners in every database."""

import asyncio
import hashlib
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from answerable.core.context import Principal
from answerable.core.errors import InternalError, NotFoundError, OperatorError
from answerable.core.ids import ArtifactId
from answerable.store.base import Store


async def add(store: Store, principal: Principal, content: bytes) -> ArtifactId:
    path = store.artifacts.staging()
    path.write_bytes(content)
    return await store.artifacts.adopt(principal, path)


def files_in(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file() and path.suffix != ".lock"]


async def test_an_artifact_is_named_by_its_content(store: Store, people: Any) -> None:
    artifact = await add(store, people.ada, b"arrow")
    assert artifact == "sha256:" + hashlib.sha256(b"arrow").hexdigest()
    path = await store.artifacts.path(people.ada, artifact)
    assert path.read_bytes() == b"arrow"
    assert path.is_absolute()


async def test_staging_gives_new_paths_in_the_artifact_folder(store: Store, tmp_path: Path) -> None:
    one, two = store.artifacts.staging(), store.artifacts.staging()
    assert one != two
    assert not one.exists()
    assert one.is_relative_to(tmp_path / "artifacts")


async def test_the_same_content_twice_is_one_file(store: Store, people: Any, tmp_path: Path) -> None:
    first = await add(store, people.ada, b"same")
    assert await add(store, people.ada, b"same") == first
    assert await add(store, people.bob, b"same") == first
    assert await add(store, people.eve, b"same") == first
    assert len(files_in(tmp_path / "artifacts")) == 1
    assert (await store.artifacts.path(people.ada, first)).read_bytes() == b"same"


async def test_an_empty_file_is_an_artifact(store: Store, people: Any) -> None:
    artifact = await add(store, people.ada, b"")
    assert (await store.artifacts.path(people.ada, artifact)).read_bytes() == b""


async def test_artifacts_of_another_tenant_do_not_exist(store: Store, people: Any) -> None:
    artifact = await add(store, people.ada, b"secret")
    with pytest.raises(NotFoundError) as caught:
        await store.artifacts.path(people.eve, artifact)
    assert caught.value.stable_code == "artifact_not_found"
    assert (await store.artifacts.path(people.bob, artifact)).read_bytes() == b"secret"
    await add(store, people.eve, b"secret")  # who has the content may have it
    assert (await store.artifacts.path(people.eve, artifact)).read_bytes() == b"secret"


@pytest.mark.parametrize("name", ["", "sha256:", "sha256:../../answerable.db", "sha256:" + "0" * 64, "/etc/passwd"])
async def test_an_unknown_artifact_is_not_found(store: Store, people: Any, name: str) -> None:
    with pytest.raises(NotFoundError):
        await store.artifacts.path(people.ada, ArtifactId(name))


async def test_a_lost_file_is_the_operators_matter(store: Store, people: Any) -> None:
    artifact = await add(store, people.ada, b"gone")
    path = await store.artifacts.path(people.ada, artifact)
    path.unlink()
    with pytest.raises(OperatorError) as caught:
        await store.artifacts.path(people.ada, artifact)
    assert caught.value.stable_code == "artifact_missing"
    assert str(path) in caught.value.message
    await add(store, people.ada, b"gone")  # the same content again mends it
    assert path.read_bytes() == b"gone"


async def test_a_damaged_file_is_mended_by_the_same_content(store: Store, people: Any) -> None:
    path = await store.artifacts.path(people.ada, await add(store, people.ada, b"whole"))
    path.write_bytes(b"half")
    await add(store, people.ada, b"whole")
    assert path.read_bytes() == b"whole"


async def test_only_plain_files_from_staging_are_adopted(store: Store, people: Any, tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("of the host")
    link, pipe, folder, missing = (store.artifacts.staging() for _ in range(4))
    link.symlink_to(secret)
    os.mkfifo(pipe)
    folder.mkdir()
    for path in (secret, link, pipe, folder, missing):
        with pytest.raises(InternalError) as caught:
            await store.artifacts.adopt(people.ada, path)
        assert caught.value.stable_code == "artifact_not_staged"
    assert secret.read_text() == "of the host"


async def test_leftovers_of_dead_processes_are_swept_when_a_store_opens(opened: Any, people: Any) -> None:
    store = await opened()
    fresh = store.artifacts.staging()
    fresh.write_bytes(b"half")
    staging = fresh.parent.parent
    code = "import sys, os, pathlib; from answerable.isolation.own_folder import own_folder\n"
    code += "(own_folder(pathlib.Path(sys.argv[1])) / 'x').write_bytes(b'half'); os.kill(os.getpid(), 9)"
    await asyncio.to_thread(subprocess.run, [sys.executable, "-c", code, staging], check=False)
    assert len(list(staging.glob("*/x"))) == 1
    artifact = await add(store, people.ada, b"kept")
    kept = await store.artifacts.path(people.ada, artifact)
    await opened()
    assert (list(staging.glob("*/x")), fresh.exists(), kept.exists()) == ([], True, True)
