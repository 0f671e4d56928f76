"""The page in a real browser: first paint, an answer's first rows, scrolling through a million rows, typing, memory.

Frames are told against a bare page of plain rows that is scrolled in the same way, in the same browser, in turn. How
many there are depends on what else the machine does; the work of one, in time of the processor, does not.
"""

import contextlib
import os
import shutil
import statistics
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
from playwright.sync_api import Browser, CDPSession, Page, sync_playwright

from bench.figures import Figure, compared
from bench.serving import answerable_serving

ROWS = 1_000_000
FIRST_PAINT_MS = 1000.0
FIRST_ROWS_MS = 100.0
KEY_MS = 50.0
"""Longer, and a browser calls it a long task: a person sees that the key waits."""
MEMORY_MB = 300.0
LEAST_FRAMES = 50.0
FRAMES = 120
LEAST_OF_BARE = 0.95
VIEWPORT = {"width": 1440, "height": 900}
QUESTION = "how much revenue did each category of products bring in the last quarter"
BARE_ROWS = 3000
BARE_PAGE = """
<style>
  body { margin: 0; font: 13px sans-serif; } #rows { height: 700px; width: 800px; overflow: auto; contain: strict; }
  #rows > div { height: 31px; line-height: 31px; border-bottom: 1px solid #ddd; display: flex; } i { width: 100px; }
</style>
<div id="rows">%s</div>
"""
READING, DRAGGING = 60, 80_000
"""Pixels that a frame moves: somebody who looks for a row, and the handle of the scroll bar drawn from end to end."""

SCROLL = """async ([selector, step, frames]) => {
  const node = document.querySelector(selector), times = [];
  const bottom = () => node.scrollHeight - node.clientHeight;
  let at = Math.min(node.scrollTop, bottom()), direction = 1;
  await new Promise((done) => {
    const frame = (time) => {
      times.push(time);
      if (times.length > frames) return done();
      if (at + direction * step > bottom() || at + direction * step < 0) direction = -direction;
      node.scrollTop = at = Math.max(0, at + direction * Math.min(step, bottom()));
      requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
  });
  return 1000 * frames / (times.at(-1) - times[0]);
}"""
KEYS = """() => {
  window.slowest = 16;
  const heard = (key) => { window.slowest = Math.max(window.slowest, key.duration); };
  new PerformanceObserver((list) => list.getEntries().forEach(heard)).observe({type: "event", durationThreshold: 16});
}"""
"""Keys that were painted within 16 ms are not told by browsers."""
FIRST_ROWS = """() => {
  const read = ReadableStreamDefaultReader.prototype.read;
  ReadableStreamDefaultReader.prototype.read = async function () {
    const got = await read.call(this);
    if (String(got.value).includes('"answer.metadata"')) window.told = performance.now();
    return got;
  };
  const painted = () => { window.painted = performance.now(); };
  const seen = new MutationObserver(() => {
    if (!window.told || !document.querySelector("[id^='cell-0-']")?.textContent) return;
    seen.disconnect();
    requestAnimationFrame(() => scheduler.postTask(painted, {priority: "user-blocking"}));
  });
  seen.observe(document, {childList: true, subtree: true, characterData: true});
}"""
"""From the moment the page has read the event to the end of the frame that shows a row; what the page does next, which
may be as soon as that frame is over, is not counted."""


def measure(quick: bool) -> list[Figure]:
    repeats = 3 if quick else 7
    with tempfile.TemporaryDirectory(prefix="answerable-bench-") as folder:
        data = Path(folder) / "data"
        data.mkdir()
        _numbers().write_parquet(data / "numbers.parquet")
        with answerable_serving(Path(folder) / "home", data) as (_, port), _chromium() as browser:
            site = f"http://127.0.0.1:{port}"
            paint, rows = (
                statistics.median([take(browser, site) for _ in range(repeats + 1)][1:])
                for take in (_first_paint, _first_rows)
            )
            print(f"load of the machine: {os.getloadavg()[0]:.2f}", file=sys.stderr)
            return [
                compared("page, first paint", paint, FIRST_PAINT_MS, "ms", 1.0),
                compared("page, first rows after metadata", rows, FIRST_ROWS_MS, "ms", 1.0),
                *_at_work(browser, site, repeats),
            ]


def _numbers() -> pl.DataFrame:
    number = pl.int_range(ROWS, eager=True)
    return pl.DataFrame(
        {
            "n": number,
            "amount": (number * 7919 % 1_000_003) / 100,
            "name": "name " + (number % 977).cast(pl.String),
            "at": (number * 1_000_000 + 1_700_000_000_000_000).cast(pl.Datetime("us")),
            "flag": number % 2 == 0,
        }
    )


@contextlib.contextmanager
def _chromium() -> Iterator[Browser]:
    executable = shutil.which("chromium") or shutil.which("google-chrome")
    with sync_playwright() as started:
        browser = started.chromium.launch(executable_path=executable, args=["--no-sandbox", "--disable-gpu"])
        yield browser
        browser.close()


