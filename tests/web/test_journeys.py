"""The page before the real server, with the demo data and no model: what people do, from the first question on."""

import csv
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from accessibility import axe_findings
from seen import open_rows, wait_for_count, wait_for_texts

Visit = Callable[..., Any]
TOUR = os.environ.get("ANSWERABLE_TOUR")
"""Read here, because tests run without the settings of their surroundings."""


def ask(page: Any, question: str, source: str = "demo") -> None:
    """Asks one source, whichever were chosen before."""
    page.wait_for_selector(".source-chips .chip")
    chips = page.locator(".source-chips [aria-pressed]")
    if source not in chips.all_inner_texts():
        page.click(".source-chips [aria-haspopup] >> nth=0")
        page.click(f"[role=menuitem] >> text={source}")
    else:
        chips.get_by_text(source, exact=True).click()
    page.fill("#question", question)
    page.press("#question", "Enter")


def press_in_a_row(page: Any, *keys: str) -> None:
    """Faster than a busy machine would pass them on: two keys count as one only within a second or so."""
    pressed = "key => document.body.dispatchEvent(new KeyboardEvent('keydown', {key, bubbles: true}))"
    page.evaluate(f"keys => keys.forEach({pressed})", list(keys))


def test_ask_follow_up_check_replay_and_download(server: Any, visit: Visit, tmp_path: Path) -> None:
    page = visit(server.url)
    ask(page, "revenue per country")
    open_rows(page)
    wait_for_count(page, ".grid-row", 11)
    page.wait_for_selector(".grid-total >> text=All 11")
    ask(page, "and per month in 2025?")
    page.wait_for_selector(".grid-row >> text=2025-12")
    wait_for_count(page, ".turn", 2)
    page.click("#tab-check")
    page.wait_for_selector(".cstep >> text=Check and write")
    wait_for_texts(page, ".cstep .ri", ["–", "28,601", "12"])
    page.click(".verdict button >> text=Replay")
    page.wait_for_selector(".v-ok >> text=the same 12 rows")
    page.wait_for_selector(".foot >> text=Same rows on replay")
    page.click("text=Download")
    with page.expect_download() as caught:
        page.click("[role=menuitem] >> text=CSV")
    caught.value.save_as(tmp_path / "rows.csv")
    with (tmp_path / "rows.csv").open() as file:
        rows = list(csv.reader(file))
    assert len(rows) == 13
    with page.expect_download() as caught:
        page.click("text=Download")
        page.click("[role=menuitem] >> text=Parquet")
    caught.value.save_as(tmp_path / "rows.parquet")
    assert pl.read_parquet(tmp_path / "rows.parquet").height == 12
    page.click("#tab-table")
    page.fill("[aria-label='Filter rows']", "2025-1")
    page.click(".sorter >> text=Revenue")
    page.wait_for_selector(".grid-total >> text=3 of 12")
    with page.expect_download() as caught:
        page.click("text=Download")
        page.click("[role=menuitem] >> text=CSV")
    caught.value.save_as(tmp_path / "shown.csv")
    revenue = pl.read_csv(tmp_path / "shown.csv")["revenue"].to_list()
    assert (len(revenue), revenue) == (3, sorted(revenue))
    ask(page, "How much did revenue grow in each region from 2024 to 2025, in percent?")
    page.wait_for_selector(".cell.barred.less >> text=−8.79")
    wait_for_count(page, ".cell.barred", 4)


def test_what_a_choice_teaches_is_remembered_and_a_stale_answer_says_so(server: Any, visit: Visit) -> None:
    page = visit(server.url)
    page.wait_for_selector(".welcome button.suggestion")
    orders = "order_no,way\n1,web\n2,web\n3,shop\n4,web\n5,shop\n"
    place = f"{server.url}/api/v1/uploads?name=orders.csv&source=orders&replace=true"
    assert page.request.post(place, data=orders).status == 201
    page.reload()
    ask(page, "orders by route", "orders")
    page.check(".clarify [type=checkbox]")
    page.click(".choice >> text=orders.way")
    page.wait_for_selector(".toast >> text=“route” means orders.way in orders from now on")
    page.locator(".turn").nth(1).locator(".receipt >> text=no model").wait_for()
    ask(page, "how many orders per route?", "orders")
    page.locator(".turn").nth(2).locator(".receipt >> text=no model").wait_for()
    assert page.request.post(place, data=orders + "6,web\n").status == 201
    page.reload()
    page.click(".stale >> text=Ask again")
    page.locator(".turn").nth(3).locator(".rank >> text=4").wait_for()


