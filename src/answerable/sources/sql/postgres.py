"""A PostgreSQL database, by URL."""

import asyncio
import time
from collections.abc import Sequence
from pathlib import Path

from answerable.core.errors import SourceError
from answerable.core.progress import Progress
from answerable.core.values import Language
from answerable.sources.sql.backend import Snapshot, SourceOptions
from answerable.sources.sql.postgres_access import AllowedHosts, with_environment
from answerable.sources.sql.postgres_url import ConnectionParameters, parsed

EXAMPLE = "postgresql://user@host/database"
UNIFORM_SECONDS = 5.0
"""Every failure to connect to an address that a caller named takes a multiple of this: how long a port takes to answer
would tell whether something listens there."""


class PostgresBackend:
    kind = "postgres"
    dialect: Language = "postgres"
    is_local = False
    semantic_files: Sequence[Path] = ()

    def __init__(self, url: str, options: SourceOptions, hosts: AllowedHosts | None) -> None:
        """`hosts`: those that whoever added this database may name; None if that was the operator."""
        self._parameters = parsed(url)
        self._hosts = hosts
        self._memory_mb = options.memory_mb
        self.functions: Sequence[str] = options.postgres_functions
        self._snapshot: Snapshot | None = None
        if hosts is not None:
            hosts.check(self._parameters)
        self.database = self._parameters.get("dbname") or self._parameters.get("user") or "postgres"

    async def look(self, _progress: Progress) -> Snapshot:
        if self._snapshot is None:
            parameters = await self._connecting()
            spec = {"engine": "postgres", "parameters": parameters, "memory_mb": self._memory_mb, "threads": 1}
            if self._hosts is not None:
                spec["uniform_seconds"] = UNIFORM_SECONDS
            self._snapshot = Snapshot(spec, fingerprint=None)
        return self._snapshot

    async def _connecting(self) -> ConnectionParameters:
        if self._hosts is None:
            return with_environment(self._parameters)
        started = time.monotonic()
        try:
            return await asyncio.to_thread(self._hosts.with_address, self._parameters)
        except SourceError:
            await asyncio.sleep(UNIFORM_SECONDS - (time.monotonic() - started) % UNIFORM_SECONDS)
            raise
