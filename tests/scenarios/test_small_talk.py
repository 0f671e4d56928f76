"""Somebody who greets, thanks or asks what there is gets a helpful answer, with questions that can be asked."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from scripted_model import ScriptedModel

from answerable import Answerable
from answerable.agents.small_talk import topic_of

Run = Callable[..., Any]


@pytest.fixture(scope="module")
def opened(read_sales: Path) -> Iterator[Answerable]:
    with Answerable(read_sales, home=read_sales.with_name("home")) as opened:
        yield opened


@pytest.fixture
def data(opened: Answerable) -> Answerable:
    """In a new conversation."""
    opened.forget()
    return opened


@pytest.mark.parametrize(
    "message",
    [
        "hello",
        "Hi there!",
        "Good morning, what data do you have?",
        "thanks a lot",
        "what can I ask?",
        "help",
        "who are you?",
        "what's in this database",
    ],
)
def test_small_talk_is_answered_with_questions_that_work(data: Answerable, message: str) -> None:
    told = data.ask(message)
    assert (told.kind, told.answer.status) == ("text", "done")
    assert told.answer.usage.model_calls == 0
    assert told.choices
    assert "understand" not in told.text.lower()
    data.forget()
    for offered in told.choices:
        assert data.ask(offered.label).answer.row_count > 0
        data.forget()


def test_what_data_there_is_comes_from_the_catalog(data: Answerable) -> None:
    told = data.ask("What data do you have?").text
    assert "2 tables" in told
    assert "orders (12 rows" in told
    assert "regions (3 rows" in told


def test_a_chosen_example_is_asked(data: Answerable) -> None:
    told = data.ask("what can I ask?")
    taken = data.ask("what can I ask?", choice=2)
    assert taken.answer.row_count > 0
    assert taken.answer.provenance.understood
    assert told.choices[1].label != "what can I ask?"


def test_thanks_do_not_make_a_conversation_forget_its_subject(data: Answerable) -> None:
    data.ask("total amount per region")
    data.ask("thanks!")
    assert "Tea" in str(data.ask("only tea").answer.provenance.plan)


def test_on_the_command_line_with_a_model_that_is_not_asked(
    answerable: Run, sales: Path, scripted_model: ScriptedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANSWERABLE_MODEL", "compatible:scripted")
    monkeypatch.setenv("ANSWERABLE_MODEL_BASE_URL", scripted_model.base_url)
    for mode in ("auto", "plan", "react"):
        done = answerable("ask", "hello", "--mode", mode, "--source", str(sales), "--json")
        assert done.code == 0, done.out + done.err
        assert "orders" in done.json["text"]
        assert done.json["choices"]
    assert scripted_model.requests == []


def test_in_a_restaurant_tables_are_tables(tmp_path: Path) -> None:
    (tmp_path / "place").mkdir()
    (tmp_path / "place" / "tables.csv").write_text("no,seats\n1,4\n2,2\n")
    with Answerable(tmp_path / "place", home=tmp_path / "home") as data:
        assert data.ask("show tables").kind != "text"


@pytest.mark.parametrize(
    ("message", "topic"),
    [
        ("hey", "greeting"),
        ("good evening everyone", "greeting"),
        ("how are you?", "greeting"),
        ("ok thanks!", "thanks"),
        ("great", "thanks"),
        ("bye", "thanks"),
        ("What are you?", "identity"),
        ("are you an AI", "identity"),
        ("?", None),
        ("!!!", None),
        ("what kind of questions can i ask you", "help"),
        ("how does this work?", "help"),
        ("give me some examples please", "help"),
        ("hello, what can you do?", "help"),
        ("which tables are there", "data"),
        ("what tables do we have access to", "data"),
        ("describe the data", "data"),
        ("show me the schema", "data"),
        ("hello, how many orders?", None),
        ("how many orders, thanks", None),
        ("what is the average price", None),
        ("who are our customers", None),
        ("what are the top products", None),
        ("which data plans do customers have", None),
        ("what is this month's revenue", None),
        ("show data", None),
        ("help desk tickets per month", None),
        ("great britain", None),
        ("", None),
    ],
)
def test_only_whole_messages_are_small_talk(message: str, topic: str | None) -> None:
    assert topic_of(message) == topic
