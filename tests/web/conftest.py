"""A real browser before recorded runs, or before the real server."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from recorded_site import EVIL, RUN, Script, Site, playing
from served import Server

from answerable.answers import frame
from answerable.answers.answer import Answer, Binding, Choice, Provenance, StepRecord
from answerable.answers.present import asked_back, present
from answerable.core.ids import ArtifactId
from answerable.core.values import FrameRef

QUIET = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
DESKTOP = {"width": 1440, "height": 900}


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Not for the whole session: as long as it is open, its loop stands in the way of tests that are coroutines."""
    executable = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if executable is None:
        pytest.skip("there is no Chromium on this machine: install the package `chromium` to test the page")
    playwright = pytest.importorskip("playwright.sync_api")
    with playwright.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=executable, args=list(QUIET))
        yield browser
        browser.close()


class Tab:
    """The page of one test after the other: a new one costs more than most tests do with it."""

    def __init__(self, browser: Any) -> None:
        self._context = browser.new_context()
        self._context.set_default_timeout(40_000)
        self._complaints: list[str] = []
        self._page = self._context.new_page()
        self._page.complaints = self._complaints
        self._page.on("pageerror", lambda error: self._complaints.append(str(error)))
        self._page.on("console", lambda message: self._note(message.type, message.text))

    def open(self, address: str, viewport: Any, **media: Any) -> Any:
        self._page.set_viewport_size(viewport)
        # Without a graphics card, every frame of an animation is computed.
        self._page.emulate_media(reduced_motion="reduce", **media)
        self._page.goto(address)
        return self._page

    def check(self) -> None:
        assert self._complaints == []
        assert {page.title() for page in self._context.pages} == {"Answerable"}

    def leave(self) -> None:
        """Forgets all that a test has done here, except for the files of the page."""
        for page in self._context.pages:
            if page is not self._page:
                page.close()
        self._context.set_offline(False)
        self._page.emulate_media(color_scheme="null")
        origin = self._page.evaluate("location.origin")
        self._page.goto("about:blank")
        session = self._context.new_cdp_session(self._page)
        session.send("Storage.clearDataForOrigin", {"origin": origin, "storageTypes": "all"})
        session.detach()
        self._complaints.clear()

    def _note(self, kind: str, text: str) -> None:
        if kind == "error":
            self._complaints.append(text)


@pytest.fixture(scope="module")
def tab(browser: Any) -> Tab:
    return Tab(browser)


@pytest.fixture
def visit(tab: Tab) -> Iterator[Callable[..., Any]]:
    """Opens an address. Whatever the page complains about fails the test."""

    def open_page(address: str, viewport: Any = DESKTOP, **media: Any) -> Any:
        return tab.open(address, viewport, **media)

    yield open_page
    try:
        tab.check()
    finally:
        tab.leave()


@pytest.fixture
def site() -> Iterator[Site]:
    with playing(Site()) as site:
        yield site


@pytest.fixture
def page(site: Site, visit: Callable[..., Any]) -> Any:
    """The page before recorded runs; it is closed before they end."""
    return visit(site.address)


@pytest.fixture
def script() -> Script:
    return Script()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    base = tmp_path_factory.mktemp("page")
    folder = base / "big"
    folder.mkdir()
    _numbers(1_000_000).write_parquet(folder / "numbers.parquet")
    server = Server(home=base / "home", folder=folder).start()
    yield server
    server.kill()


def _numbers(count: int) -> pl.DataFrame:
    numbers = pl.Series("n", range(count))
    return pl.DataFrame(
        {"n": numbers, "amount": numbers * 7919 % 1_000_003, "name": "name " + (numbers % 977).cast(str)}
    )


@pytest.fixture
def answer_of(tmp_path: Path) -> Callable[..., Answer]:
    """A real answer over some rows."""

    def make(data: dict[str, Any], **options: Any) -> Answer:
        path = tmp_path / "rows.arrow"
        pl.DataFrame(data).write_ipc(path)
        ref = FrameRef(
            artifact=ArtifactId("sha256:" + "ab" * 32),
            columns=frame.columns(path),
            row_count=frame.row_count(path),
            byte_count=1,
        )
        told = Provenance(
            understood="total revenue per city",
            bindings=(Binding(phrase="revenue", meaning="sum(orders.amount)"),),
            confidence="high",
            confidence_reason="Every phrase has one match.",
            sources=("sales",),
            fingerprint="sha256:9f3c51ab07e2",
            plan={"entity": "orders"},
            findings=("orders.csv: 2 lines were left out",),
        )
        code = "SELECT city, SUM(amount) AS revenue\nFROM orders -- all\nWHERE status <> 'cancelled' LIMIT 10"
        steps = [StepRecord(id="query", kind="sql", source="sales", code=code, row_count=3, duration_ms=41)]
        defaults: dict[str, Any] = {"provenance": told, "steps": steps, "units": {"revenue": "EUR"}}
        return present(RUN, "What?", path, ref, **(defaults | options))

    return make


@pytest.fixture
def clarify() -> Answer:
    choices = [Choice(id=1, label="By order date"), Choice(id=2, label=f"By {EVIL}")]
    return asked_back(RUN, "Which date is meant?", choices)


@pytest.fixture
def evil() -> str:
    return EVIL
