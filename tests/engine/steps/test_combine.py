"""Rows of several steps joined by SQL: what it gives, what it accounts for, and what it refuses."""

from collections.abc import Callable
from datetime import UTC, date, datetime, time
from decimal import Decimal
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from as_written import as_written

from answerable.answers.result_rows import RecentRows
from answerable.answers.result_table import result_table
from answerable.core.context import LOCAL, RunContext
from answerable.core.errors import AnswerableError, LimitError, RefusedError, UserError
from answerable.core.ids import NodeId
from answerable.core.values import FrameRef
from answerable.engine.graph import Graph
from answerable.engine.run import Engine, Outcome
from answerable.engine.steps.base import Step
from answerable.engine.steps.combine import CombineConfig, CombineStep
from answerable.engine.steps.produced import Produced
from answerable.sources.base import Limits
from answerable.sources.sql.backend import SourceOptions
from answerable.sources.sql.frames import FramesBackend, query_frames
from answerable.sources.sql.source import SqlSource
from answerable.store.base import Store

Combine = Callable[..., Any]
ORDERS = pl.DataFrame({"customer_id": [1, 1, 2, 9], "amount": [10.5, 20.0, 5.0, None]})
CUSTOMERS = pl.DataFrame({"id": [1, 2], "city": ["Berlin", "Paris"]})


async def produced(store: Store, rows: pl.DataFrame, **fields: Any) -> Produced:
    path = store.artifacts.staging()
    rows.write_ipc(path)
    made = result_table(path)
    frame = FrameRef(
        artifact=await store.artifacts.adopt(LOCAL, path),
        columns=made.columns,
        row_count=made.row_count,
        byte_count=made.byte_count,
        sample=made.sample,
    )
    defaults = {"kind": "sql", "code": "SELECT", "sources": ("s",), "duration_ms": 1.0, "fingerprint": "f"}
    return Produced.model_validate({"frame": frame, **defaults, **fields})


@pytest.fixture
def combine(store: Store, context: RunContext, kind: Any) -> Combine:
    """`await combine(sql, name=produced, …)`: the outcome of a graph whose last node combines the others."""

    async def combine(sql: str, limits: Limits | None = None, **given: Produced) -> Outcome:
        async def give(step: Step) -> Any:
            return given[step.node.id].model_dump(mode="json")

        names = list(given)
        nodes: list[dict[str, Any]] = [{"id": name, "kind": "give"} for name in names]
        nodes.append({"id": "end", "kind": "combine", "after": names, "config": {"sql": sql}})
        step = CombineStep(query_frames, store.artifacts, limits or Limits(), RecentRows())
        engine = Engine({"give": kind(give), "combine": step}, store.events)
        record = await store.runs.create(context, None)
        return await engine.run(Graph.parse({"nodes": nodes, "output": "end"}), context, lease=record.lease)

    return combine


async def rows_of(store: Store, outcome: Outcome) -> list[tuple[Any, ...]]:
    assert outcome.status == "done", outcome
    made = Produced.model_validate(outcome.output)
    return pl.read_ipc(await store.artifacts.path(LOCAL, made.frame.artifact)).rows()


def refused(outcome: Outcome) -> AnswerableError:
    assert outcome.status == "failed"
    assert outcome.error is not None
    return outcome.error


async def test_rows_of_two_sources_are_joined_and_accounted_for(store: Store, combine: Combine) -> None:
    noon, evening = datetime(2026, 1, 1, 12, tzinfo=UTC), datetime(2026, 1, 1, 18, tzinfo=UTC)
    orders = await produced(store, ORDERS, sources=("shop",), fingerprint="a", last_sync=evening, findings=("x",))
    customers = await produced(store, CUSTOMERS, sources=("crm",), fingerprint="b", last_sync=noon, findings=("x", "y"))
    sql = "select city, sum(amount) as total from orders join customers on customer_id = id group by city order by 1"
    outcome = await combine(sql, orders=orders, customers=customers)
    assert await rows_of(store, outcome) == [("Berlin", 30.5), ("Paris", 5.0)]
    made = Produced.model_validate(outcome.output)
    assert made.kind == "combine"
    assert made.sources == ("shop", "crm")
    assert made.last_sync == noon
    assert made.findings == ("x", "y")
    assert made.inputs == {"orders": orders.frame.artifact, "customers": customers.frame.artifact}
    assert made.code.startswith("SELECT\n")
    assert [(column.name, column.type) for column in made.frame.columns] == [("city", "text"), ("total", "number")]
    assert made.frame.sample == ({"city": "Berlin", "total": 30.5}, {"city": "Paris", "total": 5.0})


