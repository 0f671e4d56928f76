"""Written SQL is never trusted: it is parsed, checked node by node against what is allowed, and written anew.

What runs is the text that `checked` returns. That text has itself been parsed and checked, so it does not matter how
faithfully the first text was understood. Bombs that no reading of the text can tell (a join that explodes on this data,
a text that doubles itself) are left to the limits of the worker that runs it.
"""

import re
from collections.abc import Mapping, Sequence

from sqlglot import exp
from sqlglot.dialects.dialect import Dialect as SqlglotDialect
from sqlglot.errors import ParseError, SqlglotError, TokenError
from sqlglot.tokenizer_core import Token, TokenType

from answerable.core.catalog import Catalog
from answerable.core.errors import RefusedError, UserError
from answerable.core.records import dataclass
from answerable.core.values import Language
from answerable.query.checked import CheckedQuery
from answerable.query.sql.allowed import JOINS, MAX_SIZE, NODES, SAMPLING, SIZED, TABLE_FUNCTIONS, TYPES
from answerable.query.sql.calls import WITHOUT_BRACKETS, check_calls, refused_function, with_schemas
from answerable.query.sql.dialects import DIALECTS
from answerable.query.sql.fence import fenced
from answerable.query.sql.function_classes import function_classes
from answerable.query.sql.refusals import many_statements, not_allowed, not_select, too_deep
from answerable.query.sql.resolve import Names, resolved
from answerable.query.sql.writing import written

MAX_LENGTH = 100_000
MAX_TOKENS = 20_000
MAX_DEPTH = 60
"""Of brackets and CASE within each other, and of signs and NOTs in a row."""

_STARTS = {TokenType.SELECT, TokenType.WITH, TokenType.FROM, TokenType.L_PAREN, TokenType.VALUES, TokenType.TABLE}
_DESCRIBING = {TokenType.DESCRIBE, TokenType.SUMMARIZE, TokenType.PIVOT, TokenType.UNPIVOT}
"""Statements of DuckDB that read only, and can stand in FROM."""
_OPENING = {TokenType.L_PAREN, TokenType.L_BRACKET, TokenType.L_BRACE, TokenType.CASE}
_CLOSING = {TokenType.R_PAREN, TokenType.R_BRACKET, TokenType.R_BRACE, TokenType.END}
_PREFIXES = {TokenType.NOT, TokenType.DASH, TokenType.PLUS, TokenType.TILDE}
_WIDE_FIELD = re.compile(r"\d{4}|\*")
"""In a format: a field of a thousand characters or more, or of a width that an argument gives."""


@dataclass(frozen=True, slots=True)
class CheckedSql(CheckedQuery):
    """The statement written anew, without comments."""

    tables: frozenset[str]
    columns: Mapping[str, frozenset[str]]
    """Of each table, the columns that the statement reads anywhere, by the catalog's names."""
    output_labels: tuple[str | None, ...]
    """Names of the result columns; None where the database chooses the name."""


def checked(sql: str, catalog: Catalog, *, dialect: Language | None = None, max_rows: int | None = None) -> CheckedSql:
    """One SELECT over the tables of the catalog, or the reason why not.

    A slip (unknown table or column, unreadable text) is a `UserError`; what is not allowed is a `RefusedError`.
    With `max_rows` the result is limited to that many rows.
    """
    name = dialect or catalog.dialect
    if name not in DIALECTS:
        raise UserError(
            f"The source {catalog.source} is not asked in SQL.",
            code="query_type_unavailable",
            hint=f"Write {name.upper()}: and a query, or ask in plain words.",
        )
    try:
        if catalog.functions:
            sql = _with_schemas(sql, catalog.functions, name)
        tree = parsed(sql, name)
        check_text(sql, tree, name, catalog.functions)
        names = _inspected(tree, catalog, name)
        tree = fenced(tree, catalog)
        if max_rows is not None:
            tree = _limited(tree, max_rows)
        text = written(tree, name)
        if text != sql:
            again = _parsed(text, name)
            check_text(text, again, name, catalog.functions)
            names = _inspected(again, catalog, name)
    except RecursionError as error:
        raise too_deep() from error
    except SqlglotError as error:
        raise RefusedError(
            "This statement cannot be written for the database safely.", code="sql_not_allowed"
        ) from error
    return CheckedSql(name, text, names.tables, names.columns, names.output_labels)


# Reading the text.


