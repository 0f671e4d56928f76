"""The page in a real browser, against recorded runs."""

from collections.abc import Callable
from typing import Any

import pytest

from answerable.answers.answer import Answer

AnswerOf = Callable[..., Answer]

ROWS = {"city": ["Berlin", "Paris", None], "revenue": [1234567.25, 900.5, -3.0], "orders": [2**53 + 1, 0, 5]}


def ask(page: Any, question: str = "What is the revenue per city?") -> None:
    page.fill("#question", question)
    page.press("#question", "Enter")


def test_a_question_is_answered(page: Any, site: Any, script: Any, answer_of: AnswerOf) -> None:
    site.events = script.begun().planned().retried().queried(3).answered(answer_of(ROWS)).events
    ask(page)
    page.wait_for_selector("#panel-table td")
    assert site.asked == [
        {"message": "What is the revenue per city?", "thread_id": None, "source": "sales", "choice": None}
    ]
    cells = page.eval_on_selector_all(
        "#panel-table tbody tr", "rows => rows.map(r => [...r.cells].map(c => c.innerText))"
    )
    assert cells == [
        ["Berlin", "1,234,567.25", "9,007,199,254,740,993"],
        ["Paris", "900.50", "0"],
        ["null", "−3.00", "5"],
    ]
    heads = page.eval_on_selector_all("#panel-table th", "heads => heads.map(h => h.innerText)")
    assert heads == ["City", "RevenueEUR", "Orders"]
    assert page.inner_text(".steps-sum").startswith("3 steps, ")
    assert page.inner_text(".turn-body").splitlines()[-1] == "no model"
    assert page.get_attribute("#downloads a", "href").endswith("/rows?format=csv")
    assert page.locator("#downloads a").all_inner_texts() == ["CSV", "Excel", "Parquet", "Arrow", "NDJSON"]
    assert "fingerprint 9f3c51ab" in page.inner_text("#receipt")


def test_check_shows_plan_code_and_provenance(page: Any, site: Any, script: Any, answer_of: AnswerOf) -> None:
    site.events = script.begun().planned().queried(3).answered(answer_of(ROWS)).events
    ask(page)
    page.click("#tab-check")
    text = page.inner_text("#panel-check")
    for part in (
        "Total revenue per city",
        "sum(orders.amount)",
        "High confidence",
        "SELECT city, SUM(amount)",
        "left out",
    ):
        assert part in text
    assert page.locator("#panel-check .code .k").all_inner_texts()[:3] == ["SELECT", "AS", "FROM"]
    assert page.locator("#panel-check .code .s").all_inner_texts() == ["'cancelled'"]
    page.keyboard.press("t")
    assert page.is_visible("#panel-table")


def test_steps_are_shown_while_they_run(page: Any, site: Any, script: Any, answer_of: AnswerOf) -> None:
    site.events = script.begun().planned().retried().queried(3).answered(answer_of(ROWS)).events
    site.hold_after = 7
    ask(page)
    page.wait_for_selector(".step.warn")
    assert "Step 2 of 3" in page.inner_text(".steps-sum")
    assert "Tries again in 3 s." in page.inner_text(".step.warn")
    assert "Total revenue per city" in page.inner_text(".turn-body")
    assert page.locator(".step.idle .step-name").all_inner_texts() == ["Check the rows and write the answer"]
    site.release.set()
    page.wait_for_selector("#panel-table td")


def test_a_broken_stream_is_resumed(page: Any, site: Any, script: Any, answer_of: AnswerOf) -> None:
    site.events = script.begun().planned().queried(3).answered(answer_of(ROWS)).events
    site.break_after = 4
    ask(page)
    page.wait_for_selector("#panel-table td")
    assert site.resumed == ["4"]
    assert page.locator(".turn").count() == 1


def test_numbers_lead_to_their_cells(page: Any, site: Any, script: Any, answer_of: AnswerOf) -> None:
    site.events = script.begun().planned().answered(answer_of({"city": ["Berlin", "Paris"], "revenue": [9, 5]})).events
    ask(page)
    page.click(".prose button.v >> text=5")
    assert page.get_attribute(".lit", "data-at") == "1:1"


def test_one_value_is_shown_large(page: Any, site: Any, script: Any, answer_of: AnswerOf) -> None:
    site.events = script.begun().planned().answered(answer_of({"revenue": [1234.5]})).events
    ask(page)
    page.wait_for_selector(".display")
    assert page.inner_text(".display") == "1,234.5EUR"


def test_a_question_back_offers_choices(
    page: Any, site: Any, script: Any, clarify: Answer, answer_of: AnswerOf
) -> None:
    site.events = script.begun().answered(clarify).events
    ask(page)
    page.wait_for_selector(".choice")
    assert page.locator(".choice").count() == 2
    page.locator("body").click(position={"x": 5, "y": 400})
    site.events = type(script)().begun().planned().answered(answer_of({"revenue": [7]})).events
    page.keyboard.press("2")
    page.wait_for_selector(".display")
    assert site.asked[1]["choice"] == 2
    assert site.asked[1]["message"] == site.asked[0]["message"]
    assert site.asked[1]["thread_id"] == "thr_0123456789abcdefghjkmnpq"
    assert page.locator(".choice").count() == 0


def test_a_failed_run_says_what_to_do(page: Any, site: Any, script: Any) -> None:
    site.events = script.begun().planned().failed().events
    ask(page)
    page.wait_for_selector(".card.error")
    text = page.inner_text(".card.error")
    assert "The source sales did not answer in 30 s." in text
    assert "Try again later." in text
    assert "source_failed" in text
    page.click("text=Ask again")
    page.locator(".turn").nth(1).wait_for()
    assert site.asked[1]["message"] == site.asked[0]["message"]


