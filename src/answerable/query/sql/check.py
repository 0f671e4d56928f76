"""Written SQL is never trusted: it is parsed, checked node by node against what is allowed, and written anew.

What runs is the text that `checked` returns. That text has itself been parsed and checked, so it does not matter how
faithfully the first text was understood. Bombs that no reading of the text can tell (a join that explodes on this data,
a text that doubles itself) are left to the limits of the worker that runs it.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from sqlglot import exp
from sqlglot.dialects.dialect import Dialect as SqlglotDialect
from sqlglot.errors import ParseError, SqlglotError, TokenError
from sqlglot.tokenizer_core import Token, TokenType

from answerable.core.catalog import Catalog
from answerable.core.errors import RefusedError, UserError
from answerable.core.values import Language
from answerable.query.checked import CheckedQuery
from answerable.query.sql.allowed import FUNCTIONS, JOINS, MAX_SIZE, NODES, SIZED, TYPES
from answerable.query.sql.dialects import DIALECTS
from answerable.query.sql.resolve import Names, resolved
from answerable.query.sql.writing import written

MAX_LENGTH = 100_000
MAX_TOKENS = 20_000
MAX_DEPTH = 60
"""Of brackets and CASE within each other, and of signs and NOTs in a row."""

_STARTS = {TokenType.SELECT, TokenType.WITH, TokenType.FROM, TokenType.L_PAREN}
_OPENING = {TokenType.L_PAREN, TokenType.L_BRACKET, TokenType.L_BRACE, TokenType.CASE}
_CLOSING = {TokenType.R_PAREN, TokenType.R_BRACKET, TokenType.R_BRACE, TokenType.END}
_PREFIXES = {TokenType.NOT, TokenType.DASH, TokenType.PLUS, TokenType.TILDE}
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


@dataclass(frozen=True, slots=True)
class CheckedSql(CheckedQuery):
    """The statement written anew, without comments."""

    tables: frozenset[str]
    columns: Mapping[str, frozenset[str]]
    """Of each table, the columns that the statement reads anywhere, by the catalog's names."""
    output_labels: tuple[str | None, ...]
    """Names of the result columns; None where the database makes one up."""


def checked(sql: str, catalog: Catalog, *, dialect: Language | None = None, max_rows: int | None = None) -> CheckedSql:
    """One SELECT over the tables of the catalog, or the reason why not.

    A slip (unknown table or column, unreadable text) is a `UserError`; what is not allowed is a `RefusedError`.
    With `max_rows` the result is limited to that many rows.
    """
    name = dialect or catalog.dialect
    try:
        tree = parsed(sql, name)
        names = _inspected(tree, catalog, name)
        if max_rows is not None:
            tree = _limited(tree, max_rows)
        text = written(tree, name)
        if text != sql:
            names = _inspected(_parsed(text, name), catalog, name)
    except RecursionError as error:
        raise _too_deep() from error
    except SqlglotError as error:
        raise RefusedError(
            "This statement cannot be written for the database safely.", code="sql_not_allowed"
        ) from error
    return CheckedSql(name, text, names.tables, names.columns, names.output_labels)


# Reading the text.


def parsed(sql: str, dialect: Language) -> exp.Query:
    """One SELECT as a tree; its parts are not checked."""
    _check_length(sql)
    return _parsed(sql, dialect)


def _parsed(sql: str, dialect: Language) -> exp.Query:
    tokens = _tokens(sql, dialect)
    _check_statement(tokens)
    _check_depth(tokens)
    try:
        trees = [tree for tree in SqlglotDialect.get_or_raise(dialect).parser().parse(tokens, sql) if tree is not None]
    except ParseError as error:
        raise _unparsable(error) from error
    if len(trees) != 1:
        raise _many_statements()
    (tree,) = trees
    if not isinstance(tree, exp.Query):
        raise _not_select(type(tree).__name__.upper())
    return tree


def parsed_expression(sql: str, dialect: Language) -> exp.Expr:
    """A single expression rather than a statement; its parts are not checked."""
    _check_length(sql)
    tokens = _tokens(sql, dialect)
    _check_depth(tokens)
    try:
        trees = SqlglotDialect.get_or_raise(dialect).parser().parse_into(exp.Condition, tokens, sql)
    except ParseError as error:
        raise _unparsable(error) from error
    tree = trees[0] if len(trees) == 1 else None
    if tree is None:
        raise _many_statements()
    return tree


def _check_length(sql: str) -> None:
    if len(sql) > MAX_LENGTH:
        raise RefusedError(f"The SQL has more than {MAX_LENGTH:,} characters.", code="sql_too_large")


def _tokens(sql: str, dialect: Language) -> list[Token]:
    if "\0" in sql:
        raise UserError("The SQL holds a zero character.", code="sql_unparsable")
    try:
        tokens = SqlglotDialect.get_or_raise(dialect).tokenize(sql)
    except TokenError as error:
        hint = "Is a quote, a bracket or a comment left open?"
        raise UserError("The SQL cannot be read.", code="sql_unparsable", hint=hint) from error
    if not tokens:
        raise UserError("The SQL is empty.", code="sql_empty", hint="Write a SELECT statement.")
    if len(tokens) > MAX_TOKENS:
        raise RefusedError(f"The SQL has more than {MAX_TOKENS:,} words and signs.", code="sql_too_large")
    return tokens


def _check_statement(tokens: list[Token]) -> None:
    body = [token.token_type for token in tokens]
    while body and body[-1] is TokenType.SEMICOLON:
        body.pop()
    if TokenType.SEMICOLON in body:
        raise _many_statements()
    if not body:
        raise UserError("The SQL is empty.", code="sql_empty", hint="Write a SELECT statement.")
    if body[0] not in _STARTS:
        raise _not_select(tokens[0].text.upper())


