"""What kinds of SQL sources have to bring: a backend for each kind, and the options that all of them know."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import field
from datetime import datetime
from pathlib import Path
from typing import Any, Protocol

from answerable.core.catalog import Warning
from answerable.core.progress import Progress
from answerable.core.records import dataclass
from answerable.core.values import Language
from answerable.sources.worker_places import WorkerPlaces


@dataclass(frozen=True, slots=True)
class SourceOptions:
    """What a source may use besides the limits of a single query."""

    workers: int = 2
    threads: int = field(default_factory=lambda: min(8, os.cpu_count() or 1))
    """Of one worker."""
    memory_mb: int = 2048
    probe_seconds: float = 30.0
    probe_rows: int = 1_000_000
    max_files: int = 10_000
    max_mb: int = 20_000
    """Of files that are not Parquet, together; and of one such file when unpacked."""
    postgres_functions: tuple[str, ...] = ()
    """Functions that queries may call besides those of the system: `schema.name`."""
    places: WorkerPlaces = field(default_factory=WorkerPlaces)
    """Where the workers of this source run, beside those of other sources."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The data as it is now: how a worker opens it, and by what it is known to have changed."""

    spec: Mapping[str, Any] = field(repr=False)
    """May hold a password."""
    fingerprint: str | None
    """None if only the engine can compute it."""
    last_sync: datetime | None = None
    warnings: tuple[Warning, ...] = ()
    table_fingerprints: Mapping[str, str] = field(default_factory=dict)
    """The fingerprint of each table, if the backend knows them; else empty."""


class SqlBackend(Protocol):
    """What one kind of SQL source knows: where its data is, how a worker opens it, which dialect it speaks."""

    kind: str
    dialect: Language
    is_local: bool
    """Whether the data is on this machine."""
    semantic_files: Sequence[Path]
    """Where a `semantic.yaml` is looked for; the first that exists counts."""
    functions: Sequence[str]
    """Functions of the database's own schemas that queries may call: `schema.name`."""

    async def look(self, progress: Progress) -> Snapshot:
        """Quick if nothing has changed since the last look."""
        ...
