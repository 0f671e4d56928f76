"""Changing what is said about a source: read, checked against the data, and written whole.

It is written where it is read from: beside the data, unless that place is not ours to write (data that comes with the
package, a folder that may only be read, a database); then to a file of the home folder, which from then on counts.
"""

import asyncio
import codecs
import errno
import fcntl
import io
import os
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, ValidationError

from answerable.core.catalog import Catalog
from answerable.core.errors import AnswerableError, OperatorError, SemanticError, TransientError, UserError
from answerable.core.file_errors import no_descriptors
from answerable.core.validation import first_problem
from answerable.core.values import ColumnType, Frozen
from answerable.core.yaml_text import SEMANTIC
from answerable.sources.base import Source
from answerable.sources.definition_files import read_definitions
from answerable.sources.semantic import End, Semantic, apply, dump, parse
from answerable.sources.yaml_edit import with_changes
from answerable.store.whole_files import whole_file

_PACKAGE = Path(__file__).parents[1]
_LONGEST_EDIT = 10.0
"""Seconds to wait for another process that is changing the file. A change takes far less."""
_LOOK_SECONDS = 0.02
Synonym = Annotated[str, Field(max_length=200)]


class NameEdit(Frozen):
    """What a table, or one of its columns, is called. What is left out stays; null takes it away."""

    kind: Literal["name"] = "name"
    table: str = Field(min_length=1, max_length=500)
    column: str | None = Field(None, min_length=1, max_length=500)
    label: str | None = Field(None, max_length=2_000)
    synonyms: tuple[Synonym, ...] | None = Field(None, max_length=200)
    description: str | None = Field(None, max_length=2_000)
    unit: str | None = Field(None, max_length=200)
    hidden: bool | None = None
    sensitivity: Literal["secret", "personal", "none"] | None = None
    """Whether the column holds secrets, which are never shown, or personal data; `none` if it holds neither."""
    values: dict[str, tuple[str, ...]] | None = None
    """What people call single values of the column."""


class RelationshipEdit(Frozen):
    """A way to join: use it, name it, or hide it."""

    kind: Literal["relationship"] = "relationship"
    from_: End = Field(alias="from")
    to: End
    name: str | None = Field(None, max_length=500)
    synonyms: tuple[Synonym, ...] | None = Field(None, max_length=200)
    hidden: bool | None = None


class RelationshipRemoval(Frozen):
    """Forgets what was said about a relationship."""

    kind: Literal["relationship_removed"] = "relationship_removed"
    from_: End = Field(alias="from")
    to: End


SemanticEdit = Annotated[NameEdit | RelationshipEdit | RelationshipRemoval, Field(discriminator="kind")]


@dataclass(frozen=True, slots=True)
class Meaning:
    """What is said about a source at the moment."""

    file: Path
    """Where a change goes."""
    text: str

    @property
    def version(self) -> str:
        return sha256(self.text.encode()).hexdigest()[:16]


async def read_meaning(source: Source) -> Meaning:
    return await asyncio.to_thread(_read, source.semantic_files)


async def checked(source: Source, text: str, file: Path) -> Semantic:
    """What a text says, if all that it speaks of exists; else a `SemanticError` that names line and field."""
    semantic = await asyncio.to_thread(parse, text, file.name)
    await asyncio.to_thread(apply, await source.describe_plainly(), semantic)
    return semantic


@asynccontextmanager
async def exclusive(source: Source) -> AsyncIterator[None]:
    """Keeps other processes from changing what is said about a source between reading and writing it.

    The folder is locked, not the file, because a changed file takes the place of the old one. The lock ends with its
    process and leaves nothing behind.
    """
    file = (await read_meaning(source)).file
    try:
        folder = await asyncio.to_thread(_opened_folder, file.parent)
    except OSError as error:
        raise _unwritable(file, error) from error
    try:
        await _lock(folder, file)
        yield
    finally:
        os.close(folder)


async def write_meaning(source: Source, text: str, *, version: str | None = None) -> Meaning:
    """Replaces the whole file and returns what it said before. `version`: that of the text which the caller edited; if
    the file has another one now, somebody else changed it meanwhile."""
    before = await read_meaning(source)
    if version is not None and version != before.version:
        raise UserError(
            f"{before.file.name} was changed meanwhile.", code="semantic_changed", hint="Load it again, then repeat."
        )
    await checked(source, text, before.file)
    await asyncio.to_thread(_write, before.file, text)
    return before


def check_joinable(catalog: Catalog, edits: Sequence[SemanticEdit]) -> None:
    """A relationship between columns whose values can never be the same is a mistake."""
    for edit in edits:
        if not isinstance(edit, RelationshipEdit) or edit.hidden:
            continue
        for own, other in zip(_types(catalog, edit.from_), _types(catalog, edit.to), strict=False):
            if own and other and _FAMILIES.get(own, own) != _FAMILIES.get(other, other):
                raise UserError(
                    f"{edit.from_.table}.{', '.join(edit.from_.columns)} holds {own} and {edit.to.table}."
                    f"{', '.join(edit.to.columns)} holds {other}: they never match.",
                    code="relationship_types",
                    hint="Choose columns of the same type.",
                )


_FAMILIES: Mapping[ColumnType, str] = {"integer": "number", "datetime": "date"}


def _types(catalog: Catalog, end: End) -> list[ColumnType | None]:
    table = catalog.table(end.table) if end.source is None else None
    found = {column.name: column.type for column in table.columns} if table else {}
    return [found.get(name) for name in end.columns]