def _check_depth(tokens: list[Token]) -> None:
    depth = run = 0
    for token in tokens:
        run = run + 1 if token.token_type in _PREFIXES else 0
        if token.token_type in _OPENING:
            depth += 1
        elif token.token_type in _CLOSING:
            depth = max(0, depth - 1)
        if depth > MAX_DEPTH or run > MAX_DEPTH:
            raise _too_deep()


def _unparsable(error: ParseError) -> UserError:
    first = error.errors[0] if error.errors else {}
    line, column, found = first.get("line"), first.get("col"), first.get("highlight")
    where = f" at line {line}, column {column}" if line else ""
    near = f", near {found!r}" if found else ""
    return UserError(
        f"The SQL cannot be read{where}{near}.",
        code="sql_unparsable",
        hint="Check the spelling and the brackets there.",
        line=line,
        column=column,
    )


# Inspecting the tree.


def _inspected(tree: exp.Query, catalog: Catalog, dialect: Language) -> Names:
    check_nodes(tree, dialect)
    return resolved(tree, catalog, dialect)


def check_nodes(tree: exp.Expr, dialect: Language) -> None:
    """Refuses a tree that holds anything but allowed parts. Names of tables and columns are not looked at."""
    for node in tree.walk():
        _check_node(node, dialect)


def _check_node(node: exp.Expr, dialect: Language) -> None:
    kind = type(node)
    if kind in FUNCTIONS:
        _check_words(node)
        if kind in SIZED:
            _check_size(node)
        return
    if isinstance(node, exp.Func):
        _check_named_function(node, dialect)
        return
    if isinstance(node, exp.DML | exp.DDL | exp.Into):
        raise _not_select(type(node).__name__.upper())
    allowed = NODES.get(kind)
    if allowed is None:
        raise _not_allowed(node)
    for name, value in node.args.items():
        if value and name not in allowed:
            raise _not_allowed(node, name)
    _check_content(node)


def _check_named_function(node: exp.Func, dialect: Language) -> None:
    by_name = isinstance(node, exp.Anonymous) and isinstance(node.this, str)
    name = node.name.lower() if by_name else node.sql_name().lower()
    if not by_name or name not in DIALECTS[dialect].functions:
        raise RefusedError(
            f"The function {name} is not allowed.",
            code="sql_function_refused",
            hint="Only functions that compute from the rows of the query can be used.",
            name=name,
        )


def _check_size(node: exp.Expr) -> None:
    size = node.args.get("times") or node.args.get("expression")
    if not isinstance(size, exp.Literal) or not size.name.isdigit() or int(size.name) > MAX_SIZE:
        raise RefusedError(
            f"{node.key.upper()} needs a plain number up to {MAX_SIZE} as its size.", code="sql_function_refused"
        )


def _check_content(node: exp.Expr) -> None:
    match node:
        case exp.Identifier():
            if not node.args.get("quoted") and not node.name.replace("$", "_").isidentifier():
                raise _not_allowed(node)
        case exp.Literal():
            if not node.is_string and not _is_number(node.name):
                raise _not_allowed(node)
        case exp.DataType():
            if node.this not in TYPES:
                raise RefusedError(f"The type {node.sql()} is not allowed.", code="sql_type_refused")
        case exp.With():
            if node.args.get("recursive"):
                raise RefusedError("Recursive queries are not allowed.", code="sql_recursive_refused")
        case exp.Join():
            if not {node.side, node.kind, node.method} <= JOINS:
                raise _not_allowed(node)
        case exp.JSONPathKey() | exp.JSONPathSubscript():
            pass
        case _:
            _check_words(node)


def _check_words(node: exp.Expr) -> None:
    """Arguments that are bare text reach the new text as they are: they must be plain words."""
    for value in node.args.values():
        if isinstance(value, str) and not all(letter.isalpha() or letter in "_ " for letter in value):
            raise _not_allowed(node)


def _is_number(digits: str) -> bool:
    try:
        float(digits)
    except ValueError:
        return False
    return digits.isascii()


def _limited(tree: exp.Query, max_rows: int) -> exp.Query:
    limit = tree.args.get("limit")
    size = limit.args.get("count") if isinstance(limit, exp.Fetch) else limit and limit.expression
    if size is not None and not (isinstance(size, exp.Literal) and size.name.isdigit()):
        raise RefusedError("LIMIT needs a plain number.", code="sql_not_allowed")
    rows = max_rows if size is None else min(int(size.name), max_rows)
    tree.set("limit", exp.Limit(expression=exp.Literal.number(rows)))
    return tree


# Reasons.


def _many_statements() -> RefusedError:
    return RefusedError("Only one statement can run at a time.", code="sql_many_statements")


def _not_select(word: str) -> RefusedError:
    verb = "change data or the database" if word in _WRITING else "run anything but queries"
    return RefusedError(
        f"{word[:40]} is not allowed: Answerable does not {verb}.",
        code="sql_not_select",
        hint="Write a SELECT statement.",
    )


def _too_deep() -> RefusedError:
    return RefusedError("The SQL is nested too deeply.", code="sql_too_deep", hint="Split it into smaller queries.")


def _not_allowed(node: exp.Expr, argument: str | None = None) -> RefusedError:
    what = type(node).__name__ if argument is None else f"{argument.rstrip('_')} of {type(node).__name__}"
    return RefusedError(
        f"This part of SQL is not allowed: {what}.",
        code="sql_not_allowed",
        hint="Write a plain SELECT over the tables of the source.",
    )


__all__ = ["CheckedSql", "check_nodes", "checked", "parsed", "parsed_expression"]
