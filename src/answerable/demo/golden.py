"""Writes the rows of the golden cases anew from their SQL: `python -m answerable.demo.golden`, after the data changed.

A test holds the rows against an independent calculation, so this cannot turn a wrong statement into a right answer.
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
    """The line of a case with the rows that its statement gives now."""
    case = json.loads(line)
    rows = [[_plain(value) for value in row] for row in connection.execute(case["gold_sql"]).fetchall()]
    if not case["ordered"]:
        rows.sort(key=str)  # so that the file is the same each time
    return json.dumps(case | {"gold_rows": rows}, ensure_ascii=False)


@contextmanager
def opened(folder: Path) -> Iterator["DuckDBPyConnection"]:
    """The tables of a folder of Parquet files, by name."""
    import duckdb

    with duckdb.connect(":memory:", config={"threads": 1}) as connection:
        for path in sorted(folder.glob("*.parquet")):
            connection.read_parquet(str(path)).create_view(path.stem)
        yield connection


def _plain(value: Any) -> Any:
    """As JSON holds it, without the last digits of a sum, which depend on the order of adding."""
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
