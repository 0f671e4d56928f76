"""Nothing stays in the temporary folder, however a process ends."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

PROCESS = Path(__file__).with_name("temporary_files_process.py")
SOURCES = Path(__file__).parents[2] / "src" / "answerable"
NAMED = re.compile(r"tempfile\.(\w+)")
WITHOUT_A_NAME = {"TemporaryFile"}


@pytest.mark.parametrize("how", ["killed", "closed"])
def test_nothing_is_left_by_a_server(how: str, tmp_path: Path) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    own = {**os.environ, "TMPDIR": str(temporary)}
    done = subprocess.run([sys.executable, PROCESS, how], capture_output=True, text=True, timeout=120, env=own)
    assert done.returncode == 0, done.stderr[-3_000:]
    found = json.loads(done.stdout.splitlines()[-1])
    assert len(found["during"]) >= 5, "the server did not use what is tested here"
    if how == "killed":
        assert found["after"], "nothing was under way"
    else:
        assert found["after"] == []
    assert found["restarted"] == []


def test_temporary_files_with_a_name_are_made_in_one_place() -> None:
    """There they are removed however the process ends. The settings only ask for the name of the folder."""
    named = [
        f"{path.relative_to(SOURCES)}: {use}"
        for path in SOURCES.rglob("*.py")
        for use in NAMED.findall(path.read_text())
        if use not in WITHOUT_A_NAME and path.name != "own_folder.py"
    ]
    assert sorted(named) == ["settings.py: gettempdir", "store/open.py: mkdtemp"]
