"""The errors for written SQL that is refused before it runs."""

from sqlglot import exp

from answerable.core.errors import RefusedError

_WRITING = {
    "ALTER",
    "ANALYZE",
    "ATTACH",
    "CALL",
    "COPY",
    "CREATE",
    "DELETE",
    "DROP",
    "GRANT",
    "INSERT",
    "MERGE",
    "REPLACE",
    "TRUNCATE",
    "UPDATE",
    "VACUUM",
}


def many_statements() -> RefusedError:
    return RefusedError("Only one statement can run at a time.", code="sql_many_statements")


def not_select(word: str) -> RefusedError:
    verb = "change data or the database" if word in _WRITING else "run anything but queries"
    return RefusedError(
        f"{word[:40]} is not allowed: Answerable does not {verb}.",
        code="sql_not_select",
        hint="Write a SELECT statement.",
    )


def too_deep() -> RefusedError:
    return RefusedError("The SQL is nested too deeply.", code="sql_too_deep", hint="Split it into smaller queries.")


def not_allowed(node: exp.Expr, argument: str | None = None) -> RefusedError:
    what = type(node).__name__ if argument is None else f"{argument.rstrip('_')} of {type(node).__name__}"
    return RefusedError(
        f"This part of SQL is not allowed: {what}.",
        code="sql_not_allowed",
        hint="Write a plain SELECT over the tables of the source.",
    )
