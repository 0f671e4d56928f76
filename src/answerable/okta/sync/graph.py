"""The synced tenant once more, as a graph: who is in which group, and what leads to which application and role.

It is made from the database of a complete sync, and takes its place in one step. So readers of the graph, too, see one
whole sync, at times the one before for as long as the making takes. If the graph is that of the sync before, a copy of
it is changed; else it is built anew. Which sync a graph is of, `graph.json` says: it names the file itself, so that it
cannot speak of another one, whenever a sync was killed.
"""

import json
import os
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from answerable.core.errors import OperatorError
from answerable.okta.sync.database import PUBLISHED
from answerable.okta.sync.graph_changes import GraphChanges
from answerable.okta.sync.graph_tables import exported, graph_content
from answerable.okta.sync.touched import TouchedKeys

if TYPE_CHECKING:
    from ladybug import Connection

FOLDER, GRAPH, STATE, _SCRATCH = "graph", "okta.lbug", "graph.json", ".graph"
NAMES = Path(__file__).parents[1] / "data" / "graph.semantic.yaml"
VERSION = 1
"""Of the nodes and relationships. A graph of another version is built anew."""
_BUFFER = 256 << 20
_LARGEST = 1 << 36
_THREADS = 2
_GROWTH = 2.0
"""A graph that has grown by this factor is built anew: rows that were deleted keep their room."""


@dataclass(frozen=True, slots=True)
class GraphState:
    """Which graph is there: the sync that it is of, and the file that holds it."""

    version: int
    sync: int
    built: int
    """Size of the file when it was last built anew."""
    file: tuple[int, ...]
    """Inode, size and time of the last change."""


def update_graph(folder: Path, touched: TouchedKeys | None) -> Path:
    """Brings the graph of a tenant to its last complete sync, and returns its file. Only one process may do so.
    `touched`: the rows that differ from the sync before, or None if everything is new."""
    target, scratch = folder / FOLDER / GRAPH, folder / _SCRATCH
    shutil.rmtree(scratch, ignore_errors=True)  # of a sync that was killed
    try:
        target.parent.mkdir(mode=0o700, exist_ok=True)
        scratch.mkdir(mode=0o700)
        with closing(sqlite3.connect(f"{(folder / PUBLISHED).as_uri()}?mode=ro", uri=True)) as db:
            built = _changed(db, folder, touched, scratch) or _built(db, scratch)
            _switch(folder, scratch / GRAPH, _syncs(db)[0], built)
    except (RuntimeError, sqlite3.Error, OSError) as error:
        raise OperatorError(f"The graph cannot be written: {error}.", code="okta_store_failed") from error
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    names = target.parent / "semantic.yaml"
    if not names.exists():
        shutil.copyfile(NAMES, names)
    return target


def _changed(db: sqlite3.Connection, folder: Path, touched: TouchedKeys | None, scratch: Path) -> int | None:
    """Changes a copy of the graph. Returns the size that it was built with, or None if it must be built anew."""
    target, state, syncs = folder / FOLDER / GRAPH, read_state(folder), _syncs(db)
    if touched is None or state is None or len(syncs) < 2 or state.sync != syncs[1]:
        return None
    if state.file != _identity(target) or target.stat().st_size > _GROWTH * state.built:
        return None
    shutil.copyfile(target, scratch / GRAPH)
    with _opened(scratch / GRAPH) as graph:
        GraphChanges(db, graph, touched, scratch).write()
    return state.built


def _built(db: sqlite3.Connection, scratch: Path) -> int:
    with _opened(scratch / GRAPH) as graph:
        for name, ddl, query in graph_content():
            graph.execute(ddl)
            file = scratch / f"{name}.csv"
            if exported(db.execute(query), file):
                graph.execute(f'COPY {name} FROM "{file}" (HEADER=false, PARALLEL=false)')
            file.unlink()
    return (scratch / GRAPH).stat().st_size


def _switch(folder: Path, new: Path, sync: int, built: int) -> None:
    with new.open("rb") as file:
        os.fsync(file.fileno())
    identity = _identity(new) or ()
    new.replace(folder / FOLDER / GRAPH)
    written = folder / f".{STATE}"
    written.write_text(json.dumps(asdict(GraphState(VERSION, sync, built, identity))))
    written.replace(folder / STATE)


def read_state(folder: Path) -> GraphState | None:
    """None if there is no graph of this version, or it is not known which one it is."""
    try:
        found = json.loads((folder / STATE).read_text())
        state = GraphState(**{**found, "file": tuple(found["file"])})
    except (OSError, ValueError, TypeError, KeyError):
        return None
    return state if state.version == VERSION else None


def _identity(file: Path) -> tuple[int, ...] | None:
    try:
        found = file.stat()
    except FileNotFoundError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns


def _syncs(db: sqlite3.Connection) -> list[int]:
    """Numbers of the last sync and the one before."""
    return [row[0] for row in db.execute("SELECT id FROM sync_history ORDER BY id DESC LIMIT 2")]


@contextmanager
def _opened(file: Path) -> Iterator["Connection"]:
    import ladybug  # takes long to load, and a sync may end before it is needed

    opened = ladybug.Database(str(file), buffer_pool_size=_BUFFER, max_db_size=_LARGEST, max_num_threads=_THREADS)
    with opened, ladybug.Connection(opened) as connection:
        yield connection
