"""An answer that is not what was meant: its parts are changed in place, and it is called wrong or good."""

from collections.abc import Callable, Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
import xlsxwriter  # type: ignore[import-untyped]
from seen import wait_for_count
from served import Server

PHONE = {"width": 390, "height": 844}


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    base: Path = tmp_path_factory.mktemp("shop")
    folder = base / "shop"
    folder.mkdir()
    days = [f"{year}-{month:02}-05" for year in (2024, 2025) for month in range(1, 13)]
    rows = [f"{number},{day},{['web', 'shop'][number % 2]},{number}\n" for number, day in enumerate(days, 1)]
    (folder / "sales.csv").write_text("sale_id,sold_on,channel,amount\n" + "".join(rows))
    server = Server(home=base / "home", folder=folder).start()
    yield server
    server.kill()


def ask(page: Any, question: str) -> None:
    page.wait_for_selector(".source-chips .chip")
    page.locator(".source-chips [aria-pressed]").get_by_text("shop", exact=True).click()
    page.fill("#question", question)
    page.press("#question", "Enter")


def test_the_parts_of_an_answer_are_changed_in_place(shop: Server, visit: Callable[..., Any]) -> None:
    page = visit(shop.url)
    ask(page, "total amount per month in 2025")
    page.click(".pchip >> text=Month")
    page.click(".opt >> text=Quarter")
    page.wait_for_selector(".pchip.changed >> text=Quarter")
    page.click(".lines, .seg >> text=Table")
    wait_for_count(page, ".fig tbody tr", 4)
    page.click(".pchip.add >> text=Filter")
    page.click(".pop .opt >> text=Channel")
    page.click(".pop .opt >> text=web")
    page.wait_for_selector(".pchip.changed >> text=Channel is 'web'")
    wait_for_count(page, ".turn", 1)
    page.reload()
    page.wait_for_selector(".pchip.changed >> text=Channel is 'web'")
    wait_for_count(page, ".turn", 1)
    page.click("[aria-label=\"Remove: Channel is 'web'\"]")
    wait_for_count(page, ".pchip:has-text('web')", 0)
    page.click(".pchips >> text=Undo")
    page.wait_for_selector(".pchip >> text=Channel is 'web'")
    shop.kill()
    shop.start()
    page.click(".pchip >> text=Total amount")
    page.click(".opt >> text=Average amount")
    page.wait_for_selector(".pchip.changed >> text=Average amount", timeout=60_000)


def test_a_wrong_answer_is_kept_until_its_question_has_a_good_one(shop: Server, visit: Callable[..., Any]) -> None:
    page = visit(shop.url, PHONE)
    ask(page, "total amount per channel")
    page.click(".pchip >> text=Channel")
    page.wait_for_selector(".pop .opt >> text=Not grouped")
    sheet = page.locator(".pop").bounding_box()
    assert (sheet["x"], sheet["width"]) == (0, 390)
    page.keyboard.press("Escape")
    wait_for_count(page, ".pop", 0)
    page.click(".afoot >> text=Wrong")
    page.check(".pick [value=number]")
    page.fill(".wrong textarea", "Without 2024.")
    page.click("text=Keep as a case to mend")
    page.wait_for_selector(".on-bad[aria-pressed=true]")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    address = page.url
    page.goto(f"{shop.url}/evals/to-mend")
    page.wait_for_selector(".mends >> text=A number is wrong. Without 2024.")
    page.goto(address)
    page.click(".afoot >> text=Good")
    page.wait_for_selector(".on-good[aria-pressed=true]")
    wait_for_count(page, ".on-bad", 0)
    page.goto(f"{shop.url}/evals/to-mend")
    page.wait_for_selector("text=No answer was called wrong")


def test_a_table_is_explored_without_a_question(shop: Server, visit: Callable[..., Any]) -> None:
    page = visit(f"{shop.url}/sources/shop/sales/explore")
    wait_for_count(page, ".groups tbody tr", 2)
    page.click(".pchip >> text=Number of sales")
    page.click(".opt >> text=Total amount")
    page.locator(".groups tr", has_text="web").locator("text=156").wait_for()
    page.click(".drill >> text=web")
    wait_for_count(page, ".drilled tbody tr", 12)
    page.click("text=Filter to these")
    wait_for_count(page, ".groups tbody tr", 1)
    page.reload()  # the address holds what is seen
    page.wait_for_selector(".pchip >> text=Channel is 'web'")
    shop.kill()
    shop.start()
    page.click("text=Clear all")
    wait_for_count(page, ".groups tbody tr", 2)
    page.click(".seen >> text=Undo")
    wait_for_count(page, ".groups tbody tr", 1)
    page.click("text=Ask this")
    page.wait_for_selector(".turn .receipt >> text=no model", timeout=60_000)
    page.complaints.clear()  # requests that the killed server did not answer


