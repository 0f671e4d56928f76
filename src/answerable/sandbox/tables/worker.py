"""The process in which results of untrusted code become tables: `python -I -m answerable.sandbox.tables.worker
DESCRIPTOR PARENT`.

It is sent `{"do", "memory_mb", "bytes"}` with two descriptors, what to read and where to write, and answers
`{"columns", "rows", "bytes"}`, `{"refused": sentence}` or `{"disk_full": true}`. It sees no file of its own, opens no
socket and starts no program, so that a hole in polars would lead nowhere.
"""

import io
import json
import mmap
import os
import resource
import socket
import sys
from contextlib import suppress
from typing import Any

import polars as pl
from polars.exceptions import PanicException, PolarsError

from answerable.core.file_errors import is_full
from answerable.isolation import computing, kernel, landlock, wire
from answerable.sandbox.runner.plain import Unreturnable
from answerable.sandbox.tables.received import received, write_table

_MOST_CELLS = 20_000_000
"""Rows with keys of their own each make a table as wide as it is long."""
_MB = 1 << 20
_DESCRIPTORS = 2


def main(descriptor: int, parent: int) -> None:
    kernel.die_with_parent(parent)
    connection = socket.socket(fileno=descriptor)
    _warm()
    held = _data_bytes()
    _confine()
    while received_with := wire.receive_with(connection, _DESCRIPTORS):
        message, (source, output) = received_with
        try:
            wire.send(connection, _answer(message, source, output, held))
        finally:
            os.close(source)
            os.close(output)


def _warm() -> None:
    """Makes polars start its threads, and loads every library that a table needs, before the walls stand."""
    stream = io.BytesIO()
    pl.DataFrame([{"a": 1, "b": ["x"]}]).write_ipc_stream(stream, compat_level=pl.CompatLevel.oldest())
    received(memoryview(stream.getvalue())).write_ipc(io.BytesIO())


def _confine() -> None:
    with suppress(kernel.Unavailable):
        kernel.forbid_new_privileges()
        with suppress(kernel.Unavailable):
            # Its own libraries stay readable, because Python imports some of them when they are first needed.
            landlock.restrict([path for path in sys.path if os.path.isdir(path)], (), None)
        # What it reads is mapped, and was made by code that nobody trusts.
        computing.restrict_to_computing(own_files=False, libraries=False)


def _answer(message: dict[str, Any], source: int, output: int, held: int) -> dict[str, Any]:
    _limit(resource.RLIMIT_DATA, held + message["memory_mb"] * _MB)
    _limit(resource.RLIMIT_FSIZE, message["bytes"])
    try:
        frame = _from_arrow(source) if message["do"] == "arrow" else _from_json(source)
        return write_table(frame, output)
    except (ValueError, Unreturnable) as error:
        return {"refused": str(error)}
    except MemoryError:
        return {"refused": f"The result needs more than {message['memory_mb']:,} MB of memory as a table."}
    except OSError as error:
        if is_full(error):
            return {"disk_full": True}
        return {"refused": f"The result is larger than {message['bytes'] // _MB:,} MB."}
    except (PolarsError, PanicException, TypeError, OverflowError) as error:
        return {"refused": f"The result cannot be shown as a table: {str(error)[:300]}."}


def _from_arrow(source: int) -> pl.DataFrame:
    size = os.fstat(source).st_size
    return received(memoryview(mmap.mmap(source, size, prot=mmap.PROT_READ) if size else b""))


def _from_json(source: int) -> pl.DataFrame:
    with os.fdopen(os.dup(source), "rb") as file:
        records = json.load(file)
    width = len({name for record in records for name in record})
    if len(records) * width > _MOST_CELLS:
        raise Unreturnable(
            f"The result has {len(records):,} rows and {width:,} columns; give rows that share their columns."
        )
    return pl.DataFrame(records, infer_schema_length=None, strict=False)


def _limit(which: int, value: int) -> None:
    """The soft limit: the next result may be allowed more."""
    hard = resource.getrlimit(which)[1]
    resource.setrlimit(which, (value if hard == resource.RLIM_INFINITY else min(value, hard), hard))


def _data_bytes() -> int:
    """What the process holds now: the libraries and their threads."""
    try:
        with open("/proc/self/statm", "rb") as file:
            return int(file.read().split()[5]) * mmap.PAGESIZE
    except OSError:
        return 512 * _MB


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
