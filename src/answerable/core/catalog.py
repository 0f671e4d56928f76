"""The catalog of a source: its tables, columns, relationships and measures. Reader, models and checks all use it."""

from collections.abc import Mapping, Sequence
from datetime import date, datetime
from functools import cached_property
from typing import Literal, Protocol

from pydantic import Field

from answerable.core.values import ColumnType, Frozen, Language, Scalar
from answerable.core.words import normalise


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

    def calls(self, value: str, phrase: str) -> bool:
        """Whether `semantic.yaml` says that people call the value by this phrase."""
        said = normalise(phrase)
        return any(name.value == value and said in map(normalise, name.synonyms) for name in self.value_names)


class SecretColumn(Frozen):
    """A column that was classed as a secret. No query can name it, and no value of it is kept."""

    table: str
    column: str
    reason: str


class Connection(Frozen):
    """Which nodes of a graph a relationship leads from and to."""

    from_table: str
    to_table: str
    from_column: str | None = None
    """The column of the relationship's table that shows the key of the node it leads from. None if the relationship
    connects more than one pair of tables, or a node has no key."""
    to_column: str | None = None
    from_key: str | None = None
    """The property of `from_table` that `from_column` shows."""
    to_key: str | None = None


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
    connections: tuple[Connection, ...] = ()
    """The pairs of node tables that a relationship of a graph connects. Empty for every other table."""

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


class LivePart(Frozen):
    """What a question that asks for this moment asks of the live source, which is called like the source, with `_live`
    after its name."""

    sql: str
    """The rows of the first statement are there as `synced`: `WHERE user_id IN (SELECT id FROM synced)`."""
    together: str
    """The answer, from the rows of both: `synced` and `live`."""
    recent: bool = False
    """Whether questions about a period that is not over (`today`, `in the last hour`) are asked live, too."""


class KnownQuestion(Frozen):
    """A question with the statement that answers it, written in `semantic.yaml`."""

    question: str
    also: tuple[str, ...] = ()
    """The same question in other words."""
    sql: str
    """Checked like any other SQL before it runs."""
    live: LivePart | None = None
    """Asked in addition if the question says that it is about right now."""
    path: Mapping[str, str] = {}
    """Columns of the result that each row is a way through, in order, with what leads to each: the answer is drawn."""


class Warning(Frozen):
    """Something that was left out or assumed while a source was read; shown to the user, never swallowed."""

    subject: str
    message: str


class HiddenName(Frozen):
    """A table or a column that exists, and that whoever asks may not see."""

    table: str
    column: str | None = None
    """None for the whole table."""
    rule: str | None = None
    """The name of the rule that hides it; None if no rule allows it."""


class AccessNote(Frozen):
    """How a rule shapes what is seen of a table. It never tells how much is hidden."""

    table: str
    rule: str
    effect: str
    """In words: `rows of region West only`, `email is shown in part`."""
    column: str | None = None
    """The column that is masked; None for a rule about rows."""


class Catalog(Frozen):
    source: str
    dialect: Language
    """The query language of the source; for SQL, the dialect."""
    tables: tuple[Table, ...]
    relationships: tuple[Relationship, ...] = ()
    measures: tuple[Measure, ...] = ()
    questions: tuple[KnownQuestion, ...] = ()
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
    notes: tuple[AccessNote, ...] = Field(default=(), exclude=True)
    """How access rules shape what this catalog shows. Empty for somebody to whom none applies."""
    hidden: tuple[HiddenName, ...] = Field(default=(), exclude=True)
    """What access rules hide, so that an error can tell what may not be seen from what does not exist."""
    contact: str | None = Field(default=None, exclude=True)
    """Whom to ask for access to what is hidden."""

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
