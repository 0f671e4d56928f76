"""Models as a user meets them: a whole question of two calls, two slow calls of independent steps, and a first token's
way to an HTTP client."""

import asyncio
import os
import socket
import statistics
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import uvicorn

from answerable.agents.question_request import QuestionRequest
from answerable.app import open_service
from answerable.core.context import LOCAL
from answerable.gateway.app import create_app
from answerable.settings import Settings, load_settings
from bench.figures import Figure, compared
from bench.slow_model import SlowModel, slow_model

OVERLAP = 1.1
QUESTION = 1.5
"""A question of two calls may take half as long again as the model itself: queries, checks and records are in it."""
FIRST_TOKEN_MS = 20.0
PLAN = {
    "steps": [
        {"id": "some", "tool": "sql", "context": "how many orders there are"},
        {"id": "others", "tool": "sql", "context": "how many stores there are"},
        {
            "id": "all",
            "tool": "combine",
            "after": ["some", "others"],
            "code": "SELECT some.n, others.n AS m FROM some, others",
        },
    ]
}


def measure(quick: bool) -> list[Figure]:
    repeats = 3 if quick else 7
    with tempfile.TemporaryDirectory() as home, slow_model(_reply) as model:
        settings = load_settings(
            {**os.environ, "ANSWERABLE_MODEL": "compatible:slow", "ANSWERABLE_MODEL_BASE_URL": model.base_url},
            home=Path(home),
        )
        return [
            asyncio.run(_question(settings, model, repeats)),
            asyncio.run(_overlap(settings, model, repeats)),
            _first_token(settings, model, repeats * 3),
        ]


async def _question(settings: Settings, model: SlowModel, repeats: int) -> Figure:
    """From the question to the answer, with a query that is written, checked, run, worded and checked again. The floor
    is the time that the model's server takes for the same calls."""
    model.wait, ours, floor = 0.2, [], []
    async with open_service(settings, any_location=False) as service:
        for number in range(repeats + 1):
            model.calls.clear()
            began = time.perf_counter()
            asked = QuestionRequest(f"how many zigzag purchases number {number} were there?", ("demo",), mode="plan")
            answer = await service.questions.ask(asked, LOCAL)
            ours.append(time.perf_counter() - began)
            assert (answer.row_count, len(model.calls)) == (1, 2), answer.text
            floor.append(sum(end - start for start, end in model.calls))
    least = statistics.median(floor[1:])
    return compared("models, a question of two calls", statistics.median(ours[1:]), least, "s", QUESTION)


async def _overlap(settings: Settings, model: SlowModel, repeats: int) -> Figure:
    """From the beginning of the first call to the end of the last; the floor is the second that each of them takes."""
    model.wait, times = 1.0, []
    async with open_service(settings, any_location=False) as service:
        for _ in range(repeats + 1):
            model.calls.clear()
            answer = await service.runs.wait(
                await service.questions.begin_query("plan", PLAN, LOCAL, source="demo"), LOCAL
            )
            assert answer.row_count == 1, answer.text
            times.append(max(end for _, end in model.calls) - min(start for start, _ in model.calls))
    return compared("models, two calls of 1 s side by side", statistics.median(times[1:]), 1.0, "s", OVERLAP)


def _first_token(settings: Settings, model: SlowModel, repeats: int) -> Figure:
    """From the moment the model's server sends its first piece to the moment the client of our server has it."""
    late = []
    model.wait = 0.1
    asked = {"message": "what do the zigzags of our orders tell?", "mode": "plan", "source": "demo"}
    with _served(settings) as address, httpx.Client(base_url=address, timeout=60) as client:
        for _ in range(repeats + 1):
            with client.stream("POST", "/api/v1/chat/stream", json=asked) as response:
                for line in response.iter_lines():
                    if '"token"' in line:
                        late.append((time.perf_counter() - model.given) * 1e3)
                        break
    return compared("models, first token to a client", statistics.median(late[1:]), FIRST_TOKEN_MS, "ms", 1.0)


@contextmanager
def _served(settings: Settings) -> Iterator[str]:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        server = uvicorn.Server(uvicorn.Config(create_app(settings), log_config=None, access_log=False))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
        thread.start()
        while not server.started:
            time.sleep(0.01)
        try:
            yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join()


def _reply(said: str) -> object:
    if "You put an answer" in said:
        check = {"sql": "SELECT count(DISTINCT order_id) FROM orders", "column": "n"}
        return {"text": "There were 8,977.", "checks": [check]}
    if "You plan how" in said and "zigzag purchases" in said:
        return {"steps": [{"id": "n", "tool": "sql", "code": "SELECT count(*) AS n FROM orders"}]}
    if "You plan how" in said:
        return {"steps": [], "reasoning": "", "cannot": "nothing is said about zigzags in these tables."}
    return {"sql": f"SELECT count(*) AS n FROM {'orders' if 'how many orders' in said else 'stores'}"}
