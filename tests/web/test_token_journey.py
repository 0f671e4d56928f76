"""A server that needs a token, in a browser: the printed link, the cookie, and nothing without them."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from served import Server


@pytest.fixture
def guarded(tmp_path: Path) -> Iterator[Server]:
    folder = tmp_path / "small"
    folder.mkdir()
    (folder / "people.csv").write_text("name,age\nAna,41\nBo,29\n")
    server = Server(home=tmp_path / "home", folder=folder, arguments=("--token",), address="127.0.0.2").start()
    yield server
    server.kill()


@pytest.fixture
def page(browser: Any) -> Iterator[Any]:
    context = browser.new_context()
    context.set_default_timeout(40_000)
    yield context.new_page()
    context.close()


def test_the_link_opens_the_page_and_the_cookie_keeps_it_open(guarded: Server, page: Any) -> None:
    log = guarded.home.with_suffix(".log").read_text()
    printed = re.search(r"Open (http://127\.0\.0\.2:\d+/\?token=(\S{40,}))", log)
    assert printed is not None
    link, token = printed.groups()

    for address in (guarded.url, f"{guarded.url}/?token=wrong", f"{guarded.url}/?token={token[:-1]}"):
        refused = page.goto(address)
        assert refused.status == 401
        assert "This server needs a token." in page.inner_text("body")
        assert page.context.cookies() == []

    page.goto(link)
    page.wait_for_selector(".welcome")
    assert token not in page.url
    assert token not in page.evaluate("document.cookie + JSON.stringify(localStorage) + document.body.outerHTML")
    page.fill("#question", "how many people are there?")
    page.press("#question", "Enter")
    page.wait_for_selector(".turn >> text=2")
    page.reload()
    page.wait_for_selector(".turn >> text=2")

    sources = f"{guarded.url}/api/v1/sources"
    assert httpx.get(sources).status_code == 401
    assert httpx.get(sources, headers={"Authorization": "Bearer wrong"}).status_code == 401
    assert httpx.get(sources, headers={"Authorization": f"Bearer {token}"}).status_code == 200

    guarded.kill()
    guarded.start()  # with another token
    assert page.goto(guarded.url).status == 401


def test_a_default_source_that_is_broken_is_told(tmp_path: Path, page: Any) -> None:
    """Not an empty page: the reason, and a way to try again."""
    home = tmp_path / "home"
    home.mkdir()
    folder = tmp_path / "small"
    folder.mkdir()
    (folder / "people.csv").write_text("name\nAna\n")
    server = Server(home=home, folder=folder).start()
    try:
        (folder / "people.csv").unlink()
        page.goto(server.url)
        page.wait_for_selector(".welcome [role=alert]")
    finally:
        server.kill()