def test_a_question_back_is_answered_by_a_key(server: Any, visit: Visit) -> None:
    page = visit(server.url)
    ask(page, "the date of each order")
    page.wait_for_selector(".choice mark")
    assert page.locator(".choice").count() <= 4
    wait_for_count(page, ".clarify .code", 0)
    page.click("text=Show as SQL")
    page.wait_for_selector(".clarify .code >> nth=1")
    page.focus("#question")
    page.keyboard.press("1")
    page.wait_for_selector(".chosen")
    page.wait_for_selector(".receipt >> text=no model")
    page.reload()
    page.wait_for_selector(".chosen")
    wait_for_count(page, ".q", 1)


def test_a_million_rows(server: Any, visit: Visit) -> None:
    page = visit(server.url)
    ask(page, "SQL: SELECT * FROM numbers", "big")
    open_rows(page)
    page.wait_for_selector("#tab-table >> text=1,000,000")
    page.evaluate("document.querySelector('.grid').scrollTop = 1e9")
    page.wait_for_selector("#cell-999999-0 >> text=999,999")
    page.focus(".grid")
    page.keyboard.press("Control+ArrowUp")
    page.wait_for_selector("#cell-0-0 >> text=0")
    page.click(".sorter >> text=Amount")
    page.wait_for_selector("[aria-sort=ascending] >> text=Amount")
    page.click(".sorter >> text=Amount")
    page.wait_for_selector("#cell-0-1 >> text=1,000,002")
    page.fill("[aria-label='Filter rows']", "name 97")
    page.wait_for_selector(".tool >> text=of 1,000,000")
    assert page.locator(".grid-row").count() < 60
    assert page.evaluate("performance.memory.usedJSHeapSize") < 300e6


def test_a_chart_is_drawn_switched_and_saved(server: Any, visit: Visit, tmp_path: Path) -> None:
    page = visit(server.url)
    ask(page, "revenue per country")
    open_rows(page)
    page.click("#tab-chart")
    page.wait_for_selector(".chart canvas")
    page.click(".seg >> text=Line")
    page.wait_for_selector(".seg [aria-pressed=true] >> text=Line")
    with page.expect_download() as caught:
        page.click("button >> text=SVG")
    caught.value.save_as(tmp_path / "chart.svg")
    assert "Netherlands" in (tmp_path / "chart.svg").read_text()
    with page.expect_download() as caught:
        page.click("button >> text=PNG")
    caught.value.save_as(tmp_path / "chart.png")
    assert (tmp_path / "chart.png").read_bytes()[:4] == b"\x89PNG"


def test_a_chart_that_is_asked_for_opens_as_one(server: Any, visit: Visit) -> None:
    page = visit(server.url)
    ask(page, "revenue per region in 2025 as a pie")
    page.wait_for_selector(".fig .chart canvas")
    page.click(".fig-open")
    page.wait_for_selector(".seg [aria-pressed=true] >> text=Pie")
    ask(page, "revenue per channel in 2025")
    page.wait_for_selector(".turn:last-child .rank tbody tr")


def test_the_answer_comes_first_and_its_run_has_one_duration_everywhere(server: Any, visit: Visit) -> None:
    """The second question goes to another source, of which nothing was talked about yet."""
    page = visit(server.url)
    ask(page, "how many numbers are there?", "big")
    page.wait_for_selector(".display >> text=1,000,000")
    ask(page, "revenue per month in 2025")
    answer = page.locator(".turn").nth(1)
    answer.locator(".lines >> text=/^2025-..,/").first.wait_for()
    wait_for_count(page, ".rsteps", 0)
    assert not page.is_visible(".res")
    _, duration, *rest = answer.locator(".receipt > *").all_inner_texts()
    assert rest[-1] == "no model"
    answer.locator(".seg >> text=Table").click()
    answer.locator("td >> text=2025-12").wait_for()
    answer.locator(".fold").click()
    wait_for_count(page, ".rsteps .step", 3)
    page.reload()
    answer.locator(".receipt >> text=" + duration).wait_for()
    answer.locator(".afoot >> text=Check").click()
    page.wait_for_selector(f".foot >> text={duration}")
    page.click("[aria-label=Close]")
    wait_for_count(page, ".res", 0)
    page.goto(f"{server.url}/runs")
    page.wait_for_selector(f".runs tbody tr:first-child td:nth-child(5) >> text={duration}")


