"""Real parts for all tests: a PostgreSQL server from a wheel, the command, an empty home for every test."""

import asyncio
import gc
import itertools
import json
import os
import subprocess
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import hypothesis
import psycopg
import pytest
from forked_children import let_go_of_the_run
from scripted_model import ScriptedModel

from answerable.core.catalog import Catalog
from answerable.isolation import worker_process
from faults import forked_command, forked_workers

LONGEST = (
    "web/test_journeys.py",
    "faults/test_scripts.py",
    "gateway/test_openapi.py",
    "scenarios/test_federation.py",
    "faults/escapes/test_escapes.py",
    "web/test_recorded.py",
    "faults/test_bad_files.py",
    "test_docs.py",
    "faults/test_sandbox_memory.py",
    "conformance/test_sources.py",
    "scenarios/test_failures_met.py",
    "faults/test_kill_sweep.py",
    "sandbox/test_kernel.py",
    "conformance/test_sandboxes.py",
    "scenarios/test_programs.py",
    "scenarios/test_models.py",
    "faults/test_commit_sweep.py",
    "faults/test_run_processes.py",
    "faults/test_store_processes.py",
    "access/test_attempts.py",
    "agents/test_cases.py",
    "gateway/test_hidden_paths.py",
    "faults/test_worker_walls.py",
    "gateway/test_stopping.py",
    "query/test_names.py",
    "scenarios/test_ask.py",
    "faults/injection/test_injection.py",
    "faults/test_quarantine.py",
    "faults/test_temporary_files.py",
    "faults/test_floods.py",
    "faults/test_library_attacks.py",
)
"""By time, longest first. They begin first, so that no process is left alone with one in the end.

The escape suite takes both cores: it is not among the first, beside the page and the servers under load.
"""
SHARED_DATA = Path(__file__).parents[2] / "shared" / "data"

_numbers = itertools.count(1)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    places = {Path(__file__).parent / name: place for place, name in enumerate(LONGEST)}
    items.sort(key=lambda item: places.get(item.path, len(places)))


def pytest_configure(config: pytest.Config) -> None:
    """No test meets a real certificate. With one authority to load instead of all, a client of HTTP is made in 1 ms
    instead of 50, and tests make thousands."""
    os.environ["SSL_CERT_FILE"] = str(Path(__file__).parent / "fixtures" / "one_authority.pem")
    # A busy machine makes examples slowly, and is no reason to fail.
    hypothesis.settings.register_profile(
        "steady", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow]
    )
    hypothesis.settings.load_profile("steady")
    let_go_of_the_run(config)


def pytest_collection() -> None:
    """Nothing that collecting makes is garbage, so nobody needs to look for it: not now, and not in each later look."""
    gc.disable()


def pytest_collection_finish() -> None:
    gc.freeze()
    gc.enable()


def pytest_unconfigure() -> None:
    """Lets go of what Hypothesis leaves with the garbage collector: a function that times each collection.

    The function would outlive the modules, and with it all that its globals lead to. DuckDB would report that as
    leaked, after the summary of the run.
    """
    gc.unfreeze()
    gc.callbacks[:] = [function for function in gc.callbacks if not function.__module__.startswith("hypothesis.")]


@pytest.fixture(scope="session")
def homes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("homes")


