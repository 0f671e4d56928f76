"""Rows of earlier results as the tables of one more query, in a worker that can reach nothing else."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from answerable.core.progress import Progress, no_progress
from answerable.core.values import Language
from answerable.query.checked import CheckedQuery
from answerable.query.sql.dialects import FRAMES_DIALECT
from answerable.sources.base import Limits, QueryResult
from answerable.sources.sql.backend import Snapshot, SourceOptions
from answerable.sources.sql.source import SqlSource
from answerable.sources.worker_places import WorkerPlaces


class FramesBackend:
    kind = "frames"
    dialect: Language = FRAMES_DIALECT
    is_local = True
    semantic_files: Sequence[Path] = ()
    functions: Sequence[str] = ()

    def __init__(self, frames: Mapping[str, Path], options: SourceOptions) -> None:
        self._frames = frames
        self._options = options

    async def look(self, _progress: Progress) -> Snapshot:
        """The files are named by their content, so they cannot change."""
        spec = {
            "engine": "frames",
            "frames": [{"name": name, "file": str(path)} for name, path in self._frames.items()],
            "threads": self._options.threads,
            "memory_mb": self._options.memory_mb,
        }
        return Snapshot(spec, fingerprint="")


async def query_frames(
    query: CheckedQuery,
    frames: Mapping[str, Path],
    into: Path,
    limits: Limits,
    progress: Progress = no_progress,
    *,
    places: WorkerPlaces | None = None,
) -> QueryResult:
    """Runs checked SQL over Arrow files by name, in a process of its own that ends with it; `places` is where it runs
    beside the workers of sources."""
    options = SourceOptions(workers=1, memory_mb=limits.memory_mb, places=places or WorkerPlaces())
    source = SqlSource("frames", FramesBackend(frames, options), into.parent, options)
    try:
        return await source.execute(query, into, limits, progress)
    finally:
        await source.close()
