"""What a graph of files is made of: its tables, and which file fills which of them. Each is written anew as Cypher."""

from collections.abc import Mapping
from dataclasses import dataclass

from answerable.query.cypher.write import name, text


@dataclass(frozen=True, slots=True)
class NodeTable:
    name: str
    columns: Mapping[str, str]
    """Their types by their names, in the order in which files have them."""
    key: str
    place: str
    """File and line that define it."""

    @property
    def statement(self) -> str:
        return f"CREATE NODE TABLE {name(self.name)} ({_columns(self.columns)}, PRIMARY KEY ({name(self.key)}))"


@dataclass(frozen=True, slots=True)
class EdgeTable:
    name: str
    columns: Mapping[str, str]
    ends: tuple[tuple[str, str], ...]
    """From which node table to which; one of them or more."""
    multiplicity: str
    place: str

    @property
    def statement(self) -> str:
        ends = ", ".join(f"FROM {name(start)} TO {name(end)}" for start, end in self.ends)
        columns = f", {_columns(self.columns)}" if self.columns else ""
        return f"CREATE REL TABLE {name(self.name)} ({ends}{columns}, {self.multiplicity})"


GraphTable = NodeTable | EdgeTable


@dataclass(frozen=True, slots=True)
class Filling:
    """A file whose rows go into a table."""

    table: GraphTable
    file: str
    """As it is written."""
    columns: tuple[str, ...]
    """Those that the file has, if the statement names them."""
    options: Mapping[str, str | bool | int]
    place: str


def _columns(columns: Mapping[str, str]) -> str:
    return ", ".join(f"{name(column)} {kind}" for column, kind in columns.items())


def written_option(option: str, value: str | bool | int) -> str:
    return f"{option}={text(value) if isinstance(value, str) else str(value).lower()}"
