"""The command `answerable` on a machine whose clock somebody sets: `python -m faults.stepped_clock serve …`.

The file that `FAULTS_CLOCK` names says by how many seconds the clock is wrong, at any moment.
"""

import os
import time
from datetime import UTC, datetime
from pathlib import Path

from answerable.cli import main
from answerable.core import clock

_offset, _time, _time_ns = Path(os.environ["FAULTS_CLOCK"]), time.time, time.time_ns


def _seconds() -> float:
    return float(_offset.read_text() or 0)


def _now(_: clock.SystemClock) -> datetime:
    return datetime.fromtimestamp(time.time(), UTC)


if __name__ == "__main__":
    time.time = lambda: _time() + _seconds()
    time.time_ns = lambda: _time_ns() + int(_seconds() * 1_000_000_000)
    clock.SystemClock.now = _now  # type: ignore[method-assign, assignment]
    main()