async def test_the_fingerprint_is_of_all_that_was_read(store: Store, combine: Combine) -> None:
    step = CombineStep(query_frames, store.artifacts, Limits(), RecentRows())
    config = CombineConfig(sql="SELECT count(*) FROM a, b")

    async def fingerprint(*given: str | None) -> str | None:
        a, b = [await produced(store, CUSTOMERS, fingerprint=each) for each in given]
        made = await step.produce(config, {NodeId("a"): a, NodeId("b"): b}, LOCAL, lambda *_: None)
        return made.fingerprint

    both = await fingerprint("one", "two")
    assert both is not None
    assert both == await fingerprint("two", "one")
    assert both != await fingerprint("one", "three")
    assert await fingerprint("one", "one") == "one"
    assert await fingerprint("one", None) is None


TYPES = pl.DataFrame(
    {
        "whole": [1, None],
        "big": pl.Series([2**63, 1], dtype=pl.UInt64),
        "huge": pl.Series([10**30, None], dtype=pl.Int128),
        "number": [0.5, None],
        "exact": [Decimal("1.25"), None],
        "flag": [True, None],
        "day": [date(2026, 1, 2), None],
        "moment": [datetime(2026, 1, 2, 3, 4, 5, 678), None],
        "zoned": pl.Series([datetime(2026, 1, 2, tzinfo=UTC), None], dtype=pl.Datetime("us", "Europe/Berlin")),
        "clock": [time(1, 2, 3), None],
        "kind": pl.Series(["a", None], dtype=pl.Categorical),
        "bytes": [b"\x00\xff", None],
        "list": [[1, 2], None],
        "nothing": [None, None],
    }
)


async def test_every_type_of_column_passes(store: Store, combine: Combine) -> None:
    outcome = await combine("SELECT * FROM a ORDER BY whole", a=await produced(store, TYPES))
    made = Produced.model_validate(outcome.output)
    first, second = await rows_of(store, outcome)
    found = dict(zip(TYPES.columns, first, strict=True))
    assert found["zoned"] == datetime(2026, 1, 2, tzinfo=UTC)
    assert (found["big"], found["huge"]) == (str(2**63), str(10**30))
    same = ("whole", "number", "flag", "day", "moment", "clock", "kind", "bytes", "nothing")
    assert {name: found[name] for name in same} == {name: TYPES[name][0] for name in same}
    assert found["list"] == "[1,2]"
    assert second[-1] is None
    types = {column.name: column.type for column in made.frame.columns}
    assert types["list"] == "json"
    assert types["nothing"] == "text"


async def test_a_frame_without_rows_is_a_table_without_rows(store: Store, combine: Combine) -> None:
    outcome = await combine(
        "SELECT city FROM orders RIGHT JOIN customers ON customer_id = id ORDER BY 1",
        orders=await produced(store, ORDERS.clear()),
        customers=await produced(store, CUSTOMERS),
    )
    assert await rows_of(store, outcome) == [("Berlin",), ("Paris",)]


async def test_more_rows_than_one_batch_arrive(store: Store, combine: Combine) -> None:
    many = pl.DataFrame({"n": pl.int_range(600_000, eager=True)})
    outcome = await combine("SELECT count(*) AS c, sum(n) AS s FROM many", many=await produced(store, many))
    assert await rows_of(store, outcome) == [(600_000, sum(range(600_000)))]


@pytest.mark.parametrize(
    ("sql", "code"),
    [
        ("SELECT * FROM read_csv('/etc/passwd')", "sql_function_refused"),
        ("SELECT * FROM '/etc/passwd'", "sql_file_refused"),
        ("SELECT content FROM read_text('/etc/passwd')", "sql_function_refused"),
        ("COPY a TO '/tmp/out.csv'", "sql_not_select"),
        ("CREATE TABLE b AS SELECT * FROM a", "sql_not_select"),
        ("INSERT INTO a VALUES (1)", "sql_not_select"),
        ("DROP TABLE a", "sql_not_select"),
        ("ATTACH '/tmp/other.db'", "sql_not_select"),
        ("SET memory_limit = '100GB'", "sql_not_select"),
        ("SELECT 1; SELECT 2", "sql_many_statements"),
        ("SELECT * FROM duckdb_settings()", "sql_function_refused"),
        ("SELECT * FROM information_schema.tables", "sql_system_table_refused"),
    ],
)
async def test_what_is_not_a_query_over_the_rows_is_refused(
    store: Store, combine: Combine, sql: str, code: str
) -> None:
    error = refused(await combine(sql, a=await produced(store, CUSTOMERS)))
    assert isinstance(error, RefusedError), error
    assert error.stable_code == code


async def test_an_unknown_table_is_answered_with_the_names_of_the_steps(store: Store, combine: Combine) -> None:
    given = {"orders": await produced(store, ORDERS), "customers": await produced(store, CUSTOMERS)}
    error = refused(await combine("SELECT * FROM regions", **given))
    assert error.stable_code == "sql_table_unknown"
    assert error.hint is not None
    assert "orders" in error.hint
    assert "customers" in error.hint


