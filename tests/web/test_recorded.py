"""The page before recorded runs: every state that a run can be in, and hostile content."""

from collections.abc import Callable
from typing import Any

import pytest
from lookup import LookupStep
from seen import open_rows, wait_for_count

from answerable.answers.answer import Answer, StepRecord

AnswerOf = Callable[..., Answer]

ROWS = {"city": ["Berlin", "Paris", None], "revenue": [1234567.25, 900.5, -3.0], "orders": [2**53 + 1, 0, 5]}


def ask(page: Any, question: str = "What is the revenue per city?") -> None:
    page.fill("#question", question)
    page.press("#question", "Enter")


def cells(page: Any) -> list[list[str]]:
    script = "rows => rows.map(r => [...r.querySelectorAll('[role=gridcell]')].map(c => c.innerText))"
    found: list[list[str]] = page.eval_on_selector_all(".grid-row", script)
    return found


def test_a_question_is_answered(page: Any, site: Any, script: Any, answer_of: AnswerOf) -> None:
    site.events = script.begun().planned().retried().queried(3).answered(answer_of(ROWS)).events
    ask(page)
    open_rows(page)
    page.wait_for_selector(".turn .receipt >> text=no model")
    body = {"message": "What is the revenue per city?", "thread_id": None, "source": "sales", "choice": None}
    assert site.asked == [body]
    assert cells(page) == [
        ["Berlin", "1,234,567.25", "9,007,199,254,740,993"],
        ["Paris", "900.50", "0"],
        ["null", "−3.00", "5"],
    ]
    heads = page.eval_on_selector_all(".sorter", "heads => heads.map(h => h.innerText)")
    assert heads == ["City", "RevenueEUR", "Orders"]
    assert page.inner_text(".fold .receipt").startswith("3 steps")
    assert page.url.endswith("/ask/thr_0123456789abcdefghjkmnpq")
    page.click("text=Download")
    assert page.locator("[role=menuitem] .grow").all_inner_texts() == ["CSV", "Excel", "Parquet", "JSON", "Arrow"]
    assert "/rows?format=csv" in page.get_attribute("[role=menuitem]", "href")


def test_check_shows_phrases_code_and_provenance(page: Any, site: Any, script: Any, answer_of: AnswerOf) -> None:
    site.events = script.begun().planned().queried(3).answered(answer_of(ROWS)).events
    ask(page)
    page.click(".afoot >> text=Check")
    page.wait_for_selector(".code .k")
    text = page.inner_text("#panel-check")
    for part in ("Total revenue per city", "sum(orders.amount)", "High confidence", "SUM(amount)", "left out", "9f3c"):
        assert part.lower() in text.lower()
    assert page.locator("#panel-check .code .k").all_inner_texts()[:2] == ["SELECT", "SUM"]
    assert page.locator("#panel-check .code .s").all_inner_texts() == ["'cancelled'"]
    page.hover(".tied >> text=revenue")
    page.wait_for_selector(".ln.lit >> text=SELECT city, SUM(amount) AS revenue")
    wait_for_count(page, ".ln.lit", 1)
    page.hover(".ln >> text=FROM orders")
    wait_for_count(page, ".tied.lit", 0)
    page.hover(".ln >> text=SUM")
    wait_for_count(page, ".tied.lit", 1)
    page.locator("body").click(position={"x": 700, "y": 300})
    page.keyboard.press("t")
    page.wait_for_selector(".grid")


def test_a_step_of_a_new_kind_is_shown_with_its_own_words(
    page: Any, site: Any, script: Any, answer_of: AnswerOf
) -> None:
    """The kind is registered in one row at the server; the page learns of it from the descriptor alone."""
    kind, code = LookupStep.descriptor.name, "get tea\n  and coffee"
    site.step_kinds.append(LookupStep.descriptor)
    steps = [StepRecord(id="query", kind=kind, source="sales", code=code, row_count=3, duration_ms=4)]
    site.answer = answer_of(ROWS, steps=steps)
    site.events = script.begun().planned(kind).queried(3).answered(site.answer).events
    site.hold_after = 6
    ask(page)
    page.wait_for_selector(".step >> text=Look up sales")
    page.wait_for_selector(".step >> text=lookup · sales")
    site.release.set()
    page.click(".fold")
    page.wait_for_selector(".rsteps >> text=Look up sales")
    page.click(".afoot >> text=Check")
    page.wait_for_selector(".cstep >> text=Look up sales")
    page.wait_for_selector(".codebox >> text=text, as it ran")
    assert page.inner_text(".cstep .code") == code
    assert page.locator(".codebox >> text=Edit and run").count() == 0  # only languages that questions may be written in
    page.reload()  # from the stored answer instead of from events
    page.click(".fold")
    page.wait_for_selector(".rsteps >> text=Look up sales")


