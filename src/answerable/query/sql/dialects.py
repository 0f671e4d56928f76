"""Where the SQL dialects differ: one table, one row for each dialect.

This is the only place that knows a dialect by its name, besides the backend and the worker of its engine. All other
code asks the row: a fact is a field, a form that a dialect writes in its own way is a function in the row. What a row
does not mention is as the standard has it.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Literal

from sqlglot import exp
from sqlglot.generator import Generator

from answerable.core.records import dataclass
from answerable.core.values import Language, Scalar
from answerable.query.plan import Part, Unit
from answerable.query.sql import forms, generators
from answerable.query.sql.syntax import Duration, Moment, Operand, cast, grouped, moment_of, number, or_null_if_zero
from answerable.query.sql.syntax import quotient as divided_by
from answerable.query.sql.syntax import text as text_literal


@dataclass(frozen=True, slots=True)
class SqlDialect:
    name: Language
    generator: type[Generator]
    """Writes syntax trees as text."""

    # Names.
    folds_quoted_names: bool = True
    """Whether case does not matter even in quotes."""
    has_schemas: bool = True
    """Whether a dot in the name of a table ends the name of its schema."""
    needs_schema: bool = False
    """Whether a statement must name the schema of every table. The session of PostgreSQL looks in the system's schema
    only, so that no function, operator or type that somebody created can take the place of a built-in one."""
    unknown_quoted_name_is_text: bool = False
    """Whether a name in double quotes that nothing has is taken for text."""
    dot_reads_fields: bool = False
    """Whether `address.city` can be the field of a nested value."""
    row_numbers: frozenset[str] = frozenset()
    """Names of a column that every table has beside its own: the number of a row. Not those of SQLite, which gives
    NULL without a word where a view or a selection stands in place of the table."""

    # Columns and values.
    columns_are_typed: bool = True
    """Whether a column holds only values of its type. If not, the values say what they are."""
    compares_all_text: bool = True
    """Whether all that the catalog calls text can be compared. PostgreSQL has types (xml, point) that cannot."""
    byte_order_collation: str | None = None
    """The collation that orders text by its bytes, if that is not the default: the order of a language is slower, and
    may hold two texts equal."""
    cast_truncates: bool = False
    """Whether a cast to a whole number cuts off; else it rounds."""

    # What the engine can do.
    runs_in_worker: bool = True
    """Whether the engine is a process of ours, whose memory is bounded. If not, a query could fill a server's."""
    describes_tables: bool = False
    """Whether DESCRIBE, SUMMARIZE, PIVOT and UNPIVOT are statements."""
    system_schema: str | None = None
    """The schema of the built-in functions, if a call can name it. Other schemas may hold anybody's functions."""
    has_match_tables: bool = False
    """Whether a full-text table has a hidden column of its own name: `docs MATCH 'x'`."""
    has_statistics: bool = True
    """Whether median and standard deviation are functions."""
    counts_distinct_approximately: bool = False
    samples_pages: bool = False
    """Whether TABLESAMPLE SYSTEM spreads a sample over the pages of a table."""
    hashes_joins: bool = True
    """Whether a join without an index is quick. If not, rows are better looked up with IN."""
    offset_needs_limit: bool = False
    limit_is_a_barrier: bool = False
    """Whether a condition is never moved into a sub-select that has a limit. Where it may be, access rules guard each
    value by itself, which here would cost the column its affinity."""
    nulls_first_descending: bool = False
    nulls_first_ascending: bool = False
    casts_dividend: Literal["never", "whole", "always"] = "whole"
    """So that division never cuts off: not needed, for whole numbers, or for all, as any number may be stored as a
    whole one."""

    # Forms.
    boolean: Callable[[bool], exp.Expr] = forms.boolean
    moment: Callable[[datetime, Moment], exp.Expr] = forms.moment
    aligned: Callable[[Sequence[Operand], str | None], list[exp.Expr]] = forms.as_stored
    """The sides of a comparison, in forms that compare as points in time if they are points in time."""
    bucket: Callable[[Unit, Operand], exp.Expr] = forms.bucket
    part: Callable[[Part, exp.Expr], exp.Expr] = forms.part
    difference: Callable[[Duration, Operand, Operand], exp.Expr] = forms.difference
    median: Callable[[Operand], exp.Expr] = forms.median
    match: Callable[[exp.Expr, str, str], exp.Expr] = forms.match
    digest: Callable[[exp.Expr, str], exp.Expr] = forms.digest
    """A text as a code that tells nothing about it, by a secret."""
    row_estimate: Callable[[exp.Expr, exp.Expr], exp.Select] | None = None
    """Asks the server for its own estimate of the rows of a relation, if it keeps one."""

    def constant(self, value: Scalar, kind: Moment | None) -> exp.Expr:
        if value is None:
            return exp.Null()
        if kind is not None:
            return self.moment(moment_of(str(value)), kind)
        if isinstance(value, bool):
            return self.boolean(value)
        return text_literal(value) if isinstance(value, str) else number(value)

    def divided(self, left: exp.Expr, right: exp.Expr, *, whole: bool) -> exp.Expr:
        """`whole`: whether both sides may be whole numbers."""
        must_cast = whole if self.casts_dividend == "whole" else self.casts_dividend == "always"
        left = cast(left, exp.DType.DOUBLE) if must_cast else grouped(left)
        return self.quotient(left, or_null_if_zero(right))

    def quotient(self, left: exp.Expr, right: exp.Expr) -> exp.Expr:
        """The quotient as the dialect divides, which may cut off to whole numbers."""
        return divided_by(left, right, cuts_off=self.casts_dividend != "never")


_DUCKDB = SqlDialect(
    name="duckdb",
    generator=generators.DuckDb,
    dot_reads_fields=True,
    row_numbers=frozenset({"rowid"}),
    describes_tables=True,
    counts_distinct_approximately=True,
    casts_dividend="never",
    difference=forms.duckdb_difference,
    digest=forms.duckdb_digest,
    median=forms.duckdb_median,
)
_POSTGRES = SqlDialect(
    name="postgres",
    generator=generators.Postgres,
    runs_in_worker=False,
    system_schema="pg_catalog",
    needs_schema=True,
    folds_quoted_names=False,
    compares_all_text=False,
    byte_order_collation="C",
    samples_pages=True,
    nulls_first_descending=True,
    part=forms.postgres_part,
    row_estimate=forms.postgres_row_estimate,
)
_SQLITE = SqlDialect(
    name="sqlite",
    generator=generators.Sqlite,
    has_schemas=False,
    unknown_quoted_name_is_text=True,
    has_match_tables=True,
    columns_are_typed=False,
    cast_truncates=True,
    has_statistics=False,
    hashes_joins=False,
    offset_needs_limit=True,
    limit_is_a_barrier=True,
    nulls_first_ascending=True,
    casts_dividend="always",
    boolean=forms.sqlite_boolean,
    moment=forms.sqlite_moment,
    aligned=forms.sqlite_aligned,
    bucket=forms.sqlite_bucket,
    part=forms.sqlite_part,
    difference=forms.sqlite_difference,
    match=forms.sqlite_match,
    digest=forms.sqlite_digest,
)
DIALECTS: Mapping[Language, SqlDialect] = {row.name: row for row in (_DUCKDB, _POSTGRES, _SQLITE)}
FRAMES_DIALECT: Language = _DUCKDB.name
"""The dialect of the engine that queries files and the rows of earlier steps, whatever sources they came from."""