def test_two_tabs_and_a_reload_show_the_same_thread(server: Any, visit: Visit) -> None:
    first = visit(server.url)
    ask(first, "revenue per country")
    first.wait_for_selector(".rank")
    second = first.context.new_page()
    second.goto(first.url)
    second.wait_for_selector(".rank")
    ask(first, "and per month in 2025?")
    second.wait_for_selector(".q >> text=and per month in 2025?")
    second.wait_for_selector(".lines")
    second.reload()
    second.wait_for_selector(".lines")
    wait_for_count(second, ".turn", 2)


def test_a_reload_in_the_middle_of_a_run_goes_on(server: Any, visit: Visit) -> None:
    page = visit(server.url)
    ask(page, SLOW, "big")
    page.wait_for_selector(".live")
    page.wait_for_url("**/ask/thr_*")
    page.reload()
    page.click(".live button >> text=Stop")
    page.wait_for_selector(".al.warn")
    wait_for_count(page, ".turn", 1)


def test_a_server_that_dies_in_the_middle_of_a_run(server: Any, visit: Visit) -> None:
    page = visit(server.url)
    ask(page, SLOW, "big")
    page.wait_for_selector(".live")
    page.wait_for_url("**/ask/thr_*")
    server.kill()
    page.wait_for_selector(".ban")
    page.wait_for_selector(".receipt >> text=catch up from event")
    server.start()
    page.evaluate("document.querySelector('.ban button')?.click()")  # unless the page has tried by itself meanwhile
    page.wait_for_selector(".ban", state="detached")
    page.click(".live button >> text=Stop")
    page.wait_for_selector(".al.warn")
    page.complaints.clear()  # the browser itself notes the connections that failed


def test_an_idle_page_says_when_the_server_is_away_and_goes_on_when_it_is_back(server: Any, visit: Visit) -> None:
    page = visit(server.url)
    page.wait_for_selector(".source-chips .chip")
    page.context.set_offline(True)
    page.wait_for_selector(".ban >> text=No connection to the server")
    press_in_a_row(page, "g", "r")
    page.context.set_offline(False)
    page.wait_for_selector(".ban", state="detached")
    page.wait_for_selector(".runs")
    page.complaints.clear()  # the browser itself notes the connections that failed


def test_what_is_refused_or_wrong_or_not_there_says_so(server: Any, visit: Visit) -> None:
    page = visit(server.url)
    ask(page, "SQL: DROP TABLE orders")
    page.wait_for_selector(".refusal >> text=Answerable does not change data")
    page.goto(f"{server.url}/runs")
    page.wait_for_selector("tr >> text=DROP TABLE orders")
    page.wait_for_selector("tr .st >> text=Refused")
    page.goto(f"{server.url}/ask")
    ask(page, "SQL: SELECT nothing FROM orders")
    page.click(".al.error button >> text=Edit the question")
    page.fill(".q-edit textarea", "SQL: SELECT * FROM orders WHERE 1 = 0")
    page.press(".q-edit textarea", "Enter")
    page.wait_for_selector(".cen >> text=Looked at")
    page.click(".afoot >> text=Check")
    page.wait_for_selector("#panel-check .code")


def test_links_that_lead_nowhere_say_so_in_words(server: Any, visit: Visit) -> None:
    page = visit(f"{server.url}/ask/thr_cut")
    page.wait_for_selector(".al >> text=This address names no thread.")
    assert "pattern" not in page.inner_text(".al")
    page.goto(f"{server.url}/sources/nope")
    page.wait_for_selector(".cen >> text=There is no source called nope")
    wait_for_count(page, ".src.cur", 0)
    page.goto(f"{server.url}/aks/thr_1")
    page.wait_for_selector(".cen >> text=There is nothing at this address")
    page.goto(f"{server.url}/ask/thr_%E0%A4")
    page.wait_for_selector(".al >> text=This address names no thread.")
    page.complaints.clear()  # the browser itself notes what was not found


