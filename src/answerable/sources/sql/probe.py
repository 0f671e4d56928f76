"""Small questions that describing a source asks of its data, in the same hardened worker as every other statement."""

from typing import Any, Protocol

from answerable.sources.sql.statements import Sql


class Probe(Protocol):
    async def rows(self, statement: Sql) -> list[tuple[Any, ...]]:
        """Every row, as Python values: str, int, float, bool, date, datetime, time, bytes, None.

        A datetime has no zone; one that had a zone is converted to UTC. Dates of SQLite are text, as they are stored in
        the file. A probe that takes too long is a `LimitError`.
        """
        ...
