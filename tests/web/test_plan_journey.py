"""An answer that is not what was meant: its parts are changed in place, and it is called wrong or good."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
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
