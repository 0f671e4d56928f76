"""The schema as a list of numbered migrations that only ever grows.

A migration is a file `migrations/NNNN_name.sql`: its first line is a comment that says in a sentence what it does, and
its statements end with `;` at the end of a line. `/* sqlite: … */` holds words that are sent to SQLite only; no other
comments of this form. What was applied is a row in the table `migrations`.
"""

from collections.abc import Collection, Sequence
from functools import cache
from importlib.resources import files

from answerable.core.errors import OperatorError
from answerable.core.records import dataclass

MARK = 0x416E7372
"""`Ansr`: stands in the header of a SQLite file, so that no other program's is taken for a store; locks upgrades."""
CREATE_MIGRATIONS = """
CREATE TABLE IF NOT EXISTS migrations (number BIGINT PRIMARY KEY, name TEXT NOT NULL, applied_at TEXT NOT NULL)
"""
APPLIED = "SELECT number FROM migrations"
RECORD = "INSERT INTO migrations (number, name, applied_at) VALUES (?, ?, ?)"


@dataclass(frozen=True, slots=True)
class Migration:
    number: int
    name: str
    """A sentence that says what it does."""
    statements: tuple[str, ...]

    def for_sqlite(self) -> tuple[str, ...]:
        return tuple(text.replace("/* sqlite:", "").replace("*/", "") for text in self.statements)


@cache
def migrations() -> tuple[Migration, ...]:
    """All that this version knows, in order."""
    folder = files("answerable.store") / "migrations"
    names = sorted(entry.name for entry in folder.iterdir() if entry.name.endswith(".sql"))
    return tuple(parsed(name, (folder / name).read_text(encoding="utf-8")) for name in names)


def parsed(file_name: str, text: str) -> Migration:
    first, rest = text.split("\n", 1)
    statements = (part.strip() for part in rest.split(";\n"))
    return Migration(
        number=int(file_name.split("_", 1)[0]),
        name=first.removeprefix("--").strip(),
        statements=tuple(part for part in statements if part),
    )


def pending(applied: Collection[int], known: Sequence[Migration], store: str) -> list[Migration]:
    """What has to be applied; a store with more than this version knows is refused, never guessed at."""
    newest = known[-1].number
    if applied and max(applied) > newest:
        raise OperatorError(
            f"The store {store} was written by a newer version of Answerable: "
            f"it has schema {max(applied)}, this version knows {newest}.",
            code="store_newer",
            hint="Use that version or a later one; or restore the backup that was made before the upgrade.",
        )
    return [migration for migration in known if migration.number not in applied]