async def test_columns_and_types_are_checked(store: Store, combine: Combine) -> None:
    customers = await produced(store, CUSTOMERS)
    unknown = refused(await combine("SELECT town FROM customers", customers=customers))
    assert unknown.stable_code == "sql_column_unknown"


async def test_types_that_do_not_fit_are_named(store: Store, combine: Combine) -> None:
    error = refused(await combine("SELECT sum(city) FROM customers", customers=await produced(store, CUSTOMERS)))
    assert error.stable_code == "sql_invalid"
    assert "sum" in error.message


async def test_there_must_be_something_to_combine(combine: Combine) -> None:
    error = refused(await combine("SELECT 1"))
    assert error.stable_code == "combine_empty"


async def test_names_that_sql_cannot_tell_apart_are_refused(store: Store, combine: Combine) -> None:
    alike = await produced(store, pl.DataFrame({"a": [1], "A": [2]}))
    error = refused(await combine("SELECT a FROM t", t=alike))
    assert isinstance(error, UserError)
    assert error.stable_code == "combine_names_alike"
    assert "step t" in error.message


async def test_a_result_that_is_too_large_is_a_limit(store: Store, combine: Combine) -> None:
    rows = await produced(store, pl.DataFrame({"n": pl.int_range(2_000, eager=True)}))
    error = refused(await combine("SELECT a.n FROM t AS a, t AS b", Limits(rows=10_000), t=rows))
    assert isinstance(error, LimitError)
    assert error.stable_code == "result_rows"


async def test_nothing_is_left_behind_by_a_failure(store: Store, combine: Combine) -> None:
    outcome = await combine("SELECT sum(city) FROM t", t=await produced(store, CUSTOMERS))
    assert outcome.status == "failed"
    assert list(store.artifacts.staging().parent.iterdir()) == []


# The worker itself, with SQL that was never checked.


@pytest.fixture
def frame(tmp_path: Path) -> Path:
    path = tmp_path / "rows.arrow"
    CUSTOMERS.write_ipc(path)
    return path


ESCAPES = (
    "SELECT * FROM read_csv('{secret}')",
    "SELECT * FROM read_text('{secret}')",
    "SELECT * FROM read_blob('{frame}')",
    "SELECT * FROM '{secret}'",
    "COPY t TO '{secret}.out'",
    "ATTACH '{secret}.db'",
    "SET memory_limit = '100GB'",
    "INSERT INTO t VALUES (3, 'Rome')",
    "WITH a AS (INSERT INTO t SELECT * FROM t RETURNING *) FROM a",
    "WITH a AS (DELETE FROM t RETURNING *) SELECT * FROM a",
    "WITH a AS (UPDATE t SET id = 0 RETURNING *) SELECT count(*) FROM a",
    "WITH a AS (COPY t TO '{secret}.out') FROM t",
    "SELECT * FROM read_csv('http://127.0.0.1:9/x.csv')",
)


async def test_the_worker_reaches_nothing_but_the_rows(tmp_path: Path, frame: Path) -> None:
    secret = tmp_path / "secret.csv"
    secret.write_text("a\n1\n")
    options = SourceOptions(workers=1)
    worker = SqlSource("frames", FramesBackend({"t": frame}, options), tmp_path, options)
    try:
        for sql in ESCAPES:
            query = as_written(sql.format(secret=secret, frame=frame), "duckdb")
            with pytest.raises(AnswerableError) as caught:
                await worker.execute(query, tmp_path / "out", Limits(seconds=20))
            assert caught.value.stable_code in ("sql_refused", "sql_invalid"), (sql, caught.value)
        assert {path.name for path in secret.parent.glob("*.*")} == {"secret.csv", "rows.arrow"}
        rows = await worker.execute(as_written("SELECT * FROM t", "duckdb"), tmp_path / "out", Limits())
        assert rows.row_count == CUSTOMERS.height
    finally:
        await worker.close()


async def test_rows_that_do_not_fit_into_memory_are_a_limit(tmp_path: Path) -> None:
    path = tmp_path / "large.arrow"
    pl.DataFrame({"text": ["x" * 1_000]}).select(pl.col("text").repeat_by(400_000).explode()).write_ipc(path)
    with pytest.raises(LimitError) as caught:
        await query_frames(
            as_written("SELECT count(*) FROM t", "duckdb"), {"t": path}, tmp_path / "out", Limits(memory_mb=100)
        )
    assert caught.value.stable_code == "query_memory"


async def test_a_file_that_is_not_arrow_is_named(tmp_path: Path) -> None:
    path = tmp_path / "damaged"
    path.write_bytes(b"not arrow")
    with pytest.raises(UserError, match="The rows of t cannot be combined") as caught:
        await query_frames(as_written("SELECT 1", "duckdb"), {"t": path}, tmp_path / "out", Limits())
    assert caught.value.stable_code == "combine_unusable"