def test_steps_are_shown_while_they_run(page: Any, site: Any, script: Any, answer_of: AnswerOf) -> None:
    site.events = script.begun().planned().retried().queried(3).answered(answer_of(ROWS)).events
    site.hold_after = 7
    ask(page)
    page.wait_for_selector(".step.s-warn >> text=Tries again in 3 s.")
    page.wait_for_selector(".live header >> text=Step 2 of 3")
    wait_for_count(page, ".step.s-idle", 1)
    wait_for_count(page, ".plan .box", 3)
    site.release.set()
    open_rows(page)
    wait_for_count(page, ".live", 0)


def test_a_broken_stream_is_resumed(page: Any, site: Any, script: Any, answer_of: AnswerOf) -> None:
    site.events = script.begun().planned().queried(3).answered(answer_of(ROWS)).events
    site.break_after = 4
    ask(page)
    open_rows(page)
    assert site.resumed == ["4"]
    wait_for_count(page, ".turn", 1)
    wait_for_count(page, ".ban", 0)


def test_numbers_lead_to_their_cells(page: Any, site: Any, script: Any, answer_of: AnswerOf) -> None:
    site.events = script.begun().planned().answered(answer_of({"city": ["Berlin", "Paris"], "revenue": [9, 5]})).events
    ask(page)
    page.click(".prose .v >> text=5")
    page.wait_for_selector(".cell.lit")
    assert page.get_attribute(".cell.lit", "id") == "cell-1-1"


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
    wait_for_count(page, ".choice", 2)
    site.events = type(script)().begun().planned().answered(answer_of({"revenue": [7]})).events
    page.keyboard.press("2")  # the cursor is in the field
    page.wait_for_selector(".display")
    assert site.asked[1]["choice"] == 2
    assert site.asked[1]["message"] == site.asked[0]["message"]
    assert site.asked[1]["thread_id"] == "thr_0123456789abcdefghjkmnpq"
    wait_for_count(page, ".choice", 0)
    wait_for_count(page, ".chosen", 1)
    wait_for_count(page, ".q", 1)


def test_a_failed_run_says_what_to_do(page: Any, site: Any, script: Any) -> None:
    site.events = script.begun().planned().failed().events
    ask(page)
    page.wait_for_selector(".al.error")
    text = page.inner_text(".al.error")
    assert "The source sales did not answer in 30 s." in text
    assert "Try again later." in text
    assert "source_failed" in page.inner_text(".turn .kv")
    page.click("text=Ask again")
    page.locator(".turn").nth(1).locator(".al.error").wait_for()
    assert site.asked[1]["message"] == site.asked[0]["message"]


def test_an_answer_says_what_is_missing(page: Any, site: Any, script: Any, answer_of: AnswerOf) -> None:
    site.events = script.begun().planned().queried(3).answered(answer_of(ROWS, status="partial")).events
    ask(page)
    page.wait_for_selector(".notes >> text=2 lines were left out")
    page.wait_for_selector(".notes >> text=Parts are missing")
    page.wait_for_selector(".fold >> text=Partial")


def test_a_refusal_looks_like_one(page: Any, site: Any, script: Any) -> None:
    refused = Answer(run_id="run_1", status="refused", kind="refusal", text="The rules of sales hide salaries.")
    site.events = script.begun().answered(refused).events
    ask(page)
    page.wait_for_selector(".refusal")
    assert "The rules of sales hide salaries." in page.inner_text(".refusal")


def test_a_problem_of_the_server_is_told(page: Any, site: Any) -> None:
    site.problem = {"status": 422, "detail": "The question is empty.", "hint": "Write one.", "code": "question_empty"}
    ask(page, "?")
    page.wait_for_selector(".al.error")
    assert "The question is empty." in page.inner_text(".al.error")
    assert "question_empty" in page.inner_text(".turn .kv")
    page.complaints.clear()  # the browser itself notes the status 422


def test_a_run_can_be_stopped(page: Any, site: Any, script: Any) -> None:
    site.events = script.begun().planned().cancelled().events
    site.hold_after = 6
    ask(page)
    page.click("text=Stop")
    page.wait_for_selector(".al.warn")
    assert site.cancelled == ["run_0123456789abcdefghjkmnpq"]
    assert "Stopped: cancelled by the user." in page.inner_text(".al.warn")


def test_rows_that_stayed_behind_come_as_arrow(page: Any, site: Any, script: Any, answer_of: AnswerOf) -> None:
    answer = answer_of({"n": list(range(1_500)), "name": [f"name {i}" for i in range(1_500)]})
    site.rows = [(i, f"name {i}") for i in range(1_500)]
    site.events = script.begun().planned().answered(answer, rows_ride_along=False).events
    ask(page)
    open_rows(page)
    page.wait_for_selector(".cell >> text=name 3")
    page.evaluate("document.querySelector('.grid').scrollTop = 1e9")
    page.wait_for_selector(".cell >> text=name 1499")
    assert page.locator(".grid-row").count() < 60


