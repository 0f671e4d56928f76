"""Whoever asks a server first makes it import and start a lot: the event loop stays free for others meanwhile."""

import json
import os
import subprocess
import sys
from pathlib import Path

LONGEST_TURN = 0.1
"""Seconds of processor time: what `/healthz` may wait. Imports on the loop took up to five times as long."""


def test_the_first_question_and_the_first_program_do_not_keep_the_loop(tmp_path: Path) -> None:
    program = Path(__file__).with_name("first_requests_process.py")
    command = [sys.executable, str(program), str(tmp_path / "home")]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1] / "fixtures")}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    longest: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    print(longest)
    assert set(longest) == {"question", "program", "query"}
    assert max(longest.values()) < LONGEST_TURN, longest
