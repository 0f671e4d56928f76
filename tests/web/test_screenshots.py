"""Pictures of the views for the README, made on demand: `make screenshots`."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.skipif("ANSWERABLE_SCREENSHOTS" not in os.environ, reason="`make screenshots` makes them")

IMAGES = Path(__file__).parents[2] / "docs" / "images"
SIZE = {"width": 1280, "height": 800}


@pytest.fixture
def take(server: Any, browser: Any) -> Callable[..., Any]:
    def opened(path: str = "/", **options: Any) -> Any:
        page = browser.new_page(**{"viewport": SIZE, "reduced_motion": "reduce", **options})
        page.goto(server.url + path)
        return page

    return opened


def save(page: Any, name: str) -> None:
    page.wait_for_load_state("networkidle")
    page.wait_for_timeout(500)
    IMAGES.mkdir(exist_ok=True)
    page.screenshot(path=IMAGES / f"{name}.png")


def ask(page: Any, question: str) -> None:
    page.click(".source-chips >> text=demo")
    page.fill("#question", question)
    page.press("#question", "Enter")
    page.wait_for_selector(".turn:last-child .receipt >> text=no model")


VIEWS = (
    ("/sources/demo/orders", "sources", ".hist-bar"),
    ("/sources/demo/orders/explore", "explore", ".explore tbody tr"),
    ("/graphs/+/sales-brief", "graphs", ".gnode"),
    ("/runs", "runs", ".wr.sel"),
)


def test_pictures(take: Callable[..., Any]) -> None:
    page = take()
    page.click(".source-chips >> text=demo")
    page.wait_for_selector("button.suggestion >> nth=3")
    save(page, "start")
    for question in ("Top 10 customers by revenue in 2025", "Average salary by job title"):
        ask(page, question)
        page.click("text=New question")
        page.wait_for_selector(".welcome")
    ask(page, "revenue per country")
    ask(page, "and per month in 2025?")
    page.evaluate("document.activeElement.blur()")
    save(page, "ask")
    page.click(".turn:last-child .afoot >> text=Check")
    page.click(".verdict button >> text=Replay")
    page.wait_for_selector(".v-ok")
    save(page, "check")
    thread = page.url
    for view, name, shown in VIEWS:
        page.goto(thread.partition("/ask")[0] + view)
        page.wait_for_selector(shown)
        save(page, name)
    page.goto(thread.partition("/ask")[0] + "/evals/demo")
    page.click(".btn.primary >> text=Run")
    page.wait_for_selector(".stats.four", timeout=60_000)
    page.click(".cases tbody tr >> nth=3")
    save(page, "evals")
    page.goto(thread.partition("/ask")[0] + "/settings/models")
    page.wait_for_selector(".bud")
    save(page, "settings")
    address = f"/ask{thread.partition('/ask')[2]}"
    dark = take(address, color_scheme="dark")
    dark.wait_for_selector(".lines")
    save(dark, "chart-dark")
    phone = take(address, viewport={"width": 390, "height": 780}, device_scale_factor=2)
    phone.wait_for_selector(".lines")
    save(phone, "phone")
