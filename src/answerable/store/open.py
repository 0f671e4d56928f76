"""The door: a path or a URL becomes a store."""

import shutil
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from answerable.core.clock import Clock, SystemClock
from answerable.core.errors import OperatorError
from answerable.isolation.own_folder import own_folder
from answerable.store.artifacts import FolderArtifacts
from answerable.store.base import Store
from answerable.store.breakers import SqlBreakers
from answerable.store.database import SqlDatabase, Synchronous
from answerable.store.events import SqlEvents
from answerable.store.leases import LEASE_SECONDS, Leases
from answerable.store.outbox import SqlOutbox
from answerable.store.patience import PatientDatabase
from answerable.store.run_owners import RunOwners
from answerable.store.runs import SqlCapsules, SqlRuns
from answerable.store.schema import Migration, migrations
from answerable.store.seldom import SqlSeldomParts
from answerable.store.sqlite import MEMORY, SqliteDatabase
from answerable.store.threads import SqlThreads


async def open_store(
    url: str | Path,
    *,
    artifacts: Path | None = None,
    synchronous: Synchronous = "full",
    clock: Clock | None = None,
    known: Sequence[Migration] | None = None,
    lease_seconds: float = LEASE_SECONDS,
) -> Store:
    """`url` is a path, `sqlite:///path`, `:memory:` or `postgresql://…`; close the store with `await store.close()`.

    Without `artifacts`, the folder lies beside the SQLite file; PostgreSQL needs one. `known` are the migrations to
    bring the store up to, by default all of this version. `lease_seconds`: how long this process may be silent before
    others take over what it holds.
    """
    text = str(url)
    database: SqlDatabase
    if text.startswith(("postgresql://", "postgres://")):
        folder = _required_folder(artifacts)
        from answerable.store.postgres import PostgresDatabase  # the driver is loaded only by those who use it

        database = await PostgresDatabase.open(text, synchronous, known or migrations())
    else:
        path = _sqlite_path(text)
        database = SqliteDatabase.open(path, synchronous, known or migrations())
        folder = artifacts or _beside(path, database)
    return await _assembled(database, folder, clock or SystemClock(), lease_seconds)


def _sqlite_path(text: str) -> str:
    path = text.removeprefix("sqlite:///")
    if path == MEMORY:
        return MEMORY
    if "://" in path:
        raise OperatorError(
            f"A store cannot be opened by {path.split('://')[0]}://.",
            code="store_unavailable",
            hint="Give a path, sqlite:///path or postgresql://user@host/database.",
        )
    return str(Path(path).expanduser().absolute())


def _beside(path: str, database: SqliteDatabase) -> Path:
    if path != MEMORY:
        return Path(path).with_suffix(".artifacts")
    passing = Path(tempfile.mkdtemp(dir=own_folder()))
    database.when_closed(lambda: shutil.rmtree(passing, ignore_errors=True))
    return passing


def _required_folder(artifacts: Path | None) -> Path:
    if artifacts is None:
        raise OperatorError(
            "A store in PostgreSQL needs a folder for its artifacts.",
            code="store_unavailable",
            hint="Name a folder that all processes of this installation share.",
        )
    return artifacts


async def _assembled(database: SqlDatabase, folder: Path, clock: Clock, lease_seconds: float) -> Store:
    try:
        FolderArtifacts(database, folder, clock).prepare()
    except OperatorError:
        await database.close()
        raise
    leases = Leases(database, lease_seconds)
    patient = PatientDatabase(database)
    parts = (clock, leases, RunOwners(), folder)
    for_runs = _store(patient, *parts, patient.stop_waiting)
    return replace(_store(database, *parts, patient.stop_waiting), patient=for_runs)


def _store(
    database: SqlDatabase,
    clock: Clock,
    leases: Leases,
    owners: RunOwners,
    folder: Path,
    stop_waiting: Callable[[], None],
) -> Store:
    artifacts = FolderArtifacts(database, folder, clock)
    return Store(
        runs=SqlRuns(database, clock, leases, owners),
        events=SqlEvents(database, leases, owners),
        capsules=SqlCapsules(database),
        threads=SqlThreads(database, clock),
        artifacts=artifacts,
        breakers=SqlBreakers(database),
        outbox=SqlOutbox(database, clock, leases),
        seldom=SqlSeldomParts(database, clock, leases, artifacts),
        news=database,
        release=leases.release,
        stop_waiting=stop_waiting,
        database=database,
    )
