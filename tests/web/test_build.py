"""Building the page with a stand-in for npm, which notes what it is asked for and leaves what the real one would."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
NPM = """#!/bin/sh
echo "$*" >> npm.log
case "$1" in
    ci) mkdir -p node_modules/vite .node/npm ;;
    run) test -d node_modules/vite && mkdir -p ../src/answerable/web/dist && test "$3" != broken ;;
esac
"""


class Repository:
    """A page without content, the real script, and an npm of its own."""

    def __init__(self, root: Path) -> None:
        self.web = root / "web"
        self.modules = self.web / "node_modules"
        self._script = root / "scripts" / "page.py"
        self._programs = root / "bin"
        for folder in (self.web / "src", self._script.parent, self._programs, root / "src" / "answerable" / "web"):
            folder.mkdir(parents=True)
        for name in ("index.html", "package-lock.json", "vite.config.ts", "src/main.tsx"):
            (self.web / name).touch()
        (root / "src" / "answerable" / "web" / "tokens.css").touch()
        shutil.copy(ROOT / "scripts" / "page.py", self._script)
        self._provide("npm", NPM)
        self._provide("node", "#!/bin/sh\necho v20.19.0\n")

    def _provide(self, name: str, text: str) -> None:
        (self._programs / name).write_text(text)
        (self._programs / name).chmod(0o755)

    def page(self, *names: str) -> int:
        path = f"{self._programs}{os.pathsep}{os.environ['PATH']}"
        command = [sys.executable, str(self._script), *names]
        return subprocess.run(command, env={**os.environ, "PATH": path}, capture_output=True, check=False).returncode

    def asked(self) -> list[str]:
        """What npm was asked for since the last look."""
        log = self.web / "npm.log"
        lines = log.read_text().splitlines() if log.exists() else []
        log.unlink(missing_ok=True)
        return lines


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return Repository(tmp_path / "repository")


def test_who_only_runs_the_product_keeps_nothing_but_the_page(repository: Repository) -> None:
    assert repository.page("build") == 0
    assert [line.partition(" --cache")[0] for line in repository.asked()] == ["ci --omit=dev", "run --silent build"]
    assert not repository.modules.exists()
    assert not (repository.web / ".node").exists()


def test_a_page_that_is_current_is_not_built_again(repository: Repository) -> None:
    repository.page("build")
    repository.asked()
    assert repository.page("build") == 0
    assert repository.asked() == []
    (repository.web / "src" / "main.tsx").write_text("changed")
    assert repository.page("build") == 0
    assert repository.asked()[-1] == "run --silent build"


def test_tools_of_developers_are_fetched_once_and_stay(repository: Repository) -> None:
    assert repository.page("check", "test", "build") == 0
    assert repository.asked() == ["ci", "run --silent check", "run --silent test", "run --silent build"]
    assert repository.modules.is_dir()
    (repository.web / "package-lock.json").write_text("changed")
    assert repository.page("tools", "build") == 0
    assert repository.asked() == ["ci", "run --silent build"]


def test_a_failed_script_is_a_failure(repository: Repository) -> None:
    assert repository.page("broken") == 1
