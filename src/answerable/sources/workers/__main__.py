"""The worker process: `python -I -m answerable.sources.workers DESCRIPTOR PARENT`.

One thread runs statements, one after the other. Another listens, so that a running statement can be stopped and the
process ends when its parent does.
"""

import errno
import importlib
import os
import queue
import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from answerable.isolation import wire
from answerable.isolation.kernel import die_with_parent
from answerable.sources.workers import harden, replies
from answerable.sources.workers.engine import DatabaseEngine
from answerable.sources.workers.failures import Failure, too_many_bytes, too_much_memory

_ENGINES = {
    "duckdb": ("duckdb_engine", "DuckDbEngine"),
    "sqlite": ("sqlite_engine", "SqliteEngine"),
    "postgres": ("postgres_engine", "PostgresEngine"),
    "loader": ("loader", "Loader"),
    "graph_loader": ("graph_loader", "GraphLoader"),
    "frames": ("frames_engine", "FramesEngine"),
    "graph": ("graph_engine", "GraphEngine"),
}


def main(descriptor: int, parent: int) -> None:
    die_with_parent(parent)
    connection = socket.socket(fileno=descriptor)
    received = wire.receive(connection)
    if received is None:
        return
    spec = received[0]
    try:
        engine, isolation = _opened(spec)
    except Failure as failure:
        wire.send(connection, {"id": 0, "error": failure.as_json()})
        return
    except Exception as error:  # a defect of ours must reach the parent as one
        wire.send(connection, {"id": 0, "error": _defect(error).as_json()})
        return
    wire.send(connection, {"id": 0, "ready": isolation})
    _serve(connection, engine, spec["threads"], type(engine).needs(spec).reserved_mb)


def _opened(spec: dict[str, Any]) -> tuple[DatabaseEngine, dict[str, str]]:
    """The engine's libraries are loaded first, then the walls go up, and only then is the data opened."""
    module, name = _ENGINES[spec["engine"]]
    engine: type[Any] = getattr(importlib.import_module(f"answerable.sources.workers.{module}"), name)
    isolation = harden.confine(engine.needs(spec), spec["memory_mb"])
    return engine(spec), isolation


class _Statements:
    """The statements that wait, and the one that runs. Both threads use it."""

    def __init__(self, engine: DatabaseEngine) -> None:
        self.waiting: queue.SimpleQueue[tuple[dict[str, Any], int | None]] = queue.SimpleQueue()
        self._engine = engine
        self._running: int | None = None
        self._lock = threading.Lock()

    @contextmanager
    def running(self, number: int) -> Iterator[None]:
        with self._lock:
            self._running = number
        try:
            yield
        finally:
            with self._lock:
                self._running = None

    def stop(self, number: int) -> None:
        with self._lock:
            if self._running == number:
                self._engine.interrupt()


def _serve(connection: socket.socket, engine: DatabaseEngine, threads: int, reserved_mb: int) -> None:
    statements = _Statements(engine)
    threading.Thread(target=_listen, args=(connection, statements), daemon=True).start()
    while True:
        message, output = statements.waiting.get()
        for frame in _answered(statements, engine, message, output, threads, reserved_mb):
            connection.sendall(frame)


def _listen(connection: socket.socket, statements: _Statements) -> None:
    """Whatever ends this ends the process: without it, a worker could neither be asked nor stopped."""
    try:
        while received := wire.receive(connection):
            message, output = received
            if message["do"] == "stop":
                statements.stop(message["id"])
            else:
                statements.waiting.put((message, output))
    finally:
        os._exit(0)


def _answered(
    statements: _Statements,
    engine: DatabaseEngine,
    message: dict[str, Any],
    output: int | None,
    threads: int,
    reserved_mb: int,
) -> Iterator[bytes]:
    """The frames of the reply."""
    number, request = message["id"], message["request"]
    try:
        with statements.running(number):
            address_mb = request["memory_mb"] + reserved_mb
            harden.limit_statement(request["seconds"], threads, address_mb, request["bytes"])
            reply = engine.answer(message["do"], request, output)
        yield from replies.frames(number, reply)
        return
    except Failure as error:
        failure = error
    except MemoryError:
        failure = too_much_memory(request["memory_mb"])
    except OSError as error:
        failure = _not_written(error, request["bytes"])
    except Exception as error:  # a defect of ours must reach the parent as one; the worker is then replaced
        failure = _defect(error)
    finally:
        if output is not None:
            os.close(output)
    yield wire.encoded({"id": number, "error": failure.as_json()})


def _defect(error: Exception) -> Failure:
    return Failure("InternalError", "worker_failed", f"A worker failed: {type(error).__name__}: {error}")


def _not_written(error: OSError, limit: int) -> Failure:
    if error.errno == errno.EFBIG:
        return too_many_bytes(limit)
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return Failure("OperatorError", "disk_full", "The disk is full; the result could not be written.")
    return Failure("OperatorError", "result_unwritable", f"The result could not be written: {error.strerror}.")


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
