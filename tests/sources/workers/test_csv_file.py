"""Whatever a CSV writer writes is read back: every row, every value, whatever its delimiter and quotes."""

import csv
import io
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from answerable.sources.workers.csv_file import read_csv
from answerable.sources.workers.failures import Failure
from answerable.sources.workers.typing_columns import _ALL_MISSING

LETTERS = st.characters(exclude_categories=("Cs", "Cc"), include_characters="\n\t")
CELLS = st.text(LETTERS, min_size=1, max_size=12).filter(lambda text: text.strip() not in _ALL_MISSING)


@pytest.fixture(scope="module")
def cursor() -> Iterator[Any]:
    with duckdb.connect() as connection:
        connection.execute("SET disabled_optimizers = 'expression_rewriter'")
        yield connection


@st.composite
def tables(draw: st.DrawFn) -> tuple[list[list[str]], str, int]:
    """Rows of text; the first column counts them, so that no row is blank and the header is seen as one."""
    width = draw(st.integers(1, 4))
    rows = draw(st.lists(st.lists(CELLS, min_size=width, max_size=width), min_size=1, max_size=12))
    numbered = [[str(number), *row] for number, row in enumerate(rows)]
    quoting = draw(st.sampled_from([csv.QUOTE_ALL, csv.QUOTE_MINIMAL]))
    return numbered, draw(st.sampled_from([",", ";", "\t", "|"])), quoting


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(table=tables())
def test_what_is_written_is_read(cursor: Any, table: tuple[list[list[str]], str, Any]) -> None:
    rows, delimiter, quoting = table
    header = [f"col {place}" for place in range(len(rows[0]))]
    text = io.StringIO()
    csv.writer(text, delimiter=delimiter, quoting=quoting, lineterminator="\n").writerows([header, *rows])
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x.csv"
        path.write_text(text.getvalue(), encoding="utf-8", newline="")
        read = read_csv(cursor, path, tabs=delimiter == "\t")
        found = cursor.execute(read.select).fetchall()
    assert len(found) == len(rows), text.getvalue()
    assert [row[0] for row in found] == list(range(len(rows)))
    columns = list(zip(*rows, strict=True))[1:]
    for place, expected in enumerate(columns, 1):
        values = [row[place] for row in found]
        if any(isinstance(value, str) for value in values):
            assert values == list(expected)
        else:
            assert None not in values, "a column that became numbers or dates lost nothing"


def test_wide_tables_are_typed_in_several_passes(cursor: Any, tmp_path: Path) -> None:
    path = tmp_path / "wide.csv"
    width = 130
    lines = [
        [f"n{place}" for place in range(width)],
        *([str(row + place) for place in range(width)] for row in range(200)),
    ]
    path.write_text("\n".join(",".join(line) for line in [*lines, ["1", "2"]]), encoding="utf-8")
    read = read_csv(cursor, path, tabs=False)
    assert read.notes == ("1 of 201 rows cannot be read and were left out: line 202",)
    assert cursor.execute(read.select).fetchall()[-1] == tuple(range(199, 199 + width))


def test_a_quote_that_never_closes_loses_no_rows_in_silence(cursor: Any, tmp_path: Path) -> None:
    path = tmp_path / "open.csv"
    path.write_text("a,b\n" + "1,2\n" * 500_000 + '3,"x\n' + "1,2\n" * 4_000)
    with pytest.raises(Failure) as caught:
        read_csv(cursor, path, tabs=False)
    assert caught.value.report.message.startswith("Line 500002 has a quote that is not closed")


@pytest.mark.parametrize("text", ['"', '""', '"' + "\n" * 1_000, '"\n"\n', '" "', "sep=;", "sep=;\n", "\ufeff", "\n\n"])
def test_a_file_without_a_value_says_so(text: str, cursor: Any, tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text(text, encoding="utf-8", newline="")
    with pytest.raises(Failure) as caught:
        read_csv(cursor, path, tabs=False)
    assert caught.value.report.code == "file_empty"
