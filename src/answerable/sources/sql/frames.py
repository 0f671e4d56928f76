"""Rows of earlier results as the tables of one more query, in a worker that can reach nothing else."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from answerable.core.values import Dialect
from answerable.sources.base import Limits, QueryResult
from answerable.sources.sql.source import Options, Snapshot, SqlSource


class FramesPlace:
    kind = "frames"
    dialect: Dialect = "duckdb"
    semantic_files: Sequence[Path] = ()

    def __init__(self, frames: Mapping[str, Path], options: Options) -> None:
        self._frames = frames
        self._options = options

    async def look(self) -> Snapshot:
        """The files are named by their content, so they cannot change."""
        spec = {
            "engine": "frames",
            "frames": [{"name": name, "file": str(path)} for name, path in self._frames.items()],
            "threads": self._options.threads,
            "memory_mb": self._options.memory_mb,
        }
        return Snapshot(spec, fingerprint="")


async def query_frames(sql: str, frames: Mapping[str, Path], into: Path, limits: Limits) -> QueryResult:
    """Runs checked SQL over Arrow files by name, in a process of its own that ends with it."""
    options = Options(workers=1, memory_mb=limits.memory_mb)
    source = SqlSource("frames", FramesPlace(frames, options), into.parent, options)
    try:
        return await source.execute(sql, into, limits)
    finally:
        await source.close()
