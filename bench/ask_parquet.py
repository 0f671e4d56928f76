"""A question to ten million rows of Parquet, from its words to the answer, against the bare query in DuckDB.

The bare query runs in this process on a connection that is open already. Ours reads the question, plans it, checks the
SQL, runs it in a hardened worker process, stores the rows and the run, and formats the answer.

The last figure is the command as it is typed: a process that starts, asks and ends, against a process of Python that
starts, imports DuckDB, runs the same query and ends. Most of our time is loading; `tests/test_app.py` lists the
libraries that a typed question must not load.
"""

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import duckdb

from answerable import Answerable
from bench.figures import Figure, compared

ROWS = 10_000_000
ALLOWANCE = 0.150
"""Seconds that may be added to the query, however short it is."""
MOST_TIMES = 1.5
MOST_PROCESSES = 2.5
"""Of the bare process, for the command."""
QUESTIONS = ("total amount by region", "average amount per product in 2023", "how many sales are there?")

MAKE = f"""
    SELECT i AS id, (i * 7919 % 1000)::INTEGER AS customer_id, ['north', 'south', 'east', 'west'][1 + (i % 4)::INTEGER]
        AS region, 'product ' || (i % 200) AS product, DATE '2022-01-01' + (i % 1000)::INTEGER AS day,
        round((i * 104729 % 50000) / 100, 2) AS amount, (i % 20)::INTEGER AS quantity,
        TIMESTAMP '2022-01-01' + to_seconds(i) AS at
    FROM range({ROWS}) t(i)
"""


def measure(quick: bool) -> list[Figure]:
    with tempfile.TemporaryDirectory(prefix="answerable-bench-") as folder:
        path, home = Path(folder) / "sales.parquet", Path(folder) / "home"
        bare = duckdb.connect()
        bare.execute(f"COPY ({MAKE}) TO '{path}'")
        bare.execute(f"CREATE VIEW sales AS SELECT * FROM '{path}'")
        repeats = 5 if quick else 15
        with Answerable(path, home=home) as asked:
            figures = [_figure(question, asked, bare, repeats) for question in QUESTIONS]
            statement = _understood(asked, QUESTIONS[0])
        return [*figures, _command(path, home, statement, repeats)]


def _command(path: Path, home: Path, statement: str, repeats: int) -> Figure:
    """The description of the data is kept from the runs before, as it is for whoever asks a second question."""
    ask = [str(Path(sys.executable).with_name("answerable")), "ask", QUESTIONS[0], "--source", str(path)]
    program = (
        "import duckdb, sys; c = duckdb.connect(); c.execute(sys.argv[1]); print(c.execute(sys.argv[2]).fetchall())"
    )
    view = f"CREATE VIEW sales AS SELECT * FROM '{path}'"
    environment = {**os.environ, "ANSWERABLE_HOME": str(home)}

    def run(command: list[str]) -> None:
        subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, check=True)

    floor = [sys.executable, "-c", program, view, statement]
    ours, bare = _medians(lambda: run(ask), lambda: run(floor), repeats)
    return compared(f"{QUESTIONS[0]}, as a command: to a bare process", ours * 1000, bare * 1000, "ms", MOST_PROCESSES)


def _figure(question: str, asked: Answerable, bare: duckdb.DuckDBPyConnection, repeats: int) -> Figure:
    """The first question describes the data; from then on its description is kept."""
    statement = _understood(asked, question)

    def ours() -> None:
        asked.forget()
        asked.ask(question, force=True)

    total, query = _medians(ours, lambda: bare.execute(statement).fetchall(), repeats)
    allowed = MOST_TIMES * query + ALLOWANCE
    return Figure(f"{question}: share of what is allowed", total * 1000, query * 1000, "ms", total / allowed, 1.0)


def _understood(asked: Answerable, question: str) -> str:
    answer = asked.ask(question, force=True)
    if answer.sql is None:
        raise AssertionError(f"{question!r} was not understood: {answer.text}")
    return answer.sql


def _medians(ours: Callable[[], object], floor: Callable[[], object], repeats: int) -> tuple[float, float]:
    """Of both, in seconds, taken in turn."""
    times = [(_seconds(ours), _seconds(floor)) for _ in range(repeats)]
    total, bare = (statistics.median(column) for column in zip(*times, strict=True))
    return total, bare


def _seconds(call: Callable[[], object]) -> float:
    began = time.perf_counter()
    call()
    return time.perf_counter() - began
