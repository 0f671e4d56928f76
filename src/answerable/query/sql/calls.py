"""Which functions a text calls, by its tokens alone.

The check of the syntax tree judges what the parser understood. This one judges what is written: every word before a
bracket must be a function that is allowed, or a word of SQL itself. The two do not share a mistake, and a refusal can
name the function as the user wrote it.
"""

from collections.abc import Callable, Collection, Iterator, Sequence

from sqlglot import exp
from sqlglot.tokenizer_core import Token, TokenType

from answerable.core.errors import RefusedError
from answerable.query.sql.function_classes import FunctionClasses

_SYNTAX = """
add all and anti any array as asc asof at bernoulli between bigint bit blob by case cast char character check collate
columns cross cube current date decimal desc describe distinct double else end enum escape except exclude exists
extract fetch filter first float following for from full group grouping groups having if ignore ilike in inner int
int4 int8 integer intersect interval into is join lambda last lateral left like limit map match materialized name
natural not nulls numeric nvarchar of offset on only or order ordinality outer over overlaps partition percent pivot
placing positional preceding qualify range real recursive rename repeatable replace reservoir respect returning right
rollup row rows sample select semi set sets similar some struct summarize symmetric system table tablesample text then
ties time timestamp timestamptz to try try_cast unbounded union unpivot using value values varchar varying when where
window with within without xmlattributes xmlelement xmlforest
"""
SYNTAX = frozenset(_SYNTAX.split())
"""Words of SQL, and names of types, that may stand before a bracket and are no function."""
WITHOUT_BRACKETS = frozenset(
    ("current_user", "session_user", "system_user", "user", "current_role", "current_catalog", "current_schema")
)
"""Functions that are called by their name alone."""


def check_calls(
    tokens: Sequence[Token],
    tree: exp.Expr,
    classes: FunctionClasses,
    system_schema: str | None,
    functions: Collection[str] = (),
) -> None:
    """Refuses a text that calls anything but allowed functions. A function may be qualified with the schema of the
    system only, unless it is one of `functions`: a function of the same name in another schema may do anything."""
    aliases = _aliases_with_columns(tree)
    for name, qualifier in _called(tokens):
        if f"{qualifier}.{name}" in functions:
            continue
        key = name.lower().rpartition(" ")[2]  # the parser reads `GROUPING SETS` as one word
        if qualifier is not None and system_schema is not None and qualifier.lower() != system_schema:
            raise refused_function(f"{qualifier}.{name}")
        if classes.allows(key) or key in SYNTAX:
            continue
        # `AS t(a, b)` looks like a call. With the name of a function that reaches outside it is refused all the same:
        # the tokens do not show which of the two it is.
        if key in aliases and key not in classes.outside:
            continue
        raise refused_function(name)


def with_schemas(
    sql: str, tokens: Sequence[Token], classes: FunctionClasses, functions: Sequence[str], quote: Callable[[str], str]
) -> str:
    """The text with schema and name, both quoted, for each call of one of `functions`: the session finds functions of
    the system only. A bare name that the system has too means the system's function."""
    spelled = {function.lower(): function for function in reversed(functions)}
    bare = {function.lower().partition(".")[2]: function for function in reversed(functions)}
    for place in range(len(tokens) - 2, -1, -1):
        if tokens[place + 1].token_type is not TokenType.L_PAREN or not _is_word(tokens[place]):
            continue
        name, start = tokens[place].text.lower(), tokens[place].start
        if place > 1 and tokens[place - 1].token_type is TokenType.DOT:
            function = spelled.get(f"{tokens[place - 2].text.lower()}.{name}")
            start = tokens[place - 2].start
        else:
            function = None if classes.allows(name) else bare.get(name)
        if function is not None:
            sql = sql[:start] + ".".join(map(quote, function.split("."))) + sql[tokens[place].end + 1 :]
    return sql


def refused_function(name: str) -> RefusedError:
    return RefusedError(
        f"The function {name} is not allowed.",
        code="sql_function_refused",
        hint="Only functions that compute from the rows of the query can be used.",
        name=name,
    )


def _called(tokens: Sequence[Token]) -> Iterator[tuple[str, str | None]]:
    """Each word before an opening bracket, and the word that qualifies it."""
    for place, token in enumerate(tokens[:-1]):
        if tokens[place + 1].token_type is not TokenType.L_PAREN or not _is_word(token):
            continue
        qualified = place > 1 and tokens[place - 1].token_type is TokenType.DOT
        yield token.text, tokens[place - 2].text if qualified else None


def _is_word(token: Token) -> bool:
    quoted = token.token_type is TokenType.IDENTIFIER
    return token.token_type is not TokenType.STRING and (quoted or token.text[:1].isalpha() or token.text[:1] == "_")


def _aliases_with_columns(tree: exp.Expr) -> frozenset[str]:
    """Names that a query gives to tables together with names of columns: `AS t(a, b)`."""
    found = (alias for alias in tree.find_all(exp.TableAlias) if alias.args.get("columns"))
    return frozenset(alias.name.lower() for alias in found)
