"""The rows of a result. Those of a small one are remembered for a moment: its answer needs no look at its file."""

from collections import OrderedDict
from collections.abc import Sequence
from pathlib import Path

from answerable.core.ids import ArtifactId
from answerable.core.values import Json

_RESULTS = 64
"""Results that are remembered; each is small, and most answers are built right after their query."""

Rows = Sequence[tuple[Json, ...]]


class RecentRows:
    """Rows by the artifact that holds them. An artifact is named by its content, so its rows never change. Whoever asks
    for rows has been given the artifact, so nothing is checked here."""

    def __init__(self) -> None:
        self._rows: OrderedDict[ArtifactId, Rows] = OrderedDict()

    def remember(self, artifact: ArtifactId, rows: Rows) -> None:
        self._rows[artifact] = rows
        self._rows.move_to_end(artifact)
        if len(self._rows) > _RESULTS:
            self._rows.popitem(last=False)

    def of(self, artifact: ArtifactId) -> Rows | None:
        """All rows of the artifact as values that JSON can hold, or None if they are not remembered."""
        return self._rows.get(artifact)


class ResultRows:
    def __init__(self, path: Path, known: Rows | None = None) -> None:
        """`path`: the Arrow file with the rows; `known`: all of them, if they need not be read."""
        self._path = path
        self._known = known

    def whole(self, limit: int) -> list[tuple[Json, ...]]:
        """The first rows with all of their values, for computing with them."""
        if self._known is not None:
            return list(self._known[:limit])
        from answerable.answers import frame

        return frame.rows(self._path, 0, limit)

    def part(self, offset: int, limit: int) -> list[tuple[Json, ...]]:
        """Rows as they are shown: in a large file, long texts are cut."""
        if self._known is not None:
            return list(self._known[offset : offset + limit])
        from answerable.answers import frame  # loads slowly, and small results do not need it

        return frame.shown_rows(self._path, offset, limit)

    @property
    def findings(self) -> Sequence[str]:
        """What must be said about the values: only files have values that cannot be shown as they are."""
        if self._known is not None:
            return ()
        from answerable.answers import frame

        return frame.shown_form(self._path).findings
