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
        """A copy without the cached properties of the original, which may be wrong for the copy. A shallow one is made
        by hand, because a map makes one for each of its items: a third of what the base class takes."""
        if deep:
            copy = super().model_copy(deep=True)
            return copy.model_copy(update=update)
        values, changes, said = self.__dict__, update or {}, self.__pydantic_fields_set__
        fields = self.__pydantic_fields__
        copied = values.copy() if len(values) == len(fields) else {name: values[name] for name in fields}
        copied.update(changes)
        private = self.__pydantic_private__
        copy = self.__new__(type(self))
        _set(copy, "__dict__", copied)
        _set(copy, "__pydantic_fields_set__", said if changes.keys() <= said else said.union(changes))
        _set(copy, "__pydantic_extra__", None)
        _set(copy, "__pydantic_private__", None if private is None else dict(private))
        return copy


_set = object.__setattr__


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