@contextlib.contextmanager
def _opened(browser: Browser, address: str, script: str | None = None) -> Iterator[Page]:
    """Each time as somebody who was never here: nothing is cached."""
    context = browser.new_context(viewport=VIEWPORT)  # type: ignore[arg-type]
    page = context.new_page()
    if script:
        page.add_init_script(f"({script})()")
    page.goto(address)
    yield page
    context.close()


def _told(page: Page, expression: str) -> float:
    """Its value as soon as it has one. (Playwright's own waiting needs `eval`, which the page's policy forbids.)"""
    wait = f"for (;;) {{ const told = {expression}; if (told) return told; await next(); }}"
    return float(page.evaluate(f"async () => {{ const next = () => new Promise(requestAnimationFrame); {wait} }}"))


def _first_paint(browser: Browser, site: str) -> float:
    with _opened(browser, site) as page:
        page.wait_for_selector("#question")
        return _told(page, "performance.getEntriesByName('first-contentful-paint')[0]?.startTime")


def _ask_for_all(page: Page) -> None:
    page.click(".source-chips >> text=big")
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("t")  # rows are shown beside the conversation from now on
    page.fill("#question", "SQL: SELECT * FROM numbers")
    page.press("#question", "Enter")
    page.wait_for_selector("[id^='cell-0-']")


def _first_rows(browser: Browser, site: str) -> float:
    with _opened(browser, site, FIRST_ROWS) as page:
        _ask_for_all(page)
        return _told(page, "window.painted && window.painted - window.told")


def _at_work(browser: Browser, site: str, repeats: int) -> list[Figure]:
    """One page that is used for a while, and beside it the bare one."""
    with _opened(browser, site) as page, _opened(browser, "about:blank") as bare:
        row = "<div>" + "<i>1,234</i>" * 5 + "</div>"
        bare.set_content(BARE_PAGE % (row * BARE_ROWS))
        _ask_for_all(page)
        figures = [_frames(page, bare, READING, "reading", repeats), _frames(page, bare, DRAGGING, "dragging", repeats)]
        key = statistics.median(_slowest_key(page) for _ in range(repeats))
        return [
            *(figure for pair in figures for figure in pair),
            compared("page, slowest key beside a million rows", key, KEY_MS, "ms", 1.0),
            compared("page, memory after all that", _private_mb(page), MEMORY_MB, "MB", 1.0),
        ]


def _frames(page: Page, bare: Page, step: int, manner: str, repeats: int) -> list[Figure]:
    ours: list[float] = []
    floor: list[float] = []
    busy: list[float] = []
    for _ in range(repeats):
        with _work(page, busy):
            ours.append(_scrolled(page, ".grid", step))
        floor.append(_scrolled(bare, "#rows", READING))
    frames, bare_frames, work = (statistics.median(each) for each in (ours, floor, busy))
    name = f"page, a million rows, {manner}"
    return [
        compared(name, frames, LEAST_FRAMES, "frames/s", 1.0, "higher"),
        compared(f"{name}, against bare rows", frames, bare_frames, "frames/s", LEAST_OF_BARE, "higher"),
        compared(f"{name}, work of a frame", work, 1000 / LEAST_FRAMES, "ms", 1.0),
    ]


def _scrolled(page: Page, selector: str, step: int) -> float:
    page.bring_to_front()
    return float(page.evaluate(SCROLL, [selector, step, FRAMES]))


@contextlib.contextmanager
def _work(page: Page, into: list[float]) -> Iterator[None]:
    """Milliseconds a frame that the processor spent on the page's main thread."""
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable", {"timeDomain": "threadTicks"})
    before = _busy_seconds(session)
    yield
    into.append((_busy_seconds(session) - before) * 1000 / FRAMES)
    session.detach()


def _busy_seconds(session: CDPSession) -> float:
    told = session.send("Performance.getMetrics")["metrics"]
    return float(next(metric["value"] for metric in told if metric["name"] == "TaskDuration"))


def _slowest_key(page: Page) -> float:
    page.bring_to_front()
    page.fill("#question", "")
    page.evaluate(KEYS)
    page.type("#question", QUESTION, delay=20)
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => setTimeout(done, 50)))")
    return float(page.evaluate("window.slowest"))


def _private_mb(page: Page) -> float:
    """What the process that draws the page holds alone: scripts, elements, pictures and all."""
    session = page.context.browser.new_browser_cdp_session()  # type: ignore[union-attr]
    processes: list[dict[str, Any]] = session.send("SystemInfo.getProcessInfo")["processInfo"]
    return max(_private_of(process["id"]) for process in processes if process["type"] == "renderer")


def _private_of(process: int) -> float:
    lines = Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()
    return sum(int(line.split()[1]) for line in lines if line.startswith("Private_")) / 1024