def test_a_source_that_is_chosen_replaces_the_other_and_a_plus_adds(server: Any, visit: Visit) -> None:
    page = visit(server.url)
    chosen = ".source-chips [aria-pressed=true]"
    page.click(".source-chips >> text=big")
    wait_for_texts(page, chosen, ["big"])
    page.click(".source-chips >> text=demo")
    wait_for_texts(page, chosen, ["demo"])
    page.click("[aria-label='Ask another source too']")
    page.click("[role=menuitem] >> text=big")
    wait_for_count(page, chosen, 2)
    page.click("[aria-label='Do not ask demo']")
    wait_for_texts(page, chosen, ["big"])
    page.reload()
    wait_for_texts(page, chosen, ["big"])
    page.wait_for_selector(".composer >> text=runs as written")


def test_runs_on_a_phone_overlap_nothing(server: Any, visit: Visit) -> None:
    page = visit(server.url)
    ask(
        page,
        "SQL: SELECT * FROM numbers WHERE name <> 'a question that is far too long for the width of a phone'",
        "big",
    )
    page.wait_for_selector(".afoot")
    page.set_viewport_size({"width": 390, "height": 740})
    page.goto(f"{server.url}/runs")
    row = page.locator(".runs tbody tr", has_text="far too long").first
    row.locator("text=1,000,000 rows").wait_for()
    boxes = [part.bounding_box() for part in (row.locator(".w"), row.locator("td:nth-child(4)"), row.locator(".m"))]
    (title, when, facts) = boxes
    assert title["height"] > 30  # two lines
    assert title["width"] > 200
    assert title["x"] + title["width"] <= when["x"] + 1
    assert facts["y"] >= title["y"] + title["height"] - 1
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


SLOW = "SQL: SELECT count(*) AS n FROM numbers a, numbers b WHERE a.amount < b.amount"


def picture(page: Any, name: str) -> None:
    """A picture for `make tour`, which names the folder."""
    if TOUR is not None:
        page.screenshot(path=Path(TOUR) / f"{name}.png")


def test_the_first_minute(server: Any, visit: Visit) -> None:
    """As docs/first-minute.md describes it: a file that nobody prepared, and a right chart."""
    page = visit(server.url)
    page.wait_for_selector(".welcome")
    picture(page, "1-welcome")
    months = [f"{year}-{month:02}-01" for year in (2024, 2025) for month in range(1, 13)]
    lines = [f"{day},{shop},{100 + 7 * i + 50 * (shop == 'North')}" for i, day in enumerate(months) for shop in SHOPS]
    drop(page, {"sales_by_shop.csv": "\n".join(["day,shop,takings", *lines])})
    page.locator("[aria-pressed=true]", has_text="sales_by_shop").wait_for()
    page.wait_for_selector(".welcome >> text=48 rows from 2024-01-01 to 2025-12-01, with shop and takings.")
    page.wait_for_selector(".welcome button.suggestion")
    picture(page, "2-ready")
    page.fill("#question", "total takings per month")
    page.press("#question", "Enter")
    page.wait_for_selector(".lines >> text=2025-12, 572")
    picture(page, "3-line")
    page.fill("#question", "total takings per shop")
    page.press("#question", "Enter")
    page.locator(".rank tbody tr", has_text="North").locator("text=5,532").wait_for()
    picture(page, "4-bars")
    page.locator(".turn").last.locator(".afoot >> text=Check").click()
    page.wait_for_selector("#panel-check .code")
    picture(page, "5-check")


SHOPS = ("North", "South")


