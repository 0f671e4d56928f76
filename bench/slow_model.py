"""A model that takes its time: an OpenAI-compatible server on the loopback that waits, then streams a reply."""

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

PIECE = 12


class SlowModel(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, reply: Callable[[str], object]) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.reply = reply
        self.wait = 0.0
        """Seconds before the first piece, and a thousandth of that between pieces."""
        self.given = 0.0
        """When the last reply's first piece was sent."""
        self.calls: list[tuple[float, float]] = []
        """When each began and ended."""

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/v1"


@contextmanager
def slow_model(reply: Callable[[str], object]) -> Iterator[SlowModel]:
    """`reply`: what is said, as a JSON value, to all that a request says."""
    server = SlowModel(reply)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: SlowModel

    def log_message(self, *_: Any) -> None:
        """Nobody reads it."""

    def do_POST(self) -> None:
        began = time.perf_counter()
        said = self.rfile.read(int(self.headers["Content-Length"])).decode()
        text = json.dumps(self.server.reply(said))
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        self._piece({"role": "assistant", "content": ""})
        time.sleep(self.server.wait)
        self.server.given = time.perf_counter()
        for start in range(0, len(text), PIECE):
            self._piece({"content": text[start : start + PIECE]})
            time.sleep(self.server.wait / 1000)
        self._piece({}, "stop")
        self._chunk(b"data: [DONE]\n\n")
        self.wfile.write(b"0\r\n\r\n")
        self.server.calls.append((began, time.perf_counter()))

    def _piece(self, delta: dict[str, str], reason: str | None = None) -> None:
        choice = {"index": 0, "delta": delta, "finish_reason": reason}
        head = {"id": "slow", "object": "chat.completion.chunk", "created": 0, "model": "slow"}
        self._chunk(f"data: {json.dumps({**head, 'choices': [choice]})}\n\n".encode())

    def _chunk(self, data: bytes) -> None:
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
        self.wfile.flush()
