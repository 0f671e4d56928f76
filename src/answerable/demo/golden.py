"""Updates the rows of the golden cases from their SQL, after the data changed: `python -m answerable.demo.golden`.

A test compares the rows with an independent calculation, so a wrong statement cannot become a right answer.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from answerable.demo import golden_cases, location

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection


def refreshed(line: str, connection: "DuckDBPyConnection") -> str:
    """The line of a case with the rows that its statement returns now."""
    case = json.loads(line)
    rows = [[_plain(value) for value in row] for row in connection.execute(case["gold_sql"]).fetchall()]
    if not case["ordered"]:
        rows.sort(key=str)  # so that the file is the same each time
    return json.dumps(case | {"gold_rows": rows}, ensure_ascii=False)


@contextmanager
def opened(folder: Path) -> Iterator["DuckDBPyConnection"]:
    """A connection with a view for each Parquet file of a folder."""
    import duckdb

    # One thread: with several, sums of floating-point numbers depend on which thread is faster.
    with duckdb.connect(":memory:", config={"threads": 1}) as connection:
        for path in sorted(folder.glob("*.parquet")):
            connection.read_parquet(str(path)).create_view(path.stem)
        yield connection


def _plain(value: Any) -> Any:
    """The value for JSON. Floats lose their last digits, which depend on the order of additions."""
    if isinstance(value, float):
        return round(value, 9)
    return value.isoformat() if isinstance(value, date | datetime) else value


def main() -> None:
    file = golden_cases()
    with opened(location()) as connection:
        lines = [refreshed(line, connection) for line in file.read_text("utf-8").splitlines()]
    file.write_text("\n".join(lines) + "\n", "utf-8")


if __name__ == "__main__":
    main()