def test_dropped_files_are_asked_together(server: Any, visit: Visit) -> None:
    page = visit(server.url)
    page.wait_for_selector(".welcome")
    pets, owners = "name,kind,weight\nRex,dog,30\nTom,cat,4\nKiki,cat,5\n", "owner,pet\nAnn,Rex\nBob,Tom\n"
    drop(page, {"pets.csv": pets, "owners.csv": owners, "broken.parquet": "PAR2"})
    page.locator("[aria-pressed=true]", has_text="pets").wait_for()
    page.wait_for_selector(".uploads >> text=is text, not a Parquet file")
    page.click("[aria-label='Close broken.parquet']")
    page.wait_for_selector(".uploads", state="detached")
    page.click("nav >> text=Sources")
    page.click(".src >> text=pets")
    page.locator(".src", has_text="pets").locator("text=2 tables").wait_for()
    page.click(".tbls >> text=pets")
    page.wait_for_selector(".cols >> text=weight")
    page.complaints.clear()  # the browser itself notes the file that was refused
    page.click("#tab-relationships")
    for choice, name in (("Table from", "owners"), ("Table to", "pets"), ("Column from", "pet"), ("Column to", "name")):
        page.select_option(f"[aria-label='{choice}']", name)
    page.click("button >> text=Add a relationship")
    page.locator(".rels tr", has_text="owners.pet").locator("text=declared").wait_for()
    page.click("#tab-tables")
    page.click(".tbls >> text=pets")
    page.click("text=Ask about it")
    page.wait_for_selector(".display >> text=/^3$/")
    page.click("text=New question")
    page.locator("button[aria-pressed=true]", has_text="pets").wait_for()
    ask(page, "weight of Kiki")
    page.click(".choice >> text=pets may know this")
    page.wait_for_selector(".display >> text=/^5$/")


def test_a_dropped_folder_is_one_source(server: Any, visit: Visit) -> None:
    page = visit(f"{server.url}/sources")
    page.wait_for_selector(".drop")
    page.evaluate(
        """() => {
            const file = name => ({
                isFile: true, isDirectory: false, name,
                file: give => give(new File(["id,name\\n1,Ann\\n2,Bob\\n"], name)),
            });
            const folder = (name, ...inside) => ({
                isFile: false, isDirectory: true, name,
                createReader: () => ({ readEntries: give => give(inside.splice(0, 2)) }),
            });
            const clinic = folder("clinic", file("people.csv"), file("notes.md"), folder("deep", file("visits.csv")));
            const event = new DragEvent("drop", { bubbles: true, cancelable: true });
            const dataTransfer = { types: ["Files"], files: [], items: [{ webkitGetAsEntry: () => clinic }] };
            document.body.dispatchEvent(Object.defineProperty(event, "dataTransfer", { value: dataTransfer }));
        }"""
    )
    page.wait_for_url("**/sources/clinic")
    page.locator(".src", has_text="clinic").locator("text=2 tables").wait_for()
    page.click("[aria-label='More for clinic']")
    page.click("[role=menuitem] >> text=Remove this source")
    page.locator(".src", has_text="clinic").wait_for(state="detached")


def drop(page: Any, files: dict[str, str]) -> None:
    page.evaluate(
        """files => {
            const data = new DataTransfer();
            for (const [name, text] of Object.entries(files)) data.items.add(new File([text], name));
            const options = { dataTransfer: data, bubbles: true, cancelable: true };
            for (const type of ["dragover", "drop"]) document.body.dispatchEvent(new DragEvent(type, options));
        }""",
        files,
    )


def test_hostile_data_is_only_text_in_every_view(server: Any, visit: Visit, evil: str) -> None:
    page = visit(f"{server.url}/sources")
    page.wait_for_selector(".drop")
    quoted = '"' + evil.replace('"', '""') + '"'
    drop(page, {f"{evil}.csv": f"{quoted},n\n{quoted},1\n{quoted},2\n"})
    page.wait_for_selector(".cols >> text=<img")
    page.wait_for_selector(".samp td >> text=<img")
    page.click("#tab-names")
    page.wait_for_selector("#panel-names .cm-content, #panel-names .code")
    page.goto(f"{server.url}/ask")
    ask(page, f"SQL: SELECT 1 AS n -- {evil}")
    page.wait_for_selector(".turn .receipt >> text=no model")
    page.goto(f"{server.url}/runs")
    page.wait_for_selector(".runs tr >> nth=1 >> text=<img")
    page.click("#tab-events")
    page.wait_for_selector("#panel-events >> text=run.finished")
    page.evaluate(
        """async () => {
            const { runs } = await (await fetch("/api/v1/runs?limit=1")).json();
            const headers = { "Content-Type": "application/json" };
            const body = JSON.stringify({ run_id: runs[0].run_id });
            await fetch("/api/v1/evals/hostile/cases", { method: "POST", headers, body });
        }"""
    )
    page.goto(f"{server.url}/evals/hostile")
    page.click(".cases a >> text=<img")
    page.wait_for_selector("[aria-label=Question] >> text=<img")


