"""Many people ask at once: all get the same answers as one would, or hear at once that they should come back."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from served import Server

from answerable.agents.question_request import QuestionRequest
from answerable.answers.answer import Answer
from answerable.app import open_service
from answerable.core.context import LOCAL
from answerable.service import Service
from answerable.service.process_role import ProcessRole
from answerable.settings import load_settings

QUESTIONS = (
    "How many orders did we get in 2025?",
    "total revenue by region",
    "top 5 products by revenue",
    "orders per month in 2025",
    "How many support tickets are still open?",
    "customers without orders",
    "which employees work in Berlin",
    "qwertz",
)


async def _asked(service: Service, question: str) -> Answer:
    return await service.questions.ask(QuestionRequest(question, ("demo",)), LOCAL)


async def test_a_crowd_gets_the_answers_that_one_person_gets(tmp_path: Path) -> None:
    settings = load_settings(home=tmp_path)
    async with open_service(
        settings, any_location=False, role=ProcessRole(working_at_once=4, computing_processes=2)
    ) as service:
        alone = [await _asked(service, question) for question in QUESTIONS]
        crowd = await asyncio.gather(*(_asked(service, question) for question in QUESTIONS * 4))
        for number, answer in enumerate(crowd):
            expected = alone[number % len(QUESTIONS)]
            assert answer.text == expected.text
            # Groups that no order was asked for come in any.
            assert sorted(answer.rows, key=str) == sorted(expected.rows, key=str)


@pytest.fixture
def small_server(tmp_path: Path) -> Iterator[Server]:
    folder = tmp_path / "small"
    folder.mkdir()
    (folder / "people.csv").write_text("id,name,city\n1,Ana,Berlin\n2,Bo,Paris\n3,Cy,Berlin\n")
    home = tmp_path / "server"
    home.mkdir()
    (home / "settings.yaml").write_text("runs_at_once: 1\nprocesses: 0\n")
    started = Server(home=home, folder=folder).start()
    yield started
    started.kill()


async def test_whoever_would_wait_too_long_is_refused_at_once(small_server: Server) -> None:
    asked = {"message": "how many people?", "source": "small"}
    async with httpx.AsyncClient(base_url=small_server.url, timeout=60, limits=httpx.Limits()) as client:
        await client.post("/api/v1/chat", json=asked)
        replies = await asyncio.gather(*(client.post("/api/v1/chat", json=asked) for _ in range(60)))
        refused = [reply for reply in replies if reply.status_code == 503]
        answered = [reply for reply in replies if reply.status_code == 200]
        assert len(refused) + len(answered) == 60
        assert refused
        assert answered
        assert {reply.json()["code"] for reply in refused} == {"server_busy"}
        assert all(int(reply.headers["Retry-After"]) >= 1 for reply in refused)
        assert all(reply.json()["rows"] == [[3]] for reply in answered)
        # Nothing is left of what was refused, and the next one is answered.
        runs = (await client.get("/api/v1/runs", params={"limit": 200})).json()
        assert len(runs["runs"]) == 1 + len(answered)
        assert (await client.post("/api/v1/chat", json=asked)).status_code == 200
