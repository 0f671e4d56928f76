"""How many columns a table of a file may have.

Planning a statement takes time that grows with the square of its columns, so the columns are counted before anything
is built of them.
"""

from answerable.sources.workers.failures import Failure

MOST_COLUMNS = 4_000


def check_width(columns: int) -> None:
    if columns > MOST_COLUMNS:
        raise Failure(
            "FileError",
            "file_malformed",
            f"The file has {columns:,} columns; {MOST_COLUMNS:,} can be read.",
            "Turn the table: a row for each value, with its name in a column.",
        )
