import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def bench(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "bench", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=100)


def test_a_measurement_is_printed_as_json_and_the_exit_code_tells_of_missed_limits() -> None:
    done = bench("sleeps", "--quick", "--json")
    report = json.loads(done.stdout)
    names = [figure["name"] for figure in report["figures"]]
    assert len(names) == 4
    assert {"sleeps, 20 uneven chains of 10", "sleeps, 100 x 50 ms at once"} < set(names)
    for figure in report["figures"]:
        assert figure["ratio"] == figure["ours"] / figure["floor"]
        assert figure["met"] == (figure["ratio"] <= figure["limit"])
    assert done.returncode == (0 if all(figure["met"] for figure in report["figures"]) else 1)


def test_an_unknown_name_is_wrong_usage() -> None:
    done = bench("nonsense")
    assert done.returncode == 2
    assert "there is no nonsense; choose from value_index" in done.stderr


ONE_FAILS = """
import sys
import bench.engine, bench.sleeps
from bench.__main__ import main
from bench.figures import compared

bench.engine.measure = lambda quick: 1 / 0
bench.sleeps.measure = lambda quick: [compared("ours", 1, 2, "ms", 1)]
sys.argv[1:] = ["engine", "sleeps", "--json"]
sys.exit(main())
"""


def test_a_measurement_that_fails_is_a_missed_line_and_the_others_are_kept() -> None:
    done = subprocess.run([sys.executable, "-c", ONE_FAILS], cwd=ROOT, capture_output=True, text=True, timeout=60)
    figures = json.loads(done.stdout)["figures"]
    assert [(figure["name"], figure["ratio"], figure["met"]) for figure in figures] == [
        ("engine: ZeroDivisionError", None, False),
        ("ours", 0.5, True),
    ]
    assert done.returncode == 1
    assert "ZeroDivisionError: division by zero" in done.stderr