def _with_schemas(sql: str, functions: Sequence[str], dialect: Language) -> str:
    _check_length(sql)
    return with_schemas(
        sql,
        _tokens(sql, dialect),
        function_classes(dialect),
        functions,
        lambda name: exp.to_identifier(name, quoted=True).sql(dialect),
    )


def parsed(sql: str, dialect: Language) -> exp.Query:
    """One SELECT as a tree; its parts are not checked."""
    _check_length(sql)
    return _parsed(sql, dialect)


def _parsed(sql: str, dialect: Language) -> exp.Query:
    tokens = _tokens(sql, dialect)
    _check_statement(tokens, dialect)
    _check_depth(tokens)
    try:
        trees = [tree for tree in SqlglotDialect.get_or_raise(dialect).parser().parse(tokens, sql) if tree is not None]
    except ParseError as error:
        raise _unparsable(error) from error
    if len(trees) != 1:
        raise many_statements()
    tree = _as_query(_columns_of_rows(_methods_as_calls(_plain_texts(trees[0]))))
    if not isinstance(tree, exp.Query):
        raise not_select(type(tree).__name__.upper())
    return tree


def _as_query(tree: exp.Expr) -> exp.Expr:
    """Rows that are written out, and what describes or turns a table, as a SELECT from it: so it can be limited."""
    if isinstance(tree, exp.Values):
        tree.set("alias", exp.TableAlias(this=exp.to_identifier("written")))
        return exp.Select(expressions=[exp.Star()], from_=exp.From(this=tree))
    if isinstance(tree, exp.Describe | exp.Summarize | exp.Pivot):
        return exp.Select(expressions=[exp.Star()], from_=exp.From(this=exp.Subquery(this=tree)))
    return tree


def _plain_texts(tree: exp.Expr) -> exp.Expr:
    """`$$it's$$` and `E'it\\'s'` as `'it''s'`."""
    for text in list(tree.find_all(exp.RawString, exp.ByteString)):
        text.replace(exp.Literal.string(text.name))
    return tree


def _columns_of_rows(tree: exp.Expr) -> exp.Expr:
    """`(o).total` as `o.total`, which can only be a column: PostgreSQL takes the first for a call of the function
    `total` if the row has no such column."""
    for dot in list(tree.find_all(exp.Dot)):
        row = dot.this.this if isinstance(dot.this, exp.Paren) else None
        if isinstance(row, exp.Column) and not row.table and isinstance(dot.expression, exp.Identifier):
            dot.replace(exp.Column(this=dot.expression.copy(), table=row.this.copy()))
    return tree


def _methods_as_calls(tree: exp.Expr) -> exp.Expr:
    """`status.lower()` as `lower(status)`. The parser takes the column for a schema, and would not look it up."""
    for dot in list(tree.find_all(exp.Dot)):
        method, of = dot.expression, dot.this
        if not isinstance(method, exp.Anonymous) or not isinstance(of, exp.Identifier):
            continue
        # A quoted name is never a method: it is a function that the operator names, or refused.
        if isinstance(method.this, str) and not _is_system(of):
            call = exp.Anonymous(this=method.this, expressions=[exp.Column(this=of.copy()), *method.expressions])
            dot.replace(call)
    return tree


def _is_system(schema: exp.Identifier) -> bool:
    return any(schema.name.lower() == row.system_schema for row in DIALECTS.values())


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
        raise many_statements()
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


def _check_statement(tokens: list[Token], dialect: Language) -> None:
    body = [token.token_type for token in tokens]
    while body and body[-1] is TokenType.SEMICOLON:
        body.pop()
    if TokenType.SEMICOLON in body:
        raise many_statements()
    if not body:
        raise UserError("The SQL is empty.", code="sql_empty", hint="Write a SELECT statement.")
    describes = body[0] in _DESCRIBING and DIALECTS[dialect].describes_tables
    if body[0] not in _STARTS and not describes:
        raise not_select(tokens[0].text.upper())


def _check_depth(tokens: list[Token]) -> None:
    # Runs on the tokens, because the parser itself recurses and could exhaust the stack.
    depth = run = 0
    for token in tokens:
        run = run + 1 if token.token_type in _PREFIXES else 0
        if token.token_type in _OPENING:
            depth += 1
        elif token.token_type in _CLOSING:
            # Closing brackets that nothing opened must not make room for deeper nesting.
            depth = max(0, depth - 1)
        if depth > MAX_DEPTH or run > MAX_DEPTH:
            raise too_deep()


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
    check_nodes(tree, dialect, catalog.functions)
    return resolved(tree, catalog, dialect)


