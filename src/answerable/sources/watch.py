"""Which sources have been read, which are being read, and what is wrong with the others."""

import asyncio
import logging
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from typing import Literal

from answerable.core.catalog import Catalog
from answerable.core.clock import Clock
from answerable.core.context import Principal, Visibility
from answerable.core.errors import AnswerableError, InternalError
from answerable.sources.registry import SourceRegistry

_log = logging.getLogger("answerable.sources")
State = Literal["unread", "reading", "ready", "failed"]
LOOK_AGAIN_S = 10.0
"""After so long somebody who looks at a source that was read learns whether it has changed."""
QUIET_S = 0.5
"""A look at an unchanged source takes less time than this. Only a longer one is shown as reading."""
_AT_ONCE = 3
"""Sources that are read at the same time: one that takes long must not make others wait."""
STAGES = ("Waiting for its turn", "Opening", "Reading tables", "Indexing values")


@dataclass(frozen=True, slots=True)
class Seen:
    """What is known of a source without reading it."""

    state: State = "unread"
    location: str | None = None
    """Where the source was when it was read; None before that."""
    kind: str | None = None
    stage: int = 0
    """Of `STAGES`, while it is read."""
    since: float = 0.0
    read_at: datetime | None = None
    catalog: Catalog | None = None
    """The last that was read."""
    error: AnswerableError | None = None


class Watch:
    """Reads sources in the background, a few at a time, each as the principal who looks at it may see it."""

    def __init__(self, sources: SourceRegistry, clock: Clock) -> None:
        self._sources = sources
        self._clock = clock
        self._seen: dict[_Key, Seen] = {}
        self._tasks: dict[_Key, asyncio.Task[None]] = {}
        self._again: set[_Key] = set()
        self._counted: dict[_Key, tuple[int, int]] = {}
        """Of the sources that are being read: how many of how many tables, files or columns are done."""
        self._turn = asyncio.Semaphore(_AT_ONCE)

    def seen(self, name: str, principal: Principal) -> Seen:
        known = self._known(self._key(name, principal))
        # Another process may have removed the source and added one of the same name at another location.
        return known if known.location in (None, self._sources.location(name, principal)) else Seen()

    def _key(self, name: str, principal: Principal) -> "_Key":
        return self._sources.visibility(principal), name

    def _known(self, key: "_Key") -> Seen:
        return self._seen.get(key, Seen())

    def progress(self, name: str, principal: Principal) -> tuple[str, int, int, bool]:
        """What is being done, how far it is and of how much; whether tables are counted, else it is stages."""
        key = self._key(name, principal)
        stage, counted = self._known(key).stage, self._counted.get(key)
        if counted is not None:
            return STAGES[stage], *counted, True
        return STAGES[stage], stage, len(STAGES), False

    def seconds(self, name: str, principal: Principal) -> float:
        """How long it has been read by now."""
        return self._clock.monotonic() - self.seen(name, principal).since

    def read(self, name: str, principal: Principal) -> Seen:
        """Begins to read a source as it is now; when that is under way, once more after it."""
        key = self._key(name, principal)
        if key in self._tasks:
            self._again.add(key)
        else:
            now = self._clock.monotonic()
            self._seen[key] = replace(
                self.seen(name, principal),
                location=self._sources.location(name, principal),
                state="reading",
                stage=0,
                since=now,
                error=None,
            )
            self._tasks[key] = asyncio.create_task(self._read(key, principal))
        return self._seen[key]

    def look(self, name: str, principal: Principal) -> Seen:
        """Reads a source that has never been read. One that was read is checked for changes from time to time."""
        key = self._key(name, principal)
        seen = self.seen(name, principal)
        if seen.state == "unread":
            return self.read(name, principal)
        if seen.state == "ready" and key not in self._tasks and self.seconds(name, principal) > LOOK_AGAIN_S:
            self._seen[key] = replace(seen, since=self._clock.monotonic())
            self._tasks[key] = asyncio.create_task(self._read(key, principal))
            asyncio.get_running_loop().call_later(QUIET_S, self._show_reading, key, self._tasks[key])
        return self._seen[key]

    def _show_reading(self, key: "_Key", task: asyncio.Task[None]) -> None:
        if self._tasks.get(key) is task and not task.done():
            self._note(key, state="reading")

    async def wait(self, name: str, principal: Principal) -> Seen:
        """Waits until the reading that is under way has ended."""
        key = self._key(name, principal)
        if task := self._tasks.get(key):
            await asyncio.wait([task])
        return self._known(key)

    async def forget(self, name: str, principal: Principal) -> None:
        await self._forget(self._key(name, principal))

    async def _forget(self, key: "_Key") -> None:
        self._again.discard(key)
        if task := self._tasks.pop(key, None):
            task.cancel()
            await asyncio.wait([task])
        self._seen.pop(key, None)

    async def close(self) -> None:
        for key in list(self._tasks):
            await self._forget(key)

    async def _read(self, key: "_Key", principal: Principal) -> None:
        wanted = True
        while wanted:
            self._again.discard(key)
            async with self._turn:
                await self._through(key, principal)
            wanted = key in self._again
        self._tasks.pop(key, None)
        self._note(key, state="failed" if self._known(key).error else "ready")

    async def _through(self, key: "_Key", principal: Principal) -> None:
        name = key[1]
        try:
            self._note(key, stage=1)
            source = await self._sources.get(name, principal)
            self._note(key, kind=source.kind, stage=2)
            catalog = await source.describe(partial(self._count, key))
            self._counted.pop(key, None)
            self._note(key, catalog=catalog, stage=3)
            await source.values()
        except AnswerableError as error:
            self._note(key, error=error)
        except Exception as defect:  # a defect of ours must not leave the source "being read" for ever
            _log.exception("a source could not be read", extra={"fields": {"source": name}})
            self._note(key, error=InternalError(f"Reading it failed: {type(defect).__name__}."))
        else:
            self._note(key, error=None, read_at=self._clock.now())
        finally:
            self._counted.pop(key, None)

    def _count(self, key: "_Key", _message: str, done: float | None, total: float | None) -> None:
        if done is not None and total is not None:
            self._counted[key] = (int(done), int(total))

    def _note(self, key: "_Key", **news: object) -> None:
        self._seen[key] = replace(self._known(key), **news)  # type: ignore[arg-type]


_Key = tuple[Visibility, str]
