"""Every function, operator, table function and statement of the installed engines has a class. One that a new version
brings fails here until someone has decided what it is."""

import sqlite3
from pathlib import Path

import duckdb
import psycopg
import pytest

from answerable.core.catalog import Catalog, Column, Table
from answerable.core.errors import AnswerableError
from answerable.core.values import Language
from answerable.query.sql import function_classes as module
from answerable.query.sql.calls import SYNTAX
from answerable.query.sql.check import checked
from answerable.query.sql.function_classes import function_classes

DIALECTS: tuple[Language, ...] = ("duckdb", "sqlite", "postgres")
_DUCKDB = "SELECT DISTINCT lower(replace(function_name, ' ', '_')) FROM duckdb_functions()"
_SQLITE = "SELECT name FROM pragma_function_list UNION SELECT name FROM pragma_module_list"
_POSTGRES = "SELECT lower(proname) FROM pg_proc UNION SELECT oprname FROM pg_operator"
_SAMPLING = {"bernoulli", "system"}
"""Handlers of TABLESAMPLE in PostgreSQL; that a call of them is refused, the last test shows."""
_OTHER_SYNTAX = {
    "duckdb": {"apply", "cast"},
    "sqlite": {"match"},
    "postgres": {"cast", "convert", "format", "interval", "json_value", "lpad", "rpad", "repeat", "overlaps"},
}
"""Allowed functions that are not written as a plain call of columns, or not for PostgreSQL (no bound on its memory)."""


def _names(dialect: Language, postgres_server: str) -> set[str]:
    if dialect == "duckdb":
        return {name for (name,) in duckdb.connect().execute(_DUCKDB).fetchall()}
    if dialect == "sqlite":
        return {name for (name,) in sqlite3.connect(":memory:").execute(_SQLITE)}
    with psycopg.connect(postgres_server) as connection:
        return {name for (name,) in connection.execute(_POSTGRES)}


@pytest.mark.parametrize("dialect", DIALECTS)
def test_every_name_of_the_installed_engine_has_one_class(dialect: Language, postgres_server: str) -> None:
    classes = function_classes(dialect)
    names = _names(dialect, postgres_server)
    assert len(names) > 100
    assert names - classes.pure - classes.generator - classes.table - classes.outside == set()
    allowed = (classes.pure, classes.generator, classes.table)
    assert [name for some in allowed for name in some if name in classes.outside] == []


def test_only_queries_of_duckdb_are_statements_that_run() -> None:
    sections = module._sections((Path(module.__file__).parent / "functions" / "duckdb.txt").read_text())
    kinds = {name for name in dir(duckdb.StatementType) if name.isupper()}
    assert kinds == sections["statements"] | sections["statements outside"]
    assert sections["statements"] == {"SELECT"}


@pytest.mark.parametrize("dialect", DIALECTS)
def test_no_word_of_the_language_is_a_function_that_reaches_outside(dialect: Language) -> None:
    assert SYNTAX & function_classes(dialect).outside <= _SAMPLING


@pytest.mark.parametrize("dialect", DIALECTS)
def test_every_allowed_function_can_be_called_and_every_other_cannot(dialect: Language) -> None:
    columns = tuple(Column(name=name, type="text") for name in "abcd")
    catalog = Catalog(source="x", dialect=dialect, tables=(Table(name="t", columns=columns),))
    classes = function_classes(dialect)
    allowed = {name for name in classes.pure | classes.generator | classes.table if name.isidentifier()}
    assert {name for name in allowed if not _callable(name, catalog)} == _OTHER_SYNTAX[dialect]
    assert [name for name in classes.outside if name.isidentifier() and _callable(name, catalog)] == []


def _callable(name: str, catalog: Catalog) -> bool:
    calls = ("()", "(a)", "(a, b)", "(a, b, c)", "(a, b, c, d)")
    statements = [*(f"SELECT {name}{call} FROM t" for call in calls), f'SELECT "{name}"(a) FROM t']
    return any(_passes(sql, catalog) for sql in [*statements, f"SELECT * FROM {name}(1) AS x"])


def _passes(sql: str, catalog: Catalog) -> bool:
    try:
        checked(sql, catalog)
    except AnswerableError:
        return False
    return True
