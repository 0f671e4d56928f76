"""Questions and replies that the operator does not want are refused, with reasons."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from pydantic_ai import Agent
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from answerable.agents.question_request import QuestionRequest
from answerable.app import open_service
from answerable.core.context import LOCAL
from answerable.core.errors import AnswerableError, OperatorError, RefusedError, TransientError
from answerable.models.filtered_replies import FilteredReplies
from answerable.protection.content.azure import LONGEST_TEXT, AzureJudge
from answerable.protection.content.content_filter import ContentFilter
from answerable.protection.content.listed_words import ListedWords
from answerable.protection.content.rules import AzureContentSafety, ContentRules, parsed_rules
from answerable.settings import Settings

KEY = {"AZURE_CONTENT_KEY": "k" * 32}


class Judge:
    """Azure AI Content Safety as its reference describes it: one path, one version, a key in a header, at most 10,000
    characters, four categories with a severity of 0, 2, 4 or 6."""

    def __init__(self) -> None:
        self.url = ""
        self.asked: list[str] = []
        self.status = 200
        self.severity = {"kill": ("Violence", 4), "idiot": ("Hate", 2)}

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        line, *rest = head.strip().split("\r\n")
        headers = {name.lower(): value for name, _, value in (each.partition(": ") for each in rest)}
        body = json.loads(await reader.readexactly(int(headers["content-length"])))
        status, reply = self.reply(line, headers, body)
        content = json.dumps(reply).encode()
        writer.write(f"HTTP/1.1 {status} x\r\nContent-Length: {len(content)}\r\nConnection: close\r\n\r\n".encode())
        writer.write(content)
        await writer.drain()
        writer.close()

    def reply(self, line: str, headers: dict[str, str], body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        if line != "POST /contentsafety/text:analyze?api-version=2024-09-01 HTTP/1.1":
            return 404, {"error": {"code": "NotFound", "message": line}}
        if headers.get("ocp-apim-subscription-key") != KEY["AZURE_CONTENT_KEY"]:
            return 401, {"error": {"code": "401", "message": "Access denied due to invalid subscription key."}}
        if self.status != 200:
            return self.status, {"error": {"code": "TooManyRequests", "message": ""}}
        if len(body["text"]) > LONGEST_TEXT:
            return 400, {"error": {"code": "InvalidRequestBody", "message": "The text is too long."}}
        self.asked.append(body["text"])
        found = dict.fromkeys(("Hate", "SelfHarm", "Sexual", "Violence"), 0)
        for word, (category, severity) in self.severity.items():
            if word in body["text"]:
                found[category] = severity
        analysis = [{"category": category, "severity": severity} for category, severity in found.items()]
        return 200, {"blocklistsMatch": [], "categoriesAnalysis": analysis}


@asynccontextmanager
async def judging() -> AsyncIterator[Judge]:
    judge = Judge()
    server = await asyncio.start_server(judge.serve, "127.0.0.1", 0)
    judge.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    async with server:
        yield judge


@pytest.mark.parametrize(
    ("text", "is_found"),
    [
        ("What about Project   NIGHTFALL?", True),
        ("project-nightfall", True),
        ("pro\u200bject n\u00edghtfall", True),
        ("\uff50roject nightfall", True),
        ("projects nightfall", False),
        ("nightfall project", False),
        ("", False),
    ],
)
def test_words_are_compared_and_not_characters(text: str, is_found: bool) -> None:
    assert (ListedWords(["Project Nightfall"]).found(text) is not None) == is_found


async def test_a_question_is_refused_before_a_run_begins(tmp_path: Path) -> None:
    folder = tmp_path / "small"
    folder.mkdir()
    (folder / "people.csv").write_text("id,name\n1,Ana\n2,Bo\n")
    content = {"words": ["project nightfall"]}
    settings = Settings(home=tmp_path / "home", sources={"small": str(folder)}, source="small", content=content)
    async with open_service(settings, any_location=False) as service:
        with pytest.raises(RefusedError, match="'project nightfall', which is on the list"):
            await service.questions.ask(QuestionRequest("people of Project Nightfall", ("small",)), LOCAL)
        assert await service.runs.list(LOCAL) == []
        assert (await service.questions.ask(QuestionRequest("how many people", ("small",)), LOCAL)).status == "done"


async def test_a_reply_is_judged_before_any_part_of_it_is_seen() -> None:
    def reply(_messages: list[ModelMessage], _info: AgentInfo) -> ModelResponse:
        return ModelResponse(parts=[TextPart("The plan of project nightfall is secret.")])

    content = ContentFilter(ContentRules(words=("project nightfall",)))
    agent = Agent(FilteredReplies(FunctionModel(reply), content))
    seen: list[Any] = []
    with pytest.raises(RefusedError, match="The reply of the model was refused"):
        async with agent.run_stream_events("plans?") as events:
            seen += [event async for event in events if event.event_kind.startswith("part")]
    assert seen == []
    allowed = Agent(FilteredReplies(FunctionModel(reply), ContentFilter(ContentRules(words=("other",)))))
    async with allowed.run_stream_events("plans?") as events:
        seen += [event async for event in events if event.event_kind.startswith("part")]
    assert "nightfall" in str(seen)


async def test_a_severity_above_the_bound_is_refused() -> None:
    async with judging() as judge:
        azure = AzureJudge(AzureContentSafety(endpoint=judge.url, key_from="AZURE_CONTENT_KEY"), KEY)
        assert await azure.reasons("how many orders") == []
        assert await azure.reasons("you idiot") == [], "severity 2 is not above 2"
        assert await azure.reasons("x" * 15_000 + " kill") == ["Violence, severity 4"]
        assert [len(text) for text in judge.asked[-2:]] == [10_000, 5_005]
        await azure.close()


async def test_a_judge_that_cannot_be_asked_lets_nothing_through(monkeypatch: pytest.MonkeyPatch) -> None:
    async with judging() as judge:
        for environment, status, expected in (
            ({}, 200, OperatorError),
            ({"AZURE_CONTENT_KEY": "wrong"}, 200, OperatorError),
            (KEY, 429, TransientError),
        ):
            judge.status = status
            azure = AzureJudge(AzureContentSafety(endpoint=judge.url, key_from="AZURE_CONTENT_KEY"), environment)
            with pytest.raises(expected):
                await azure.reasons("text")
            await azure.close()
        monkeypatch.setenv("AZURE_CONTENT_KEY", KEY["AZURE_CONTENT_KEY"])
        wanted = {"endpoint": judge.url, "key_from": "AZURE_CONTENT_KEY"}
        strict = ContentFilter(parsed_rules({"azure": wanted}))
        with pytest.raises(TransientError, match="could not judge"):
            await strict.check("text", "questions")
        lenient = ContentFilter(parsed_rules({"azure": wanted | {"when_unreachable": "allow"}}))
        await lenient.check("text", "questions")
        await strict.close()
        await lenient.close()
    gone = AzureJudge(AzureContentSafety(endpoint=judge.url, key_from="AZURE_CONTENT_KEY"), KEY)
    with pytest.raises(TransientError, match="cannot be reached"):
        await gone.reasons("text")
    await gone.close()


@pytest.mark.parametrize(
    "content",
    [
        {"wrods": ["x"]},
        {"places": ["answers"]},
        {"azure": {"endpoint": "http://example.com", "key_from": "K"}},
        {"azure": {"endpoint": "https://example.com", "key_from": "K", "above": 7}},
    ],
)
def test_wrong_rules_stop_the_start(content: dict[str, Any]) -> None:
    with pytest.raises(AnswerableError, match="`content` in settings"):
        parsed_rules(content)