def test_a_new_name_is_understood(server: Any, visit: Visit) -> None:
    page = visit(f"{server.url}/sources")
    page.wait_for_selector(".drop")
    drop(page, {"staff.csv": "person,pay\nAna,10\nBo,20\nCy,60\n"})
    page.wait_for_url("**/sources/staff")
    page.click("[aria-label$='names for pay']")
    page.fill("[aria-label^='Names for pay']", "wages")
    page.keyboard.press("Enter")
    page.wait_for_selector(".toast >> text=wages")
    page.goto(f"{server.url}/ask")
    ask(page, "what is the average of wages?", "staff")
    page.wait_for_selector(".display >> text=/^30/")


def test_runs_are_found_and_compared(server: Any, visit: Visit, tmp_path: Path) -> None:
    page = visit(server.url)
    questions = [f"SQL: SELECT status, {n} AS n FROM orders GROUP BY status" for n in (1, 2)]
    for place, question in enumerate(questions):
        ask(page, question)
        page.locator(".turn").nth(place).locator(".receipt >> text=no model").wait_for()
    page.keyboard.press("Escape")
    press_in_a_row(page, "g", "r")
    page.wait_for_selector(".wr")
    page.fill("[aria-label='Find a run']", "AS n FROM orders")
    wait_for_count(page, ".runs tbody tr", 2)
    for question in questions:
        page.check(f"[aria-label='Select {question}']")
    page.fill("[aria-label='Find a run']", "nothing is like this")
    wait_for_count(page, ".runs tbody tr", 0)
    page.click(".foot button >> text=Compare")
    page.wait_for_selector(".dt >> text=4 changed")
    wait_for_texts(page, ".d-changed del", ["1"] * 4)
    wait_for_texts(page, ".textdiff .added", ["+ 2 AS n"])
    with page.expect_download() as caught:
        page.click("text=Download the differences")
    caught.value.save_as(tmp_path / "differences.csv")
    assert pl.read_csv(tmp_path / "differences.csv").select("change", "n before", "n").rows() == [("changed", 1, 2)] * 4


def test_a_run_is_stopped_and_run_again(server: Any, visit: Visit) -> None:
    page = visit(f"{server.url}/ask")
    ask(page, SLOW, "big")
    page.wait_for_url("**/ask/thr_*")
    page.goto(f"{server.url}/runs")
    for _ in range(2):
        page.click(".head button >> text=Stop")
        page.wait_for_selector(".tag >> text=Stopped")
        page.click("text=Run again")
        page.wait_for_selector(".tag >> text=Running")
    page.click(".head button >> text=Stop")
    page.wait_for_selector(".tag >> text=Stopped")


def test_a_good_answer_becomes_a_golden_question(server: Any, visit: Visit) -> None:
    page = visit(server.url)
    ask(page, "how many orders were there in 2024?")
    page.wait_for_selector(".display")
    page.click(".afoot >> text=Check")
    page.click("text=Good answer")
    page.wait_for_selector("text=Golden")
    page.goto(f"{server.url}/evals/golden")
    page.wait_for_selector(".cases >> text=how many orders were there in 2024?")
    page.click("button >> text=Run 1")
    page.wait_for_selector(".cases >> text=Correct")


def test_only_the_keyboard(server: Any, visit: Visit) -> None:
    page = visit(server.url)
    page.wait_for_selector(".source-chips .chip")
    page.wait_for_selector("#question:focus")
    page.keyboard.press("Tab")
    page.keyboard.press("Space")
    page.keyboard.press("Shift+Tab")
    page.keyboard.type("revenue per country")
    page.keyboard.press("Enter")
    open_rows(page)
    page.keyboard.press("Escape")
    for key, place in (("c", "#panel-chart"), ("v", "#panel-check"), ("t", "#panel-table")):
        page.keyboard.press(key)
        page.wait_for_selector(place)
    page.keyboard.press("r")
    page.wait_for_selector(".okdot")
    page.keyboard.press("d")
    page.wait_for_selector("[role=menuitem]:focus >> text=CSV")
    page.keyboard.press("ArrowDown")
    page.wait_for_selector("[role=menuitem]:focus >> text=Excel")
    page.keyboard.press("Escape")
    page.wait_for_selector(".q [aria-label='Edit and ask again']", state="attached")
    page.keyboard.press("/")
    page.keyboard.press("ArrowUp")
    page.wait_for_selector(".q-edit textarea:focus")
    page.keyboard.press("Control+A")
    page.keyboard.type("orders per country")
    page.keyboard.press("Enter")
    page.wait_for_selector(".q >> text=orders per country")
    open_rows(page)
    for typed, place in (
        ("explore demo", ".explore .rank, .explore table"),
        ("budgets", ".bud"),
        ("graphs", ".gcard, .gnode"),
        ("add a source", ".add-kinds"),
    ):
        page.keyboard.press("Control+k")
        page.wait_for_selector(".pal input:focus")
        page.keyboard.type(typed)
        page.locator(".pal .pe:not(.cur)").first.wait_for()
        page.keyboard.press("ArrowDown")  # the first is to ask it
        page.keyboard.press("Enter")
        page.wait_for_selector(place)


