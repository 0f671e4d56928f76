"""Sources as they are shown: summaries, tests, previews."""

from datetime import datetime
from typing import Literal

from pydantic import Field

from answerable.core.catalog import Relationship
from answerable.core.values import Frozen, Json, OutputColumn


class SourceProblem(Frozen):
    code: str
    message: str
    hint: str | None


class SourceProgress(Frozen):
    message: str
    done: int
    total: int
    counted: bool = Field(description="Whether `done` and `total` count tables; else they count stages of reading.")
    seconds: float = Field(description="Since the reading began.")


class SourceSummary(Frozen):
    name: str
    kind: str | None = Field(
        description="`files`, `sqlite`, `duckdb`, `postgres`, `api`; null until the source was opened."
    )
    location: str = Field(description="Never with a password.")
    origin: Literal["bundled", "settings", "added", "uploaded"]
    default: bool = Field(description="Whether a question that names no source asks this one.")
    removable: bool
    state: Literal["unread", "reading", "ready", "failed"]
    tables: int | None
    rows: int | None = Field(description="Of all tables together.")
    last_sync: datetime | None = Field(description="When the data was last written, as far as the source can tell.")
    read_at: datetime | None
    fingerprint: str | None = Field(description="Differs whenever the data has changed; null until it was read.")
    progress: SourceProgress | None
    error: SourceProblem | None
    files: list[str] = Field(description="The files of an uploaded source.")


class SourceList(Frozen):
    sources: list[SourceSummary]
    upload_mb: int = Field(description="Largest file that may be uploaded; 0 when nothing may be added.")
    upload_room_mb: int = Field(description="How much more may be uploaded before something has to be removed.")


class UploadedFile(Frozen):
    file: str = Field(description="The name under which the file is stored.")
    format: str
    bytes: int
    source: SourceSummary


class SourceTest(Frozen):
    """What came of trying a location that was not added."""

    name: str = Field(description="What the source would be called.")
    location: str = Field(description="Never with a password.")
    kind: str | None = Field(description="Null if it could not be opened.")
    tables: int | None = Field(description="Null if it could not be read.")
    rows: int | None = Field(description="Of all tables together, as far as they are counted.")
    problem: SourceProblem | None = Field(description="Why it could not be read; null if it can be added.")


class TablePreview(Frozen):
    columns: tuple[OutputColumn, ...]
    rows: list[list[Json]]
    offset: int
    row_count: int


class RelationshipView(Relationship):
    orphan_rows: int | None = Field(description="Rows that refer to no row; null when they could not be counted.")
