"""The seam between the tables and the two databases: SQL text in, rows out.

One SQL text serves both. It marks parameters with `?` and keeps to what SQLite and PostgreSQL share; times are ISO 8601
text in UTC with microseconds, so that text order is time order.
"""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, Protocol, TypeAlias

import orjson

from answerable.core.errors import InternalError, UserError
from answerable.core.values import Json
from answerable.store import base

Parameter: TypeAlias = str | int | float | None
Row: TypeAlias = tuple[Any, ...]
Statement: TypeAlias = tuple[str, tuple[Parameter, ...]]


class RowExistsError(Exception):
    """A row with this key is there already. Nothing was written."""


class Database(base.Database, Protocol):
    """Failures of the database arrive as `OperatorError`; a taken key as `RowExistsError`."""

    async def rows(self, sql: str, *parameters: Parameter) -> Sequence[Row]: ...

    async def write(self, *statements: Statement) -> Sequence[int]:
        """All or none, in one commit; how many rows each statement changed."""
        ...

    async def write_many(self, sql: str, rows: Sequence[Row]) -> None:
        """The same statement for each row; all or none, in one commit."""
        ...


def time_text(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat(timespec="microseconds")


def time_of(text: str) -> datetime:
    return datetime.fromisoformat(text)


def json_text(value: Json) -> str:
    try:
        return orjson.dumps(value, option=orjson.OPT_PASSTHROUGH_DATETIME).decode()
    except TypeError as error:
        raise InternalError(f"A value to be stored is not JSON: {error}.", code="not_json") from error


def storable(text: str) -> str:
    """Both databases hold any text but NUL characters and halves of surrogate pairs."""
    if "\0" in text or not _is_unicode(text):
        raise UserError(
            "The text holds characters that cannot be stored.",
            code="text_unstorable",
            hint="Remove NUL characters and broken (half) Unicode characters.",
        )
    return text


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
