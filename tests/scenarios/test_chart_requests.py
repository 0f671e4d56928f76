"""A chart is an answer: the request for it is no word of the question, and its form is drawn where it fits."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from scripted_model import Reply, ScriptedModel

from answerable import Answerable
from answerable.answers.chart_request import ChartRequest, chart_request


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("shop")
    lines = [f"{n},2025-{n % 6 + 1:02}-15,{('North', 'South', 'East')[n % 3]},{n * 10}" for n in range(1, 25)]
    (folder / "orders.csv").write_text("id,ordered_on,region,amount\n" + "\n".join(lines) + "\n")
    return folder


@pytest.fixture(scope="module")
def data(shop: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Answerable]:
    with Answerable(shop, home=tmp_path_factory.mktemp("home")) as opened:
        yield opened


@pytest.mark.parametrize(
    ("question", "mark", "remark"),
    [
        ("chart of total amount by region", "bar", ""),
        ("plot total amount per month", "line", ""),
        ("total amount by region as a pie", "arc", ""),
        ("total amount per month as a pie", "arc", ""),
        ("show me a pie chart of total amount by region", "arc", ""),
        ("draw total amount per month as a bar chart", "bar", ""),
        ("total amount by region as a line chart", "bar", "a line needs an order"),
        ("scatter plot of total amount by region", "bar", "points need two figures"),
    ],
)
def test_a_chart_is_an_answer(data: Answerable, question: str, mark: str, remark: str) -> None:
    data.forget()
    told = data.ask(question)
    assert told.kind == "chart", told.text
    picture = told.answer.provenance.chart
    assert picture["mark"]["type"] == mark
    assert mark != "arc" or "scale" not in picture["encoding"]["color"]
    assert remark in " ".join(told.answer.provenance.findings)


@pytest.mark.parametrize(
    ("question", "mark"),
    [("zigzag amounts by region as a pie", "arc"), ("plot the zigzags", "bar"), ("draw zigzags by region", "bar")],
)
def test_a_chart_is_an_answer_of_a_model_too(
    shop: Path,
    tmp_path: Path,
    scripted_model: ScriptedModel,
    monkeypatch: pytest.MonkeyPatch,
    question: str,
    mark: str,
) -> None:
    sql = "SELECT region, sum(amount) AS total FROM orders GROUP BY region"
    plan = {"steps": [{"id": "found", "tool": "sql", "code": sql}]}
    scripted_model.script([Reply.object(plan), Reply.object({"text": ""})])
    monkeypatch.setenv("ANSWERABLE_MODEL", "compatible:scripted")
    monkeypatch.setenv("ANSWERABLE_MODEL_BASE_URL", scripted_model.base_url)
    with Answerable(shop, home=tmp_path) as data:
        told = data.ask(question)
    assert told.kind == "chart", told.text
    assert told.answer.provenance.chart["mark"]["type"] == mark


@pytest.mark.parametrize(
    ("question", "request_"),
    [
        ("graph of orders by status", ChartRequest("orders by status")),
        ("Could you draw me a bar chart of sales?", ChartRequest("sales?", "bar")),
        ("histogram of amount", ChartRequest("amount", "histogram")),
        ("orders per month, as a line chart", ChartRequest("orders per month", "line")),
        ("which artists top the charts", None),
        ("how many games ended in a draw", None),
        ("how many plots of land are there", None),
        ("orders in line with the plan", None),
    ],
)
def test_what_asks_for_a_chart(question: str, request_: ChartRequest | None) -> None:
    assert chart_request(question) == request_
