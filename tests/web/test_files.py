"""The files of the page, without a browser: nothing inline, nothing from elsewhere, small enough, and current."""

import gzip
import importlib.util
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, get_args

import pytest

from answerable.core.events import EVENT_TYPES
from answerable.graphs.definition import KINDS

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "web" / "src"
DIST = ROOT / "src" / "answerable" / "web" / "dist"
FIRST_LOAD = 350_000


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
    if not (DIST / "index.html").is_file():
        pytest.skip("the page is not built: `make page` builds it")
    parser = Seen()
    parser.feed((DIST / "index.html").read_text())
    return parser


def linked(seen: Seen) -> list[str]:
    return [value for _, name, value in seen.attributes if name in ("src", "href")]


def test_nothing_is_inline(seen: Seen) -> None:
    assert seen.inline == []
    assert [a for a in seen.attributes if a[1] == "style" or a[1].startswith("on")] == []


def test_nothing_comes_from_elsewhere(seen: Seen) -> None:
    assert all(address.startswith("/") for address in linked(seen))
    for sheet in DIST.glob("assets/*.css"):
        assert re.findall(r"url\((?!/|data:)", sheet.read_text()) == []
        assert "@import" not in sheet.read_text()


def test_the_first_load_is_small(seen: Seen) -> None:
    """Scripts and styles that the document names, and the two fonts that Latin text needs."""
    named = [DIST / address.lstrip("/") for address in linked(seen) if address.startswith("/assets/")]
    text = sum(len(gzip.compress(file.read_bytes())) for file in named)
    fonts = sum(file.stat().st_size for file in DIST.glob("assets/*-latin-wght-normal-*.woff2"))
    assert len(named) >= 2
    assert text + fonts < FIRST_LOAD


def test_the_build_is_current(seen: Seen) -> None:
    assert _script("page").is_current(), "`make page` builds it"


def test_the_types_are_those_of_the_server(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "scripts"))
    assert _script("openapi").is_current(), "`make page-types` makes them"


def test_types_of_events_are_generated_and_go_stale_with_the_server(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "scripts"))
    openapi = _script("openapi")
    generated = (SOURCE / "api" / "schema.ts").read_text()
    assert [event for event in EVENT_TYPES if f'type: "{event}";' not in generated] == []
    monkeypatch.setattr(openapi, "EVENT_TYPES", {"run.started": EVENT_TYPES["run.started"]})
    assert not openapi.is_current()


def test_no_text_becomes_markup_or_code() -> None:
    words = ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function", "DOMParser")
    for file in SOURCE.rglob("*.ts*"):
        text = file.read_text()
        assert [word for word in (*words, "dangerouslySetInnerHTML") if word in text] == [], file


def test_every_event_is_known_to_the_page() -> None:
    handled = set(re.findall(r'case "([a-z]+\.[a-z]+)":', (SOURCE / "run" / "run.ts").read_text()))
    assert handled == set(EVENT_TYPES)


def test_colours_come_from_the_tokens() -> None:
    tokens = (ROOT / "src" / "answerable" / "web" / "tokens.css").read_text()
    placed = {"--result-width", "--wf-quiet", "--bar-zero", "--bar-end", "--bar-length", "--bar-colour"}
    defined = set(re.findall(r"(--[a-z0-9-]+):", tokens)) | placed
    for sheet in (SOURCE / "styles").glob("*.css"):
        text = sheet.read_text()
        assert re.findall(r"#[0-9a-fA-F]{3,8}\b|rgb\(|hsl\(", text) == [], sheet
        assert set(re.findall(r"var\((--[a-z0-9-]+)", text)) <= defined, sheet


def test_the_lock_names_no_index() -> None:
    assert '"resolved"' not in (ROOT / "web" / "package-lock.json").read_text()


def _script(name: str) -> Any:
    spec = importlib.util.spec_from_file_location(name, ROOT / "scripts" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_kind_of_node_has_a_form_with_fields_that_it_knows() -> None:
    text = (SOURCE / "graphs" / "kinds.ts").read_text(encoding="utf-8")
    forms = re.findall(r'^    kind: "(\w+)",(.*?)^    begin:', text, re.DOTALL | re.MULTILINE)
    known = {str(get_args(kind.model_fields["kind"].annotation)[0]): set(kind.model_fields) for kind in KINDS}
    assert {kind for kind, _ in forms} == set(known)
    for kind, fields in forms:
        assert set(re.findall(r'\bname: "(\w+)"', fields)) <= known[kind], kind


ROOMS = (
    {"app"},
    {"ask", "evals", "graphs", "runs", "settings", "sources"},
    {"access", "explore", "identity", "result"},
    {"answer", "data", "plan"},
    {"run"},
    {"api", "shared"},
)
"""The rooms of the page from the top down. A room imports from those below it: no view knows another. The two at the
bottom know each other."""


def test_rooms_of_the_page_import_only_from_below() -> None:
    levels = {room: level for level, rooms in enumerate(ROOMS) for room in rooms}
    bottom = len(ROOMS) - 1
    sources = {file: file.parent.name for file in SOURCE.glob("*/*.ts*")}
    assert {*sources.values()} == {*levels}
    wrong = [
        f"{file.relative_to(SOURCE)} imports {other}"
        for file, room in sources.items()
        for other in re.findall(r'(?:from |import\()"\.\./(\w+)/', file.read_text())
        if not (levels[other] > levels[room] or levels[other] == bottom)
    ]
    assert wrong == []
