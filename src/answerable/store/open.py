"""The door: a path or a URL becomes a store."""

import tempfile
from collections.abc import Sequence
from pathlib import Path

from answerable.core.clock import Clock, SystemClock
from answerable.core.errors import OperatorError
from answerable.store.artifacts import FolderArtifacts
from answerable.store.base import Store
from answerable.store.database import Database
from answerable.store.events import SqlEvents
from answerable.store.runs import SqlCapsules, SqlRuns
from answerable.store.schema import Migration
from answerable.store.sqlite import MEMORY, SqliteDatabase, Synchronous
from answerable.store.threads import SqlThreads


async def open_store(
    url: str | Path,
    *,
    artifacts: Path | None = None,
    synchronous: Synchronous = "full",
    clock: Clock | None = None,
    migrations: Sequence[Migration] | None = None,
) -> Store:
    """`url` is a path, `sqlite:///path`, `:memory:` or `postgresql://…`.

    Artifacts lie beside a SQLite file unless a folder is given; PostgreSQL needs one. `synchronous="normal"` trades the
    last commits before a power failure for speed (a crash of the process loses nothing either way). Close what this
    returns with `await store.close()`.
    """
    text = str(url)
    if text.startswith(("postgresql://", "postgres://")):
        return await _open_postgres(text, artifacts, clock, migrations)
    return await _open_sqlite(_sqlite_path(text), artifacts, synchronous, clock, migrations)


def _sqlite_path(text: str) -> str:
    if text == MEMORY or text == f"sqlite:///{MEMORY}":
        return MEMORY
    path = text.removeprefix("sqlite:///")
    if "://" in path:
        raise OperatorError(
            f"The store cannot be opened by {path.split('://')[0]}://.",
            code="store_unavailable",
            hint="Give a path, sqlite:///path or postgresql://user@host/database.",
        )
    return str(Path(path).expanduser().absolute())


async def _open_sqlite(
    path: str,
    artifacts: Path | None,
    synchronous: Synchronous,
    clock: Clock | None,
    migrations: Sequence[Migration] | None,
) -> Store:
    database = SqliteDatabase.open(path, synchronous, migrations)
    if artifacts is None and path == MEMORY:
        passing = tempfile.TemporaryDirectory(prefix="answerable-")
        database.when_closed(passing.cleanup)
        artifacts = Path(passing.name)
    return await _assembled(database, artifacts or Path(path).with_suffix(".artifacts"), clock)


async def _open_postgres(
    url: str, artifacts: Path | None, clock: Clock | None, migrations: Sequence[Migration] | None
) -> Store:
    if artifacts is None:
        raise OperatorError(
            "A store in PostgreSQL needs a folder for its artifacts.",
            code="store_unavailable",
            hint="Name a folder that all processes of this installation share.",
        )
    from answerable.store.postgres import PostgresDatabase  # the driver is loaded only by those who use it

    return await _assembled(await PostgresDatabase.open(url, migrations), artifacts, clock)


async def _assembled(database: Database, folder: Path, clock: Clock | None) -> Store:
    clock = clock or SystemClock()
    artifacts = FolderArtifacts(database, folder, clock)
    try:
        artifacts.prepare()
    except BaseException:
        await database.close()
        raise
    return Store(
        runs=SqlRuns(database, clock),
        events=SqlEvents(database),
        capsules=SqlCapsules(database),
        threads=SqlThreads(database, clock),
        artifacts=artifacts,
        database=database,
    )
