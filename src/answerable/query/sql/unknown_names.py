"""What is said about a name in written SQL that nothing has: the error, and the name that was probably meant."""

from collections.abc import Iterable

from sqlglot import exp

from answerable.core.errors import AnswerableError, RefusedError, UserError
from answerable.core.values import Language
from answerable.query.scope import nearest

_SYSTEM = ("pg_", "sqlite_", "duckdb_", "pragma_", "information_schema", "dbstat", "__")


def unknown_table(item: exp.Table, tables: Iterable[str]) -> AnswerableError:
    shown = f"{item.db}.{item.name}" if item.db else item.name
    if shown.lower().startswith(_SYSTEM) or item.name.lower().startswith(_SYSTEM):
        return RefusedError(
            f"{shown!r} belongs to the database system.",
            code="sql_system_table_refused",
            hint="Only the tables of the source can be read.",
        )
    if any(letter in item.name for letter in "./\\*:"):
        return RefusedError(
            f"{shown!r} is not a table; files are not read by name.",
            code="sql_file_refused",
            hint="Add the file as a source first.",
        )
    hint = nearest(shown, tables)
    return UserError(f"There is no table {shown!r}.", code="sql_table_unknown", hint=hint, name=shown)


def unknown_alias(qualifier: exp.Identifier, known: Iterable[str]) -> UserError:
    hint = nearest(qualifier.name, known)
    return UserError(
        f"{qualifier.name!r} is not a table of this FROM.", code="sql_table_unknown", hint=hint, name=qualifier.name
    )


def unknown_column(column: exp.Column, known: Iterable[str], dialect: Language) -> UserError:
    hint = nearest(column.name, known)
    if column.this.args.get("quoted") and not column.table:
        hint = f"{hint or ''} Text is written in single quotes: '{column.name}'.".strip()
    return UserError(
        f"There is no column {column.sql(dialect=dialect)}.",
        code="sql_column_unknown",
        hint=hint,
        name=column.name,
    )
