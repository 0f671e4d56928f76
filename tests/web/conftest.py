"""A server that plays recorded runs, and a real browser in front of it.

The events are made with the product's own types and encoder, so the page meets what the gateway sends.
"""

import asyncio
import shutil
import threading
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson
import polars as pl
import pytest
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response, StreamingResponse
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from answerable.answers import frame
from answerable.answers.answer import Answer, Binding, Choice, Provenance, StepRecord
from answerable.answers.present import asked_back, present
from answerable.core.codec import encode
from answerable.core.events import (
    AnswerBatch,
    AnswerFinal,
    AnswerMetadata,
    Event,
    PlanReady,
    RunCancelled,
    RunFailed,
    RunFinished,
    RunStarted,
    StepFinished,
    StepOutput,
    StepRetried,
    StepStarted,
)
from answerable.core.ids import ArtifactId, NodeId, RunId
from answerable.core.values import FrameRef

WEB = Path(__file__).parents[2] / "src" / "answerable" / "web"
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; "
    "connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
RUN = RunId("run_0123456789abcdefghjkmnpq")
THREAD = "thr_0123456789abcdefghjkmnpq"
EVIL = "<img src=x onerror=\"document.title='hacked'\"><script>document.title='hacked'</script>"


@dataclass
class Site:
    """What the server plays, and what it was asked."""

    events: list[Event] = field(default_factory=list)
    answer: Answer | None = None
    rows: list[tuple[Any, ...]] = field(default_factory=list)
    break_after: int | None = None
    """The stream of the question ends after this many events, as if the connection had broken."""
    hold_after: int | None = None
    """It pauses after this many until `release` is set."""
    problem: dict[str, Any] | None = None
    asked: list[dict[str, Any]] = field(default_factory=list)
    resumed: list[str | None] = field(default_factory=list)
    cancelled: list[str] = field(default_factory=list)
    release: threading.Event = field(default_factory=threading.Event)
    address: str = ""

    def app(self) -> Starlette:
        api = [
            Route("/chat/stream", self._stream, methods=["POST"]),
            Route("/runs/{run}/events", self._resume),
            Route("/runs/{run}/rows", self._rows),
            Route("/runs/{run}/cancel", self._cancel, methods=["POST"]),
            Route("/runs/{run}", self._run),
            Route("/threads/{thread}/messages", self._messages),
            Route("/datasets", self._datasets),
            Route("/datasets/{name}/schema", self._schema),
        ]
        return Starlette(
            routes=[Route("/", self._page), Mount("/api/v1", routes=api), Mount("/static", StaticFiles(directory=WEB))]
        )

    async def _page(self, request: Request) -> Response:
        return FileResponse(WEB / "index.html", headers={"Content-Security-Policy": POLICY})

    async def _stream(self, request: Request) -> Response:
        self.asked.append(await request.json())
        if self.problem:
            return JSONResponse(self.problem, self.problem["status"], media_type="application/problem+json")
        headers = {"X-Run-Id": RUN, "X-Thread-Id": THREAD}
        return StreamingResponse(
            self._frames(self.events, self.break_after), media_type="text/event-stream", headers=headers
        )

    async def _resume(self, request: Request) -> Response:
        last = request.headers.get("Last-Event-ID")
        self.resumed.append(last)
        rest = [event for event in self.events if event.seq > int(last or 0)]
        return StreamingResponse(self._frames(rest, None), media_type="text/event-stream")

    async def _frames(self, events: Sequence[Event], stop: int | None) -> AsyncIterator[bytes]:
        yield b": hello\n\n"
        for number, event in enumerate(events):
            if stop is not None and number == stop:
                return
            if number == self.hold_after:
                await asyncio.to_thread(self.release.wait, 10)
            frame_ = b"id: %d\nevent: %s\ndata: %s\n\n" % (event.seq, event.type.encode(), encode(event))
            yield frame_[:20]
            yield frame_[20:]

    async def _rows(self, request: Request) -> Response:
        offset, limit = int(request.query_params.get("offset", 0)), int(request.query_params.get("limit", 1000))
        body = {
            "columns": [],
            "rows": self.rows[offset : offset + limit],
            "offset": offset,
            "row_count": len(self.rows),
        }
        return Response(orjson.dumps(body), media_type="application/json")

    async def _cancel(self, request: Request) -> Response:
        self.cancelled.append(request.path_params["run"])
        self.release.set()
        return JSONResponse({"run_id": RUN, "status": "cancelled", "finished": True}, 202)

    async def _run(self, request: Request) -> Response:
        answer = self.answer.model_dump(mode="json") if self.answer else None
        return Response(orjson.dumps({"run": {"run_id": RUN}, "answer": answer}), media_type="application/json")

    async def _messages(self, request: Request) -> Response:
        message = {"message_id": "m", "role": "user", "content": "Remembered?", "run_id": RUN}
        return JSONResponse({"thread_id": THREAD, "messages": [message, message | {"role": "assistant"}]})

    async def _datasets(self, request: Request) -> Response:
        return JSONResponse({"datasets": [{"id": "sales", "default": True}, {"id": "hr", "default": False}]})

    async def _schema(self, request: Request) -> Response:
        tables = [
            {"name": "orders", "label": None, "row_count": 12345},
            {"name": EVIL, "label": None, "row_count": None},
        ]
        return JSONResponse({"tables": tables})


