"""Which sources have been read, which are being read, and what is wrong with the others."""

import asyncio
import logging
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from typing import Literal

from answerable.core.catalog import Catalog
from answerable.core.clock import Clock
from answerable.core.errors import AnswerableError, InternalError
from answerable.sources.registry import SourceRegistry

_log = logging.getLogger("answerable.sources")
State = Literal["unread", "reading", "ready", "failed"]
LOOK_AGAIN_S = 10.0
"""After so long somebody who looks at a source that was read learns whether it has changed."""
QUIET_S = 0.5
"""Looking at what has not changed takes less; it is not told as reading."""
STAGES = ("Waiting for its turn", "Opening", "Reading tables", "Indexing values")


@dataclass(frozen=True, slots=True)
class Seen:
    """What is known of a source without reading it."""

    state: State = "unread"
    kind: str | None = None
    stage: int = 0
    """Of `STAGES`, while it is read."""
    since: float = 0.0
    read_at: datetime | None = None
    catalog: Catalog | None = None
    """The last that was read."""
    error: AnswerableError | None = None


class Watch:
    """Reads sources in the background, one after the other."""

    def __init__(self, sources: SourceRegistry, clock: Clock) -> None:
        self._sources = sources
        self._clock = clock
        self._seen: dict[str, Seen] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._again: set[str] = set()
        self._counted: dict[str, tuple[int, int]] = {}
        """Of the sources that are being read: how many of how many tables, files or columns are done."""
        self._turn = asyncio.Semaphore(1)

    def seen(self, name: str) -> Seen:
        return self._seen.get(name, Seen())

    def progress(self, name: str) -> tuple[str, int, int, bool]:
        """What is being done, how far it is and of how much; whether tables are counted, else it is stages."""
        stage, counted = self.seen(name).stage, self._counted.get(name)
        if counted is not None:
            return STAGES[stage], *counted, True
        return STAGES[stage], stage, len(STAGES), False

    def seconds(self, name: str) -> float:
        """How long it has been read by now."""
        return self._clock.monotonic() - self.seen(name).since

    def read(self, name: str) -> Seen:
        """Begins to read a source as it is now; when that is under way, once more after it."""
        if name in self._tasks:
            self._again.add(name)
        else:
            known = self.seen(name)
            self._seen[name] = replace(known, state="reading", stage=0, since=self._clock.monotonic(), error=None)
            self._tasks[name] = asyncio.create_task(self._read(name))
        return self._seen[name]

    def look(self, name: str) -> Seen:
        """The same for a source that has never been read; one that was is looked at again from time to time."""
        seen = self.seen(name)
        if seen.state == "unread":
            return self.read(name)
        if seen.state == "ready" and name not in self._tasks and self.seconds(name) > LOOK_AGAIN_S:
            self._seen[name] = replace(seen, since=self._clock.monotonic())
            self._tasks[name] = asyncio.create_task(self._read(name))
            asyncio.get_running_loop().call_later(QUIET_S, self._tell_reading, name, self._tasks[name])
        return self._seen[name]

    def _tell_reading(self, name: str, task: asyncio.Task[None]) -> None:
        if self._tasks.get(name) is task and not task.done():
            self._note(name, state="reading")

    async def forget(self, name: str) -> None:
        self._again.discard(name)
        if task := self._tasks.pop(name, None):
            task.cancel()
            await asyncio.wait([task])
        self._seen.pop(name, None)

    async def close(self) -> None:
        for name in list(self._tasks):
            await self.forget(name)

    async def _read(self, name: str) -> None:
        wanted = True
        while wanted:
            self._again.discard(name)
            async with self._turn:
                await self._through(name)
            wanted = name in self._again
        self._tasks.pop(name, None)
        self._note(name, state="failed" if self.seen(name).error else "ready")

    async def _through(self, name: str) -> None:
        try:
            self._note(name, stage=1)
            source = await self._sources.get(name)
            self._note(name, kind=source.kind, stage=2)
            catalog = await source.describe(partial(self._count, name))
            self._counted.pop(name, None)
            self._note(name, catalog=catalog, stage=3)
            await source.values()
        except AnswerableError as error:
            self._note(name, error=error)
        except Exception as defect:  # a defect of ours must not leave the source "being read" for ever
            _log.exception("a source could not be read", extra={"fields": {"source": name}})
            self._note(name, error=InternalError(f"Reading it failed: {type(defect).__name__}."))
        else:
            self._note(name, error=None, read_at=self._clock.now())
        finally:
            self._counted.pop(name, None)

    def _count(self, name: str, _message: str, done: float | None, total: float | None) -> None:
        if done is not None and total is not None:
            self._counted[name] = (int(done), int(total))

    def _note(self, name: str, **news: object) -> None:
        self._seen[name] = replace(self.seen(name), **news)  # type: ignore[arg-type]
