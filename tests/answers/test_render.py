import datetime as dt
import io
import subprocess
import sys
from collections.abc import Callable

import pytest
from rich.console import Console

from answerable.answers.answer import Answer, Choice, Provenance, StepRecord, Usage
from answerable.answers.present import asked_back
from answerable.answers.render import age, duration, receipt, render, to_html, to_text
from answerable.core.ids import RunId

Answered = Callable[..., Answer]
NOW = dt.datetime(2024, 6, 1, 12, tzinfo=dt.UTC)


def shown(question: str | None, answer: Answer, **options: int) -> str:
    console = Console(file=io.StringIO(), width=100)
    console.print(render(question, answer, **options))  # type: ignore[arg-type]
    return str(console.file.getvalue())  # type: ignore[attr-defined]


@pytest.fixture
def told(answered: Answered) -> Answer:
    return answered(
        {"city": ["Berlin", None], "revenue": [1234567.25, -3.0]},
        provenance=Provenance(
            understood="total revenue per city",
            sources=("sales",),
            last_sync=NOW - dt.timedelta(hours=3),
            fingerprint="sha256:abcdef0123456789",
            findings=("orders.csv: 2 lines were left out",),
        ),
        steps=[StepRecord(id="query", kind="sql", code="SELECT city FROM sales", duration_ms=12.4)],
        units={"revenue": "EUR"},
    )


def test_everything_is_on_the_terminal(told: Answer) -> None:
    text = shown("Which city?", told)
    for part in (
        "Which city?",
        "Understood: total revenue per city",
        "SELECT city FROM sales",
        told.text,
        "Revenue EUR",
        "1,234,567.25",
        "−3.00",
        "null",
        "Note: orders.csv: 2 lines were left out",
        "fingerprint abcdef01",
        "run run_test",
    ):
        assert part in text


def test_numbers_stand_right(told: Answer) -> None:
    lines = [line.rstrip() for line in shown(None, told).splitlines() if "1,234,567.25" in line or "−3.00" in line]
    table = lines[-2:]
    assert len(table[0]) == len(table[1])


def test_only_so_many_rows(answered: Answered) -> None:
    answer = answered({"name": [f"n{i}" for i in range(50)], "v": range(50)})
    text = shown(None, answer, rows=3)
    assert "… and 47 more rows" in text
    assert "n2" in text
    assert "n3 " not in text


def test_data_cannot_move_the_cursor_or_add_markup(answered: Answered) -> None:
    answer = answered({"t": ["\x1b[31mred", "[bold]x[/bold]"], "n": [1, 2]})
    text = shown("[red]q[/red]", answer)
    assert "\x1b" not in text
    assert "[bold]x[/bold]" in text
    assert "[red]q[/red]" in text


def test_choices_are_numbered() -> None:
    answer = asked_back(RunId("r"), "Which date?", [Choice(id=1, label="order date"), Choice(id=2, label="ship date")])
    text = shown("When?", answer)
    assert "Which date?" in text
    assert "  2  ship date" in text
    assert "<li>ship date</li>" in to_html(answer)


def test_plain_text(told: Answer) -> None:
    text = to_text(told)
    assert told.text in text
    assert "\x1b" not in text
    assert "SELECT" not in text


def test_html_escapes_everything(answered: Answered) -> None:
    evil = "<script>alert(1)</script>"
    answer = answered(
        {evil: [evil, "x"], "n": [1, 2]},
        provenance=Provenance(findings=(evil,), sources=(evil,)),
        steps=[StepRecord(id=evil, kind="sql", code=evil)],
    )
    page = to_html(answer.model_copy(update={"text": evil, "choices": (Choice(id=1, label=evil),)}))
    assert "<script" not in page
    assert page.count("&lt;script&gt;") >= 6
    assert "<small>null</small>" not in page


def test_html_of_a_table(told: Answer) -> None:
    page = to_html(told)
    assert '<th style="text-align:right">Revenue (EUR)</th>' in page
    assert "<small>null</small>" in page


def test_the_receipt(told: Answer) -> None:
    assert receipt(told, NOW) == (
        "sales · data 3 h old · fingerprint abcdef01 · 1 step, 12 ms · no model · run run_test"
    )
    priced = told.model_copy(
        update={"usage": Usage(model_calls=2, input_tokens=900, output_tokens=100, cost_usd=0.0123)}
    )
    assert "1,000 tokens, 0.0123 USD" in receipt(priced, NOW)
    unknown = told.model_copy(update={"usage": Usage(model_calls=1, input_tokens=5, cost_usd=None)})
    assert "price not known" in receipt(unknown, NOW)


@pytest.mark.parametrize(
    ("milliseconds", "text"),
    [(0.4, "0 ms"), (41, "41 ms"), (6_840, "6.84 s"), (161_000, "2 min 41 s"), (59_999, "60.00 s")],
)
def test_durations(milliseconds: float, text: str) -> None:
    assert duration(milliseconds) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (5, "less than a minute old"),
        (14 * 60, "14 min old"),
        (7_200, "2 h old"),
        (86_400, "1 day old"),
        (200_000, "2 days old"),
        (-5, "less than a minute old"),
    ],
)
def test_ages(seconds: int, text: str) -> None:
    assert age(NOW - dt.timedelta(seconds=seconds), NOW) == text


def test_rich_is_loaded_only_to_render() -> None:
    code = "import sys, answerable.answers.render; sys.exit('rich' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