def test_nothing_found_is_said(page: Any, site: Any, script: Any, answer_of: AnswerOf) -> None:
    site.events = script.begun().planned().answered(answer_of({"city": []})).events
    ask(page)
    page.wait_for_selector(".cen")
    assert "Nothing matched" in page.inner_text(".turn")
    page.keyboard.press("Escape")
    page.keyboard.press("t")
    page.wait_for_selector(".res .cen")
    assert page.is_disabled(".download button")


def test_data_is_never_markup(
    page: Any, site: Any, script: Any, answer_of: AnswerOf, evil: str, clarify: Answer
) -> None:
    answer = answer_of({evil: [evil, "b", "c"], "n": [1, 2, 3]})
    hostile = answer.provenance.model_copy(update={"understood": evil, "findings": (evil,), "sources": (evil,)})
    answer = answer.model_copy(update={"provenance": hostile, "text": evil})
    site.events = script.begun().planned().answered(answer).events
    ask(page, evil)
    open_rows(page)
    page.click("#tab-chart")
    page.wait_for_selector(".chart canvas")
    page.click("#tab-check")
    page.wait_for_selector(".checktab")
    assert evil in page.inner_text("#panel-check")
    words = answer_of({"a": ["b"]}).model_copy(
        update={
            "kind": "text",
            "columns": (),
            "text": f"{evil} [x](javascript:alert(1)) ![y](http://127.0.0.1:9/z.png)",
        }
    )
    site.events = type(script)().begun().answered(words).events
    ask(page)
    page.wait_for_selector(".prose a.link, .prose >> text=x")
    site.events = type(script)().begun().answered(clarify).events
    ask(page)
    page.wait_for_selector(".choice")
    assert page.locator("main img, main script").count() == 0
    assert page.locator("a[href^=javascript]").count() == 0


def test_a_reload_shows_the_same(site: Any, visit: Any, answer_of: AnswerOf) -> None:
    site.answer = answer_of(ROWS)
    page = visit(f"{site.address}/ask/thr_0123456789abcdefghjkmnpq")
    open_rows(page)
    assert page.inner_text(".q h2") == "Remembered?"


def test_keys(page: Any, site: Any, script: Any, answer_of: AnswerOf) -> None:
    page.wait_for_selector(".source-chips .chip")
    page.wait_for_selector("#question:focus")
    page.keyboard.press("Escape")
    page.wait_for_selector("#question:not(:focus)")
    page.keyboard.press("/")
    page.wait_for_selector("#question:focus")
    page.keyboard.type("first")
    page.keyboard.press("Shift+Enter")
    page.keyboard.type("a / b")
    assert page.input_value("#question") == "first\na / b"
    site.events = script.begun().planned().answered(answer_of(ROWS)).events
    page.keyboard.press("Enter")
    open_rows(page)
    page.keyboard.press("Escape")
    page.keyboard.press("v")
    page.wait_for_selector(".checktab")
    page.keyboard.press("?")
    page.wait_for_selector("dialog.keys")
    page.keyboard.press("Escape")
    page.wait_for_selector("dialog.keys", state="detached")
    page.keyboard.press("Control+k")
    page.wait_for_selector("dialog input:focus")
    page.keyboard.type("dark")
    page.wait_for_selector(".pe.cur >> text=Ask")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.wait_for_selector("html[data-theme=dark]")
    page.keyboard.press("n")
    page.wait_for_selector(".welcome")
    wait_for_count(page, ".turn", 0)


def test_the_table_is_walked_by_keys(page: Any, site: Any, script: Any, answer_of: AnswerOf) -> None:
    site.events = script.begun().planned().answered(answer_of(ROWS)).events
    ask(page)
    open_rows(page)
    page.focus(".grid")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowRight")
    page.wait_for_selector(".grid[aria-activedescendant=cell-1-1]")
    page.keyboard.press("s")
    page.wait_for_selector("#cell-0-1 >> text=−3.00")
    assert [row[1] for row in cells(page)] == ["−3.00", "900.50", "1,234,567.25"]
    page.keyboard.press("Enter")
    page.wait_for_selector("dialog.cell-view")
    assert page.inner_text("dialog pre") == "900.5"


def test_themes(page: Any) -> None:
    def background() -> str:
        return str(page.evaluate("getComputedStyle(document.body).backgroundColor"))

    light = background()
    page.click("[aria-label='Switch between light and dark']")
    dark = background()
    assert light != dark
    page.reload()
    page.wait_for_selector(".welcome")
    assert background() == dark


@pytest.mark.parametrize("width", [320, 390])
def test_a_phone(site: Any, visit: Any, script: Any, answer_of: AnswerOf, width: int) -> None:
    page = visit(site.address, viewport={"width": width, "height": 740})
    site.events = script.begun().planned().queried(3).answered(answer_of(ROWS)).events
    ask(page)
    page.wait_for_selector(".rank td")
    assert not page.is_visible(".grid")
    open_rows(page)
    page.click("[aria-label='Back to the conversation']")
    assert not page.is_visible(".grid")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate("document.querySelector('.conv .scroll').scrollWidth") <= width