def test_a_refusal_looks_like_one(page: Any, site: Any, script: Any) -> None:
    refused = Answer(run_id="run_1", status="refused", kind="refusal", text="The rules of sales hide salaries.")  # type: ignore[arg-type]
    site.events = script.begun().answered(refused).events
    ask(page)
    page.wait_for_selector(".card.refused")
    assert "The rules of sales hide salaries." in page.inner_text(".card.refused")


def test_a_problem_of_the_server_is_told(page: Any, site: Any) -> None:
    site.problem = {"status": 422, "detail": "The question is empty.", "hint": "Write one.", "code": "question_empty"}
    ask(page, "?")
    page.wait_for_selector(".card.error")
    assert "The question is empty." in page.inner_text(".card.error")
    assert "question_empty" in page.inner_text(".card.error")
    page.complaints.clear()  # the browser itself notes the status 422


def test_a_run_can_be_stopped(page: Any, site: Any, script: Any) -> None:
    site.events = script.begun().planned().cancelled().events
    site.hold_after = 6
    ask(page)
    page.click("text=Stop")
    page.wait_for_selector(".card.skipped")
    assert site.cancelled == ["run_0123456789abcdefghjkmnpq"]
    assert "Stopped: cancelled by the user." in page.inner_text(".card")


def test_many_rows_come_in_pages(page: Any, site: Any, script: Any, answer_of: AnswerOf) -> None:
    answer = answer_of({"n": list(range(1_500)), "name": [f"name {i}" for i in range(1_500)]})
    site.rows = [(i, f"name {i}") for i in range(1_500)]
    site.events = script.begun().planned().answered(answer, rows_ride_along=False).events
    ask(page)
    page.wait_for_selector("#panel-table td:not(:has(.skel))")
    page.locator("#panel-table tbody tr").nth(199).wait_for(state="attached")
    assert page.locator("#panel-table tbody tr").count() == 200
    page.click("text=Show more rows")
    page.locator("#panel-table tbody tr").nth(399).wait_for(state="attached")
    assert page.locator("#panel-table tbody tr").count() == 400
    assert "400 rows of 1,500 rows shown" in page.inner_text(".more")


def test_nothing_found_is_said(page: Any, site: Any, script: Any, answer_of: AnswerOf) -> None:
    site.events = script.begun().planned().answered(answer_of({"city": []})).events
    ask(page)
    page.wait_for_selector("#panel-table .empty")
    assert "Nothing matched" in page.inner_text("#panel-table")
    assert page.locator("#downloads a").count() == 0


def test_data_is_never_markup(
    page: Any, site: Any, script: Any, answer_of: AnswerOf, evil: str, clarify: Answer
) -> None:
    data = {evil: [evil, "b"], "n": [1, 2]}
    answer = answer_of(data)
    hostile = answer.provenance.model_copy(update={"understood": evil, "findings": (evil,), "sources": (evil,)})
    answer = answer.model_copy(update={"provenance": hostile, "text": evil})
    site.events = script.begun().planned().answered(answer).events
    ask(page, evil)
    page.wait_for_selector("#panel-table td")
    page.click("#tab-check")
    assert evil in page.inner_text("#panel-check")
    assert page.locator("main img, main script").count() == 0
    site.events = type(script)().begun().answered(clarify).events
    ask(page)
    page.wait_for_selector(".choice")
    assert page.locator("main img, main script").count() == 0
    assert page.title() == "Answerable"


def test_a_reload_shows_the_same(page: Any, site: Any, answer_of: AnswerOf) -> None:
    site.answer = answer_of(ROWS)
    page.goto("about:blank")
    page.goto(f"{site.address}/#thr_0123456789abcdefghjkmnpq")
    page.wait_for_selector("#panel-table td")
    assert page.inner_text(".q") == "Remembered?"


def test_keys(page: Any, site: Any, script: Any, answer_of: AnswerOf) -> None:
    page.keyboard.press("/")
    assert page.evaluate("document.activeElement.id") == "question"
    page.keyboard.type("first")
    page.keyboard.press("Shift+Enter")
    page.keyboard.type("a / b")
    assert page.input_value("#question") == "first\na / b"
    site.events = script.begun().planned().answered(answer_of(ROWS)).events
    page.keyboard.press("Enter")
    page.wait_for_selector("#panel-table td")
    page.keyboard.press("Escape")
    page.keyboard.press("v")
    assert page.is_visible("#panel-check")
    page.keyboard.press("n")
    assert page.is_visible("#welcome")
    assert page.locator(".turn").count() == 0


def test_themes(page: Any) -> None:
    def background() -> str:
        return str(page.evaluate("getComputedStyle(document.body).backgroundColor"))

    light = background()
    page.click("#theme")
    dark = background()
    assert light != dark
    page.reload()
    assert background() == dark


@pytest.mark.parametrize("width", [320, 390])
def test_a_phone(page: Any, site: Any, script: Any, answer_of: AnswerOf, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 740})
    site.events = script.begun().planned().queried(3).answered(answer_of(ROWS)).events
    ask(page)
    page.wait_for_selector(".result-link")
    assert not page.is_visible("#panel-table")
    assert page.is_visible(".peek")
    page.click(".result-link")
    assert page.is_visible("#panel-table")
    page.click("#back")
    assert not page.is_visible("#panel-table")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate("document.querySelector('#scroll').scrollWidth") <= width


def test_tables_can_be_asked_about(page: Any, site: Any, script: Any, answer_of: AnswerOf) -> None:
    site.events = script.begun().planned().answered(answer_of({"n": [12345]})).events
    page.click("#tables .chip >> nth=0")
    page.wait_for_selector(".display")
    assert site.asked[0]["message"] == "How many orders are there?"
