"""`kill -9` at every commit and every write of a drawn graph with branches, a map, a loop and effects."""

import asyncio
import json
import subprocess
import sys
import threading
import time
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from faults.server import Room
from faults.stock import Stock

ROUNDS = 1_000
POINTS_PER_ROUND = 8
"""Together more than there are points: each one."""
WIDTH, NARROW = 14, 3
"""Branches and items: a graph of 41 nodes, and a small one for a short form."""


class Recorder:
    """An API that counts writes by their names. Under `/keyed` it carries a request out once for each key."""

    def __init__(self) -> None:
        self.writes: Counter[str] = Counter()
        self.keys: dict[str | None, str] = {}
        self.open = 0
        self._lock = threading.Lock()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                name = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["name"]
                key = self.headers.get("Idempotency-Key")
                with outer._lock:
                    if not self.path.startswith("/keyed") or key not in outer.keys:
                        outer.writes[name] += 1
                        outer.keys[key] = name
                self._reply(name)

            def do_GET(self) -> None:
                # What a process that was killed had sent is read first.
                until = time.monotonic() + 5
                while outer.open > 1 and time.monotonic() < until:
                    time.sleep(0.002)
                with outer._lock:
                    if self.path == "/forget":
                        outer.writes.clear()
                        outer.keys.clear()
                    self._reply(dict(outer.writes), last=True)

            def _reply(self, body: Any, last: bool = False) -> None:
                content = json.dumps(body).encode()
                self.send_response(200)
                self.send_header("Content-Length", str(len(content)))
                if last:
                    self.send_header("Connection", "close")
                self.end_headers()
                self.wfile.write(content)

            def setup(self) -> None:
                with outer._lock:
                    outer.open += 1
                super().setup()

            def finish(self) -> None:
                with outer._lock:
                    outer.open -= 1
                super().finish()

            def log_message(self, *_: object) -> None: ...

        class Server(ThreadingHTTPServer):
            daemon_threads = True
            request_queue_size = 128

            def handle_error(self, *_: object) -> None:
                """A client that is killed is part of this."""

        self._server = Server(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


async def harmed(room: Room, rounds: int) -> Stock:
    width = WIDTH if rounds >= ROUNDS else NARROW
    return judged(await asyncio.to_thread(swept, room.folder, width, rounds * POINTS_PER_ROUND))


def swept(folder: Path, width: int, points: int) -> list[Any]:
    """What was seen at each point, after what was seen of a run that nobody disturbed."""
    recorder, place = Recorder(), folder / "sweep"
    place.mkdir()
    command = [sys.executable, "-m", "faults.graph_points", str(place), recorder.url, str(width), str(points)]
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, timeout=3_600)
    finally:
        recorder.close()
    return [json.loads(line) for line in done.stdout.splitlines()]


def judged(seen: list[Any]) -> Stock:
    whole, *killed = seen
    stock = Stock(requests=sum(whole["writes"].values()) * len(seen))
    expected = dict.fromkeys(whole["writes"], 1)
    if whole["writes"] != expected:
        stock.doubled.append(f"undisturbed: {whole['writes']}")
    for one in killed:
        where = f"point {one['point']} of {whole['points']}"
        stock.doubled += [f"{where}: {name} written {n} times" for name, n in one["writes"].items() if n > 1]
        stock.doubled += [f"{where}: {node} ended {n} times" for node, n in Counter(one["ended"]).items() if n > 1]
        stock.lost += [f"{where}: {name} never written" for name in expected if name not in one["writes"]]
        if one["status"] != "done":
            stock.stuck.append(f"{where}: {one['status']}")
        elif one["output"] != whole["output"] or not one["numbers"] or set(one["ended"]) != set(whole["ended"]):
            stock.lost.append(f"{where}: another output or another journal")
    return stock