def check_text(sql: str, tree: exp.Expr, dialect: Language, functions: Sequence[str] = ()) -> None:
    """Refuses a text that calls a function that is not allowed, even if the parser misread the call."""
    check_calls(_tokens(sql, dialect), tree, function_classes(dialect), DIALECTS[dialect].system_schema, functions)


def check_nodes(tree: exp.Expr, dialect: Language, functions: Sequence[str] = ()) -> None:
    """Refuses a tree that holds anything but allowed parts. Names of tables and columns are not looked at."""
    for node in tree.walk(prune=lambda node: _is_named_call(node, functions)):
        if _is_named_call(node, functions):
            for argument in node.expression.expressions:
                check_nodes(argument, dialect, functions)
        else:
            _check_node(node, dialect)


def _is_named_call(node: exp.Expr, functions: Sequence[str]) -> bool:
    """Whether it calls a function that the operator names, spelled exactly and quoted. One in FROM is not meant."""
    if not functions or not isinstance(node, exp.Dot) or isinstance(node.parent, exp.Table | exp.Lateral):
        return False
    schema, call = node.this, node.expression
    if not isinstance(schema, exp.Identifier) or not isinstance(call, exp.Anonymous):
        return False
    return isinstance(call.this, exp.Identifier) and f"{schema.name}.{call.name}" in functions


def _check_node(node: exp.Expr, dialect: Language) -> None:
    kind = type(node)
    if isinstance(node, exp.Func) and kind not in NODES:
        _check_function(node, dialect)
        return
    if isinstance(node, exp.DML | exp.DDL | exp.Into):
        raise not_select(type(node).__name__.upper())
    allowed = NODES.get(kind)
    if allowed is None:
        raise not_allowed(node)
    for name, value in node.args.items():
        if value and name not in allowed:
            raise not_allowed(node, name)
    _check_content(node, dialect)


def _check_function(node: exp.Expr, dialect: Language) -> None:
    """Refuses what is known to reach outside. That nothing else is called than allowed functions, `check_text` sees in
    the text, both before and after it is written anew."""
    classes = function_classes(dialect)
    if isinstance(node, exp.Anonymous):
        if not isinstance(node.this, str) or not classes.allows(node.name.lower()):
            raise refused_function(node.name)
        return
    names = node.sql_names() if isinstance(node, exp.Func) else ()
    for name in names:
        if name.lower() in classes.outside:
            raise refused_function(name.lower())
    _check_words(node)
    if not DIALECTS[dialect].runs_in_worker:
        _check_size(node)


def _check_size(node: exp.Expr) -> None:
    """Refuses a value whose text does not show that it is small: a server's memory has no other bound for one value."""
    if isinstance(node, exp.Format):
        fits = isinstance(node.this, exp.Literal) and not _WIDE_FIELD.search(node.this.name)
    elif type(node) in SIZED:
        size = node.args.get("times") or node.args.get("expression")
        fits = isinstance(size, exp.Literal) and size.name.isdigit() and int(size.name) <= MAX_SIZE
    else:
        return
    if not fits:
        raise RefusedError(
            f"{node.key.upper()} needs a plain number up to {MAX_SIZE} as its size.", code="sql_function_refused"
        )


def _check_content(node: exp.Expr, dialect: Language) -> None:
    """What the type and the arguments of a node leave open."""
    match node:
        case exp.Identifier():
            allowed = bool(node.args.get("quoted")) or node.name.replace("$", "_").isidentifier()
        case exp.Literal():
            allowed = node.is_string or _is_number(node.name)
        case exp.HexString():
            allowed = node.name.isalnum()
        case exp.Join():
            allowed = {node.side, node.kind, node.method} <= JOINS
        case exp.LimitOptions():
            allowed = _is_faithful_limit(node)
        case exp.TableSample():
            allowed = _is_plain_sample(node)
        case exp.Dot():
            allowed = _is_plain_dot(node, dialect)
        case exp.Describe() | exp.Summarize():
            allowed = isinstance(node.this, exp.Table | exp.Query)
        case exp.DataType() | exp.Column() | exp.Table() | exp.Lateral():
            _check_reference(node, dialect)
            return
        case exp.JSONPathKey() | exp.JSONPathSubscript():
            return
        case _:
            _check_words(node)
            return
    if not allowed:
        raise not_allowed(node)


