"""`python -m bench [NAME…] [--quick] [--json]`: measures, prints, writes `bench/results/` if all; a miss is exit 1."""

import argparse
import importlib
import json
import os
import platform
import sqlite3
import subprocess
import sys
import traceback
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bench.figures import Figure, failed, table

MODULES = (
    "value_index",
    "engine",
    "drawn",
    "journal",
    "placed",
    "disk",
    "sleeps",
    "ask_parquet",
    "export",
    "startup",
    "reader",
    "models",
    "models_served",
    "sandbox",
    "sandbox_monty",
    "access",
    "crowd",
    "middleware",
    "okta",
    "page",
)
"""Each has `def measure(quick: bool) -> list[Figure]`. The first measures the peak memory of this process."""
RESULTS = Path(__file__).parent / "results"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench", description="Speed, as ratios against stated floors.")
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help=f"which to measure: {', '.join(MODULES)} (default: all)"
    )
    parser.add_argument("--quick", action="store_true", help="fewer repeats; nothing is written")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    options = parser.parse_args()
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # commands that are measured would compile themselves each time
    unknown = set(options.names) - set(MODULES)
    if unknown:
        parser.error(f"there is no {', '.join(sorted(unknown))}; choose from {', '.join(MODULES)}")
    figures = [figure for name in options.names or MODULES for figure in _measured(name, options.quick)]
    report = {
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
        "commit": _commit(),
        "machine": _machine(),
        "figures": [figure.as_json() for figure in figures],
    }
    if not options.quick and not options.names:
        _write(report, figures)
    print(json.dumps(report, indent=2, ensure_ascii=False) if options.json else table(figures))
    return 0 if all(figure.met for figure in figures) else 1


def _measured(name: str, quick: bool) -> list[Figure]:
    """A measurement that fails is a missed line, so that those before and after it are not lost."""
    print(f"measuring {name} …", file=sys.stderr, flush=True)
    try:
        figures: list[Figure] = importlib.import_module(f"bench.{name}").measure(quick)
    except Exception as error:
        traceback.print_exc()
        return [failed(name, error)]
    return figures


def _write(report: dict[str, Any], figures: list[Figure]) -> None:
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{report['at'][:10]}-{report['commit']}"
    path.with_suffix(".json").write_text(json.dumps(report, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    machine = ", ".join(f"{name} {value}" for name, value in report["machine"].items())
    text = f"# {report['at']}, commit {report['commit']}\n\n{machine}\n\n{table(figures)}\n"
    path.with_suffix(".md").write_text(text, encoding="utf-8")


def _commit() -> str:
    command = ["git", "rev-parse", "--short", "HEAD"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=Path(__file__).parent, check=False)
    return done.stdout.strip() or "unversioned"


def _machine() -> dict[str, str]:
    return {
        "Python": platform.python_version(),
        "SQLite": sqlite3.sqlite_version,
        "system": f"{platform.system()} {platform.machine()}",
        "cores": str(os.cpu_count()),
    }


if __name__ == "__main__":
    sys.exit(main())
