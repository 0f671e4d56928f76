"""The catalog of a source: its tables, columns, relationships and measures. Reader, models and checks all use it."""

from collections.abc import Mapping, Sequence
from datetime import date, datetime
from functools import cached_property
from typing import Literal, Protocol

from answerable.core.values import ColumnType, Frozen, Language, Scalar


class ValueName(Frozen):
    """What people call one value of a column: status `A` is "active"."""

    value: str
    """As it stands in the data."""
    synonyms: tuple[str, ...]


Sensitivity = Literal["secret", "personal"]
"""Secrets (passwords, keys) are never sampled, shown or sent; personal data goes to models only if a setting allows."""


class Column(Frozen):
    name: str
    type: ColumnType
    nullable: bool = True
    unique: bool = False
    """Every non-null value occurs once (declared, or seen when the table was profiled)."""
    distinct_count: int | None = None
    null_count: int | None = None
    minimum: Scalar = None
    """The smallest value, for numbers and dates only. Dates and times are ISO 8601 text."""
    maximum: Scalar = None
    examples: tuple[str, ...] = ()
    """Up to five distinct values as text, in order of frequency."""
    label: str | None = None
    """The name that people use, if it differs from `name`."""
    synonyms: tuple[str, ...] = ()
    description: str | None = None
    unit: str | None = None
    value_names: tuple[ValueName, ...] = ()
    sensitivity: Sensitivity | None = None
    sensitivity_reason: str | None = None
    """Why the column was classed so: its name, its values, or the `semantic.yaml`."""


class SecretColumn(Frozen):
    """A column that was classed as a secret. No query can name it, and no value of it is kept."""

    table: str
    column: str
    reason: str


class Table(Frozen):
    name: str
    columns: tuple[Column, ...]
    primary_key: tuple[str, ...] = ()
    row_count: int | None = None
    fingerprint: str = ""
    """Changes whenever this table's data changes. Empty if the source only knows about changes of the whole; then the
    catalog's fingerprint counts."""
    label: str | None = None
    synonyms: tuple[str, ...] = ()
    description: str | None = None

    @cached_property
    def _by_name(self) -> Mapping[str, Column]:
        return {column.name: column for column in self.columns}

    def column(self, name: str) -> Column | None:
        return self._by_name.get(name)


class Relationship(Frozen):
    """A way to join: many rows of `from_table` point to one row of `to_table`."""

    name: str
    from_table: str
    from_columns: tuple[str, ...]
    to_table: str
    to_columns: tuple[str, ...]
    origin: Literal["declared", "semantic", "inferred"]
    confidence: float = 1.0
    synonyms: tuple[str, ...] = ()


class Link(Frozen):
    """A relationship with a table of another source: many rows of `from_table` point to one row of `to_table`.

    Whether the other side exists is known only when both sources are asked together."""

    name: str
    from_source: str | None = None
    """None for this source itself. Another source has its own name, or that of its file, folder or database."""
    from_table: str
    from_columns: tuple[str, ...]
    to_source: str | None = None
    to_table: str
    to_columns: tuple[str, ...]
    synonyms: tuple[str, ...] = ()
    written_at: str = ""
    """Where it was declared: file, line, column and field."""


class Measure(Frozen):
    """A named calculation over one table, written in `semantic.yaml`, for example revenue = sum(quantity * price)."""

    name: str
    table: str
    expression: str
    """An SQL aggregate over the table's columns. It is parsed and checked like any other SQL."""
    label: str | None = None
    synonyms: tuple[str, ...] = ()
    description: str | None = None
    unit: str | None = None


class Warning(Frozen):
    """Something that was left out or assumed while a source was read; shown to the user, never swallowed."""

    subject: str
    message: str


class Catalog(Frozen):
    source: str
    dialect: Language
    """The query language of the source; for SQL, the dialect."""
    tables: tuple[Table, ...]
    relationships: tuple[Relationship, ...] = ()
    measures: tuple[Measure, ...] = ()
    links: tuple[Link, ...] = ()
    fingerprint: str = ""
    """Changes whenever the data changes. Answers quote it."""
    last_sync: datetime | None = None
    """When the data was last written, or None if the source does not know."""
    as_of: date | None = None
    """The day from which "last month" is counted, for data that no longer changes. None for the current day."""
    warnings: tuple[Warning, ...] = ()
    secrets: tuple[SecretColumn, ...] = ()
    """The columns that are left out because they hold secrets."""
    functions: tuple[str, ...] = ()
    """Functions of the database's own that queries may call because the operator says so: `schema.name`."""

    @cached_property
    def _by_name(self) -> Mapping[str, Table]:
        return {table.name: table for table in self.tables}

    def table(self, name: str) -> Table | None:
        return self._by_name.get(name)

    def relationship(self, name: str) -> Relationship | None:
        return next((r for r in self.relationships if r.name == name), None)

    def measure(self, name: str) -> Measure | None:
        return next((m for m in self.measures if m.name == name), None)


class ValueHit(Frozen):
    """A value in the data that a phrase of the question may mean."""

    table: str
    column: str
    value: str
    """As it stands in the data."""
    score: float
    """1.0 for the same text but for case, accents and blanks; less for stems and misspellings."""


class ValueLookup(Protocol):
    """The index of the distinct values of text columns."""

    def find(self, phrase: str, limit: int = 8, least: float = 0.0) -> Sequence[ValueHit]:
        """The best matches for a whole phrase, best first, none with a score below `least`."""
        ...
