"""Documentation cannot drift: snippets run, and every setting, error code and dependency has its row."""

import ast
import os
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from shop_api import DOCUMENT, TOKEN, ShopApi

from answerable.app import open_service
from answerable.core import errors
from answerable.gateway.problems import STATUS, status_of
from answerable.settings import Settings
from faults import forked_command
from graphs import write_documented_graph

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
COMMAND = Path(sys.executable).with_name("answerable")


def blocks(language: str) -> list[object]:
    """Every fenced block of a language, as test parameters named by page and line."""
    found: list[object] = []
    for page in PAGES:
        text = page.read_text()
        for match in re.finditer(rf"^```{language}\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
            line = text[: match.start()].count("\n") + 1
            found.append(pytest.param(match.group(1), id=f"{page.name}:{line}"))
    return found


@pytest.mark.parametrize("code", blocks("python"))
def test_python_snippets_run(code: str, tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, timeout=110)
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def docs_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Shared by all snippets, so that the demo is profiled once."""
    return tmp_path_factory.mktemp("docs")


@pytest.fixture(scope="module")
def shop_api() -> Iterator[ShopApi]:
    """The API that the documentation calls crm.example.com."""
    server = ShopApi()
    yield server
    server.close()


@pytest.mark.parametrize("block", blocks("console"))
def test_console_snippets_run(block: str, tmp_path: Path, docs_home: Path, shop_api: ShopApi) -> None:
    """Lines that start with `$ answerable` are run; one that ends with `# exit N` must exit so."""
    (tmp_path / "crm.openapi.yaml").write_bytes(DOCUMENT.read_bytes())
    block = block.replace("https://crm.example.com/api", shop_api.url)
    write_documented_graph(tmp_path / "company")
    (tmp_path / "sales").mkdir()
    (tmp_path / "sales" / "orders.csv").write_text("id,region,amount\n1,North,10.5\n2,South,20\n3,North,7\n")
    environment = {**os.environ, "HOME": str(docs_home), "ANSWERABLE_HOME": str(docs_home / "home"), "CRM_TOKEN": TOKEN}
    for line in re.findall(r"^\$ answerable (.*)$", block, re.MULTILINE):
        command, _, expected = line.partition("# exit ")
        words, redirected = _redirected(shlex.split(command))
        done = forked_command.run(words, cwd=tmp_path, env=environment, given="", timeout=110)
        assert done.returncode == int(expected or 0), f"{line}\n{done.stdout}\n{done.stderr}"
        if redirected is not None:
            (tmp_path / redirected).write_text(done.stdout)


def _redirected(words: list[str]) -> tuple[list[str], str | None]:
    """The words of a command, and the file that its output goes to."""
    return (words[:-2], words[-1]) if ">" in words[-2:-1] else (words, None)


def test_the_installed_command_loads_by_itself(tmp_path: Path) -> None:
    """The snippets above run in processes that are forked from one that has loaded it."""
    (tmp_path / "sales.csv").write_text("region,amount\nNorth,10.5\nSouth,20\n")
    command = [str(COMMAND), "ask", "total amount", "--source", "sales.csv"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=110)
    assert (done.returncode, "30.5" in done.stdout) == (0, True), done.stdout + done.stderr


def test_every_setting_has_a_row() -> None:
    text = (ROOT / "docs" / "settings.md").read_text()
    for name, field in Settings.model_fields.items():
        assert f"| `{name}` |" in text, name
        assert field.description is not None
        assert field.description in text, name


def test_every_error_code_has_a_row() -> None:
    """Codes that are passed by name are all there, and none that the source has no word of."""
    documented = set(re.findall(r"^\| `([a-z_]+)` \|", (ROOT / "docs" / "errors.md").read_text(), re.MULTILINE))
    codes, strings = codes_and_strings()
    assert codes - documented == set()
    assert documented - strings == set()


def test_the_table_of_error_classes_is_true() -> None:
    text = (ROOT / "docs" / "errors.md").read_text()
    rows = re.findall(r"^\| (`\w+Error`.*?) \| .+ \| (\d) \| (\d+) \|$", text, re.MULTILINE)
    documented = {name: (int(code), int(status)) for names, code, status in rows for name in re.findall(r"\w+", names)}
    classes = {name: kind for name, kind in vars(errors).items() if name in documented}
    assert {name: (kind.exit_code, status_of(kind("?"))) for name, kind in classes.items()} == documented
    assert {kind for kind, _ in STATUS} <= set(classes.values())


def codes_and_strings() -> tuple[set[str], set[str]]:
    codes: set[str] = set()
    strings: set[str] = set()
    for path in (ROOT / "src").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                strings.add(node.value)
            if isinstance(node, ast.keyword) and node.arg == "code" and isinstance(node.value, ast.Constant):
                codes |= {node.value.value} if isinstance(node.value.value, str) else set()
    return codes, strings


def test_every_dependency_has_a_reason() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    declared = [*project["dependencies"], *(d for extra in project["optional-dependencies"].values() for d in extra)]
    names = {re.split(r"[\[<>=]", entry)[0] for entry in declared}
    text = (ROOT / "docs" / "dependencies.md").read_text()
    assert {name for name in names if f"| {name} |" not in text} == set()


def test_the_locks_name_no_index() -> None:
    locks = list(ROOT.glob("requirements*.lock"))
    assert len(locks) > 1
    assert [lock.name for lock in locks if "://" in lock.read_text()] == []


def test_links_lead_somewhere() -> None:
    for page in [*PAGES, ROOT / "ARCHITECTURE.md", ROOT / "CONTRIBUTING.md"]:
        for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text()):
            assert (page.parent / target).exists(), f"{page.name}: {target}"


async def test_every_step_kind_has_its_row(tmp_path: Path) -> None:
    async with open_service(Settings(home=tmp_path), any_location=True) as service:
        expected = {
            kind.name: (
                kind.produces,
                kind.rows_from or "–",
                kind.language or "–",
                f"`{kind.data_source_type}`" if kind.data_source_type else "–",
                "yes" if kind.repeatable else "no",
            )
            for kind in service.step_kinds
        }
    section = (ROOT / "docs" / "answers.md").read_text().split("## Steps\n")[1].split("\n## ")[0]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in section.splitlines() if line[:3] == "| `"]
    assert {kind.strip("`"): tuple(facts) for kind, _, *facts in rows} == expected