def _check_reference(node: exp.Expr, dialect: Language) -> None:
    """Types, columns and tables: names that could also be those of something else."""
    match node:
        case exp.DataType():
            if node.this not in TYPES:
                raise RefusedError(f"The type {node.sql()} is not allowed.", code="sql_type_refused")
        case exp.Column():
            if not node.table and _is_bare_function(node.this, dialect):
                raise refused_function(node.name)
        case _:
            _check_table_function(node.this, dialect)


def _is_faithful_limit(options: exp.LimitOptions) -> bool:
    """A share stands in LIMIT and ties in FETCH; sqlglot drops them silently where they stand otherwise."""
    limit, share = options.parent, bool(options.args.get("percent"))
    if isinstance(limit, exp.Fetch):
        return not share
    return share and not options.args.get("with_ties") and limit is not None and limit.expression.is_number


def _is_plain_sample(node: exp.TableSample) -> bool:
    sizes = [node.args[key] for key in ("size", "percent", "seed") if node.args.get(key)]
    method = node.args.get("method")
    return all(isinstance(size, exp.Literal) for size in sizes) and (method is None or method.name.lower() in SAMPLING)


def _is_plain_dot(node: exp.Dot, dialect: Language) -> bool:
    """A field of a nested value, all fields of a row, or a function of the system's own schema. PostgreSQL takes
    `(row).name` for a call of the function `name` if the row has no such column."""
    of, part = node.this, node.expression
    if isinstance(of, exp.Identifier):
        return _is_system(of) and isinstance(part, exp.Func)
    return isinstance(part, exp.Star) or DIALECTS[dialect].dot_reads_fields


def _is_bare_function(name: exp.Expr, dialect: Language) -> bool:
    """Whether a name without quotes is read as a function of the session, such as `user`, and not as a column."""
    bare = isinstance(name, exp.Identifier) and not name.args.get("quoted") and name.name.lower() in WITHOUT_BRACKETS
    return bare and name.name.lower() in function_classes(dialect).outside


def _check_table_function(called: exp.Expr, dialect: Language) -> None:
    """Refuses any function in FROM except those that return tables. DuckDB has functions that only compute when a
    SELECT calls them, but read a table by its name when they stand in FROM."""
    if isinstance(called, exp.Dot):
        called = called.expression
    if isinstance(called, exp.Identifier | exp.Query) or type(called) in TABLE_FUNCTIONS:
        return
    name = called.name if isinstance(called, exp.Anonymous) else called.key
    if not isinstance(called, exp.Anonymous) or name.lower() not in function_classes(dialect).table:
        raise refused_function(name)


def _check_words(node: exp.Expr) -> None:
    """Arguments that are bare text reach the new text as they are: they must be plain words."""
    for value in node.args.values():
        if isinstance(value, str) and not all(letter.isalpha() or letter in "_ " for letter in value):
            raise not_allowed(node)


def _is_number(digits: str) -> bool:
    try:
        float(digits)
    except ValueError:
        return False
    # `float` reads the digits of every script; SQL knows only those of ASCII.
    return digits.isascii()


def _limited(tree: exp.Query, max_rows: int) -> exp.Query:
    limit = tree.args.get("limit")
    if any(options.args.get("percent") for options in (limit.find_all(exp.LimitOptions) if limit else ())):
        return exp.select("*").from_(tree.subquery("share")).limit(max_rows)
    if isinstance(limit, exp.Fetch):
        size = limit.args.get("count") or exp.Literal.number(1)  # without a number it is one row
    else:
        size = limit and limit.expression
    if size is not None and not (isinstance(size, exp.Literal) and size.name.isdigit()):
        raise RefusedError("LIMIT needs a plain number.", code="sql_not_allowed")
    rows = exp.Literal.number(max_rows if size is None else min(int(size.name), max_rows))
    options = limit.args.get("limit_options") if isinstance(limit, exp.Fetch) else None
    if limit is not None and options is not None and options.args.get("with_ties"):
        # The last rows that are equal belong to the answer. There can be more than `max_rows`; the worker bounds them.
        limit.set("count", rows)
    else:
        tree.set("limit", exp.Limit(expression=rows))
    return tree


__all__ = ["CheckedSql", "check_nodes", "check_text", "checked", "parsed", "parsed_expression"]
