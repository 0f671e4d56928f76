"""Turns files that are not Parquet into Parquet, once, so that every question after that reads only what it needs."""

from pathlib import Path
from typing import Any

import duckdb

from answerable.sources.workers.failures import Failure


class Loader:
    def __init__(self, spec: dict[str, Any]) -> None:
        self._connection = duckdb.connect(
            config={"threads": spec["threads"], "memory_limit": f"{spec['memory_mb'] * 4 // 5}MB", "temp_directory": ""}
        )

    def load(self, path: str, format: str, compressed: bool, into: str) -> dict[str, Any]:
        try:
            return {"tables": [self._simple(Path(path), format, Path(into))], "warnings": []}
        except duckdb.Error as error:
            raise Failure("SourceError", "file_unreadable", f"{path} cannot be read: {error}") from error

    def _simple(self, path: Path, format: str, into: Path) -> dict[str, Any]:
        reader = {"csv": "read_csv", "json": "read_json"}[format]
        target = into / "0.parquet"
        relation = self._connection.sql(f"SELECT * FROM {reader}('{path}')")
        relation.write_parquet(str(target))
        return {"name": None, "file": target.name}

    def interrupt(self) -> None:
        self._connection.interrupt()
