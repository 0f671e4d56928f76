"""Shares in LIMIT and texts between dollars mean the same after the statement is written anew, or are refused."""

import duckdb
import pytest

from answerable.core.catalog import Catalog
from answerable.core.errors import RefusedError
from answerable.query.sql.check import checked


@pytest.mark.parametrize("limit", ["LIMIT 10%", "LIMIT 10 PERCENT"])
def test_a_share_of_the_rows(limit: str, shop: Catalog) -> None:
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE orders AS SELECT range AS id FROM range(100)")
        sql = f"SELECT id FROM orders ORDER BY id DESC {limit}"
        for most, expected in ((50, 10), (3, 3), (None, 10)):
            text = checked(sql, shop, dialect="duckdb", max_rows=most).text
            assert connection.execute(text).fetchall() == [(99 - place,) for place in range(expected)]


@pytest.mark.parametrize(
    "limit",
    ["FETCH FIRST 10 PERCENT ROWS ONLY", "LIMIT 10 WITH TIES", "LIMIT (SELECT 1)%", "LIMIT 10 PERCENT WITH TIES"],
)
def test_what_would_be_lost_is_refused(limit: str, shop: Catalog) -> None:
    with pytest.raises(RefusedError):
        checked(f"SELECT id FROM orders ORDER BY id {limit}", shop, dialect="duckdb", max_rows=5)


@pytest.mark.parametrize("written", ["$$it's \\ $1$$", "$tag$it's \\ $1$tag$"])
def test_a_text_between_dollars(written: str, shop: Catalog) -> None:
    for dialect in ("duckdb", "postgres"):
        text = checked(f"SELECT {written} AS t", shop, dialect=dialect).text
        with duckdb.connect() as connection:
            assert connection.execute(text).fetchall() == [("it's \\ $1",)]