def test_threads_are_named_pinned_found_and_deleted(server: Any, visit: Visit) -> None:
    page = visit(server.url)
    ask(page, "how many stores are there?")
    page.wait_for_selector(".display")
    row = page.locator(".thread.cur")
    row.hover()
    row.locator("button").click()
    page.click("[role=menuitem] >> text=Rename")
    page.fill(".rename", "Our stores")
    page.keyboard.press("Enter")
    page.wait_for_selector(".thread >> text=Our stores")
    row.hover()
    row.locator("button").click()
    page.click("[role=menuitem] >> text=Pin")
    page.wait_for_selector(".threads h2 >> text=Pinned")
    page.fill("[aria-label='Find a thread']", "Our stores")
    wait_for_count(page, ".thread", 1)
    row.hover()
    row.locator("button").click()
    page.click("[role=menuitem] >> text=Delete")
    page.wait_for_selector(".welcome")
    page.locator(".toast button", has_text="Undo").dispatch_event("click")  # at once: it goes after a while
    page.wait_for_selector(".display")


VIEWS = {
    "sources/demo/orders": (".cols tbody tr", ".samp td"),
    "sources/demo/orders/explore": (".groups tbody tr",),
    "sources/+": (".add-kinds",),
    "graphs": (".gcard", "#ready-made"),
    "graphs/+": (".gnode", ".gside .editor"),
    "runs": (".runs tbody tr", ".wr"),
    "evals/demo": (".cases tbody tr",),
    "settings/models": (".nomodel", ".sent tbody tr", ".bud"),
    "settings/use": (".usage",),
    "settings/server": ("[aria-label=Sandboxes] tbody tr", "[aria-label=Retention] dd", "text=Every route"),
}
"""What each shows when all of it is there."""
TABS = {"relationships": ".rels tbody tr", "names": "#panel-names .cm-content", "history": "#panel-history"}
WINDOWS = {"light": {"width": 1440, "height": 900}, "dark": {"width": 390, "height": 844}}
"""Colours depend on the theme alone and landmarks on the width, so two pairs of the four show all there is."""


@pytest.mark.timeout(300)
@pytest.mark.parametrize("scheme", WINDOWS)
def test_every_view_is_accessible(server: Any, visit: Visit, scheme: str) -> None:
    """No finding of axe, on a desktop in light colours and on a phone in dark ones."""
    page = visit(server.url, WINDOWS[scheme], color_scheme=scheme)
    found = {"welcome": axe_findings(page)}
    ask(page, "revenue per country")
    page.wait_for_selector(".turn .receipt >> text=no model")
    found["answer"] = axe_findings(page)
    open_rows(page)
    found["table"] = axe_findings(page)
    for tab, shown in (("chart", ".chart canvas"), ("check", ".verdict")):
        page.click(f"#tab-{tab}")
        page.wait_for_selector(shown)
        found[tab] = axe_findings(page)
    for view, parts in VIEWS.items():
        page.goto(f"{server.url}/{view}")
        for part in parts:
            page.wait_for_selector(part, state="attached")  # a phone shows the list first
        found[view] = axe_findings(page)
    page.goto(f"{server.url}/sources/demo")
    for tab, shown in TABS.items():
        page.click(f"#tab-{tab}")
        page.wait_for_selector(shown)
        found[tab] = axe_findings(page)
    assert {view: problems for view, problems in found.items() if problems} == {}, json.dumps(found, indent=1)
