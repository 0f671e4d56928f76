"""What adds up in a statement that somebody wrote: only what its form proves."""

import pytest

from answerable.query.sql.written_quantities import written_quantities


def test_sums_and_counts_over_groups_add_up() -> None:
    sql = (
        "SELECT a, SUM(b) AS total, COUNT(*) AS n, SUM(b) FILTER (WHERE c > 1) AS part, AVG(b) AS mean, SUM(b),"
        " COUNT(DISTINCT c) AS kinds, SUM(b) OVER () AS running, SUM(b) / COUNT(*) AS each FROM t GROUP BY a"
    )
    assert written_quantities(sql, "duckdb") == dict.fromkeys(("total", "n", "part"), "amount")
    assert written_quantities("SELECT a, SUM(b) AS total FROM t GROUP BY ALL", "duckdb") == {"total": "amount"}


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT a, SUM(b) AS total FROM t GROUP BY ROLLUP (a)",
        "SELECT a, SUM(b) AS total FROM t GROUP BY CUBE (a)",
        "SELECT a, SUM(b) AS total FROM t GROUP BY GROUPING SETS ((a), ())",
        "SELECT DISTINCT a, SUM(b) AS total FROM t GROUP BY a, c",
        "SELECT a, UNNEST([1, 2]) AS twice, SUM(b) AS total FROM t GROUP BY a",
        "SELECT a, SUM(b) AS total FROM t GROUP BY a UNION ALL SELECT 'all', SUM(b) FROM t",
        "SELECT b AS total FROM t",
    ],
)
def test_rows_that_may_count_twice_do_not(sql: str) -> None:
    assert written_quantities(sql, "duckdb") == {}
