"""A synced tenant on the page: why somebody has access is drawn, and it is synced and scheduled in Sources."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from accessibility import axe_findings
from seen import wait_for_count
from served import Server

from answerable.library import Answerable
from answerable.okta.demo import TOKEN_FROM, DemoTenant, demo_tenant

PHONE = {"width": 390, "height": 844}


@dataclass(frozen=True)
class Company:
    server: Server
    tenant: DemoTenant


@pytest.fixture(scope="module")
def company(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Company]:
    base: Path = tmp_path_factory.mktemp("company")
    folder = base / "shop"
    folder.mkdir()
    (folder / "sales.csv").write_text("sale_id,amount\n1,5\n")
    with demo_tenant(30) as tenant:
        with Answerable(folder, home=base / "home") as library:
            library.okta.sync("corp", url=tenant.url, token_from=TOKEN_FROM)
        server = Server(home=base / "home", folder=folder).start()
        yield Company(server, tenant)
        server.kill()


def test_why_somebody_has_access_is_drawn(company: Company, visit: Callable[..., Any]) -> None:
    why = next(question for question in company.tenant.questions if question.startswith("Why"))
    page = visit(company.server.url, color_scheme="dark")
    page.wait_for_selector(".source-chips .chip")
    page.locator(".source-chips [aria-pressed]").get_by_text("corp", exact=True).click()
    page.fill("#question", why)
    page.press("#question", "Enter")
    page.wait_for_selector(".paths .thing >> text=GitHub")
    assert page.locator(".paths .react-flow__edge").count() >= 1
    assert page.locator(".paths li >> text=GitHub (application)").count() >= 1
    page.wait_for_selector(".fig.f-rows, .prose")
    assert axe_findings(page) == []
    person = page.locator(".paths .react-flow__node").first
    person.focus()
    assert person.evaluate("node => node.matches(':focus') && node.ariaLabel.length > 0")
    page.set_viewport_size(PHONE)
    page.reload()
    page.wait_for_selector(".paths .thing >> text=GitHub")
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]


def test_a_tenant_is_synced_and_scheduled_in_sources(company: Company, visit: Callable[..., Any]) -> None:
    page = visit(f"{company.server.url}/sources/corp")
    page.wait_for_selector(".tenant >> text=Synced")
    assert page.locator(".tenant tr:has(td:text-is('users')) .num").inner_text() == "30"
    wait_for_count(page, ".t-history tbody tr", 1)
    page.click(".tenant >> text=Sync now")
    wait_for_count(page, ".t-history tbody tr:has-text('Complete')", 2)
    page.wait_for_selector(".t-now button:enabled >> text=Sync now")
    page.fill(".t-schedule input >> nth=0", "at noon")
    page.click(".t-schedule button")
    page.wait_for_selector(".tenant [role=alert]")
    page.complaints.clear()  # the browser reports the refused request
    page.fill(".t-schedule input >> nth=0", "0 5 * * *")
    page.fill(".t-schedule input >> nth=1", "Europe/Berlin")
    page.press(".t-schedule input >> nth=1", "Enter")
    page.wait_for_selector(".tenant b.mono >> text=0 5 * * *")
    assert axe_findings(page) == []
    wait_for_count(page, ".tenant [role=alert]", 0)
    page.reload()
    page.click("[aria-label='Remove the schedule']")
    page.wait_for_selector(".tenant >> text=only when somebody asks")
    page.set_viewport_size(PHONE)
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]


def test_add_offers_every_kind_of_source(company: Company, visit: Callable[..., Any]) -> None:
    page = visit(f"{company.server.url}/sources/+")
    page.click(".add-kinds >> text=Okta")
    page.fill("label:has-text('Name here') input", "acme corp")
    page.wait_for_selector(".add-command >> text=answerable okta sync 'acme corp' https://acme.okta.com")
    page.click(".add-kinds >> text=API document")
    page.wait_for_selector(".add-command >> text=--base-url https://crm.example.com/api --test")
    page.click(".add-kinds >> text=Graph")
    page.wait_for_selector(".add-command >> text=answerable sources add ./company --test")
    page.click(".add-kinds >> text=Database")
    assert page.is_disabled("button:text-is('Add')")
    for address, password, wrong in (
        ("mysql://localhost/shop", "", "Only databases can be added by URL"),
        ("postgresql://127.0.0.1:1/shop", "secret", "Name the user of the password"),
        ("postgresql://reader@127.0.0.1:1/shop", "secret", "cannot be reached"),
    ):
        page.fill("label:has-text('Database address') input", address)
        page.fill("label:has-text('Password') input", password)
        page.press("label:has-text('Password') input", "Enter")
        page.wait_for_selector(f"#database-wrong >> text={wrong}")
        assert page.get_attribute("label:has-text('Database address') input", "aria-invalid") == "true"
    assert axe_findings(page) == []
    assert page.is_disabled("button:text-is('Add')")
    page.complaints.clear()  # the browser reports the refused request
    listed = page.request.get(f"{company.server.url}/api/v1/sources").json()["sources"]
    assert "shop_2" not in [source["name"] for source in listed]
    assert page.locator(".src").count() == len(listed)
