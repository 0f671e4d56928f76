"""A million rows of eight columns over HTTP, from a running `answerable serve`, against a bare server that streams the
same frame in the same format.

    python -m bench.export FRAME PORT        is that bare server
"""

import contextlib
import http.client
import io
import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import polars as pl
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import StreamingResponse
from starlette.routing import Route

from bench.figures import Figure, compared
from bench.serving import answerable_serving, free_port, running

ROWS = 1_000_000
MORE_ROWS = 4_000_000
SLICE = 65_536
FORMATS = ("csv", "ndjson", "arrow")
LEAST_RATIO = 0.6
FIRST_ROWS_MS = 200.0
MEMORY_RATIO = 1.3
"""How much more memory four times the rows may take."""


def measure(quick: bool) -> list[Figure]:
    with tempfile.TemporaryDirectory(prefix="answerable-bench-") as folder:
        data = Path(folder) / "data"
        data.mkdir()
        for name, rows in (("rows", ROWS), ("more_rows", MORE_ROWS)):
            _frame(rows).write_parquet(data / f"{name}.parquet")
        _frame(ROWS).write_ipc(Path(folder) / "frame.arrow")
        with answerable_serving(Path(folder) / "home", data) as (process, ours), _bare(Path(folder)) as bare:
            run = _asked(ours, "rows")
            speeds = [_speed(ours, bare, run, format, 3 if quick else 7) for format in FORMATS]
            return [*speeds, _first_rows(ours, 3 if quick else 9), _memory(ours, process, run)]


def _frame(rows: int) -> pl.DataFrame:
    number = pl.int_range(rows, eager=True)
    return pl.DataFrame(
        {
            "id": number,
            "a": (number * 7919 % 1_000_003) / 1000,
            "b": (number * 104_729 % 999_983) / 7,
            "c": number % 1000,
            "flag": number % 2 == 0,
            "name": (number % 5000).cast(pl.String) + " name",
            "category": (number % 8).cast(pl.String),
            "at": (number * 1_000_000 + 1_700_000_000_000_000).cast(pl.Datetime("us")),
        }
    )


# Servers


@contextlib.contextmanager
def _bare(folder: Path) -> Iterator[int]:
    port = free_port()
    command = [sys.executable, "-m", "bench.export", str(folder / "frame.arrow"), str(port)]
    with running(command, port, dict(os.environ)):
        yield port


def bare_app(path: Path) -> Starlette:
    """Nothing but the frame in memory and polars' own writers."""
    frame = pl.read_ipc(path)
    writers: dict[str, Callable[[pl.DataFrame, io.BytesIO], object]] = {
        "csv": lambda part, out: part.write_csv(out),
        "ndjson": lambda part, out: part.write_ndjson(out),
        "arrow": lambda part, out: part.write_ipc_stream(out),
    }

    def pieces(format: str) -> Iterator[bytes]:
        for offset in range(0, frame.height, SLICE):
            buffer = io.BytesIO()
            writers[format](frame.slice(offset, SLICE), buffer)
            yield buffer.getvalue()

    async def rows(request: Request) -> StreamingResponse:
        return StreamingResponse(pieces(request.path_params["format"]))

    return Starlette(routes=[Route("/{format}", rows)])


# Measurements


def _speed(ours: int, bare: int, run: str, format: str, repeats: int) -> Figure:
    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(repeats + 1):
        for spent, port, path in zip(times, (ours, bare), (_rows(run, format), f"/{format}"), strict=True):
            began = time.perf_counter()
            _read(port, path)
            spent.append(time.perf_counter() - began)
    speed, floor = (ROWS / statistics.median(spent[1:]) / 1e6 for spent in times)
    return compared(f"1M rows as {format} over HTTP", speed, floor, "M rows/s", LEAST_RATIO, "higher")


def _first_rows(port: int, repeats: int) -> Figure:
    """From the end of the query, as its event tells it, to the first rows at a client that follows the run."""
    waits = []
    for _ in range(repeats + 1):
        connection, response = _open(port, "POST", "/api/v1/chat/stream", _body("SQL: SELECT * FROM rows", "big"))
        ended = 0.0
        for event in _events(response):
            if event["type"] == "step.finished" and event["node"].endswith("query"):
                ended = event["at"]
            elif event["type"] in ("answer.batch", "answer.final"):
                _read(port, f"/api/v1/runs/{event['run']}/rows?limit=1000")
                waits.append((time.time() - ended) * 1000)
                break
        connection.close()
    return compared("first rows after the query", statistics.median(waits[1:]), FIRST_ROWS_MS, "ms", 1.0)


def _memory(port: int, process: int, run: str) -> Figure:
    """The most that the server ever held while it sent four times the rows, to the most for the rows."""
    larger = _asked(port, "more_rows")
    peaks = []
    for each in (run, larger):
        Path(f"/proc/{process}/clear_refs").write_text("5")
        _read(port, _rows(each, "ndjson"))
        status = Path(f"/proc/{process}/status").read_text()
        peaks.append(int(next(line for line in status.splitlines() if line.startswith("VmHWM")).split()[1]) / 1024)
    return compared("memory for 4M rows to 1M rows", peaks[1], peaks[0], "MB", MEMORY_RATIO)


# A small client that reads and forgets


def _asked(port: int, table: str) -> str:
    query = json.dumps({"query_type": "sql", "code": f"SELECT * FROM {table}", "source": "big"})
    connection, response = _open(port, "POST", "/api/v1/runs", query)
    answer = json.loads(response.read())
    connection.close()
    assert answer["status"] == "done", answer
    return str(answer["run_id"])


def _body(message: str, source: str) -> str:
    return json.dumps({"message": message, "source": source})


def _rows(run: str, format: str) -> str:
    return f"/api/v1/runs/{run}/rows?format={format}"


def _read(port: int, path: str) -> int:
    connection, response = _open(port, "GET", path)
    buffer, total = bytearray(1 << 20), 0
    while count := response.readinto(buffer):
        total += count
    connection.close()
    assert response.status == http.HTTPStatus.OK
    return total


def _open(port: int, method: str, path: str, body: str | None = None) -> tuple[http.client.HTTPConnection, Any]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
    connection.request(method, path, body, {"Content-Type": "application/json"} if body else {})
    return connection, connection.getresponse()


def _events(response: http.client.HTTPResponse) -> Iterator[dict[str, Any]]:
    for line in response:
        if line.startswith(b"data: "):
            yield json.loads(line[6:])


if __name__ == "__main__":
    uvicorn.run(bare_app(Path(sys.argv[1])), port=int(sys.argv[2]), log_level="error")
