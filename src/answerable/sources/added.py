"""Sources that were added while Answerable ran: databases by URL, and uploaded files.

    uploads/NAME/…              the files of one source; a database file is a source alone
    added-sources.json          names and URLs, passwords included, readable by their owner only

Nothing outside these two is ever written or removed.
"""

import fcntl
import json
import os
import secrets
import shutil
import stat
import unicodedata
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path
from typing import Literal
from urllib.parse import quote

from answerable.core.context import HOME_TENANT
from answerable.core.errors import OperatorError, RefusedError, UserError
from answerable.core.file_errors import cannot_read, no_descriptors
from answerable.core.ids import TenantId
from answerable.core.records import dataclass
from answerable.isolation.own_folder import own_folder, remove_abandoned
from answerable.sources.discovery import content_of, expected_by_name, sniffed, table_name
from answerable.sources.sql.database_files import DATABASE_KINDS, database_kind

Origin = Literal["added", "uploaded"]

MB = 1_000_000
_LONGEST_NAME = 120
_ALLOWED_MARKS = " .-_()"


@dataclass(frozen=True, slots=True)
class Added:
    location: str
    origin: Origin
    files: tuple[str, ...] = ()
    by_operator: bool = False
    """Whether the person at the machine added it, and not somebody over HTTP."""


def tenant_home(home: Path, tenant: TenantId) -> Path:
    """The folder of a tenant's own files: added sources, their names, and what is cached of them."""
    return home if tenant == HOME_TENANT else home / "tenants" / quote(tenant, safe="")


