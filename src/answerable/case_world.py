"""What a case needs beside the bundled data: a small graph, or an API on the loopback that replies as written."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from urllib.parse import urlsplit

from answerable.agents.cases import CASE_API, AgentCase, CaseApi
from answerable.core.values import Json
from answerable.isolation.own_folder import scratch_folder


@contextmanager
def asked_source(case: AgentCase) -> Iterator[AgentCase]:
    """The case with the location of its graph as its source, if it describes one."""
    if not case.graph:
        yield case
        return
    with scratch_folder() as folder:
        yield case.model_copy(update={"source": str(_written(folder / "graph.lbug", case.graph))})


def _written(file: Path, statements: tuple[str, ...]) -> Path:
    import ladybug

    with (
        ladybug.Database(str(file), buffer_pool_size=64 << 20, max_db_size=1 << 30) as database,
        ladybug.Connection(database) as connection,
    ):
        for statement in statements:
            connection.execute(statement)
    return file


@contextmanager
def served_api(api: CaseApi | None) -> Iterator[dict[str, dict[str, Json]]]:
    """The setting `apis` with the API of a case, which is served meanwhile; empty if the case has none."""
    if api is None:
        yield {}
        return
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(api))
    thread = Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield {CASE_API: {"url": f"http://127.0.0.1:{server.server_port}", "paths": list(api.paths)}}
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _handler(api: CaseApi) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            path = urlsplit(self.path).path
            body = json.dumps(api.replies.get(path)).encode()
            self.send_response(200 if path in api.replies else 404)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            """Says nothing: the run records each request."""

    return Handler
