"""Signing in with a browser: the set-up link, a link for a second person, and what a rule about rows shows to each."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from served import Server

ADMIN_PASSWORD, SELLER_PASSWORD = "correct horse battery", "staple glue and paper"
RULES = """
roles:
  manager: {actions: [ask, sql, administer]}
  seller: {actions: [ask]}
rules:
  - {name: all, for: [manager, seller], source: small, allow: true}
  - {name: own-city, for: seller, source: small, tables: people, rows: city = user.city}
"""


@pytest.fixture
def guarded(tmp_path: Path) -> Iterator[Server]:
    folder, home = tmp_path / "small", tmp_path / "home"
    folder.mkdir()
    home.mkdir()
    (folder / "people.csv").write_text("name,city\nAna,Oslo\nBo,Bergen\nCy,Bergen\n")
    (home / "access.yaml").write_text(RULES)
    server = Server(home=home, folder=folder).start()
    yield server
    server.kill()


@pytest.fixture
def tabs(browser: Any) -> Iterator[Any]:
    contexts: list[Any] = []

    def new_tab() -> Any:
        contexts.append(browser.new_context())
        contexts[-1].set_default_timeout(40_000)
        return contexts[-1].new_page()

    yield new_tab
    for context in contexts:
        context.close()


def asked(page: Any, number: str) -> None:
    page.fill("#question", "how many people are there?")
    page.press("#question", "Enter")
    page.wait_for_selector(f".turn >> text={number}")


def test_two_people_sign_in_and_see_what_they_may(guarded: Server, tabs: Any) -> None:
    printed = re.search(r"(http://127\.0\.0\.1:\d+/#setup=\S+)", guarded.home.with_suffix(".log").read_text())
    assert printed is not None

    admin = tabs()
    admin.goto(guarded.url)
    admin.wait_for_selector("text=Sign in")
    admin.goto(printed[1])
    admin.wait_for_selector("text=Choose a password")
    admin.fill("[name=user]", "nora")
    admin.fill("[name=password]", "short")
    admin.click("button[type=submit]")
    admin.wait_for_selector("[role=alert] >> text=too short")
    admin.fill("[name=password]", ADMIN_PASSWORD)
    admin.click("button[type=submit]")
    admin.wait_for_selector(".welcome")
    assert "setup" not in admin.url
    assert admin.evaluate("document.cookie") == ""
    asked(admin, "3")

    added = {"name": "erik", "roles": ["seller"], "attributes": {"city": ["Bergen"]}}
    token = admin.evaluate(
        """async (body) => {
            const headers = {"Content-Type": "application/json"};
            const reply = await fetch("/api/v1/users", {method: "POST", headers, body: JSON.stringify(body)});
            return (await reply.json()).token;
        }""",
        added,
    )
    seller = tabs()
    seller.goto(f"{guarded.url}/#invitation={token}")
    seller.fill("[name=password]", SELLER_PASSWORD)
    seller.click("button[type=submit]")
    seller.wait_for_selector(".welcome")
    asked(seller, "2")

    seller.goto(f"{guarded.url}/settings")
    seller.wait_for_selector("text=Signed in as erik")
    seller.click("text=Sign out >> nth=0")
    seller.wait_for_selector("h1 >> text=Sign in")
    seller.fill("[name=user]", "erik")
    seller.fill("[name=password]", "a wrong password")
    seller.click("button[type=submit]")
    seller.wait_for_selector("[role=alert] >> text=is wrong")
    seller.fill("[name=password]", SELLER_PASSWORD)
    seller.click("button[type=submit]")
    seller.wait_for_selector("text=Signed in as erik")
