"""No query reaches a secret column, however it is written."""

import pytest

from answerable.core.catalog import Catalog, Column, SecretColumn, Table
from answerable.core.errors import AnswerableError
from answerable.core.values import Language
from answerable.query.sql.check import checked

USERS = Table(name="users", columns=(Column(name="id", type="integer"), Column(name="email", type="text")))
ORDERS = Table(name="orders", columns=(Column(name="id", type="integer"), Column(name="user_id", type="integer")))


def catalog(dialect: Language) -> Catalog:
    secrets = (SecretColumn(table="users", column="api_key", reason="its name"),)
    return Catalog(source="app", dialect=dialect, tables=(USERS, ORDERS), secrets=secrets)


@pytest.mark.parametrize("dialect", ["duckdb", "sqlite", "postgres"])
@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM users",
        "SELECT u.* FROM users u",
        "SELECT * FROM orders JOIN users ON users.id = orders.user_id",
        "SELECT * FROM orders, users",
        "SELECT * FROM (SELECT * FROM users) AS x",
        "WITH x AS (SELECT * FROM users) SELECT * FROM x",
        "SELECT * FROM users UNION ALL SELECT * FROM users",
        "SELECT * FROM orders WHERE user_id IN (SELECT id FROM users)",
        "SELECT (SELECT count(*) FROM users) FROM orders",
        'SELECT * FROM "users" AS "x"',
    ],
)
def test_every_mention_of_the_table_is_fenced(dialect: Language, sql: str) -> None:
    text = " ".join(checked(sql, catalog(dialect)).text.split()).replace('"', "")
    bare = text.replace("(SELECT id, email FROM users)", "(fenced)").replace(
        "( SELECT id, email FROM users )", "(fenced)"
    )
    assert "fenced" in bare
    assert "FROM users" not in bare
    assert "JOIN users" not in bare


@pytest.mark.parametrize("dialect", ["duckdb", "sqlite", "postgres"])
@pytest.mark.parametrize(
    "sql",
    [
        "SELECT api_key FROM users",
        "SELECT u.api_key FROM users u",
        "SELECT id FROM users WHERE api_key LIKE 'sk%'",
        "SELECT id FROM users ORDER BY api_key",
        "WITH users AS (SELECT * FROM users) SELECT * FROM users",
        "SELECT count(DISTINCT api_key) FROM users",
    ],
)
def test_a_secret_cannot_be_named(dialect: Language, sql: str) -> None:
    with pytest.raises(AnswerableError):
        checked(sql, catalog(dialect))


def test_summaries_of_a_table_with_secrets_show_none() -> None:
    for sql in ("SUMMARIZE users", "DESCRIBE users"):
        try:
            text = checked(sql, catalog("duckdb")).text
        except AnswerableError:
            continue
        assert "email" in text, "it must be a selection of the other columns"


def test_other_tables_are_left_as_they_are() -> None:
    assert "(" not in checked("SELECT * FROM orders", catalog("duckdb")).text
