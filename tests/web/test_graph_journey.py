"""A graph is written, drawn, run, decided and scheduled on the page."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from accessibility import axe_findings
from seen import wait_for_count
from served import Server

PHONE = {"width": 390, "height": 844}
TEXT = """# Letters
name: send
input:
  type: object
  properties: {to: {type: string, default: Ada}}
nodes:
  draft: {kind: transform, template: "Hello {{ input.to }}."}
  ok:
    kind: approval
    prompt: "Send this to {{ input.to }}?"
    show: "{{ draft }}"
  sent: {kind: transform, template: "Sent: {{ ok.data }}"}
"""


@pytest.fixture(scope="module")
def studio(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    base: Path = tmp_path_factory.mktemp("studio")
    folder = base / "shop"
    folder.mkdir()
    (folder / "sales.csv").write_text("sale_id,amount\n1,5\n")
    server = Server(home=base / "home", folder=folder).start()
    yield server
    server.kill()


def test_a_ready_made_graph_is_opened_and_run(studio: Server, visit: Callable[..., Any]) -> None:
    page = visit(f"{studio.url}/graphs")
    page.click(".gcard >> text=data-quality")
    page.wait_for_selector(".gnode")
    assert page.request.get(f"{studio.url}/api/v1/graphs").json()["graphs"] == []  # to look at it stores nothing
    page.click(".gmain .head button:has-text('Run')")
    if page.locator(".ginput").count():
        page.click("text=Run with this input")
    page.wait_for_selector(".runline >> text=/(\\d+) of \\1 done/")
    page.set_viewport_size(PHONE)
    page.goto(f"{studio.url}/graphs")
    page.click("[aria-labelledby=ready-made] >> text=data-quality")
    page.wait_for_selector(".gmain .head >> text=not saved")
    studio_graphs = page.request.get(f"{studio.url}/api/v1/graphs").json()["graphs"]
    page.request.delete(f"{studio.url}/api/v1/graphs/{studio_graphs[0]['name']}")


def test_a_graph_is_edited_run_and_decided(studio: Server, visit: Callable[..., Any]) -> None:
    page = visit(f"{studio.url}/graphs/+")
    page.wait_for_selector(".gnode >> nth=1")
    stored = page.request.put(f"{studio.url}/api/v1/graphs/send", data={"text": TEXT})
    assert stored.status == 200, stored.text()
    page.goto(f"{studio.url}/graphs/send")
    page.wait_for_selector(".gnode >> nth=2")
    page.click(".gnode >> text=draft")
    page.click("#tab-form")
    page.fill(".gform textarea >> nth=0", "Dear {{ input.to }}.")
    page.press(".gform textarea >> nth=0", "Tab")
    page.wait_for_selector(".tag >> text=not saved")
    page.click(".gmain .head button:has-text('Save')")
    page.wait_for_selector(".toast >> text=Saved as v2")
    text = page.request.get(f"{studio.url}/api/v1/graphs/send").json()["text"]
    assert text == TEXT.replace("Hello", "Dear")
    page.click(".gmain .head button:has-text('Run')")
    page.fill(".ginput input", "Bob")
    page.click("text=Run with this input")
    page.wait_for_selector(".approve >> text=Send this to Bob?")
    studio.kill()
    studio.start()
    page.reload()
    page.wait_for_selector(".approve")
    page.complaints.clear()  # the browser reports the requests that failed meanwhile
    assert axe_findings(page) == []
    page.click(".approve >> text=Edit")
    page.fill(".approve textarea", "Hi Bob")
    page.click("text=Go on with this")
    page.wait_for_selector(".runline >> text=3 of 3 done")
    page.click(".gnode >> text=sent")
    page.click("#tab-node")
    page.wait_for_selector(".gform .code >> text=Sent: Hi Bob")
    page.click(".gnode >> text=ok")
    page.click("text=With another output")
    page.fill(".gfork textarea", '{"data": "Bye Bob"}')
    page.click(".gfork >> text=Go on with this")
    page.click(".gnode >> text=sent")
    page.wait_for_selector(".gform .code >> text=Sent: Bye Bob")
    page.click(".gversions >> text=v1")
    page.wait_for_selector(".diff-text .added >> text=Dear")
    page.wait_for_selector(".gdiff .gnode.changed >> text=draft")
    assert page.locator(".gdiff .gnode.changed").count() == 1
    page.click("text=Make v1 count again")
    page.wait_for_selector(".gversions >> text=v3")


def test_mistakes_show_as_they_are_typed_and_nodes_are_added(studio: Server, visit: Callable[..., Any]) -> None:
    page = visit(f"{studio.url}/graphs/+", PHONE)
    page.wait_for_selector(".gnode >> nth=1")
    page.click(".tool button:has-text('Node')")
    page.click("[role=menuitem] >> text=Decision of a person")
    page.wait_for_selector(".gnode >> text=approval")
    wait_for_count(page, ".gnode", 3)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.click("#tab-form")
    page.fill(".gform input >> nth=0", "sometimes")
    page.press(".gform input >> nth=0", "Tab")
    page.wait_for_selector(".gproblem")
    page.complaints.clear()  # the browser itself notes that the check said no
    assert page.is_disabled(".gmain .head button:has-text('Run')")