def edited(text: str, edits: Sequence[NameEdit | RelationshipEdit | RelationshipRemoval]) -> str:
    """The text with some things said differently; all else in it stays as it was written."""
    data = _data(parse(text))
    for edit in edits:
        if isinstance(edit, NameEdit):
            _rename(data, edit)
        else:
            _relate(data, edit)
    return rewritten(text, _validated(_pruned(data)))


def rewritten(text: str, wanted: Semantic) -> str:
    """The text that says what is wanted. Comments and whatever is the same stay as they were written."""
    changed = with_changes(text, _data(parse(text)), _data(wanted))
    try:
        return changed if parse(changed) == wanted else dump(wanted)
    except SemanticError:  # a way of writing YAML that cannot be edited in place
        return dump(wanted)


def _data(semantic: Semantic) -> dict[str, Any]:
    return semantic.model_dump(mode="json", by_alias=True, exclude_defaults=True)


def _pruned(data: dict[str, Any]) -> dict[str, Any]:
    """The file without entries of which nothing is said."""
    inner = {name: _pruned(value) if isinstance(value, dict) else value for name, value in data.items()}
    return {name: value for name, value in inner.items() if value != {}}


def _validated(data: dict[str, Any]) -> Semantic:
    try:
        return Semantic.model_validate(data)
    except ValidationError as error:
        problem = first_problem(error)
        raise SemanticError(f"{problem.field}: {problem.plain}", field=problem.field) from None


def _rename(data: dict[str, Any], edit: NameEdit) -> None:
    said = data.setdefault("tables", {}).setdefault(edit.table, {})
    if edit.column is not None:
        said = said.setdefault("columns", {}).setdefault(edit.column, {})
    for name in edit.model_fields_set - {"kind", "table", "column"}:
        value = getattr(edit, name)
        said[name] = list(value) if isinstance(value, tuple) else value
        if not value:
            del said[name]


def _relate(data: dict[str, Any], edit: RelationshipEdit | RelationshipRemoval) -> None:
    known = data.get("relationships", [])
    ends = {"from": _end(edit.from_), "to": _end(edit.to)}
    before = next((one for one in known if {"from": one["from"], "to": one["to"]} == ends), None)
    others = [one for one in known if one is not before]
    if isinstance(edit, RelationshipRemoval):
        if before is None:
            raise UserError("Nothing is said about this relationship.", code="relationship_unknown")
        data["relationships"] = others
        return
    said = {**(before or ends)}
    for name in edit.model_fields_set - {"kind", "from_", "to"}:
        value = getattr(edit, name)
        said[name] = list(value) if isinstance(value, tuple) else value
    data["relationships"] = [*others, {name: value for name, value in said.items() if value}]


def _end(end: End) -> dict[str, Any]:
    return end.model_dump(mode="json", exclude_defaults=True)


def _read(files: Sequence[Path]) -> Meaning:
    found = next((file for file in files if file.is_file()), None)
    if found is None:
        return Meaning(_place(files), "")
    try:
        raw = read_definitions(found, 4 * SEMANTIC.largest)
        text = io.StringIO(raw.decode("utf-8-sig"), newline=None).read()  # with plain line ends
    except (OSError, UnicodeDecodeError) as error:
        exhausted = no_descriptors(error) if isinstance(error, OSError) else None
        raise exhausted or SemanticError(f"{found.name} cannot be read: {error}", file=found.name) from error
    return Meaning(found if _is_ours(found) else files[0], text)


def _opened_folder(folder: Path) -> int:
    folder.mkdir(parents=True, exist_ok=True)
    return os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)


async def _lock(folder: int, file: Path) -> None:
    loop = asyncio.get_running_loop()
    last = loop.time() + _LONGEST_EDIT
    while True:
        try:
            fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except OSError as error:
            if error.errno not in (errno.EWOULDBLOCK, errno.EINTR):
                return  # a file system without locks; versions still tell of most changes in between
        if loop.time() > last:
            raise TransientError(
                f"{file.name} is being changed by another process.", code="semantic_busy", hint="Try again in a moment."
            )
        await asyncio.sleep(_LOOK_SECONDS)


def _place(files: Sequence[Path]) -> Path:
    """Beside the data, in the file of its own name rather than in one that all files of the folder share; in the home
    folder only if nothing can be written there."""
    if not files:
        raise UserError("This source has no place for names.", code="semantic_nowhere", hint="Give the source a name.")
    beside = [file for file in files if file.parent == files[-1].parent]
    return next((file for file in beside if _is_ours(file)), files[0])


def _is_ours(file: Path) -> bool:
    if _PACKAGE in file.parents:
        return False
    return os.access(file if file.exists() else file.parent, os.W_OK) and os.access(file.parent, os.W_OK)


def _write(file: Path, text: str) -> None:
    """All of it or nothing. Without any text there is no file."""
    try:
        if not text:
            file.unlink(missing_ok=True)
            return
        file.parent.mkdir(parents=True, exist_ok=True)
        # text is handled with plain line ends and without a byte order mark; a file keeps those that it has
        old = file.read_bytes() if file.exists() else b""
        encoding = "utf-8-sig" if old.startswith(codecs.BOM_UTF8) else "utf-8"
        with whole_file(file) as partial:
            partial.write_text(text, encoding, newline="\r\n" if b"\r\n" in old else "\n")
            if file.exists():
                partial.chmod(file.stat().st_mode & 0o777)
    except OSError as error:
        raise _unwritable(file, error) from error


def _unwritable(file: Path, error: OSError) -> AnswerableError:
    return no_descriptors(error) or OperatorError(
        f"{file} cannot be written: {error.strerror}.",
        code="semantic_unwritable",
        hint="Check that the folder may be written to and has room.",
    )
