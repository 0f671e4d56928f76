"""Turns files that are not Parquet into Parquet, once, so that every question after that reads only what it needs."""

import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb

from answerable.sources.workers.bombs import check_archive
from answerable.sources.workers.csv_file import ReadTable, read_csv
from answerable.sources.workers.excel_file import read_excel
from answerable.sources.workers.failures import Failure
from answerable.sources.workers.harden import Needs
from answerable.sources.workers.json_file import read_json
from answerable.sources.workers.text_file import plain_text
from answerable.sources.workers.typing_columns import literal

_LONGEST_NOTE = 400


class Loader:
    def __init__(self, spec: dict[str, Any]) -> None:
        self._memory_mb: int = spec["memory_mb"]
        self._parquet: list[str] = spec["parquet"]
        self._connection = duckdb.connect(
            config={
                "threads": spec["threads"],
                "memory_limit": f"{spec['memory_mb'] * 4 // 5}MB",
                "temp_directory": "",
                "autoinstall_known_extensions": False,
                "autoload_known_extensions": False,
                "python_enable_replacements": False,
            }
        )
        self._connection.execute("SET GLOBAL TimeZone = 'UTC'")
        # They take time that grows with the square of the number of columns, and find nothing to better here.
        self._connection.execute("SET GLOBAL disabled_optimizers = 'expression_rewriter,common_subexpressions'")

    @staticmethod
    def needs(spec: dict[str, Any]) -> Needs:
        return Needs(read=spec["read"], write=[spec["write"]])

    def answer(self, do: str, request: dict[str, Any], _output: int | None) -> dict[str, Any]:
        return self.inspect() if do == "inspect" else self.load(request["load"])

    def load(self, job: dict[str, Any]) -> dict[str, Any]:
        """The tables of one file, written into the folder `into`, and what there is to tell about them."""
        into = Path(job["into"])
        tables: list[dict[str, str | None]] = []
        notes: list[str] = []
        with self._translated():
            for name, table in self._tables(job, into, notes):
                target = into / f"{len(tables)}.parquet"
                self._connection.execute(
                    f"COPY ({table.select}) TO {literal(str(target))} (FORMAT parquet, COMPRESSION zstd)"
                )
                tables.append({"name": name, "file": target.name})
                notes += [f"sheet {name!r}: {note}" if name else note for note in table.notes]
        for left_over in ("unpacked", "clean"):
            (into / left_over).unlink(missing_ok=True)
        if not tables:
            raise Failure("FileError", "file_empty", "The file holds no tables.")
        return {"tables": tables, "notes": [note[:_LONGEST_NOTE] for note in notes]}

    def inspect(self) -> dict[str, Any]:
        """The columns of each Parquet file and their types as one text, or why it cannot be read."""
        seen = {}
        for path in self._parquet:
            try:
                with self._translated():
                    relation = self._connection.sql(f"SELECT * FROM read_parquet({literal(path)})")
                    columns = zip(relation.columns, map(str, relation.types), strict=True)
                    seen[path] = {"columns": ", ".join(f"{name} {kind}" for name, kind in columns)}
            except Failure as failure:
                seen[path] = {"error": failure.report.message}
        return seen

    def _tables(self, job: dict[str, Any], into: Path, notes: list[str]) -> Iterator[tuple[str | None, ReadTable]]:
        path = Path(job["path"])
        if job["format"] == "excel":
            if zipfile.is_zipfile(path):
                check_archive(path, job["max_bytes"])
            yield from read_excel(self._connection, path)
            return
        text = plain_text(path, job["compressed"], into, job["max_bytes"])
        notes += text.notes
        if job["format"] == "json":
            yield None, read_json(self._connection, text.path)
        else:
            yield None, read_csv(self._connection, text.path, tabs=job["format"] == "tsv")

    def interrupt(self) -> None:
        self._connection.interrupt()

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except (duckdb.OutOfMemoryException, MemoryError) as error:
            raise _too_large(self._memory_mb) from error
        except duckdb.Error as error:
            message = str(error).partition(" Error: ")[2].split("\n")[0] or str(error)
            raise Failure("FileError", "file_malformed", f"The file cannot be read: {message.strip()}") from error
        except OSError as error:
            raise Failure("FileError", "file_unreadable", f"The file cannot be read: {error.strerror}.") from error


def _too_large(memory_mb: int) -> Failure:
    return Failure(
        "LimitError",
        "file_too_large",
        f"Reading the file takes more than {memory_mb:,} MB of memory.",
        "Split it, or store it as Parquet.",
    )
