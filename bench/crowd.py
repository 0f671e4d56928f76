"""A crowd at one server: 1, 8, 64, 256 and 1,000 clients ask `POST /chat` as fast as they get answers.

The clients share the machine with the server, so a part of it is theirs. What is promised is for two cores.
"""

import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from bench.figures import Figure, compared
from bench.serving import free_port, running

CROWDS = (1, 8, 64, 256, 1_000)
ANSWERS_AT_64 = 55.0
HEALTH_MS = 50.0
LONGEST_WAIT_MS = 5_000.0


def measure(quick: bool) -> list[Figure]:
    seconds = 4 if quick else 10
    command = [str(Path(sys.executable).with_name("answerable")), "serve", "--port", str(port := free_port())]
    with tempfile.TemporaryDirectory(prefix="answerable-bench-") as home:
        environment = {**os.environ, "ANSWERABLE_HOME": home, "ANSWERABLE_DURABILITY": "normal"}
        with running(command, port, environment) as process:
            _asked(port, 1, 2)  # the first answers describe the data
            before = _alone(port)
            _asked(port, 64, seconds)  # the server has seen a crowd before, as one that runs has
            seen = {clients: _asked(port, clients, seconds) for clients in CROWDS}
            after = _alone(port)
            memory = _memory_mb(process)
    at_64, at_256 = seen[64], seen[256]
    for clients, crowd in seen.items():
        print(f"  {clients:5} clients: {_told(crowd, seconds)}", file=sys.stderr)
    return [
        compared("crowd, answers at 64 clients", _rate(at_64, seconds), ANSWERS_AT_64, "/s", 1.0, "higher"),
        compared("crowd, /healthz at 256 clients, p99", _percentile(at_256["health"], 99), HEALTH_MS, "ms", 1.0),
        compared("crowd, answers at 256 clients, p95", _percentile(at_256["answers"], 95), LONGEST_WAIT_MS, "ms", 1.5),
        compared("crowd, an answer after it to one before", after, before, "ms", 1.5),
        compared("crowd, memory of the server and its processes", memory, 1_024.0, "MB", 1.0),
    ]


def _asked(port: int, clients: int, seconds: float) -> dict[str, Any]:
    command = [sys.executable, "-m", "bench.crowd_client", str(port), str(clients), str(seconds)]
    done = subprocess.run(command, cwd=Path(__file__).parents[1], check=True, capture_output=True, text=True)
    crowd: dict[str, Any] = json.loads(done.stdout)
    if crowd["wrong"]:
        raise AssertionError(f"{clients} clients got other replies than answers and refusals: {crowd['wrong']}")
    return crowd


def _alone(port: int) -> float:
    """Milliseconds that one client waits for an answer."""
    return float(statistics.median(_asked(port, 1, 2)["answers"]) * 1000)


def _rate(crowd: dict[str, Any], seconds: float) -> float:
    return float(len(crowd["answers"]) / seconds)


def _percentile(seconds: list[float], percent: int) -> float:
    if not seconds:
        return math.nan
    return sorted(seconds)[min(len(seconds) - 1, len(seconds) * percent // 100)] * 1000


def _told(crowd: dict[str, Any], seconds: float) -> str:
    answers = crowd["answers"]
    return (
        f"{_rate(crowd, seconds):.1f} answers/s, median {_percentile(answers, 50):.0f} ms, p95 "
        f"{_percentile(answers, 95):.0f} ms, refused {len(crowd['refused'])}, "
        f"/healthz p99 {_percentile(crowd['health'], 99):.1f} ms"
    )


def _memory_mb(process: int) -> float:
    """Of the process and its children, each page counted once among those that share it."""
    children = [
        int(path.name)
        for path in Path("/proc").iterdir()
        if path.name.isdigit() and f"\nPPid:\t{process}\n" in _read(path / "status")
    ]
    lines = [line for pid in (process, *children) for line in _read(Path(f"/proc/{pid}/smaps_rollup")).splitlines()]
    return sum(int(line.split()[1]) for line in lines if line.startswith("Pss:")) / 1024


def _read(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:  # the process has ended
        return ""
