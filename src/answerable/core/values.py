"""The basic value types of steps and answers."""

from collections.abc import Mapping
from typing import Any, Literal, Self, TypeAlias

from pydantic import BaseModel, ConfigDict

from answerable.core.ids import ArtifactId

Scalar: TypeAlias = str | int | float | bool | None
Json: TypeAlias = Any
"""A value that JSON can hold. `Any`, because a recursive alias needs casts everywhere and catches few mistakes."""

ColumnType = Literal["text", "integer", "number", "boolean", "date", "datetime", "time", "json", "binary"]
Language: TypeAlias = str
"""The name of a query language: an SQL dialect (a row in `query/sql/dialects.py`), or another language."""


class Frozen(BaseModel):
    """Base of all value objects: immutable, and strict about unknown fields so that a typo is an error.

    `defer_build`: pydantic builds the validator of a class at its first use. A command uses few classes, so it starts
    faster.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """A copy without the cached properties of the original, which may be wrong for the copy."""
        copy = super().model_copy(update=update, deep=deep)
        for name in copy.__dict__.keys() - type(copy).model_fields.keys():
            del copy.__dict__[name]
        return copy


class OutputColumn(Frozen):
    """A column of a result."""

    name: str
    type: ColumnType


class FrameRef(Frozen):
    """A result table, kept by the artifact store as an Arrow IPC file under its hash. Bulk travels only as this."""

    kind: Literal["frame"] = "frame"
    artifact: ArtifactId
    columns: tuple[OutputColumn, ...]
    row_count: int
    byte_count: int
    sample: tuple[Mapping[str, Json], ...] = ()
    """At most three complete records, for events, logs and prompts."""
