import json
import subprocess
import sys
from pathlib import Path

PROCESS = Path(__file__).parent / "full_disk_process.py"


def test_a_full_disk_ends_the_run_cleanly_and_with_room_again_it_goes_on(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, PROCESS, tmp_path], capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stderr
    seen = json.loads(done.stdout)
    assert seen["failure"] == ["OperatorError", "store_full"]
    assert seen["heard_is_stored"]
    assert 1 < seen["done_when_full"] < 60
    assert seen["status"] == "done"
    assert seen["repeated"] <= 1
