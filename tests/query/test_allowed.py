"""The allow-lists hold by construction: what is not listed is refused, also what a later parser or database brings."""

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import duckdb
import psycopg
import pytest
import yaml
from sqlglot import exp, parse_one
from sqlglot.errors import SqlglotError

from answerable.core.catalog import Catalog
from answerable.core.errors import AnswerableError, RefusedError
from answerable.core.values import Language
from answerable.query.sql.allowed import FUNCTIONS, NODES
from answerable.query.sql.check import check_nodes, checked
from answerable.query.sql.dialects import DIALECTS as ROWS

LET_THROUGH = yaml.safe_load((Path(__file__).parents[1] / "fixtures" / "query" / "functions.yaml").read_text())
DIALECTS: tuple[Language, ...] = ("duckdb", "sqlite", "postgres")


def _all_node_types(kind: type[exp.Expr] = exp.Expr) -> Iterator[type[exp.Expr]]:
    for child in kind.__subclasses__():
        yield child
        yield from _all_node_types(child)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_every_node_type_that_is_not_listed_is_refused(dialect: Language) -> None:
    """Over all that the installed parser knows, so a new one is refused until it is listed."""
    known = {kind for kind in _all_node_types() if issubclass(kind, exp.Expression)}
    unlisted = known - FUNCTIONS - NODES.keys()
    assert len(unlisted) > 700
    for kind in unlisted:
        with pytest.raises(RefusedError):
            check_nodes(kind(), dialect)


def test_a_new_function_or_node_is_refused() -> None:
    class ReadTheWholeDisk(exp.Expression, exp.Func):
        pass

    class Smuggler(exp.Expression):
        pass

    class Lower(exp.Lower):
        """A listed type does not let its children through."""

    for node in (ReadTheWholeDisk(), Smuggler(), Lower(this=exp.Null()), exp.Anonymous(this="read_the_whole_disk")):
        with pytest.raises(RefusedError):
            check_nodes(exp.Select(expressions=[node]), "duckdb")


def test_a_new_clause_of_a_known_node_is_refused() -> None:
    for node in (
        exp.Select(expressions=[exp.Null()], into=exp.Null()),
        exp.Table(this=exp.to_identifier("orders"), evil=exp.Null()),
        exp.Star(evil=True),
    ):
        with pytest.raises(RefusedError):
            check_nodes(node, "duckdb")


@pytest.mark.parametrize("dialect", DIALECTS)
def test_named_functions_are_needed(dialect: Language) -> None:
    """A name that the parser has a type for belongs among the types."""
    for name in ROWS[dialect].functions:
        assert any(_is_anonymous(f"SELECT {name}({arguments})", dialect) for arguments in ("a", "a, b", "'x', a", ""))


def _is_anonymous(sql: str, dialect: Language) -> bool:
    try:
        return isinstance(parse_one(sql, read=dialect).expressions[0], exp.Anonymous)
    except SqlglotError:
        return False


def _functions_of(dialect: Language, postgres_url: str) -> set[str]:
    if dialect == "duckdb":
        rows = duckdb.execute("SELECT DISTINCT function_name FROM duckdb_functions()").fetchall()
    elif dialect == "sqlite":
        rows = sqlite3.connect(":memory:").execute("SELECT DISTINCT name FROM pragma_function_list").fetchall()
    else:
        with psycopg.connect(postgres_url) as connection:
            rows = connection.execute("SELECT DISTINCT proname FROM pg_proc").fetchall()
    return {name for (name,) in rows if name.isidentifier()}


@pytest.mark.parametrize("dialect", DIALECTS)
def test_functions_of_the_databases(dialect: Language, shop: Catalog, postgres_server: str) -> None:
    """Every function of each real database is tried; those that pass are on the reviewed list."""
    functions = _functions_of(dialect, postgres_server)
    assert len(functions) > 100
    passed = {name for name in functions if any(_passes(sql, shop, dialect) for sql in _calls(name))}
    assert passed - set(LET_THROUGH[dialect].split()) == set()


def _calls(name: str) -> Iterator[str]:
    for arguments in ("", "id", "'x', id"):
        yield f"SELECT {name}({arguments}) FROM orders"
    yield f'SELECT "{name}"(id) FROM orders'
    yield f"SELECT * FROM {name}(1)"


def _passes(sql: str, shop: Catalog, dialect: Language) -> bool:
    try:
        checked(sql, shop, dialect=dialect)
    except AnswerableError:
        return False
    return True
