"""The seam between the tables and the two databases: SQL text in, rows out.

One SQL text serves both. It marks parameters with `?` and keeps to what SQLite and PostgreSQL share; times are ISO 8601
text in UTC with microseconds, so that text order is time order.
"""

from collections.abc import Collection, Sequence
from datetime import UTC, datetime
from typing import Any, Literal, Protocol, TypeAlias

from answerable.core.context import Principal
from answerable.core.errors import UserError
from answerable.core.records import dataclass
from answerable.store import base

Parameter: TypeAlias = str | int | float | None
Row: TypeAlias = tuple[Any, ...]
Synchronous = Literal["full", "normal"]
"""`full`: what is committed survives a loss of power. `normal`: the last commits may not, but no crash loses any."""
Statement: TypeAlias = tuple[str, tuple[Parameter, ...]]
Condition: TypeAlias = tuple[str, tuple[Parameter, ...]]
"""A part of a WHERE clause."""

_LARGEST = 2**63 - 1

OWN = "tenant_id = ? AND user_id = COALESCE(?, user_id)"
"""Rows that a principal may see: those of the tenant, or only the principal's own. `own` gives the parameters."""


def own(principal: Principal) -> tuple[str, str | None]:
    return principal.tenant, principal.user if principal.own_only else None


@dataclass(frozen=True, slots=True, eq=False)
class Insert:
    """Where many rows go."""

    into: str
    """`INSERT INTO table (column, …)`: each database continues it in the way that is fast for it."""
    types: tuple[str, ...]
    """Of the columns, in the same order."""


class RowExistsError(Exception):
    """A row with this key is there already. Nothing was written."""


class NothingChangedError(Exception):
    """A statement that had to change a row found none. Nothing was written."""


class SqlDatabase(base.Database, Protocol):
    """Failures of the database arrive as `OperatorError`, a taken key as `RowExistsError`, and text or numbers that the
    two databases cannot both hold as `UserError`."""

    now: str
    """SQL for the time that leases are measured by: seconds of one clock for all processes that share the database."""

    up_since: str | None
    """SQL for the moment at which the database came up, by the same clock; None if it cannot go away by itself."""

    lock: str | None
    """SQL that lets transactions with the same name follow each other; None if all do in any case."""

    skip_locked: str
    """Behind a SELECT: locks its rows, and leaves out those that others have locked; empty if one writes at a time."""

    size: str
    """SQL for the bytes that the database takes."""

    async def rows(self, sql: str, *parameters: Parameter) -> Sequence[Row]: ...

    async def write(self, *statements: Statement, required: Collection[int] = ()) -> Sequence[int]:
        """All or none, in one commit; returns how many rows each statement changed. If one of the statements whose
        numbers are `required` changes no row, nothing is written: `NothingChangedError`."""
        ...

    async def written(self, *statements: Statement) -> Sequence[Row]:
        """All or none, in one commit; the rows that the last of them returns."""
        ...

    async def insert_fenced(self, fence: Condition, *inserts: tuple[Insert, Sequence[Row]]) -> bool:
        """All or none, in one commit, and only if a run meets the fence: otherwise returns False. No other process can
        change that run between the check and the commit. The fast way in, for values that are known to be storable."""
        ...

    async def change_fenced(self, change: Statement, *inserts: tuple[Insert, Sequence[Row]]) -> bool:
        """The same with a statement in place of the fence: if it changes no row, nothing is inserted."""
        ...

    def announce(self, run: str) -> None:
        """Tells other processes soon that something new is stored about a run."""
        ...

    async def mark(self, run: str) -> int:
        """A mark to take before reading what is stored about a run, and to hand to `beyond` afterwards."""
        ...

    async def beyond(self, run: str, mark: int, seconds: float) -> None:
        """Returns when another process may have written about the run since the mark, or after `seconds`."""
        ...


def writable_check() -> Statement:
    """Writes a row, as whatever comes next must be able to. Another one each time: SQLite does not write what is there
    already."""
    sql = (
        "INSERT INTO jobs (name, ran_at) VALUES ('check', ?) ON CONFLICT (name) DO UPDATE SET ran_at = excluded.ran_at"
    )
    return sql, (time_text(datetime.now(UTC)),)


def checked(parameters: tuple[Parameter, ...]) -> tuple[Parameter, ...]:
    """Refuses what one of the databases cannot hold: such text and numbers come from outside, as ids or questions."""
    for value in parameters:
        if isinstance(value, str):
            _check_text(value)
        elif isinstance(value, int) and abs(value) > _LARGEST:
            raise UserError(f"The number {value} is too large.", code="number_unstorable")
    return parameters


def at_most(count: int | None) -> int:
    """Returns the number to bind to `LIMIT ?`. None stands for no limit."""
    if count is None:
        return _LARGEST
    if count < 0:
        raise UserError(f"A listing cannot have {count} entries.", code="bad_limit", hint="Give a limit of 0 or more.")
    return count


def mentions(column: str, text: str) -> Condition:
    """Whether a column holds a text, whatever its case. SQLite knows only the case of ASCII letters: what has others is
    found as it is written."""
    plain = text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    like = "LIKE ? ESCAPE '\\'"
    return f"({column} {like} OR lower({column}) {like})", (f"%{plain}%", f"%{plain.lower()}%")


def time_text(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat(timespec="microseconds")


def time_of(text: str) -> datetime:
    return datetime.fromisoformat(text)


def _check_text(text: str) -> None:
    if text.isascii() and "\0" not in text:
        return
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise _unstorable() from error
    if "\0" in text:
        raise _unstorable()


def _unstorable() -> UserError:
    return UserError(
        "The text holds characters that cannot be stored.",
        code="text_unstorable",
        hint="Remove NUL characters and halves of Unicode surrogate pairs.",
    )
