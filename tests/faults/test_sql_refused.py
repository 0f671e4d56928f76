"""SQL that writes, reads files, settings or system tables, hides something, or is a bomb: each is refused, by code."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from answerable.core.catalog import Catalog
from answerable.core.errors import AnswerableError, RefusedError, UserError
from answerable.core.values import Language
from answerable.query.sql.check import checked

FIXTURES = Path(__file__).parents[1] / "fixtures" / "query"
SLIPS = {"sql_table_unknown", "sql_column_unknown", "sql_columns_differ", "sql_unparsable", "sql_empty"}


GROUPS = yaml.safe_load((FIXTURES / "refused.yaml").read_text())


def _texts(group: dict[str, Any]) -> list[str]:
    return [entry if isinstance(entry, str) else _repeated(entry, group["repeat"]) for entry in group["sql"]]


def _repeated(parts: list[str], times: int) -> str:
    start, before, middle, after, end = parts
    return f"{start}{before * times}{middle}{after * times}{end}"


@pytest.fixture(scope="module")
def shop() -> Catalog:
    return Catalog.model_validate(json.loads((FIXTURES / "shop.json").read_text())["catalog"])


def _outcome(sql: str, dialect: Language, shop: Catalog) -> AnswerableError | None:
    try:
        checked(sql, shop, dialect=dialect)
    except AnswerableError as error:
        return error
    return None


@pytest.mark.parametrize("group", GROUPS, ids=lambda group: f"{group['code']}: {group['about']}")
def test_refused(group: dict[str, Any], shop: Catalog) -> None:
    for dialect in group.get("dialects", ["duckdb", "sqlite", "postgres"]):
        for sql in _texts(group):
            error = _outcome(sql, dialect, shop)
            assert error is not None, (dialect, sql[:200])
            assert error.stable_code == group["code"], (dialect, sql[:200], error.message)
            assert error.message.endswith("."), error.message
            assert isinstance(error, UserError if group["code"] in SLIPS else UserError | RefusedError)


def test_there_are_many() -> None:
    assert len({sql for group in GROUPS for sql in _texts(group)}) > 350


@pytest.mark.parametrize("dialect", ["duckdb", "sqlite", "postgres"])
@pytest.mark.parametrize(
    "smuggled",
    [
        'SELECT EXTRACT("year FROM now()), pg_sleep(1), EXTRACT(year" FROM ordered_at) FROM orders',
        'SELECT id AS "x""; DROP TABLE orders; --" FROM orders',
        "SELECT 'x''; DROP TABLE orders; --' FROM orders",
        "SELECT id FROM orders -- '\n; DROP TABLE orders",
        "SELECT id /* /* */ ; DROP TABLE orders; /* */ FROM orders",
        "SELECT id FROM orders WHERE status = '\\'; DROP TABLE orders; --'",
        "SELECT id FROM orders WHERE status = $$a$$ || $x$; DROP TABLE orders$x$",
        "SELECT CAST(id AS DECIMAL(1, 2) ; DROP TABLE orders) FROM orders",
        "SELECT '{}' -> 'a'' || (SELECT 1 FROM pg_user) || ''' FROM orders",
        "SELECT '{}' -> '$.\"a'' || getenv(''HOME'') || ''\"' FROM orders",
        'SELECT id COLLATE "x, pg_sleep(1), y" FROM orders',
        "SELECT INTERVAL '1' \"day, pg_sleep(1)\" FROM orders",
        "SELECT ordered_at AT TIME ZONE 'x'' || pg_sleep(1) || ''' FROM orders",
        "SELECT date_trunc('month'', pg_sleep(1), ''', ordered_at) FROM orders",
        "SELECT trim(BOTH 'x' FROM \"status) , getenv('HOME') , (\" ) FROM orders",
        "SELECT id FROM orders LIMIT 1 /*! UNION SELECT 1 FROM pg_user */",
        'SELECT id FROM orders AS "o, pg_user"',
        "SELECT strftime('%Y''), load_extension(''x', ordered_at) FROM orders",
    ],
)
def test_nothing_is_smuggled(smuggled: str, dialect: Language, shop: Catalog) -> None:
    """Either refused, or written anew as text that still reads one table, in one statement, and nothing else."""
    try:
        answer = checked(smuggled, shop, dialect=dialect)
    except AnswerableError:
        return
    assert answer.tables == {"orders"}
    again = checked(answer.text, shop, dialect=dialect)
    assert (again.text, again.columns) == (answer.text, answer.columns)