@pytest.fixture
def site() -> Iterator[Site]:
    site = Site()
    config = uvicorn.Config(site.app(), host="127.0.0.1", port=0, log_level="critical", lifespan="off")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        assert thread.is_alive()
    port = server.servers[0].sockets[0].getsockname()[1]
    site.address = f"http://127.0.0.1:{port}"
    yield site
    site.release.set()
    server.should_exit = True
    thread.join(10)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Not for the whole session: as long as it is open, its loop stands in the way of tests that are coroutines."""
    executable = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if executable is None:
        pytest.skip("there is no Chromium on this machine")
    playwright = pytest.importorskip("playwright.sync_api")
    with playwright.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=executable, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def page(browser: Any, site: Site) -> Iterator[Any]:
    """The page, open. Whatever it complains about fails the test."""
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    context.set_default_timeout(5_000)
    page = context.new_page()
    complaints: list[str] = []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
    page.complaints = complaints
    page.goto(site.address)
    yield page
    context.close()
    assert complaints == []
    assert page.title() != "hacked" if not page.is_closed() else True


class Script:
    """Writes the events of a run one after the other."""

    def __init__(self) -> None:
        self.events: list[Event] = []

    def add(self, event: type[Any], /, **content: Any) -> "Script":
        self.events.append(event(run=RUN, seq=len(self.events) + 1, at=1000.0 + len(self.events) / 10, **content))
        return self

    def begun(self, question: str = "What?") -> "Script":
        nodes = [{"id": "understand", "kind": "understand", "config": {}}, {"id": "execute", "kind": "subgraph"}]
        return self.add(RunStarted, graph={"nodes": nodes}, question=question).add(
            StepStarted, node=NodeId("understand")
        )

    def planned(self) -> "Script":
        nodes = [
            {"id": "execute/query", "kind": "sql", "after": [], "config": {"source": "sales"}},
            {"id": "execute/answer", "kind": "present", "after": ["execute/query"], "config": {}},
        ]
        self.add(StepFinished, node=NodeId("understand"), output={}, duration_ms=12.0)
        self.add(StepStarted, node=NodeId("execute"))
        self.add(PlanReady, plan={"step": "execute", "nodes": nodes}, sentence="total revenue per city")
        return self.add(StepStarted, node=NodeId("execute/query"))

    def retried(self) -> "Script":
        return self.add(
            StepRetried,
            node=NodeId("execute/query"),
            attempt=1,
            delay=3.0,
            code="busy",
            message="The database is busy.",
        ).add(StepStarted, node=NodeId("execute/query"), attempt=2)

    def queried(self, rows: int) -> "Script":
        output = {"frame": {"row_count": rows}, "code": "SELECT 1"}
        self.add(StepOutput, node=NodeId("execute/query"), channel="code", data="SELECT 1")
        self.add(StepFinished, node=NodeId("execute/query"), output=output, duration_ms=41.0)
        return self.add(StepStarted, node=NodeId("execute/answer"))

    def answered(self, answer: Answer, *, rows_ride_along: bool = True) -> "Script":
        columns = [column.model_dump() for column in answer.columns]
        body = answer.model_dump(mode="json")
        self.add(AnswerMetadata, kind=answer.kind, columns=columns, row_count=answer.row_count)
        if not rows_ride_along:
            body["rows"] = []
            self.add(AnswerBatch, offset=0, count=answer.row_count)
        self.add(AnswerFinal, answer=body)
        self.add(StepFinished, node=NodeId("execute/answer"), output={}, duration_ms=3.0)
        return self.add(RunFinished, status="done")

    def failed(self) -> "Script":
        return self.add(
            RunFailed,
            kind="SourceError",
            code="source_failed",
            message="The source sales did not answer in 30 s.",
            hint="Try again later.",
        )

    def cancelled(self) -> "Script":
        return self.add(RunCancelled, reason="cancelled by the user")


@pytest.fixture
def script() -> Script:
    return Script()


@pytest.fixture
def answer_of(tmp_path: Path) -> Callable[..., Answer]:
    """A real answer over some rows."""

    def make(data: dict[str, Any], **options: Any) -> Answer:
        path = tmp_path / "rows.arrow"
        pl.DataFrame(data).write_ipc(path)
        ref = FrameRef(
            artifact=ArtifactId("sha256:" + "ab" * 32),
            columns=frame.columns(path),
            row_count=frame.row_count(path),
            byte_count=1,
        )
        told = Provenance(
            understood="total revenue per city",
            bindings=(Binding(phrase="revenue", meaning="sum(orders.amount)"),),
            confidence="high",
            confidence_reason="Every phrase has one match.",
            sources=("sales",),
            fingerprint="sha256:9f3c51ab07e2",
            plan={"entity": "orders"},
            findings=("orders.csv: 2 lines were left out",),
        )
        code = "SELECT city, SUM(amount) AS revenue\nFROM orders -- all\nWHERE status <> 'cancelled' LIMIT 10"
        steps = [StepRecord(id="query", kind="sql", source="sales", code=code, row_count=3, duration_ms=41)]
        options = {"provenance": told, "steps": steps, "units": {"revenue": "EUR"}} | options
        return present(RUN, "What?", path, ref, **options)

    return make


@pytest.fixture
def clarify() -> Answer:
    choices = [Choice(id=1, label="By order date"), Choice(id=2, label=f"By {EVIL}")]
    return asked_back(RUN, "Which date is meant?", choices)


@pytest.fixture
def evil() -> str:
    return EVIL
