"""The files of the page, without a browser: nothing inline, nothing from elsewhere, every event known."""

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from answerable.core.events import EVENT_TYPES

WEB = Path(__file__).parents[2] / "src" / "answerable" / "web"
SCRIPTS = sorted(WEB.glob("*.js"))


class Seen(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.attributes: list[tuple[str, str, str]] = []
        self.inline: list[str] = []
        self._open = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._open = tag
        self.attributes += [(tag, name, value or "") for name, value in attrs]

    def handle_endtag(self, tag: str) -> None:
        self._open = ""

    def handle_data(self, data: str) -> None:
        if self._open in ("script", "style") and data.strip():
            self.inline.append(data)


@pytest.fixture(scope="module")
def seen() -> Seen:
    parser = Seen()
    parser.feed((WEB / "index.html").read_text())
    return parser


def test_nothing_is_inline(seen: Seen) -> None:
    assert seen.inline == []
    assert [a for a in seen.attributes if a[1] == "style" or a[1].startswith("on")] == []


def test_nothing_comes_from_elsewhere(seen: Seen) -> None:
    for tag, name, value in seen.attributes:
        if name in ("src", "href"):
            assert value.startswith(("/", "#")), f"{tag} {name}={value}"
            if value.startswith("/static/"):
                assert (WEB / value.removeprefix("/static/")).is_file(), value
    for file in (*SCRIPTS, *WEB.glob("*.css")):
        addresses = re.findall(r"https?://[^\s\"')]+", file.read_text())
        assert [a for a in addresses if not a.startswith("http://www.w3.org/")] == []


@pytest.mark.parametrize("file", SCRIPTS, ids=lambda file: file.name)
def test_scripts_cannot_turn_text_into_markup_or_code(file: Path) -> None:
    text = file.read_text()
    for word in (
        "innerHTML",
        "outerHTML",
        "insertAdjacentHTML",
        "document.write",
        "eval(",
        "new Function",
        "DOMParser",
    ):
        assert word not in text


def test_every_event_is_known_to_the_page() -> None:
    handled = set(re.findall(r'case "([a-z.]+)":', (WEB / "run.js").read_text()))
    assert handled == set(EVENT_TYPES)


def test_colours_come_from_the_tokens() -> None:
    text = (WEB / "style.css").read_text()
    assert re.findall(r"#[0-9a-fA-F]{3,8}\b|rgb\(|hsl\(", text) == []
    used = set(re.findall(r"var\((--[a-z0-9-]+)\)", text))
    defined = set(re.findall(r"(--[a-z0-9-]+):", (WEB / "tokens.css").read_text()))
    assert used <= defined


def test_ids_that_scripts_use_exist(seen: Seen) -> None:
    ids = {value for _, name, value in seen.attributes if name == "id"}
    listing = set(re.findall(r'id="([a-z-]+)"', (WEB / "docs.html").read_text()))
    used = {m for file in SCRIPTS for m in re.findall(r'byId\("([a-z-]+)"\)', file.read_text())}
    assert used <= ids | listing
    icons = {m for file in SCRIPTS for m in re.findall(r'icon\("([a-z]+)"', file.read_text())}
    assert {f"i-{name}" for name in icons} <= ids
