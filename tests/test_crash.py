"""A process of the test run that crashes fails the run; the run does not hang."""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
CONFIGURATION = """
import sys
sys.path.append({fixtures!r})
from forked_children import let_go_of_the_run as pytest_configure
"""
CRASHES = """
import multiprocessing, os, signal, time

def test_first():
    pass

def test_crashes():
    child = multiprocessing.get_context("fork").Process(target=time.sleep, args=[1000], daemon=True)
    child.start()
    open("child", "w").write(str(child.pid))
    os.kill(os.getpid(), signal.SIGSEGV)

def test_last():
    pass
"""
LATER = """
import pytest, time

@pytest.mark.parametrize("number", range(5))
def test_later(number):
    time.sleep(0.05)
"""


def test_a_crash_beside_a_forked_child_ends_the_run_as_failed(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text(CONFIGURATION.format(fixtures=str(ROOT / "tests" / "fixtures")))
    (tmp_path / "test_crashes.py").write_text(CRASHES)
    for number in range(6):
        (tmp_path / f"test_later_{number}.py").write_text(LATER)
    (tmp_path / "pytest.ini").write_text("[pytest]\naddopts = -p no:schemathesis -p no:asyncio\n")
    options = re.findall(r"pytest (--numprocesses=4 .*) \$\(ARGS\)", (ROOT / "Makefile").read_text())[0].split()[1:]
    command = [sys.executable, "-m", "pytest", "--numprocesses=2", *options]
    try:
        with (tmp_path / "out").open("w") as out:  # not a pipe: the child would hold it
            done = subprocess.run(command, cwd=tmp_path, stdout=out, stderr=out, timeout=100)
    finally:
        os.kill(int((tmp_path / "child").read_text()), signal.SIGKILL)
    assert done.returncode == 1
    assert "crashed while running 'test_crashes.py::test_crashes'" in (tmp_path / "out").read_text()
