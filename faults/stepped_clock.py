"""A machine whose clock somebody sets: the file that `FAULTS_CLOCK` names says by how many seconds it is wrong."""

import os
import time
from datetime import UTC, datetime
from pathlib import Path

from answerable.core import clock


def change() -> None:
    """From now on, this process reads the wrong clock."""
    offset, right_time, right_time_ns = Path(os.environ["FAULTS_CLOCK"]), time.time, time.time_ns

    def seconds() -> float:
        return float(offset.read_text() or 0)

    def now(_: clock.SystemClock) -> datetime:
        return datetime.fromtimestamp(time.time(), UTC)

    time.time = lambda: right_time() + seconds()
    time.time_ns = lambda: right_time_ns() + int(seconds() * 1_000_000_000)
    clock.SystemClock.now = now  # type: ignore[method-assign, assignment]