def test_models_are_set_in_the_settings(shop: Server, visit: Callable[..., Any]) -> None:
    page = visit(f"{shop.url}/settings/models")
    page.click(".nomodel .btn")
    page.select_option(".addm select >> nth=0", "compatible")
    page.fill(".addm input >> nth=0", "small")
    page.fill(".addm [type=url]", "http://127.0.0.1:9/v1")
    page.fill(".addm [type=password]", "sk-secret")
    page.click("text=Test and add")
    page.wait_for_selector(".addm >> text=cannot be reached at http://127.0.0.1:9/v1")
    page.click("text=Add all the same")
    page.wait_for_selector(".models >> text=Key set, never shown again.")
    page.fill("[aria-label='Budget: A person, a day, in USD']", "2")
    page.keyboard.press("Enter")
    page.wait_for_selector(".bud >> text=you used")
    shop.kill()
    shop.start()
    page.reload()
    page.wait_for_selector(".models >> text=Key set, never shown again.")
    assert "sk-secret" not in page.content()
    page.click("[aria-label='Remove small']")
    page.wait_for_selector(".nomodel")
    page.click(".toast >> text=Undo")
    page.wait_for_selector(".models >> text=Key set, never shown again.")
    page.click("[aria-label='Remove small']")
    page.wait_for_selector(".nomodel")


def clinic() -> bytes:
    """An Excel file with two sheets."""
    written = BytesIO()
    with xlsxwriter.Workbook(written, {"in_memory": True}) as book:
        visits, patients = book.add_worksheet("Visits"), book.add_worksheet("Patients")
        visits.write_row(0, 0, ["Visit no", "Patient", "Department", "Fee (EUR)"])
        patients.write_row(0, 0, ["Patient", "City"])
        for number in range(1, 41):
            department = ["Surgery", "Eyes"][number % 2]
            visits.write_row(number, 0, [number, f"P{number % 8:03}", department, 10 + number])
        for number in range(8):
            patients.write_row(number + 1, 0, [f"P{number:03}", ["Bern", "Graz"][number % 2]])
    return written.getvalue()


def test_an_excel_file_with_two_sheets_outlives_a_killed_server(shop: Server, visit: Callable[..., Any]) -> None:
    page = visit(shop.url)
    page.wait_for_selector(".welcome")
    page.set_input_files(
        "[aria-label='Files to add']", {"name": "clinic.xlsx", "mimeType": "application/x", "buffer": clinic()}
    )
    page.wait_for_selector(".welcome >> text=2 tables: Visits")
    shop.kill()
    shop.start()
    page.reload()
    page.locator(".source-chips [aria-pressed=true]").get_by_text("clinic", exact=True).wait_for()  # still chosen
    page.fill("#question", "what is the average fee?")
    page.press("#question", "Enter")
    page.wait_for_selector(".display >> text=/^30\\.5/")
    page.wait_for_selector(".prose >> text=/^The average fee/")  # the number stands above, once
    page.fill("#question", "total fee per department")
    page.press("#question", "Enter")
    page.locator(".rank tbody tr", has_text="Surgery").locator("text=620").wait_for()
    took = page.locator(".turn").last.locator(".receipt").inner_text()
    page.reload()
    page.locator(".rank tbody tr", has_text="Surgery").locator("text=620").wait_for()
    assert took_of(page.locator(".turn").last.locator(".receipt").inner_text()) == took_of(took)
    page.set_viewport_size(PHONE)
    page.goto(f"{shop.url}/runs")
    facts = page.locator(".runs tbody tr", has_text="total fee").locator(".whole")
    assert facts.inner_text() == f"{took_of(took)} · 2 rows"
    assert facts.evaluate("facts => facts.scrollWidth <= facts.clientWidth")
    page.goto(f"{shop.url}/settings/users")
    page.wait_for_selector("text=nobody signs in here")
    page.complaints.clear()  # requests that the killed server did not answer


def took_of(receipt: str) -> str:
    """The duration in a receipt: its lines are the steps, the duration, the source with its age, and the model."""
    return receipt.splitlines()[1]