@pytest.fixture(autouse=True)
def home(homes: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Nothing of the user's own settings or stores reaches a test.

    Not below `tmp_path`: most tests need no folder of their own, and pytest takes longer to make one than they run.
    """
    folder = homes / str(next(_numbers))
    folder.mkdir()
    for name in [name for name in os.environ if name.startswith(("ANSWERABLE_", "OPENAI_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setenv("ANSWERABLE_HOME", str(folder / ".answerable"))
    return folder


@pytest.fixture(scope="session", autouse=True)
def worker_nursery() -> Iterator[None]:
    """Worker processes are forked from one that has loaded what they need."""
    with forked_workers.started_nursery():
        yield


@pytest.fixture
def loading_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Workers start as they do for users, and not by a fork: for tests of what surrounds a worker."""
    monkeypatch.setattr(worker_process, "_started", forked_workers.load_as_usual)


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    """The URL of a running server; made once, on a Unix socket."""
    from faults.postgres import own_postgres

    with own_postgres() as server:
        yield server.url


@pytest.fixture(scope="session")
def empty_databases() -> list[str]:
    """Names of databases that a test has left: to empty one is much faster than to make one."""
    return []


@pytest.fixture
def postgres_url(postgres_server: str, empty_databases: list[str]) -> Iterator[str]:
    """An empty database for each test."""
    if empty_databases:
        name = empty_databases.pop()
    else:
        name = f"test_{os.getpid()}_{next(_numbers)}"
        with psycopg.connect(postgres_server, autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name}")
    url = postgres_server.replace("/postgres?", f"/{name}?")
    yield url
    _empty(url, name)
    empty_databases.append(name)


def _empty(url: str, name: str) -> None:
    others = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s AND pid <> pg_backend_pid()"
    schemas = "SELECT quote_ident(nspname) FROM pg_namespace WHERE nspname !~ '^(pg_|information_schema$)'"
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(others, [name])
        for (schema,) in connection.execute(schemas).fetchall():
            connection.execute(f"DROP SCHEMA {schema} CASCADE")
        connection.execute("CREATE SCHEMA public AUTHORIZATION pg_database_owner")
        connection.execute("GRANT USAGE ON SCHEMA public TO PUBLIC")
        connection.execute(f"ALTER DATABASE {name} RESET ALL")


@dataclass(frozen=True)
class Done:
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


@pytest.fixture
def answerable(tmp_path: Path) -> Callable[..., Done]:
    """Runs the command in an empty folder; `env` adds to the environment."""

    def run(*arguments: str, given: str = "", env: dict[str, str] | None = None, timeout: float = 100) -> Done:
        environment = {**os.environ, **(env or {})}
        done = forked_command.run(arguments, cwd=tmp_path, env=environment, given=given, timeout=timeout)
        assert "Traceback" not in done.stderr, done.stderr
        return Done(done.returncode, done.stdout, done.stderr)

    return run


@pytest.fixture(scope="session")
def demo_catalog(tmp_path_factory: pytest.TempPathFactory) -> Catalog:
    """The catalog of the bundled data, with its semantic file."""
    from answerable import demo
    from answerable.sources.open import open_source

    async def described() -> Catalog:
        source = await open_source(str(demo.location()), name="demo", cache=tmp_path_factory.mktemp("cache"))
        try:
            return await source.describe()
        finally:
            await source.close()

    return asyncio.run(described())


@pytest.fixture
async def opened(tmp_path: Path) -> AsyncIterator[Callable[..., Any]]:
    """Opens a location as a source that is asked in SQL; all that were opened are closed in the end."""
    from answerable.sources.open import open_source
    from answerable.sources.sql.source import SqlSource

    sources: list[SqlSource] = []

    async def opened(location: Path | str, **more: Any) -> SqlSource:
        source = await open_source(str(location), cache=tmp_path / "cache", **more)
        assert isinstance(source, SqlSource)
        sources.append(source)
        return source

    yield opened
    for source in sources:
        await source.close()


@pytest.fixture
def scripted_model() -> Iterator[ScriptedModel]:
    """A language model on the loopback that says what the test tells it to; see `fixtures/scripted_model.py`."""
    server = ScriptedModel()
    yield server
    server.close()


@pytest.fixture(scope="session")
def shared_data() -> Path:
    if not SHARED_DATA.is_dir():
        pytest.skip("the measuring data (../shared/data) is not here")
    return SHARED_DATA


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A folder with room for 64 KB."""
    command = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(tmp_path)]
    if subprocess.run(command, capture_output=True).returncode:
        pytest.skip("a small file system can only be mounted by an administrator")
    yield tmp_path
    subprocess.run(["umount", "--lazy", str(tmp_path)], check=True)


@pytest.fixture
def read_only_disk(small_disk: Path) -> Path:
    """A folder in which nothing can be written."""
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    return small_disk
