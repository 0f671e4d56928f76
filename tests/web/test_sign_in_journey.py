"""Signing in with a browser: the set-up link, a link for a second person, and what a rule about rows shows to each."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from accessibility import axe_findings
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
PEOPLE = {"groups": "text=Groups", "access": ".rulelist", "requests": "form.decide", "account": "text=Signed in as"}
"""The pages of the settings about people, and what each shows."""
NEW_RULE = "  - {name: no-names, for: seller, source: small, tables: people, columns: name, deny: true}\n"


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

    admin.goto(f"{guarded.url}/settings/users")
    admin.click("text=Add a person")
    admin.fill("[name=new-user]", "erik")
    admin.check("form >> text=seller")
    admin.fill("[name=attributes]", "Bergen")
    admin.click("text=Add and make a link")
    admin.wait_for_selector("[role=alert] >> text=is no attribute")
    admin.fill("[name=attributes]", "city: Bergen")
    admin.click("text=Add and make a link")
    link = admin.text_content(".invitation")
    found = {"users": axe_findings(admin)}

    seller = tabs()
    seller.goto(link)
    seller.fill("[name=password]", SELLER_PASSWORD)
    seller.click("button[type=submit]")
    seller.wait_for_selector(".welcome")
    asked(seller, "2")

    seller.goto(f"{guarded.url}/settings/account")
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

    seller.goto(f"{guarded.url}/settings/requests")
    seller.fill("[name=wanted]", "people of all cities")
    seller.click("text=Send the request")
    seller.wait_for_selector(".requests >> text=Waits")
    assert seller.query_selector("text=Access rules") is None

    rules_are_changed_and_brought_back(admin, guarded)
    found["explain"] = axe_findings(admin)
    for view, shown in PEOPLE.items():
        admin.goto(f"{guarded.url}/settings/{view}")
        admin.wait_for_selector(shown)
        found[view] = axe_findings(admin)
    assert {view: problems for view, problems in found.items() if problems} == {}
    admin.goto(f"{guarded.url}/settings/requests")
    admin.select_option("form.decide select", "manager")
    admin.click("text=Approve")
    admin.wait_for_selector(".requests >> text=by nora")
    seller.goto(f"{guarded.url}/ask")
    asked(seller, "2")  # a role more does not lift the rule about the rows of the other
    seller.goto(f"{guarded.url}/settings/access")
    seller.wait_for_selector("text=Edit the rules")


def rules_are_changed_and_brought_back(admin: Any, guarded: Server) -> None:
    file = guarded.home / "access.yaml"
    admin.goto(f"{guarded.url}/settings/access")
    admin.click("text=Edit the rules")
    admin.click(".cm-content")
    admin.keyboard.press("Control+A")
    admin.keyboard.insert_text(RULES + NEW_RULE.replace("name, deny", "nam, deny"))
    admin.click("text=Check and save")
    admin.wait_for_selector("[role=alert] >> text=no-names")
    assert file.read_text() == RULES
    admin.click(".cm-content")
    admin.keyboard.press("Control+A")
    admin.keyboard.insert_text(RULES + NEW_RULE)
    admin.click("text=Check and save")
    admin.wait_for_selector(".rulelist >> text=no-names")
    assert "no-names" in file.read_text()

    admin.click("text=Compare")
    admin.wait_for_selector(".diff-text .added >> text=no-names")
    admin.click("text=Bring back")
    admin.wait_for_selector(".versions >> text=Brings back version 1")
    admin.wait_for_selector(".rulelist >> text=no-names", state="detached")
    assert file.read_text() == RULES
    admin.goto(f"{guarded.url}/settings/explain")
    admin.select_option("[name=user]", "erik")
    admin.click("button >> text=Explain")
    admin.wait_for_selector(".explained >> text=by rule own-city")