class AddedSources:
    """The sources that one tenant has added."""

    def __init__(self, home: Path) -> None:
        """`home`: the folder of the tenant."""
        self.uploads = home / "uploads"
        self._staging = self.uploads / ".staging"
        remove_abandoned(self._staging)
        self._file = home / "added-sources.json"

    def all(self) -> Mapping[str, Added]:
        return {**self._by_location(), **self._uploaded()}

    def get(self, name: str) -> Added | None:
        return self.all().get(name)

    # Databases, files and folders that stay where they are

    def add_location(self, name: str, location: str, *, by_operator: bool) -> None:
        """Adds a database by its URL, or a file or folder that stays where it is."""
        with self._changing() as known:
            known[name] = Added(location, "added", by_operator=by_operator)

    def _by_location(self) -> dict[str, Added]:
        try:
            known = json.loads(self._file.read_bytes())
            return {str(name): _read(entry) for name, entry in known.items()}
        except FileNotFoundError:
            return {}
        except (OSError, ValueError, AttributeError, KeyError) as error:
            exhausted = no_descriptors(error) if isinstance(error, OSError) else None
            raise exhausted or OperatorError(
                f"{self._file} cannot be read: {error}.",
                code="added_sources_unreadable",
                hint="Repair the file, or remove it and add the sources again.",
            ) from error

    @contextmanager
    def _changing(self) -> Iterator[dict[str, Added]]:
        """Names and locations to be changed, written at the end. A server and commands may do so at the same time, so
        each waits for the other: else the one that writes last would undo what the other has added."""
        with _writing(self._file):
            self._file.parent.mkdir(parents=True, exist_ok=True)
            lock = os.open(self._file.with_suffix(".lock"), os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            known = self._by_location()
            yield known
            self._write(known)
        finally:
            os.close(lock)

    def _write(self, known: Mapping[str, Added]) -> None:
        """The file is readable by its owner before anything is in it."""
        entries = {name: _written(added) for name, added in known.items()}
        partial = self._file.with_name(f".{secrets.token_hex(8)}")
        with _writing(self._file):
            descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                json.dump(entries, file, ensure_ascii=False, indent=2)
            partial.replace(self._file)

    # Uploads

    def staging(self) -> Path:
        """Where a file is written before it is known to be one that can be read."""
        with _writing(self._staging):
            self._staging.mkdir(parents=True, exist_ok=True, mode=0o700)
            return own_folder(self._staging) / secrets.token_hex(16)

    def room(self, most: int) -> int:
        """How many bytes more there may be, with files on their way counted as here; below 0, there are too many."""
        return most - sum(map(_size, self.uploads.rglob("*")))

    def claim(self, wanted: str, taken: Collection[str]) -> str:
        """The name of a new source, with a number behind it if need be. Its empty folder keeps the name for one upload,
        so that uploads of the same name at the same time become different sources."""
        with _writing(self.uploads):
            self.uploads.mkdir(parents=True, exist_ok=True, mode=0o700)
            for number in count(1):
                name = wanted if number == 1 else f"{wanted}_{number}"
                if name not in taken:
                    with suppress(FileExistsError):
                        (self.uploads / name).mkdir(mode=0o700)
                        return name
        raise AssertionError("numbers do not end")

    def unclaim(self, name: str) -> None:
        """Gives up the name of a source to which no file has come."""
        with suppress(OSError):
            (self.uploads / name).rmdir()

    def adopt(self, staged: Path, file_name: str, source: str, *, replace: bool) -> str:
        """Moves a whole file into a source, and tells its format. What cannot be read is refused by its content."""
        format_ = sniffed(staged, file_name)
        if format_ is None:
            expected = expected_by_name(file_name)
            unlike = f"not {expected}, as its name says" if expected else "and its name is of no type that can be read"
            raise UserError(
                f"{file_name} is {content_of(staged)}, {unlike}.",
                code="upload_unsupported",
                hint="Upload CSV, TSV, JSON, Parquet, Excel, SQLite or DuckDB files.",
            )
        folder = self.uploads / source
        target = folder / file_name
        if target.exists() and not replace:
            raise UserError(
                f"The source {source!r} has a file {file_name!r} already.",
                code="upload_exists",
                hint="Upload it again with `replace`, or under another name.",
            )
        others = [name for name in self._files(folder) if name != file_name]
        if others and (format_ in DATABASE_KINDS or _database_in(folder)):
            raise UserError(
                "A database file is a source of its own.", code="upload_alone", hint="Upload it without `source`."
            )
        with _writing(folder):
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            staged.replace(target)
        return format_

    def _uploaded(self) -> dict[str, Added]:
        if not self.uploads.is_dir():
            return {}
        found = {}
        try:
            for folder in sorted(self.uploads.iterdir()):
                files = self._files(folder) if folder.is_dir() and not folder.name.startswith(".") else []
                if files:
                    found[folder.name] = Added(str(_database_in(folder) or folder), "uploaded", tuple(files))
        except OSError as error:
            raise cannot_read(self.uploads, error) from error
        return found

    def _files(self, folder: Path) -> list[str]:
        if not folder.is_dir():
            return []
        return sorted(path.name for path in folder.iterdir() if path.is_file() and not _is_note(path.name))

    def remove(self, name: str) -> None:
        added = self.get(name)
        if added is None:
            raise RefusedError(
                f"The source {name!r} was not added here.",
                code="source_from_settings",
                hint="Remove it from `settings.yaml` or from the command that started the server.",
            )
        if added.origin == "added":
            with self._changing() as known:
                known.pop(name, None)
            return
        # Renamed first, so that the source is gone at once even if deleting its files fails halfway.
        gone = self.uploads / f".removed-{secrets.token_hex(8)}"
        with _writing(self.uploads):
            (self.uploads / name).replace(gone)
        shutil.rmtree(gone, ignore_errors=True)


def _read(entry: object) -> Added:
    """A location alone says nothing about who added it, so that it is taken for somebody else than the operator."""
    if isinstance(entry, dict):
        return Added(str(entry["location"]), "added", by_operator=entry.get("by_operator") is True)
    return Added(str(entry), "added")


def _written(added: Added) -> object:
    return {"location": added.location, "by_operator": True} if added.by_operator else added.location


def source_name(wanted: str) -> str:
    """Small letters, digits and underscores of any script: a name that is also a folder and part of an address."""
    return table_name(wanted)[:60]


def safe_file_name(file_name: str) -> str:
    """The last part of a path, without what a file system, a shell or a page could take for something else."""
    last = unicodedata.normalize("NFC", file_name).replace("\\", "/").rpartition("/")[2]
    plain = "".join(letter if letter.isalnum() or letter in _ALLOWED_MARKS else "_" for letter in last).strip(" .")
    stem, dot, suffix = plain.rpartition(".")
    if not dot or not stem.strip(" ._-") or not suffix:
        raise UserError(
            "The file needs a name with an ending such as .csv.", code="upload_name_invalid", hint="Rename the file."
        )
    return f"{stem[: _LONGEST_NAME - len(suffix)]}.{suffix[:20]}"


def _database_in(folder: Path) -> Path | None:
    if not folder.is_dir():
        return None
    return next((path for path in sorted(folder.iterdir()) if path.is_file() and database_kind(path)), None)


def _size(path: Path) -> int:
    try:
        found = path.stat()
    except FileNotFoundError:
        return 0
    return found.st_size if stat.S_ISREG(found.st_mode) else 0


def _is_note(name: str) -> bool:
    return name.startswith(".") or name.endswith(".yaml")


@contextmanager
def _writing(place: Path) -> Iterator[None]:
    """A failure of the disk becomes an error that says where."""
    try:
        yield
    except OSError as error:
        raise no_descriptors(error) or OperatorError(
            f"{place} cannot be written: {error.strerror}.",
            code="home_unwritable",
            hint="Check that the folder may be written to and has room.",
        ) from error
